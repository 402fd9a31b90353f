"""Parse profiles from TOML tables, and check every key."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, get_args

from compactctl.errors import UsageError
from compactctl.model.summary import FailurePolicy, LabelStyle
from compactctl.model.validators import (
    SettingsTable,
    any_list,
    any_table,
    boolean,
    check_keys,
    finite_number,
    fraction,
    non_negative_int,
    one_of,
    string,
    string_list,
    validate_value,
)
from compactctl.profiles.neurolink_keys import stage_table
from compactctl.profiles.profile import (
    BackgroundTrigger,
    Change,
    LevelRule,
    Profile,
    ProfileCounting,
    ProfileOrigin,
    ProfileProtection,
    ProfileStage,
    ProfileSummarizer,
    TargetMode,
)
from compactctl.profiles.variants import changes_between, extend, stage_options
from compactctl.records import replace
from compactctl.stages.aliases import canonical_name
from compactctl.tokens.budget import BudgetRule, TargetSize, parse_target
from compactctl.tokens.file_budget import DEFAULT_SHARE
from compactctl.tokens.models.system_windows import parse_system_windows
from compactctl.tokens.trigger import Trigger, parse_trigger

# The base of a file that names neither a base nor stages: it holds NeuroLink's configuration.
_NEUROLINK = "neurolink"
_KEYS = frozenset({
    "base", "title", "source", "differs", "trigger", "target", "budget", "background", "levels",
    "stages", "estimator", "counter", "window", "summarizer", "summarizer_model", "file_share",
    "enabled", "keep_turns", "keep_steps", "reactive", "image_tokens",
    "on_summarizer_failure", "summary_may_be_unrelated", "models", "label_style", "windows",
    "document_bytes",
})  # fmt: skip
_STAGE_KEYS = frozenset({"stage", "why", "falls_back", "always", "target", "enabled"})
_DUE = "due"
_BUDGET_KEYS = frozenset({
    "reserve", "reserve_percent", "reserve_max", "longest_answer", "divide_by", "multiply_by",
    "beside_tools",
})  # fmt: skip
_BACKGROUND_KEYS = ("warm", "jitter", "cold")
_LEVEL_KEYS = frozenset({"name", "when", "text"})
_TARGET_MODES: dict[str, TargetMode] = {"trigger": "trigger", "all": "all"}


def parse_user_profile(
    table: Mapping[str, Any], name: str, base: Callable[[str], Mapping[str, Any]], toml: str = ""
) -> Profile:
    """Parse the table of a user's file.

    ``base`` returns the table of a built-in profile: of the one that the file names as its base, or
    of NeuroLink's for a file with NeuroLink's configuration.

    Raises:
        UsageError: a key or value is invalid; the message names it.
    """
    return _parse_extended(table, name, base, toml, parse_stage)


def parse_profile(
    table: Mapping[str, Any],
    name: str,
    base: Callable[[str], Mapping[str, Any]] = lambda _: {},
    toml: str = "",
) -> Profile:
    """Parse the table of a built-in profile; the options of its stages are not checked.

    Raises:
        UsageError: another key or value is invalid.
    """
    return _parse_extended(table, name, base, toml, _builtin_stage)


def _parse_extended(
    table: Mapping[str, Any],
    name: str,
    base: Callable[[str], Mapping[str, Any]],
    toml: str,
    stage: Callable[[Any], ProfileStage],
) -> Profile:
    """Parse a table with the keys of the profile that it is based on filled in."""
    base_name = table.get("base")
    if base_name is None and "stages" not in table:
        base_name = _NEUROLINK
    try:
        base_table = {} if base_name is None else base(str(base_name))
        extended = extend(table, base_table)
        profile = _build_profile(extended, name, toml, stage)
    except UsageError as error:
        raise UsageError(f"profile {name}: {error}") from error
    if base_name is None:
        return profile
    origin = replace(profile.origin, base=str(base_name))
    return _with_changes(replace(profile, origin=origin), changes_between(base_table, extended))


def _with_changes(profile: Profile, changes: tuple[Change, ...]) -> Profile:
    return replace(profile, origin=replace(profile.origin, changes=changes))


def _build_profile(
    entries: Mapping[str, Any], name: str, toml: str, stage: Callable[[Any], ProfileStage]
) -> Profile:
    """Build a profile, and those for single models, which extend it as another file would."""
    general = {key: value for key, value in entries.items() if key != "models"}
    models = SettingsTable(entries).get("models", any_table, {})
    extensions = {
        prefix: extend(_model_rules(prefix, rules), general) for prefix, rules in models.items()
    }
    return replace(
        _build_for_any_model(general, name, toml, stage),
        by_model={
            prefix: _with_changes(
                _build_for_any_model(extension, name, toml, stage),
                changes_between(general, extension),
            )
            for prefix, extension in extensions.items()
        },
    )


def _model_rules(prefix: str, rules: object) -> Mapping[str, Any]:
    """Return the rules for a model, which only concern stages."""
    table: Mapping[str, Any] = validate_value(f"models.{prefix} = ", any_table, rules)
    others = table.keys() - stage_options(table).keys()
    if others:
        raise UsageError(
            f"[models.{prefix}] {min(others)} is not the table of a stage; write options of one as "
            f"[models.{prefix}.prune]"
        )
    return table


def _build_for_any_model(
    entries: Mapping[str, Any], name: str, toml: str, stage: Callable[[Any], ProfileStage]
) -> Profile:
    optional_stages = stage_options(entries)
    check_keys(entries.keys() - optional_stages.keys(), _KEYS, "the profile")
    table = SettingsTable(entries)
    stages = table.get("stages", any_list, ())
    enabled_stages = _enabled_stages(stages, stage)
    if not enabled_stages:
        raise UsageError('it names no stages; add [[stages]] with stage = "prune"')
    trigger = parse_trigger(str(entries.get("trigger", "always")))
    return Profile(
        name=name,
        title=table.get("title", string, "") or name,
        origin=ProfileOrigin(
            source=table.get("source", string, ""),
            differences=table.get("differs", string_list, ()),
            file_text=toml,
        ),
        trigger=trigger,
        target=_parse_target_or_mode(entries.get("target", "trigger")),
        budget=_parse_budget(table.get("budget", any_table, {})),
        background=_parse_background(table.get("background", any_table, None)),
        levels=tuple(_parse_level(level, trigger) for level in table.get("levels", any_list, ())),
        stages=enabled_stages,
        overflow_stages=_enabled_stages(table.get("reactive", any_list, ()), stage),
        optional_stages=tuple(
            stage({"stage": stage_name, **options})
            for stage_name, options in optional_stages.items()
        ),
        protection=ProfileProtection(
            turns=table.get("keep_turns", non_negative_int, None),
            steps=table.get("keep_steps", _at_least_one, None),
        ),
        counting=ProfileCounting(
            estimator=table.get("estimator", string, ""),
            image_tokens=table.get("image_tokens", non_negative_int, None),
            document_bytes=table.get("document_bytes", non_negative_int, 0),
            counter=table.get("counter", string, ""),
            window=table.get("window", string, ""),
            windows=parse_system_windows(table.get("windows", any_table, {}), "[windows]"),
        ),
        summarizer=ProfileSummarizer(
            name=table.get("summarizer", string, ""),
            model=table.get("summarizer_model", string, ""),
            on_failure=table.get(
                "on_summarizer_failure", one_of(*get_args(FailurePolicy)), "builtin"
            ),
            label_style=table.get("label_style", one_of(*get_args(LabelStyle)), "xml"),
            may_be_unrelated=table.get("summary_may_be_unrelated", boolean, default=False),
        ),
        file_share=table.get("file_share", fraction, DEFAULT_SHARE),
        enabled=table.get("enabled", boolean, default=True),
    )


def _enabled_stages(
    entries: Iterable[object], stage: Callable[[Any], ProfileStage]
) -> tuple[ProfileStage, ...]:
    return tuple(
        stage(entry)
        for entry in entries
        if SettingsTable(stage_table(entry), "a stage: ").get("enabled", boolean, default=True)
    )


def _builtin_stage(table: Mapping[str, Any]) -> ProfileStage:
    settings = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in table.items()
        if key not in _STAGE_KEYS
    }
    stage = ProfileStage(name=canonical_name(table["stage"]), options=settings)
    return _with_stage_keys(stage, table)


def _with_stage_keys(stage: ProfileStage, entries: Mapping[str, Any]) -> ProfileStage:
    """Set the fields of a stage that are not its options from its table."""
    table, requested_name = SettingsTable(entries, f"stage {stage.name}: "), entries["stage"]
    target = entries.get("target")
    return replace(
        stage,
        system_name="" if requested_name == stage.name else requested_name,
        explanation=str(entries.get("why", "")),
        falls_back=table.get("falls_back", boolean, default=False),
        always=table.get("always", boolean, default=False),
        target=None if target is None else parse_target(target),
    )


def parse_stage(entries: object) -> ProfileStage:
    """Parse a stage and its options, or just its name. UsageError for anything invalid."""
    # Imported here because it loads all stages, which built-in profiles do not need.
    from compactctl.stages.registry import stage_named
    from compactctl.stages.support.stage import options_of

    entries = stage_table(entries)
    stage = stage_named(entries["stage"])
    options = {option.name: option for option in options_of(stage)}
    settings = {key: value for key, value in entries.items() if key not in _STAGE_KEYS}
    check_keys(settings, options, f"stage {stage.name}")
    values = {
        key: validate_value(f"stage {stage.name}: {key} = ", options[key].validate, value)
        for key, value in settings.items()
    }
    return _with_stage_keys(ProfileStage(name=stage.name, options=values), entries)


def _parse_level(entries: object, trigger: Trigger) -> LevelRule:
    if not isinstance(entries, Mapping):
        raise UsageError('write a level as {name = "warning", when = "ratio >= 0.8"}')
    check_keys(entries, _LEVEL_KEYS, "a level")
    table = SettingsTable(entries)
    condition = str(entries.get("when", "always"))
    level_trigger = trigger if condition == _DUE else parse_trigger(condition)
    name, text = table.get("name", string, ""), table.get("text", string, "")
    return LevelRule(name=name, trigger=level_trigger, text=text)


def _parse_budget(entries: Mapping[str, Any]) -> BudgetRule:
    table = _checked_table(entries, _BUDGET_KEYS, "[budget]")
    defaults = BudgetRule()
    divisor = table.get("divide_by", _factor, Fraction(1))
    multiplier = table.get("multiply_by", _factor, Fraction(1))
    usable = multiplier / divisor if divisor else Fraction(0)
    if not 0 < usable <= 1:
        raise UsageError("[budget] must leave more than 0 and at most all of the input")
    reserve = table.get("reserve", non_negative_int, None)
    max_reserve = table.get("reserve_max", non_negative_int, None)
    if max_reserve is None and reserve is None:
        max_reserve = defaults.max_reserve
    return BudgetRule(
        reserve=reserve,
        percent=table.get("reserve_percent", non_negative_int, defaults.percent),
        max_reserve=max_reserve,
        use_max_output=table.get("longest_answer", boolean, default=False),
        usable_share=usable,
        is_beside_tools=table.get("beside_tools", boolean, default=False),
    )


def _parse_background(entries: Mapping[str, Any] | None) -> BackgroundTrigger | None:
    if entries is None:
        return None
    table = _checked_table(entries, _BACKGROUND_KEYS, "[background]")
    for key in _BACKGROUND_KEYS:
        if key not in table.entries:
            raise UsageError(f"[background] has no {key}; give {', '.join(_BACKGROUND_KEYS)}")
    warm, jitter, cold = (table.get(key, fraction, 0.0) for key in _BACKGROUND_KEYS)
    return BackgroundTrigger(warm=warm, jitter=jitter, cold=cold)


def _checked_table(entries: Mapping[str, Any], keys: Iterable[str], where: str) -> SettingsTable:
    check_keys(entries, keys, where)
    return SettingsTable(entries, f"{where} ")


def _parse_target_or_mode(value: object) -> TargetSize | TargetMode:
    return _TARGET_MODES.get(str(value)) or parse_target(value)


def _at_least_one(value: object) -> int:
    count = non_negative_int(value)
    if not count:
        raise ValueError("is not at least 1")
    return count


def _factor(value: object) -> Fraction:
    return Fraction(str(finite_number(value)))
