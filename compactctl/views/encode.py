"""JSON documents: how they are written, and the pieces that several of them have.

Each document names its schema and version. Within a version, fields are only ever added. A fact
has one name everywhere; the names that other systems use stand under ``as``.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from functools import singledispatch
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from compactctl.model.operation import StageRecord
from compactctl.model.transcript import Opaque
from compactctl.tokens.budget import utilization
from compactctl.tokens.fit import fit_of

# For annotations only: to import these at run time would load what reads every format.
if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from compactctl.commands.client_sessions.compactions import ClientCompaction
    from compactctl.commands.client_sessions.write import Written
    from compactctl.commands.inspect.stats import StatsResult
    from compactctl.commands.measuring.measure import Measurement

# What CI runners take for the beginning of a command. Of those that begin a line none can stand
# here: a document's lines begin with spaces, and then a quotation mark, a bracket or a figure.
_COMMAND = re.compile(r"#(?=#)|_(?=(?:start|end):\d)")
# What JSON allows in a string as it is, and a terminal takes as a command or a change of direction.
_RAW = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_COUNTS = {"n_bytes": "bytes", "n_lines": "lines"}
_SNAKE = re.compile(r"_(\w)")
# What a document says of every stage.
_STAGE = (
    "name",
    "outcome",
    "tokens_before",
    "tokens_after",
    "tokens_saved",
    "hidden",
    "replaced",
    "group",
    "detail",
    "options",
)


def dump_json(document: Mapping[str, Any]) -> str:
    """Return a document as indented JSON text that ends with a newline, safe to be shown.

    What a terminal or a CI runner would obey is written as an escape, which means the same in
    JSON.
    """
    return _COMMAND.sub(_escaped, _RAW.sub(_escaped, _dumped(document)))


def print_json(document: Mapping[str, Any], *, error: bool = False) -> None:
    """Print a document."""
    click.echo(dump_json(document), nl=False, err=error)


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _dumped(document: Mapping[str, Any]) -> str:
    import orjson

    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    try:
        return orjson.dumps(document, option=options).decode()
    except TypeError:
        # A lone surrogate in a path or message can only be written as an escape.
        import json

        return json.dumps(document, indent=2) + "\n"


@singledispatch
def encoded(value: Any) -> Any:  # noqa: ANN401
    """Return a value as JSON has it: records as objects, paths as strings.

    A type that ``record`` would not show as documents do is registered here, or beside the only
    document that has it.
    """
    encode: Callable[[Any], dict[str, Any]] = _BY_NAME.get(type(value).__name__, record)
    return encode(value)


def record(
    value: "DataclassInstance",
    *,
    only: Sequence[str] = (),
    without: Collection[str] = (),
    **renamed: str,
) -> dict[str, Any]:
    """Return a record as an object, with its fields in their order and named in camel case.

    ``only`` are the attributes that are wanted, properties among them, in the order in which they
    are to stand; ``renamed`` is what some are called instead: ``record(entry, number="no")``.
    """
    names = only or [field.name for field in fields(value)]
    return {
        renamed.get(name) or _key(name): encoded(getattr(value, name))
        for name in names
        if name not in without
    }


def _key(name: str) -> str:
    return _COUNTS.get(name) or _SNAKE.sub(lambda match: match[1].upper(), name)


@encoded.register(str | int | float | None)
def _plain(value: str | float | None) -> str | float | None:
    return value


@encoded.register
def _items(values: tuple | list) -> list[Any]:  # type: ignore[type-arg]
    return [encoded(value) for value in values]


@encoded.register
def _table(values: Mapping) -> dict[str, Any]:  # type: ignore[type-arg]
    return {name: encoded(value) for name, value in values.items()}


@encoded.register
def _path(path: PurePath) -> str:
    return str(path)


@encoded.register
def _opaque(opaque: Opaque) -> dict[str, Any]:
    """A line that is not understood; lines count from 1."""
    return {**record(opaque), "line": opaque.line + 1}


@encoded.register
def _stage(stage: StageRecord) -> dict[str, Any]:
    """What one stage did, without the figures that are its own."""
    return record(stage, only=_STAGE, tokens_saved="tokensSaved")


def _client_compaction(compaction: "ClientCompaction") -> dict[str, Any]:
    from compactctl.views.facts import utc_text

    return {
        **record(compaction, only=("id", "client", "what", "line")),
        "recordedAt": utc_text(compaction.time),
        "messages": len(compaction.hidden),
        "inEffect": compaction.in_effect,
    }


# Registered by name: to import the type would load what reads every format.
_BY_NAME: Mapping[str, Callable[[Any], dict[str, Any]]] = {"ClientCompaction": _client_compaction}


def camel_keys(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values with their names in camel case."""
    return {_key(name): value for name, value in values.items()}


def tokens_by(tools: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the tokens of tools, whose names are a transcript's and so stand as values."""
    return [{"tool": name, "tokens": tokens} for name, tokens in tools.items()]


def measure_fields(measured: "Measurement") -> dict[str, Any]:
    """Return the fields that say what everything was measured with."""
    budget = measured.budget
    return {
        "model": measured.model.name,
        "modelKnown": measured.model.is_known,
        "counter": measured.counter.id,
        "exactness": measured.counter.exactness,
        "windowTokens": budget.window,
        "windowSource": budget.source,
        "outputReserveTokens": budget.output_reserve,
        "availableInputTokens": budget.available,
    }


def fit_fields(measured: "Measurement", tokens: int) -> dict[str, Any]:
    """Return the fields that say how much room a context of that size leaves."""
    limits, fit = measured.limits, fit_of(tokens, measured.limits)
    return {
        "fits": fit.fits,
        "windowLeftTokens": fit.window_left,
        "windowForInput": measured.budget.is_input_only,
        "client": None if limits.client is None else limits.client.name,
        "compactsAtTokens": limits.compacts_at,
        "clientWindowTokens": limits.assumed_window,
        "untilCompactionTokens": fit.until_compaction,
        "answerTokens": fit.max_answer,
        "base": limits.base,
        "baseTokens": limits.base_tokens,
        "baseRatio": utilization(tokens, limits.base_tokens).ratio,
    }


def doubt_fields(result: "StatsResult") -> dict[str, Any]:
    """Return the range in which the next request lies, who sends more, and what is in doubt."""
    size, health, unread = result.size, result.health, result.transcript.unread
    return {
        "unreadText": {
            "bytes": unread.n_bytes,
            "readBytes": unread.read,
            "fields": dict(unread.fields),
        }
        if result.unread
        else None,
        "estimatedInputRange": size.range,
        "doubtedUsage": size.doubt or None,
        "unreportedBy": size.unreported or None,
        "usualOverhead": encoded(size.usual),
        "healthCheck": None if health is None else {**record(health), "verdict": health.verdict},
    }


def written_fields(written: "Written | None") -> dict[str, Any]:
    """Return the fields of what was written; null or 0 where nothing was."""
    return {
        "output": written.output if written else None,
        "archive": written.archive if written else None,
        "appendedLines": written.appended_lines if written else 0,
        "carriedLines": written.carried_lines if written else 0,
        "forkedFrom": written.forked_from if written else None,
        "continueWith": written.continue_with if written else None,
    }
