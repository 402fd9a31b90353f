"""Which stages a compaction runs, with which options, down to which size."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.errors import UsageError
from compactctl.history.protection import ProtectOptions
from compactctl.llm.summarizer_options import SummarizerOptions
from compactctl.model.operation import OptionValue
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
from compactctl.stages.aliases import canonical_name
from compactctl.stages.registry import stage_named
from compactctl.tokens.budget import TargetSize
from compactctl.tokens.fit import Limits
from compactctl.tokens.trigger import Trigger

StageSettings = Mapping[str, Mapping[str, OptionValue]]

# NeuroLink compacts to 70 % of the available input after an overflow.
RECOVERY_TARGET = TargetSize(value=0.7, unit="ratio")
# agent-code frees so many tokens when an error does not say how many were too much; where that is
# more than NeuroLink frees of an input that is full, it is as much as NeuroLink frees.
UNKNOWN_EXCESS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """What the user asked for.

    Attributes:
        stages: the stages to run; empty runs those of the profile.
        target: what to compact down to.
        keep: the part of each conversation's tokens to compact down to, instead of ``target``.
        trigger: when compaction is due, and, without ``target``, what to compact down to.
        if_needed: run no stage unless compaction is due.
        overflow: the error of a provider to recover from; it makes the target smaller.
        settings: options of stages, over those of the profile.
        texts: what the summarize stage is given beside its options.
    """

    stages: tuple[str, ...] = ()
    target: TargetSize | None = None
    keep: float | None = None
    trigger: Trigger | None = None
    if_needed: bool = False
    overflow: Overflow | None = None
    settings: StageSettings = field(default_factory=dict)
    texts: SummaryInputs = NO_SUMMARY_INPUTS


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a context is made smaller, wherever it comes from: a file, a batch, lines in memory.

    The profile of ``measure`` is also where stages, their options, trigger and target come from.
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
    def due(self) -> Trigger:
        """When compaction is due."""
        return self.plan.trigger or self.profile.effective_trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeToReach:
    """Down to what size stages run; without ``tokens`` and ``share`` every one of them does.

    ``share`` is what is kept of each conversation's tokens, where no number is named. ``below`` is
    1 where ``tokens`` would be too large itself, as the size at which a trigger fires; ``excess``
    are the tokens that a conversation must lose at least.
    """

    tokens: int | None = None
    share: float | None = None
    below: int = 0
    excess: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to run, down to which size (``reach``), and what to leave alone.

    ``profile`` is the one in effect, and ``gate`` the trigger that must fire first, if any.
    """

    steps: tuple[StageStep[Any], ...]
    reach: SizeToReach
    protect: ProtectOptions
    profile: Profile
    gate: Trigger | None = None

    @property
    def unloads(self) -> bool:
        """Whether a step takes out what is never sent."""
        return any(step.stage.only_trims_file for step in self.steps)


def make_plan(recipe: Recipe, limits: Limits) -> Plan:
    """Resolve names and sizes. Raises UsageError for a stage or target that means nothing."""
    options, profile = recipe.plan, recipe.profile
    whole = _whole(recipe, limits)
    if whole == 0 and not options.stages:
        budget = limits.budget
        raise UsageError(
            f"nothing is left for input: the output reserve of {budget.output_reserve:,} tokens "
            f"takes the whole window of {budget.window:,}; lower --max-tokens or raise --window"
        )
    window = limits.budget.window
    target = _target(recipe, whole, window)
    fires = _is_of_trigger(recipe) and target is not None
    reach = SizeToReach(
        tokens=target,
        share=options.keep,
        below=int(fires and _until(recipe).fires_at(target or 0, whole, window)),
        excess=_excess(options.overflow, whole),
    )
    return Plan(
        steps=tuple(_steps(recipe, whole, target)),
        reach=reach,
        protect=_protecting(recipe.protect, profile),
        profile=profile,
        gate=recipe.due if options.if_needed else None,
    )


def _protecting(asked: ProtectOptions, profile: Profile) -> ProtectOptions:
    """Return what is left alone: what was asked for, else what the profile leaves alone."""
    turns = profile.keeps.turns if asked.keep_turns is None else asked.keep_turns
    return replace(asked, keep_turns=turns, keep_steps=profile.keeps.steps or asked.keep_steps)


def _excess(overflow: Overflow | None, whole: int) -> int:
    """Return the tokens to lose after an overflow: what was too much, and a tenth of it."""
    if overflow is None:
        return 0
    if overflow.gap is None:
        return min(UNKNOWN_EXCESS, whole - RECOVERY_TARGET.resolve(whole))
    return -(-overflow.gap * 11 // 10)


def _steps(recipe: Recipe, whole: int, target: int | None) -> Iterator[StageStep[Any]]:
    options, own = recipe.plan, recipe.profile.stages
    if options.overflow is not None:
        own = recipe.profile.overflow_stages or own
    known = {each.name: each for each in reversed(own)} if recipe.measure.profile else {}
    chosen = [
        replace(
            known.get(canonical_name(name), ProfileStage(name=canonical_name(name))),
            system_name=name,
        )
        for name in options.stages
    ]
    for each in chosen or own:
        reach = None if each.target is None else each.target.resolve(whole)
        stage = stage_named(each.name)
        yield StageStep(
            stage=stage,
            options=stage.options(**{**each.options, **options.settings.get(each.name, {})}),
            falls_back=each.falls_back,
            extra_tokens=0 if reach is None or target is None else max(0, reach - target),
            requested_name=each.system_name,
        )


def _whole(recipe: Recipe, limits: Limits) -> int:
    """Return the tokens that the size to reach is a share of, and never above.

    What the user names is of the window, unless with the rules of a system; what follows from a
    trigger or a profile is of what levels and gates refer to, so that it is not due again at once.
    """
    options = recipe.plan
    if options.target is not None and not emulates_system(recipe.measure.profile):
        whole = limits.budget.window
    else:
        whole = limits.budget.available if options.overflow else limits.base_tokens
    known = options.overflow.limit if options.overflow else None
    return whole if known is None else min(whole, known)


def _target(recipe: Recipe, whole: int, window: int) -> int | None:
    options = recipe.plan
    if options.keep is not None:
        return None
    if options.target is not None:
        return options.target.resolve(whole)
    if options.overflow is not None:
        return RECOVERY_TARGET.resolve(whole)
    return _quiet(recipe, whole, window) if _is_of_trigger(recipe) else None


def _quiet(recipe: Recipe, whole: int, window: int) -> int | None:
    """Return the size that the profile asks for, or where its trigger fires if that is less.

    A trigger that fires at any size, as one of agent-code's in a small window, names none.
    """
    reach, limit = recipe.profile.target, _until(recipe).threshold(whole, window)
    limit = whole if limit == 0 else limit
    sizes = [] if limit is None else [limit]
    sizes += [reach.resolve(whole)] if isinstance(reach, TargetSize) else []
    return max(1, min(*sizes, whole)) if sizes else None


def _is_of_trigger(recipe: Recipe) -> bool:
    """Tell whether to go on until the trigger fires no more."""
    options = recipe.plan
    if options.keep or options.target or options.overflow or options.stages:
        return False
    return options.trigger is not None or recipe.profile.target != "all"


def _until(recipe: Recipe) -> Trigger:
    return recipe.plan.trigger or recipe.profile.trigger


def stage_list(text: str) -> tuple[str, ...]:
    """Split a list of stage names as given on the command line."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        raise UsageError("no stage is named; write --stages prune,dedup")
    return _checked(names)


def _checked(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        stage_named(name)
    return tuple(names)
