"""What a caller chooses, as keywords: the options of the commands under their own names."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypedDict, TypeVar, get_type_hints

from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe, stage_list
from compactctl.errors import UsageError, suggestion
from compactctl.history.protection import ProtectOptions
from compactctl.model.numbers import fraction_of
from compactctl.model.validators import MAX_INT64
from compactctl.profiles.parse import parse_stage
from compactctl.profiles.profile import Profile
from compactctl.profiles.registry import load_profile
from compactctl.tokens.budget import parse_share, parse_target
from compactctl.tokens.models.token_sizes import parse_window

T = TypeVar("T")
PathLike = str | os.PathLike[str]
Size = float | str | Fraction | Decimal
_DIGITS = re.compile(r"\d{1,18}", re.ASCII)


class MeasureKwargs(TypedDict, total=False):
    """How to measure. Whatever is left out is found out from the transcript.

    Keys:
        model: name of the model, such as ``"gpt-4.1"``.
        window: its context window in tokens, ``128_000`` or ``"128k"``.
        max_tokens: tokens kept for the answer.
        counter: name of a token counter, as ``compactctl stats --counter`` takes it.
    """

    model: str
    window: Size
    max_tokens: int
    counter: PathLike


class CompactKwargs(MeasureKwargs, total=False):
    """What to compact down to and how, beside how to measure.

    Keys:
        target: size of the next request: tokens (``60_000``, ``"60k"``) or a share of the window
            (``0.6``, ``"60%"``).
        keep: the share of each conversation's tokens to keep, instead of ``target``: ``0.3`` or
            ``"30%"``.
        stages: names of the stages to run, in this order, instead of the profile's; also as one
            text, ``"prune,dedup"``.
        stage_options: options of stages by their names: ``{"prune": {"protect_tokens": 20_000}}``.
        profile: name of a profile or path of one, in place of the default one.
        keep_turns: the number of newest turns to leave alone.
        pins: ids of messages to leave alone, or regular expressions that their texts match.
        protect_tools: tools whose calls and results are left alone.

    Numbers may be of any type, floats as they are computed. Where a list is taken, a text alone is
    a list of one. None is as if it was left out.
    """

    target: Size
    keep: Size
    stages: str | Iterable[str]
    stage_options: Mapping[str, Mapping[str, Any]]
    profile: PathLike
    keep_turns: int
    pins: Iterable[str]
    protect_tools: Iterable[str]


def check_names(choices: Mapping[str, object], of: type, called: str) -> None:
    """Raise TypeError, as Python does, for a keyword that a function does not take."""
    names = get_type_hints(of)
    for name in choices:
        if name not in names:
            hint = suggestion(name, names, "")
            what = f"{called}() got an unexpected keyword argument {name!r}"
            raise TypeError(f"{what}; {hint}" if hint else what)


def measure_options(kwargs: CompactKwargs | MeasureKwargs) -> MeasureOptions:
    """Return how to measure. Raises UsageError for what means nothing."""
    return MeasureOptions(
        model=read(kwargs, "model", one_text),
        window=read(kwargs, "window", parse_window),
        max_tokens=read(kwargs, "max_tokens", _at_least_one),
        counter=read(kwargs, "counter", one_text),
        profile=read(kwargs, "profile", _profile),
    )


def recipe_of(kwargs: CompactKwargs) -> Recipe:
    """Return what to run, measured how, and what to leave alone.

    Raises UsageError for what means nothing.
    """
    return Recipe(
        measure=measure_options(kwargs),
        plan=_plan_options(kwargs),
        protect=_protect_options(kwargs),
    )


def _plan_options(kwargs: CompactKwargs) -> PlanOptions:
    target, keep = read(kwargs, "target", parse_target), read(kwargs, "keep", parse_share)
    if target is not None and keep is not None:
        raise UsageError("target and keep both say how small; leave out one")
    return PlanOptions(
        stages=read(kwargs, "stages", _stages) or (),
        target=target,
        keep=keep,
        settings={
            name: parse_stage({**settings, "stage": name}).options
            for name, settings in (kwargs.get("stage_options") or {}).items()
        },
    )


def _protect_options(kwargs: CompactKwargs) -> ProtectOptions:
    return ProtectOptions(
        keep_turns=read(kwargs, "keep_turns", number_of),
        pins=read(kwargs, "pins", texts_of) or (),
        tools=read(kwargs, "protect_tools", texts_of) or (),
    )


def read(choices: Mapping[str, Any], name: str, reader: Callable[[object], T]) -> T | None:
    """Return what a choice means, None where it is None or left out.

    Raises UsageError, which begins with the name of the choice.
    """
    value = choices.get(name)
    try:
        return None if value is None else reader(value)
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from error


def one_text(value: object) -> str:
    """Return a text or the text of a path. Raises UsageError for anything else."""
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str):
        raise UsageError(f"{value!r} is not text; pass a str")
    return text


def texts_of(value: object) -> tuple[str, ...]:
    """Return the texts of a list, or the one that is passed in its place."""
    if isinstance(value, str | os.PathLike):
        return (one_text(value),)
    if not isinstance(value, Iterable) or isinstance(value, bytes | Mapping):
        raise UsageError(f"{value!r} is not a list of texts; pass a list of str")
    return tuple(map(one_text, value))


def number_of(value: object) -> int:
    """Return a whole number from 0 on, also of a text. Raises UsageError for anything else."""
    number = int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else value
    found = fraction_of(number)
    if found is None or found.denominator != 1 or not 0 <= found <= MAX_INT64:
        raise UsageError(f"{value!r} is not a whole number from 0 on; pass an int")
    return found.numerator


def _at_least_one(value: object) -> int:
    number = number_of(value)
    if not number:
        raise UsageError("0 leaves no room for an answer; pass at least 1")
    return number


def _stages(value: object) -> tuple[str, ...]:
    names = texts_of(value)
    if not names:
        raise UsageError('no stage is named; pass a list, as in ["prune", "dedup"]')
    return stage_list(",".join(names))


def _profile(value: object) -> Profile:
    return load_profile(one_text(value))
