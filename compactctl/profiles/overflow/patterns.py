"""The patterns of errors, read from ``overflow.toml``."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from compactctl.profiles.overflow.token_figures import Form, compile_form

# What may lie between the two halves of a pattern, in characters.
_BETWEEN = ".{0,200}?"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Words of an error, and what they mean.

    Attributes:
        text: the words.
        source: who says so.
        search: how they are found.
        providers: who answers with them, the one to name in doubt first; empty for everybody.
        unit: what the limit is one of; figures are read for tokens only.
        weak: whether words of a rate limit beside it win.
        retryable: of a rate limit: whether the same request can succeed later.
        note: what to do about it, or what to say when it stays open which of several providers
            answered.
    """

    text: str
    source: str
    search: re.Pattern[str]
    providers: tuple[str, ...] = ()
    unit: str = "tokens"
    weak: bool = False
    retryable: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patterns:
    """Everything that is known of errors; hints by provider, gateways first."""

    overflow: tuple[Pattern, ...]
    limited: tuple[Pattern, ...]
    figures: tuple[Form, ...]
    hints: Mapping[str, tuple[str, ...]]


@cache
def patterns() -> Patterns:
    """Return what the file holds."""
    resource = files(__package__).joinpath("overflow.toml")
    document = tomllib.loads(resource.read_text("utf-8"))
    return Patterns(
        overflow=tuple(map(_pattern, document["overflow"])),
        limited=tuple(map(_pattern, document["limited"])),
        figures=tuple(map(_form, document["figures"])),
        hints={name: tuple(words) for name, words in document["hints"].items()},
    )


def _form(row: Mapping[str, Any]) -> Form:
    return compile_form(row["form"], decides=row.get("decides", False))


def _pattern(row: Mapping[str, Any]) -> Pattern:
    providers = tuple(row.get("providers", ()))
    return Pattern(**{**row, "providers": providers, "search": _search(row["text"])})


def _search(text: str) -> re.Pattern[str]:
    """Compile a pattern's text; a number in it is never part of a longer one."""
    words = _BETWEEN.join(re.escape(half.strip()) for half in text.split("…"))
    before = r"(?<!\d)" if text[0].isdigit() else ""
    after = r"(?!\d)" if text[-1].isdigit() else ""
    return re.compile(f"{before}{words}{after}", re.IGNORECASE | re.DOTALL)
