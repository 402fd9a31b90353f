"""Which size a plan reaches, when it is due, and which stages it runs with which options."""

from typing import Any

import pytest

from compactctl.clients.sizes import client_sizes
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe, make_plan, stage_list
from compactctl.errors import UsageError
from compactctl.history.protection import ProtectOptions
from compactctl.profiles.overflow import Overflow
from compactctl.profiles.profile import Profile, ProfileProtection, ProfileStage
from compactctl.profiles.registry import builtin_profile
from compactctl.records import replace
from compactctl.tokens.budget import Budget, TargetSize
from compactctl.tokens.fit import limits_of
from compactctl.tokens.trigger import ALWAYS, parse_trigger

BUDGET = Budget(window=200_000, output_reserve=64_000, source="")
# Claude Code compacts at 167,000 tokens; without it, 136,000 are free for input.
LIMITS = limits_of(replace(BUDGET, max_output=64_000), client_sizes("claude-code").rule())
PLAIN = limits_of(BUDGET, None)
PROFILE = Profile(
    name="mine", title="", trigger=parse_trigger("tokens>=50000"),
    stages=(ProfileStage(name="dedup", options={"threshold": 0.5}), ProfileStage(name="drop")),
)  # fmt: skip


def recipe(
    profile: Profile | None = None, protect: ProtectOptions | None = None, **plan: Any
) -> Recipe:
    return Recipe(
        measure=MeasureOptions(profile=profile),
        plan=PlanOptions(**plan),
        protect=protect or ProtectOptions(),
    )


def ratio(value: float) -> TargetSize:
    return TargetSize(value=value, unit="ratio")


def tokens(value: float) -> TargetSize:
    return TargetSize(value=value, unit="tokens")


@pytest.mark.parametrize(
    ("made", "size", "below"),
    [
        # A share that the user names is one of the window.
        (recipe(target=ratio(0.5)), 100_000, 0),
        (recipe(target=tokens(30_000)), 30_000, 0),
        (recipe(keep=0.5), None, 0),
        # The size at which a trigger fires is itself too large.
        (recipe(PROFILE), 50_000, 1),
        (recipe(replace(PROFILE, trigger=parse_trigger("tokens>50000"))), 50_000, 0),
        (recipe(trigger=parse_trigger("tokens>=40000")), 40_000, 1),
        (recipe(trigger=parse_trigger("ratio>=0.5")), 83_500, 1),
        # Where a profile names a size as well, the lower one counts.
        (recipe(replace(PROFILE, target=tokens(30_000))), 30_000, 0),
        (recipe(replace(PROFILE, target=tokens(90_000))), 50_000, 1),
        (recipe(replace(PROFILE, target=tokens(0.5))), 1, 0),
        (recipe(replace(PROFILE, target=ratio(0.1))), 16_700, 0),
        # One that fires at any size, or at none that there is, counts as what is free.
        (recipe(replace(PROFILE, trigger=parse_trigger("free<300000"))), 167_000, 1),
        (recipe(replace(PROFILE, trigger=parse_trigger("tokens>=900000"))), 167_000, 1),
        (recipe(replace(PROFILE, trigger=ALWAYS)), None, 0),
        (recipe(replace(PROFILE, trigger=parse_trigger("turns>=3"))), None, 0),
        # Named stages run whatever the size.
        (recipe(PROFILE, stages=("drop",)), None, 0),
        (recipe(replace(PROFILE, target="all")), None, 0),
        (recipe(replace(PROFILE, target="all"), trigger=parse_trigger("tokens>=9")), 9, 1),
    ],
)
def test_a_plan_reaches_a_size(made: Recipe, size: int | None, below: int) -> None:
    reach = make_plan(made, LIMITS).reach
    assert (reach.tokens, reach.below) == (size, below)
    assert (reach.share, reach.excess) == (made.plan.keep, 0)


@pytest.mark.parametrize(
    ("overflow", "size", "excess"),
    [
        (Overflow(kind="overflow", actual=210_000, limit=200_000), 95_200, 11_000),
        (Overflow(kind="overflow", actual=100_001, limit=100_000), 70_000, 2),
        (Overflow(kind="overflow"), 95_200, 20_000),
        (Overflow(kind="overflow", limit=50_000), 35_000, 15_000),
    ],
)
def test_after_an_overflow_less_is_reached_and_the_excess_goes(
    overflow: Overflow, size: int, excess: int
) -> None:
    reach = make_plan(recipe(error=overflow), LIMITS).reach
    assert (reach.tokens, reach.excess) == (size, excess)


def test_a_target_is_a_share_of_what_a_profile_of_a_system_calls_so() -> None:
    made = recipe(builtin_profile("neurolink"), target=ratio(0.5))
    assert make_plan(made, PLAIN).reach.tokens == 68_000
    assert make_plan(recipe(target=ratio(0.5)), PLAIN).reach.tokens == 100_000


@pytest.mark.parametrize(
    ("if_needed", "enabled", "gate"),
    [(False, True, None), (True, True, "due"), (True, False, "never")],
)
def test_a_gate_is_the_trigger_of_the_profile(
    if_needed: bool,  # noqa: FBT001 - a case of the table
    gate: str | None,
    *,
    enabled: bool,
) -> None:
    found = make_plan(recipe(replace(PROFILE, enabled=enabled), if_needed=if_needed), LIMITS).gate
    shown = {None: None, "due": str(PROFILE.trigger), "never": "never"}[gate]
    assert (None if found is None else str(found)) == shown


def test_stages_are_those_of_the_profile_or_named_ones_with_its_options() -> None:
    plan = make_plan(recipe(PROFILE, settings={"dedup": {"min_savings": 5}}), LIMITS)
    assert [step.stage.name for step in plan.steps] == ["dedup", "drop"]
    assert (plan.steps[0].options.threshold, plan.steps[0].options.min_savings) == (0.5, 5)
    named = make_plan(recipe(PROFILE, stages=("prune", "dedup")), LIMITS)
    assert [step.name for step in named.steps] == ["prune", "dedup"]
    assert named.steps[1].options.threshold == 0.5
    plain = make_plan(recipe(stages=("dedup",)), LIMITS)
    assert plain.steps[0].options.threshold == 0.3
    optional = replace(
        PROFILE, optional_stages=(ProfileStage(name="prune", options={"min_savings": 9}),)
    )
    assert make_plan(recipe(optional, stages=("prune",)), LIMITS).steps[0].options.min_savings == 9
    over = replace(PROFILE, overflow_stages=(ProfileStage(name="truncate"),))
    steps = make_plan(recipe(over, error=Overflow(kind="overflow")), LIMITS).steps
    assert [step.stage.name for step in steps] == ["truncate"]


@pytest.mark.parametrize(
    ("target", "extra"), [(None, 0), (tokens(60_000), 10_000), (tokens(50_000), 0), (tokens(9), 0)]
)
def test_a_stage_may_reach_a_larger_size_of_its_own(target: TargetSize | None, extra: int) -> None:
    stage = ProfileStage(name="drop", target=target, falls_back=True, always=True)
    staged = replace(PROFILE, stages=(stage,))
    [step] = make_plan(recipe(staged), LIMITS).steps
    assert (step.extra_tokens, step.falls_back, step.always) == (extra, True, True)
    assert make_plan(recipe(replace(staged, target="all")), LIMITS).steps[0].extra_tokens == 0


@pytest.mark.parametrize(
    ("asked", "own", "found"),
    [
        (ProtectOptions(), ProfileProtection(turns=2), (2, ProtectOptions().keep_steps)),
        (ProtectOptions(keep_turns=0), ProfileProtection(turns=2, steps=4), (0, 4)),
        (ProtectOptions(), ProfileProtection(), (None, ProtectOptions().keep_steps)),
    ],
)
def test_protection_is_completed_by_the_profile(
    asked: ProtectOptions, own: ProfileProtection, found: tuple[int | None, int]
) -> None:
    plan = make_plan(recipe(replace(PROFILE, protection=own), asked), LIMITS)
    assert (plan.protect.keep_turns, plan.protect.keep_steps) == found


def test_without_room_for_input_there_is_no_plan() -> None:
    full = limits_of(replace(BUDGET, output_reserve=200_000), None)
    with pytest.raises(UsageError, match="takes the whole window of 200,000"):
        make_plan(recipe(), full)
    assert make_plan(recipe(stages=("drop",)), full).reach.tokens is None


def test_stages_are_named_with_commas_between_them() -> None:
    assert stage_list(" prune, ,dedup ") == ("prune", "dedup")
    for wrong in ("", " , ", "prune,nothing"):
        with pytest.raises(UsageError):
            stage_list(wrong)


def test_where_nothing_is_left_for_input_only_named_stages_run() -> None:
    full = limits_of(Budget(window=8_000, output_reserve=8_000, source=""), None)
    with pytest.raises(UsageError, match="no room for input: the output reserve of 8,000"):
        make_plan(recipe(), full)
    assert [step.name for step in make_plan(recipe(stages=("dedup",)), full).steps] == ["dedup"]
    tight = limits_of(Budget(window=8_001, output_reserve=8_000, source=""), None)
    assert make_plan(recipe(), tight).steps
