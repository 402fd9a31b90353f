"""Reads profiles: TOML as people write it, checked key by key."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from math import isfinite
from typing import Any, Literal, get_args, get_origin, get_type_hints

from compactctl.errors import UsageError
from compactctl.model.operation import OptionValue
from compactctl.profiles.keys import check_keys
from compactctl.profiles.profile import (
    Background,
    LevelRule,
    Profile,
    ProfileStage,
    Reach,
)
from compactctl.profiles.system_keys import with_system_keys
from compactctl.tokens.budget import BudgetRule, TargetSize, parse_target
from compactctl.tokens.file_budget import DEFAULT_SHARE
from compactctl.tokens.trigger import Trigger, parse_trigger

# Whose own configuration a file may hold instead of a profile.
_SYSTEM = "neurolink"
_KEYS = frozenset({
    "base", "title", "source", "differs", "trigger", "target", "budget", "background", "levels",
    "stages", "estimator", "counter", "window", "summarizer", "summarizer_model", "file_share",
    "enabled",
})  # fmt: skip
_STAGE_WORDS = frozenset({"stage", "why"})
_BUDGET_KEYS = frozenset({
    "reserve", "reserve_percent", "reserve_max", "longest_answer", "divide_by", "multiply_by",
})  # fmt: skip
_BACKGROUND_KEYS = ("warm", "jitter", "cold")
_LEVEL_KEYS = frozenset({"name", "when", "text"})
_REACHES: dict[str, Reach] = {"trigger": "trigger", "all": "all"}


def read_profile(
    table: Mapping[str, Any], name: str, base: Callable[[str], Mapping[str, Any]], text: str = ""
) -> Profile:
    """Build a profile from the table of a user's file.

    ``base`` returns the table of a built-in profile: the one the file names with ``base``, or
    NeuroLink's for a file that only has keys of NeuroLink's own configuration.

    Raises:
        UsageError: a key or value in it means nothing; says which.
    """
    try:
        return _profile(_complete(table, base), name, text, _stage)
    except UsageError as error:
        raise UsageError(f"profile {name}: {error}") from error


def profile_from(table: Mapping[str, Any], name: str, text: str = "") -> Profile:
    """Build a profile from a table of ours, whose stages are known to be right.

    Raises UsageError for what it does not understand.
    """
    try:
        return _profile(table, name, text, _own_stage)
    except UsageError as error:
        raise UsageError(f"profile {name}: {error}") from error


def _complete(
    table: Mapping[str, Any], base: Callable[[str], Mapping[str, Any]]
) -> Mapping[str, Any]:
    """Put a file's own keys over those of the profile it builds on."""
    named = table.get("base")
    if named is None and "stages" not in table:
        named = _SYSTEM
    return with_system_keys(table, base(str(named)) if named is not None else {})


def _profile(
    table: Mapping[str, Any], name: str, text: str, stage: Callable[[Any], ProfileStage]
) -> Profile:
    check_keys(table, _KEYS, "the profile")
    stages = table.get("stages")
    if not isinstance(stages, list) or not stages:
        raise UsageError('it names no stages; add [[stages]] with stage = "prune"')
    return Profile(
        name=name,
        title=_text(table, "title") or name,
        source=_text(table, "source"),
        differs=tuple(map(str, table.get("differs", ()))),
        trigger=_trigger(table.get("trigger", "always")),
        target=_target(table.get("target", "trigger")),
        budget=_budget(table.get("budget", {})),
        background=_background(table.get("background")),
        levels=tuple(_level(each) for each in table.get("levels", ())),
        stages=tuple(map(stage, stages)),
        estimator=_text(table, "estimator"),
        counter=_text(table, "counter"),
        window=_text(table, "window"),
        summarizer=_text(table, "summarizer"),
        summarizer_model=_text(table, "summarizer_model"),
        file_share=_share("file_share", table.get("file_share", DEFAULT_SHARE)),
        enabled=_flag(table, "enabled", default=True),
        text=text,
    )


def _own_stage(table: Mapping[str, Any]) -> ProfileStage:
    settings = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in table.items()
        if key not in _STAGE_WORDS
    }
    return ProfileStage(name=table["stage"], settings=settings, why=table.get("why", ""))


def _stage(table: object) -> ProfileStage:
    # All stages are loaded with this one, which a profile of ours does without.
    from compactctl.stages.registry import stage_named

    if isinstance(table, str):
        table = {"stage": table}
    if not isinstance(table, Mapping) or not isinstance(table.get("stage"), str):
        raise UsageError(f'a stage is written as {{stage = "prune"}}, not {table!r}')
    stage = stage_named(table["stage"])
    settings = {key: value for key, value in table.items() if key not in _STAGE_WORDS}
    hints = get_type_hints(stage.options)
    kinds = {each.name: hints[each.name] for each in fields(stage.options())}
    check_keys(settings, kinds, f"stage {stage.name}")
    checked = {key: _setting(stage.name, key, value, kinds[key]) for key, value in settings.items()}
    return ProfileStage(name=stage.name, settings=checked, why=str(table.get("why", "")))


def _setting(stage: str, key: str, value: object, hint: object) -> OptionValue:
    """Check a stage option's value against its type."""
    if get_origin(hint) is tuple and isinstance(value, list):
        return tuple(map(str, value))
    if get_origin(hint) is Literal and value in get_args(hint):
        return str(value)
    if hint is bool and isinstance(value, bool):
        return value
    if hint is str and isinstance(value, str):
        return value
    if not isinstance(value, bool) and isinstance(value, int | float) and value >= 0:
        if hint is float and value <= 1:
            return float(value)
        if hint is int and isinstance(value, int):
            return value
    raise UsageError(f"stage {stage}: {key} = {value!r} is not what that option takes")


def _level(table: object) -> LevelRule:
    if not isinstance(table, Mapping):
        raise UsageError('a level is written as {name = "warning", when = "ratio >= 0.8"}')
    check_keys(table, _LEVEL_KEYS, "a level")
    when = _trigger(table.get("when", "always"))
    return LevelRule(name=_text(table, "name"), trigger=when, text=_text(table, "text"))


def _budget(table: object) -> BudgetRule:
    if not isinstance(table, Mapping):
        raise UsageError("[budget] is not a table")
    check_keys(table, _BUDGET_KEYS, "[budget]")
    own = BudgetRule()
    divisor = _factor(table, "divide_by")
    usable = _factor(table, "multiply_by") / divisor if divisor else Fraction(0)
    if not 0 < usable <= 1:
        raise UsageError("[budget] leaves more or less than a share of the input to be used")
    reserve = _whole(table, "reserve")
    most = _whole(table, "reserve_max")
    percent = _whole(table, "reserve_percent")
    return BudgetRule(
        reserve=reserve,
        percent=own.percent if percent is None else percent,
        most=most if most is not None or reserve is not None else own.most,
        longest_answer=_flag(table, "longest_answer", default=False),
        usable=usable,
    )


def _background(table: object) -> Background | None:
    if table is None:
        return None
    if not isinstance(table, Mapping):
        raise UsageError("[background] is not a table")
    check_keys(table, _BACKGROUND_KEYS, "[background]")
    warm, jitter, cold = (_share(f"background.{key}", table.get(key)) for key in _BACKGROUND_KEYS)
    return Background(warm=warm, jitter=jitter, cold=cold)


def _target(value: object) -> TargetSize | Reach:
    return _REACHES.get(str(value)) or parse_target(str(value))


def _trigger(value: object) -> Trigger:
    return parse_trigger(str(value))


def _share(key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise UsageError(f"{key} = {value!r} is not a share between 0 and 1")
    return float(value)


def _factor(table: Mapping[str, Any], key: str) -> Fraction:
    value = table.get(key, 1)
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise UsageError(f"{key} = {value!r} is not a number")
    return Fraction(str(value))


def _text(table: Mapping[str, Any], key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str):
        raise UsageError(f"{key} = {value!r} is not text")
    return value


def _whole(table: Mapping[str, Any], key: str) -> int | None:
    value = table.get(key)
    if value is not None and (type(value) is not int or value < 0):
        raise UsageError(f"{key} = {value!r} is not a number of 0 or more")
    return value


def _flag(table: Mapping[str, Any], key: str, *, default: bool) -> bool:
    value = table.get(key, default)
    if not isinstance(value, bool):
        raise UsageError(f"{key} = {value!r} is neither true nor false")
    return value
