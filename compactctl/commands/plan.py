"""Which stages a compaction runs, with which options, down to which size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from compactctl.errors import UsageError
from compactctl.model.operation import OptionValue
from compactctl.pipeline.run import Step
from compactctl.stages.registry import stage_named
from compactctl.stages.stage import Stage
from compactctl.tokens.budget import Budget, Target

# From the least to the most that is lost for each token saved.
DEFAULT_STAGES = ("dedup", "prune", "summarize", "truncate")
# NeuroLink compacts from 80 % of the available input.
DEFAULT_TRIGGER = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """What the user asked for; ``stages`` empty means the default profile."""

    stages: tuple[str, ...] = ()
    target: Target | None = None
    trigger: float = DEFAULT_TRIGGER
    settings: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=dict)
    protect_tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The steps to run and the size to reach; ``target`` None runs every step."""

    steps: tuple[Step, ...]
    target: int | None


def make_plan(options: PlanOptions, budget: Budget) -> Plan:
    """Resolve names and sizes. Raises UsageError for a stage or target that means nothing."""
    if budget.available == 0 and (options.target or not options.stages):
        raise UsageError(
            f"nothing is left for input: the output reserve of {budget.output_reserve:,} tokens "
            f"takes the whole window of {budget.window:,}; lower --max-tokens or raise --window"
        )
    names = options.stages or DEFAULT_STAGES
    steps = tuple(_step(stage_named(name), options) for name in names)
    return Plan(steps=steps, target=_target(options, budget))


def _target(options: PlanOptions, budget: Budget) -> int | None:
    if options.target is not None:
        return options.target.within(budget.available)
    if options.stages:
        return None
    return int(budget.available * options.trigger)


def _step(stage: Stage, options: PlanOptions) -> Step:
    chosen = stage.options(**options.settings.get(stage.name, {}))
    names = {item.name for item in fields(chosen)}
    if "protect_tools" in names and options.protect_tools:
        tools = tuple(dict.fromkeys((*chosen.protect_tools, *options.protect_tools)))
        chosen = replace(chosen, protect_tools=tools)
    return Step(stage=stage, options=chosen)


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
