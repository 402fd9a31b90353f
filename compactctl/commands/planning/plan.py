"""Plans a compaction: which stages run, with which options, down to which size."""

from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.asks import MAY, POLICY, ask, flag
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.errors import UsageError
from compactctl.history.protection import ProtectOptions
from compactctl.llm.summarizer_options import SummarizerOptions
from compactctl.model.operation import OptionValue
from compactctl.model.refusal_rule import RefusalError
from compactctl.model.summary import NO_SUMMARY_INPUTS, SummaryInputs
from compactctl.pipeline.run import StageStep
from compactctl.profiles.overflow import Overflow
from compactctl.profiles.profile import Profile, ProfileStage
from compactctl.profiles.registry import (
    DEFAULT_PROFILE,
    RECOVERY_PROFILE,
    builtin_profile,
    emulates_system,
)
from compactctl.records import Record, field, replace
from compactctl.stages.aliases import canonical_name
from compactctl.stages.registry import ALL_STAGES, stage_named
from compactctl.stages.repair import STAGE as REPAIR
from compactctl.tokens.budget import TargetSize, parse_share, parse_target
from compactctl.tokens.fit import Limits
from compactctl.tokens.models.lookup import ModelInfo
from compactctl.tokens.trigger import Trigger, parse_trigger

StageSettings = Mapping[str, Mapping[str, OptionValue]]

# NeuroLink compacts to 70% of the available input after an overflow.
RECOVERY_TARGET = TargetSize(value=0.7, unit="ratio")
# agent-code frees so many tokens when an error does not say how many were too much; where that is
# more than NeuroLink frees of an input that is full, it is as much as NeuroLink frees.
UNKNOWN_EXCESS = 20_000


_STAGES = ", ".join(stage.name for stage in ALL_STAGES)


def stage_list(text: str) -> tuple[str, ...]:
    """Split a comma-separated list of stage names. Raises UsageError for an unknown one."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise UsageError("no stages; write --stages prune,dedup")
    for name in names:
        stage_named(name)
    return names


class PlanOptions(Record):
    """The parts of a plan that the user chose.

    Attributes:
        stages: empty for those of the profile.
        error: the error of a provider or client to recover from.
        settings: options of stages, over those of the profile.
        texts: inputs of the summarize stage besides its options.
    """

    stages: tuple[str, ...] = ask(
        (),
        f"Run these stages, in this order (compactctl show stages). Stages: {_STAGES}.",
        POLICY,
        MAY,
        metavar="LIST",
        parse=stage_list,
        complete="complete_stages",
    )
    target: TargetSize | None = ask(
        None,
        "Stop at this size: 60k tokens, or 60% of the window. With --profile, of its available "
        "input.",
        POLICY,
        MAY,
        metavar="SIZE",
        parse=parse_target,
    )
    keep: float | None = ask(
        None,
        "Keep this share of each conversation (30% or 0.3), instead of --target: of all messages "
        "except system prompt and tool definitions.",
        POLICY,
        MAY,
        metavar="SHARE",
        parse=parse_share,
    )
    trigger: Trigger | None = ask(
        None,
        "When to compact: a share of --fail-base (80%), tokens (60k), 'turns>20', conditions "
        'joined with "or", or always. Without --stages and --target, also the size to compact to. '
        "[default: that of the profile, 0.8]",
        POLICY,
        MAY,
        metavar="WHEN",
        parse=parse_trigger,
    )
    if_needed: bool = flag("Do nothing unless compaction is due.", POLICY, MAY)
    error: Overflow | None = None
    settings: StageSettings = field(default_factory=dict)
    texts: SummaryInputs = NO_SUMMARY_INPUTS

    @property
    def overflow(self) -> Overflow | None:
        """The error, if it says that there were too many tokens; it makes the target smaller."""
        return self.error if self.error is not None and self.error.is_of_tokens else None

    @property
    def refusal(self) -> RefusalError | None:
        """What the error says was refused, if it was anything but the number of tokens."""
        return None if self.error is None else self.error.refusal


class Recipe(Record):
    """How to make a context smaller, whether it comes from a file, a batch or lines in memory.

    The profile in ``measure`` also supplies the stages, their options, the trigger and the target.
    """

    measure: MeasureOptions = field(default_factory=MeasureOptions)
    plan: PlanOptions = field(default_factory=PlanOptions)
    protect: ProtectOptions = field(default_factory=ProtectOptions)
    summarizer: SummarizerOptions = field(default_factory=SummarizerOptions)

    @property
    def profile(self) -> Profile:
        """The profile in effect."""
        name = DEFAULT_PROFILE if self.plan.overflow is None else RECOVERY_PROFILE
        return self.measure.profile or builtin_profile(name)

    @property
    def stage_names(self) -> tuple[str, ...]:
        """The stages to run: those of the plan, or else those of the profile."""
        return self.plan.stages or tuple(stage.name for stage in self.profile.stages)

    def for_model(self, model: ModelInfo) -> "Recipe":
        """Return the recipe with the rules that its profile has for a model."""
        if self.measure.profile is None:
            return self
        profile = self.measure.profile.for_model(model.matched_prefix or model.name)
        return replace(self, measure=replace(self.measure, profile=profile))

    @property
    def due(self) -> Trigger:
        """The trigger that decides whether compaction is due."""
        return self.plan.trigger or self.profile.effective_trigger


class SizeToReach(Record):
    """The size down to which stages run; without ``tokens`` and ``share`` all stages run.

    Attributes:
        tokens: the size in tokens.
        share: the share of each conversation's tokens to keep, instead of ``tokens``.
        below: 1 if ``tokens`` is itself too large, since a trigger fires at that size; else 0.
        excess: the minimum number of tokens to remove from a conversation.
    """

    tokens: int | None = None
    share: float | None = None
    below: int = 0
    excess: int = 0


class Plan(Record):
    """The stages to run, the size to reach, and what is protected.

    ``profile`` is the one in effect. No stage runs unless ``gate`` fires, if there is one.
    """

    steps: tuple[StageStep[Any], ...]
    reach: SizeToReach
    protect: ProtectOptions
    profile: Profile
    gate: Trigger | None = None

    def with_repair(self) -> "Plan":
        """Return the plan with a repair before all other steps, unless one of them repairs."""
        if any(step.stage.repairs for step in self.steps):
            return self
        repair = StageStep(stage=REPAIR, options=REPAIR.options(), is_implied=True)
        return replace(self, steps=(repair, *self.steps))

    def of_repair(self) -> "Plan":
        """Return the plan with its repair alone, which frees no space."""
        steps = tuple(step for step in self.steps if step.stage.repairs)
        return replace(self, steps=steps, reach=SizeToReach())

    @property
    def removes_unsent(self) -> bool:
        """Whether a step removes records that are never sent."""
        return any(step.stage.only_trims_file for step in self.steps)


def make_plan(recipe: Recipe, limits: Limits, model: ModelInfo | None = None) -> Plan:
    """Resolve names, sizes, and what the profile does for this model only.

    Raises UsageError for an unknown stage or an impossible target.
    """
    recipe = recipe if model is None else recipe.for_model(model)
    options, profile = recipe.plan, recipe.profile
    base = _whole(recipe, limits)
    if base == 0 and not options.stages:
        budget = limits.budget
        raise UsageError(
            f"no room for input: the output reserve of {budget.output_reserve:,} tokens "
            f"takes the whole window of {budget.window:,}; lower --max-tokens or raise --window"
        )
    window = limits.budget.window
    target = _target(recipe, base, window)
    stays_below = _is_of_trigger(recipe) and target is not None
    reach = SizeToReach(
        tokens=target,
        share=options.keep,
        below=int(stays_below and _until(recipe).fires_at(target or 0, base, window)),
        excess=_excess(options.overflow, base),
    )
    return Plan(
        steps=tuple(_steps(recipe, base, target)),
        reach=reach,
        protect=_protecting(recipe.protect, profile),
        profile=profile,
        gate=recipe.due if options.if_needed else None,
    )


def plan_rescue(recipe: Recipe, limits: Limits, model: ModelInfo | None = None) -> Plan:
    """Make a plan that after an error frees no less than it would without one."""
    plan = make_plan(recipe, limits, model)
    if plan.reach.tokens is None or recipe.plan.overflow is None:
        return plan
    usual = make_plan(replace(recipe, plan=replace(recipe.plan, error=None)), limits, model)
    tokens = plan.reach.tokens if usual.reach.tokens is None else usual.reach.tokens
    return replace(plan, reach=replace(plan.reach, tokens=min(plan.reach.tokens, tokens)))


def _protecting(protect: ProtectOptions, profile: Profile) -> ProtectOptions:
    """Return the protection that was requested, completed by the profile's."""
    turns = profile.protection.turns if protect.keep_turns is None else protect.keep_turns
    return replace(
        protect, keep_turns=turns, keep_steps=profile.protection.steps or protect.keep_steps
    )


def _excess(overflow: Overflow | None, base: int) -> int:
    """Return the tokens to remove after an overflow: the tokens over the limit, plus 10%.

    An error that names no numbers counts as ``UNKNOWN_EXCESS``.
    """
    if overflow is None:
        return 0
    if overflow.gap is None:
        return min(UNKNOWN_EXCESS, base - RECOVERY_TARGET.resolve(base))
    return -(-overflow.gap * 11 // 10)


def _steps(recipe: Recipe, base: int, target: int | None) -> Iterator[StageStep[Any]]:
    options, profile_stages = recipe.plan, recipe.profile.stages
    if options.overflow is not None:
        profile_stages = recipe.profile.overflow_stages or profile_stages
    with_options = (*profile_stages, *recipe.profile.optional_stages)
    # Of a stage that runs twice, the last one goes further.
    by_name = {s.name: s for s in with_options} if recipe.measure.profile else {}
    named = [
        replace(
            by_name.get(canonical_name(name), ProfileStage(name=canonical_name(name))),
            system_name=name,
        )
        for name in options.stages
    ]
    for chosen_stage in named or profile_stages:
        own_target = None if options.stages and options.target else chosen_stage.target
        reach = None if own_target is None else own_target.resolve(base)
        stage = stage_named(chosen_stage.name)
        yield StageStep(
            stage=stage,
            options=stage.options(
                **{**chosen_stage.options, **options.settings.get(chosen_stage.name, {})}
            ),
            falls_back=chosen_stage.falls_back,
            always=chosen_stage.always,
            extra_tokens=0 if reach is None or target is None else max(0, reach - target),
            requested_name=chosen_stage.system_name,
        )


def _whole(recipe: Recipe, limits: Limits) -> int:
    """Return the tokens that the target is a share of, and that it never exceeds.

    A target named by the user is a share of the window, unless a profile emulates a system. A
    target that follows from a trigger or profile is a share of the size that gates compare;
    otherwise compaction would be due again at once.
    """
    options = recipe.plan
    if options.target is not None and not emulates_system(recipe.measure.profile):
        base = limits.budget.window
    else:
        base = limits.budget.available if options.overflow else limits.base_tokens
    limit = options.overflow.limit if options.overflow else None
    return base if limit is None else min(base, limit)


def _target(recipe: Recipe, base: int, window: int) -> int | None:
    options = recipe.plan
    if options.keep is not None:
        return None
    if options.target is not None:
        return options.target.resolve(base)
    if options.overflow is not None:
        return RECOVERY_TARGET.resolve(base)
    return _quiet(recipe, base, window) if _is_of_trigger(recipe) else None


def _quiet(recipe: Recipe, base: int, window: int) -> int | None:
    """Return the profile's target or its trigger's threshold, whichever is lower.

    None if neither names a size. A threshold of 0, as agent-code's in a small window, counts as
    ``base``.
    """
    reach, threshold = recipe.profile.target, _until(recipe).threshold(base, window)
    threshold = base if threshold == 0 else threshold
    sizes = [] if threshold is None else [threshold]
    sizes += [reach.resolve(base)] if isinstance(reach, TargetSize) else []
    return max(1, min(*sizes, base)) if sizes else None


def _is_of_trigger(recipe: Recipe) -> bool:
    """Return whether the target is the size at which the trigger no longer fires."""
    options = recipe.plan
    if options.keep or options.target or options.overflow or options.stages:
        return False
    return options.trigger is not None or recipe.profile.target != "all"


def _until(recipe: Recipe) -> Trigger:
    return recipe.plan.trigger or recipe.profile.trigger
