"""The keyword arguments of the Python API, parsed into the options of the commands."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypedDict, TypeVar, cast, get_origin, get_type_hints

from compactctl.asks import Ask
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe, stage_list
from compactctl.errors import UsageError, suggestion
from compactctl.history.protection import ProtectOptions
from compactctl.model.bounds import MAX_INT64, Positive
from compactctl.model.numbers import fraction_of
from compactctl.profiles.parse import parse_stage
from compactctl.records import Record

T = TypeVar("T")
PathLike = str | os.PathLike[str]
Size = float | str | Fraction | Decimal
_DIGITS = re.compile(r"\d{1,18}", re.ASCII)


class MeasureKwargs(TypedDict, total=False):
    """How to measure. Omitted values are detected from the transcript.

    Keys:
        model: name of the model, such as ``"gpt-4.1"``.
        window: its context window in tokens, ``128_000`` or ``"128k"``.
        max_tokens: tokens reserved for the answer.
        counter: name of a token counter, as for ``compactctl stats --counter``.
    """

    model: str
    window: Size
    max_tokens: int
    counter: PathLike


class StageKwargs(MeasureKwargs, total=False):
    """What to run and what to leave unchanged, and how to measure.

    Keys:
        stages: names of the stages to run, in this order, instead of the profile's; a list, or one
            string, ``"prune,dedup"``.
        stage_options: options by stage name: ``{"prune": {"protect_tokens": 20_000}}``.
        profile: name or path of a profile, instead of the default one.
        keep_turns: how many of the newest turns to leave unchanged.
        pins: ids of messages to leave unchanged, or regular expressions that match their texts.
        protect_tools: tools whose calls and results stay unchanged.

    Numbers may have any numeric type. A list may be given as a single string. None counts as
    omitted.
    """

    stages: str | Iterable[str]
    stage_options: Mapping[str, Mapping[str, Any]]
    profile: PathLike
    keep_turns: int
    pins: Iterable[str]
    protect_tools: Iterable[str]


class CompactKwargs(StageKwargs, total=False):
    """How small to compact and how, and how to measure.

    Keys:
        target: maximum size of the next request: tokens (``60_000``, ``"60k"``) or a share of the
            window (``0.6``, ``"60%"``).
        keep: the share of each conversation's tokens to keep, instead of ``target``: ``0.3`` or
            ``"30%"``.
    """

    target: Size
    keep: Size


def check_keywords(kwargs: Mapping[str, object], accepted: type, function: str) -> None:
    """Raise TypeError, as Python does, for a keyword that is not a key of ``accepted``."""
    names = get_type_hints(accepted)
    for name in kwargs:
        if name not in names:
            hint = suggestion(name, names, "")
            message = f"{function}() got an unexpected keyword argument {name!r}"
            raise TypeError(f"{message}; {hint}" if hint else message)


def parse_measure_options(kwargs: CompactKwargs | MeasureKwargs) -> MeasureOptions:
    """Parse the options of the measurement. Raises UsageError for an invalid value."""
    return MeasureOptions(**_fields(MeasureOptions, kwargs))


def parse_recipe(kwargs: CompactKwargs) -> Recipe:
    """Parse the options of a compaction. Raises UsageError for an invalid value."""
    return Recipe(
        measure=parse_measure_options(kwargs),
        plan=_parse_plan_options(kwargs),
        protect=ProtectOptions(**_fields(ProtectOptions, kwargs, tools="protect_tools")),
    )


def _parse_plan_options(kwargs: CompactKwargs) -> PlanOptions:
    chosen = _fields(PlanOptions, kwargs)
    if chosen.keys() >= {"target", "keep"}:
        raise UsageError("target and keep cannot be used together")
    settings = {
        name: parse_stage({**options, "stage": name}).options
        for name, options in (kwargs.get("stage_options") or {}).items()
    }
    return PlanOptions(**chosen, settings=settings)


def _fields(kind: type[Record], kwargs: Mapping[str, Any], **keywords: str) -> dict[str, Any]:
    """Parse the keywords that are fields of a record; some are called otherwise than the field."""
    fields: dict[str, Any] = {}
    for name, how in kind.descriptions.items():
        parse = _parser(kind.__annotations__[name], how)
        value = parse_keyword(kwargs, keywords.get(name, name), parse)
        if value is not None:
            fields[name] = value
    return fields


def _parser(hint: object, how: Ask) -> Callable[[object], object]:
    """Return what parses the values of a field, which the command line takes as text."""
    load = how.load or how.read
    if get_origin(hint) is tuple:
        return _parse_stages if how.parse is stage_list else parse_texts
    if load is not None:
        return lambda value: load(parse_text(value))
    if how.parse is not None:
        # The parsers of sizes and shares take numbers of any type, too.
        return cast("Callable[[object], object]", how.parse)
    if hint == Positive | None:
        return _parse_positive_count
    return parse_count if hint == int | None else parse_text


def parse_keyword(kwargs: Mapping[str, Any], name: str, parse: Callable[[object], T]) -> T | None:
    """Return the parsed value of a keyword; None if it is None or omitted.

    Raises UsageError for an invalid value; the message begins with the keyword's name.
    """
    value = kwargs.get(name)
    try:
        return None if value is None else parse(value)
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from error


def parse_text(value: object) -> str:
    """Return a string, or the text of a path. Raises UsageError for anything else."""
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(text, str):
        raise UsageError(f"{value!r} is not text; pass a str")
    return text


def parse_texts(value: object) -> tuple[str, ...]:
    """Return the strings of a list, or a single string as a list of one.

    Raises UsageError for anything else.
    """
    if isinstance(value, str | os.PathLike):
        return (parse_text(value),)
    if not isinstance(value, Iterable) or isinstance(value, bytes | Mapping):
        raise UsageError(f"{value!r} is not a list of strings; pass a list of str")
    return tuple(map(parse_text, value))


def parse_count(value: object) -> int:
    """Return a non-negative integer, also from a string of digits or an integral float.

    Raises UsageError for anything else.
    """
    number = int(value) if isinstance(value, str) and _DIGITS.fullmatch(value) else value
    fraction = fraction_of(number)
    if fraction is None or fraction.denominator != 1 or not 0 <= fraction <= MAX_INT64:
        raise UsageError(f"{value!r} is not a non-negative integer; pass an int")
    return fraction.numerator


def _parse_positive_count(value: object) -> int:
    count = parse_count(value)
    if not count:
        raise UsageError("0 leaves no room for an answer; pass at least 1")
    return count


def _parse_stages(value: object) -> tuple[str, ...]:
    names = parse_texts(value)
    if not names:
        raise UsageError('no stage is named; pass a list, as in ["prune", "dedup"]')
    return stage_list(",".join(names))
