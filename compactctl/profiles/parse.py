"""Parse profiles from TOML tables, and check every key."""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from compactctl.errors import UsageError
from compactctl.model.bounds import Count, Number, Positive, Share
from compactctl.model.summary import FailurePolicy, LabelStyle
from compactctl.model.validation import check_keys, read_table, setting, validate_value
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
from compactctl.records import Record, field, replace
from compactctl.stages.aliases import canonical_name
from compactctl.tokens.budget import DEFAULT_BUDGET_RULE, BudgetRule, TargetSize, parse_target
from compactctl.tokens.file_budget import DEFAULT_SHARE
from compactctl.tokens.models.system_windows import parse_system_windows
from compactctl.tokens.trigger import Trigger, parse_trigger

# The base of a file that names neither a base nor stages: it holds NeuroLink's configuration.
_NEUROLINK = "neurolink"
_STAGE_KEYS = frozenset({"stage", "why", "falls_back", "always", "target", "enabled"})
_DUE = "due"
_TARGET_MODES: dict[str, TargetMode] = {"trigger": "trigger", "all": "all"}


class _ProfileTable(Record):
    """The keys of a profile, besides the tables of stages that run on request."""

    base: Any = None
    models: Any = None
    title: str = ""
    source: str = ""
    differs: tuple[str, ...] = ()
    trigger: Any = "always"
    target: Any = "trigger"
    budget: dict[str, Any] = field(default_factory=dict)
    background: dict[str, Any] | None = None
    levels: list[Any] = field(default_factory=list)
    stages: list[Any] = field(default_factory=list)
    reactive: list[Any] = field(default_factory=list)
    keep_turns: Count | None = None
    keep_steps: Positive | None = None
    estimator: str = ""
    image_tokens: Count | None = None
    document_bytes: Count = 0
    counter: str = ""
    window: str = ""
    windows: dict[str, Any] = field(default_factory=dict)
    summarizer: str = ""
    summarizer_model: str = ""
    on_summarizer_failure: FailurePolicy = "builtin"
    label_style: LabelStyle = "xml"
    summary_may_be_unrelated: bool = False
    file_share: Share = DEFAULT_SHARE
    enabled: bool = True


class _BudgetTable(Record):
    reserve: Count | None = None
    reserve_percent: Count = DEFAULT_BUDGET_RULE.percent
    reserve_max: Count | None = None
    longest_answer: bool = False
    divide_by: Number = 1
    multiply_by: Number = 1
    beside_tools: bool = False


class _LevelTable(Record):
    name: str = ""
    when: Any = "always"
    text: str = ""


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
    models = setting(entries, "models", dict[str, Any], {})
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
    table: dict[str, Any] = validate_value(f"models.{prefix} = ", dict[str, Any], rules)
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
    keys = (entries.keys() - optional_stages.keys()) | set(_ProfileTable.__struct_fields__)
    own_entries = {key: value for key, value in entries.items() if key in keys}
    table = read_table(own_entries, _ProfileTable, "the profile")
    enabled_stages = _enabled_stages(table.stages, stage)
    if not enabled_stages:
        raise UsageError('it names no stages; add [[stages]] with stage = "prune"')
    trigger = parse_trigger(str(table.trigger))
    return Profile(
        name=name,
        title=table.title or name,
        origin=ProfileOrigin(source=table.source, differences=table.differs, file_text=toml),
        trigger=trigger,
        target=_parse_target_or_mode(table.target),
        budget=_parse_budget(table.budget),
        background=_parse_background(table.background),
        levels=tuple(_parse_level(level, trigger) for level in table.levels),
        stages=enabled_stages,
        overflow_stages=_enabled_stages(table.reactive, stage),
        optional_stages=tuple(
            stage({"stage": stage_name, **options})
            for stage_name, options in optional_stages.items()
        ),
        protection=ProfileProtection(turns=table.keep_turns, steps=table.keep_steps),
        counting=ProfileCounting(
            estimator=table.estimator,
            image_tokens=table.image_tokens,
            document_bytes=table.document_bytes,
            counter=table.counter,
            window=table.window,
            windows=parse_system_windows(table.windows, "[windows]"),
        ),
        summarizer=ProfileSummarizer(
            name=table.summarizer,
            model=table.summarizer_model,
            on_failure=table.on_summarizer_failure,
            label_style=table.label_style,
            may_be_unrelated=table.summary_may_be_unrelated,
        ),
        file_share=table.file_share,
        enabled=table.enabled,
    )


def _enabled_stages(
    entries: Iterable[object], stage: Callable[[Any], ProfileStage]
) -> tuple[ProfileStage, ...]:
    return tuple(
        stage(entry)
        for entry in entries
        if setting(stage_table(entry), "enabled", bool, default=True, location="a stage: ")
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
    where, requested_name = f"stage {stage.name}: ", entries["stage"]
    target = entries.get("target")
    return replace(
        stage,
        system_name="" if requested_name == stage.name else requested_name,
        explanation=str(entries.get("why", "")),
        falls_back=setting(entries, "falls_back", bool, default=False, location=where),
        always=setting(entries, "always", bool, default=False, location=where),
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
        key: validate_value(f"stage {stage.name}: {key} = ", options[key].type, value)
        for key, value in settings.items()
    }
    return _with_stage_keys(ProfileStage(name=stage.name, options=values), entries)


def _parse_level(entries: object, trigger: Trigger) -> LevelRule:
    if not isinstance(entries, Mapping):
        raise UsageError('write a level as {name = "warning", when = "ratio >= 0.8"}')
    table = read_table(entries, _LevelTable, "a level")
    condition = str(table.when)
    level_trigger = trigger if condition == _DUE else parse_trigger(condition)
    return LevelRule(name=table.name, trigger=level_trigger, text=table.text)


def _parse_budget(entries: Mapping[str, Any]) -> BudgetRule:
    table = read_table(entries, _BudgetTable, "[budget]", "[budget] ")
    divisor, multiplier = _factor(table.divide_by), _factor(table.multiply_by)
    usable = multiplier / divisor if divisor else Fraction(0)
    if not 0 < usable <= 1:
        raise UsageError("[budget] must leave more than 0 and at most all of the input")
    max_reserve = table.reserve_max
    if max_reserve is None and table.reserve is None:
        max_reserve = DEFAULT_BUDGET_RULE.max_reserve
    return BudgetRule(
        reserve=table.reserve,
        percent=table.reserve_percent,
        max_reserve=max_reserve,
        use_max_output=table.longest_answer,
        usable_share=usable,
        is_beside_tools=table.beside_tools,
    )


def _parse_background(entries: Mapping[str, Any] | None) -> BackgroundTrigger | None:
    if entries is None:
        return None
    return read_table(entries, BackgroundTrigger, "[background]", "[background] ")


def _parse_target_or_mode(value: object) -> TargetSize | TargetMode:
    return _TARGET_MODES.get(str(value)) or parse_target(value)


def _factor(number: float) -> Fraction:
    return Fraction(str(number))
