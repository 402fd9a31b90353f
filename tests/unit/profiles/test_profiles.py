import json
from pathlib import Path

import pytest

from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe, make_plan
from compactctl.errors import UsageError
from compactctl.profiles.profile import Profile
from compactctl.profiles.registry import PROFILES, builtin_profile, load_profile
from compactctl.records import replace
from compactctl.stages.registry import stage_named
from compactctl.tokens.budget import Budget, output_reserve
from compactctl.tokens.fit import LimitBase, Limits, limits_of
from compactctl.tokens.models.lookup import resolve_model
from compactctl.tokens.trigger import NEVER, TriggerInput, parse_trigger


def following(profile: Profile, plan: PlanOptions | None = None) -> Recipe:
    return Recipe(measure=MeasureOptions(profile=profile), plan=plan or PlanOptions())


def limits(profile: Profile, model: str = "claude-sonnet-4", window: int | None = None) -> Limits:
    info = resolve_model(model)
    size = window or info.window
    reserve = output_reserve(size, None, profile.budget, info.max_output)
    usable = profile.budget.usable_share
    budget = Budget(window=size, output_reserve=reserve, source="", usable=usable)
    return limits_of(budget, None)


@pytest.mark.parametrize("name", PROFILES)
def test_every_profile_is_complete(name: str) -> None:
    profile = builtin_profile(name)
    where = f"compactctl/profiles/systems/{name}.toml: "
    assert profile.title, f"{where}add a title"
    assert profile.origin.source, f"{where}add a source"
    assert profile.stages, f"{where}name its stages"
    assert all(stage.explanation for stage in profile.stages), f"{where}give each stage a why"
    assert make_plan(following(profile), limits(profile)).steps


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_of_ours_is_right_by_the_rules_for_a_users(name: str, tmp_path: Path) -> None:
    own = builtin_profile(name)
    path = tmp_path / "copy.toml"
    path.write_text(own.origin.file_text)
    checked = load_profile(str(path))
    by_model = {model: replace(rules, name=name) for model, rules in checked.by_model.items()}
    assert replace(checked, name=name, by_model=by_model) == own
    assert repr(checked.stages) == repr(own.stages)


@pytest.mark.parametrize("name", PROFILES)
def test_every_number_of_a_profile_has_its_source_beside_it(name: str) -> None:
    text = builtin_profile(name).origin.file_text
    assert "source = " in text, f"compactctl/profiles/systems/{name}.toml: add a source"
    blocks = [block for block in text.split("\n\n") if any(c.isdigit() for c in block)]
    bare = [b for b in blocks if not any(mark in b for mark in ("#", "source", "differs"))]
    assert bare == [], f"compactctl/profiles/systems/{name}.toml: say where the numbers are from"


# Where each system starts to compact, in tokens of a window.
@pytest.mark.parametrize(
    ("name", "window", "due"),
    [
        ("neurolink", 200_000, 108_800),
        ("neurolink", 128_000, 66_560),
        # 200,000 - 20,000 - 13,000, as its documentation has it
        ("agent-code", 200_000, 167_000),
        ("codebuddy", 200_000, 180_000),
        ("codebuddy", 16_000, 14_400),
        ("codebuddy@code", 200_000, 163_253),
        ("codebuddy@code", 16_000, 9_920),
        ("spring-tokens", 200_000, 4_000),
        ("claude-api", 200_000, 100_000),
    ],
)
def test_when_a_profile_compacts(name: str, window: int, due: int) -> None:
    profile = builtin_profile(name)
    available = limits(profile, window=window).base_tokens
    assert profile.trigger.threshold(available, window) == due


@pytest.mark.parametrize("base", ["available", "window"])
@pytest.mark.parametrize(
    "trigger",
    ["0.3", "ratio > 0.3", "window >= 0.3", "window > 0.3", "free <= 20k", "12k", "tokens > 12k"],
)
def test_a_compaction_reaches_a_size_at_which_its_trigger_no_longer_fires(
    trigger: str, base: LimitBase
) -> None:
    reserve = Budget(window=40_000, output_reserve=14_000, source="")
    whole = Limits(budget=reserve, base=base)
    due = parse_trigger(trigger)
    plan = make_plan(Recipe(plan=PlanOptions(trigger=due)), whole)
    assert plan.reach.tokens is not None
    for beyond, fires in ((-plan.reach.below, False), (1, True)):
        size = TriggerInput(
            tokens=plan.reach.tokens + beyond,
            available=whole.base_tokens,
            turns=0,
            messages=0,
            window=40_000,
        )
        assert bool(due.matched_condition(size)) is fires


def test_a_profile_brings_stages_options_trigger_and_target() -> None:
    profile = builtin_profile("agent-code")
    plan = make_plan(following(profile), limits(profile))
    names = [step.stage.name for step in plan.steps]
    assert names == ["microcompact", "summarize", "collapse"]
    assert plan.steps[0].options.keep_recent == 2
    assert plan.reach.tokens == 167_000


def test_options_given_count_more_than_those_of_the_profile() -> None:
    options = PlanOptions(
        settings={"microcompact": {"keep_recent": 9}}, trigger=parse_trigger("0.5")
    )
    profile = builtin_profile("agent-code")
    plan = make_plan(following(profile, options), limits(profile))
    assert [s.options.keep_recent for s in plan.steps if s.stage.name == "microcompact"] == [9]
    assert plan.reach.tokens == 90_000


def test_named_stages_run_with_the_options_of_the_profile() -> None:
    profile = builtin_profile("opencode")
    options = PlanOptions(stages=("prune", "truncate"))
    plan = make_plan(following(profile, options), limits(profile))
    assert [step.stage.name for step in plan.steps] == ["prune", "truncate"]
    assert plan.steps[0].options.crossing == "clear"
    assert plan.reach.tokens is None


def test_without_a_profile_named_stages_have_their_own_defaults() -> None:
    plan = make_plan(
        Recipe(plan=PlanOptions(stages=("prune",))), limits(builtin_profile("default"))
    )
    assert plan.steps[0].options == stage_named("prune").options()


def write(folder: Path, text: str, name: str = "mine.toml") -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


def test_a_users_profile(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        title = "ours"
        trigger = "turns > 3 or 0.9"
        target = 60_000
        [budget]
        reserve = 1_000
        [[stages]]
        stage = "prune"
        min_savings = 1
        protect_tools = ["skill", "plan"]
        """,
    )
    profile = load_profile(path)
    plan = make_plan(following(profile), limits(profile))
    assert str(profile.trigger) == "turns > 3 or ratio >= 0.9"
    assert plan.reach.tokens == 60_000
    assert plan.steps[0].options.protect_tools == ("skill", "plan")
    assert limits(profile).base_tokens == 199_000


def test_a_profile_builds_on_another(tmp_path: Path) -> None:
    profile = load_profile(write(tmp_path, 'base = "agent-code"\ntrigger = "0.5"\n'))
    assert str(profile.trigger) == "ratio >= 0.5"
    assert profile.stages == builtin_profile("agent-code").stages
    assert profile.budget == builtin_profile("agent-code").budget


# Every key of the two blocks that NeuroLink documents.
COMPACTION_CONFIG = {
    "enablePrune": True,
    "enableDeduplicate": False,
    "enableSummarize": True,
    "enableTruncate": False,
    "pruneProtectTokens": 1_234,
    "pruneMinimumSavings": 7,
    "pruneProtectedTools": ["plan"],
    "summarizationProvider": "vertex",
    "summarizationModel": "gemini-2.5-flash",
    "keepRecentRatio": 0.5,
    "truncationFraction": 0.25,
    "provider": "anthropic",
}
CONTEXT_COMPACTION = {
    "enabled": True,
    "threshold": 0.7,
    "enablePruning": True,
    "enableDeduplication": True,
    "enableSlidingWindow": True,
    "maxToolOutputBytes": 1_000,
    "maxToolOutputLines": 20,
    "fileReadBudgetPercent": 0.4,
}


def test_the_keys_of_compaction_config_are_live(tmp_path: Path) -> None:
    profile = load_profile(write(tmp_path, json.dumps(COMPACTION_CONFIG), "c.json"))
    assert [stage.name for stage in profile.stages] == ["prune", "summarize", "repair"]
    prune, summarize, _ = (stage.options for stage in profile.stages)
    assert (prune["protect_tokens"], prune["min_savings"]) == (1_234, 7)
    assert prune["protect_tools"] == ("plan",)
    assert summarize["keep_ratio"] == 0.5
    assert profile.counting.counter == "neurolink/anthropic"
    assert (profile.summarizer.name, profile.summarizer.model) == ("vertex", "gemini-2.5-flash")


def test_a_variant_can_be_extended(tmp_path: Path) -> None:
    profile = load_profile(write(tmp_path, 'base = "codebuddy@code"\n[strip]\nover = 9'))
    assert str(profile.trigger) == "ratio > 1"
    assert profile.stages[0].options["over"] == 9


def test_the_truncation_fraction_is_live(tmp_path: Path) -> None:
    profile = load_profile(write(tmp_path, "truncationFraction = 0.25"))
    assert {each.name: each for each in profile.stages}["truncate"].options["fraction"] == 0.25


def test_the_keys_of_context_compaction_are_live(tmp_path: Path) -> None:
    table = {"conversationMemory": {"enabled": True, "contextCompaction": CONTEXT_COMPACTION}}
    profile = load_profile(write(tmp_path, json.dumps(table), "c.json"))
    names = [stage.name for stage in profile.stages]
    assert names == ["limit", "prune", "dedup", "summarize", "truncate", "repair"]
    limits = {"max_bytes": 1_000, "max_lines": 20, "share": 0.0, "direction": "tail"}
    assert profile.stages[0].options == limits
    assert str(profile.trigger) == "ratio >= 0.7"
    assert profile.file_share == 0.4


@pytest.mark.parametrize("key", ["enablePruning", "enableDeduplication", "enableSlidingWindow"])
def test_a_stage_can_be_switched_off(tmp_path: Path, key: str) -> None:
    profile = load_profile(write(tmp_path, f"[contextCompaction]\n{key} = false\n"))
    assert len(profile.stages) == len(builtin_profile("neurolink").stages) - 1


def test_compaction_that_is_switched_off_is_never_due(tmp_path: Path) -> None:
    profile = load_profile(write(tmp_path, "[contextCompaction]\nenabled = false\n"))
    plan = make_plan(following(profile, PlanOptions(if_needed=True)), limits(profile))
    assert not profile.enabled
    assert plan.gate == NEVER


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trigger = [", "not understood"),
        ("triger = 0.8", "no key 'triger'; did you mean trigger"),
        ("trigger = 80", "ambiguous"),
        ("stages = []", "names no stages"),
        ('stages = ["prume"]', "no stage named 'prume'; did you mean prune"),
        ("stages = [3]", "write a stage as"),
        ('stages = [{stage = "prune", min_saving = 3}]', "did you mean min_savings"),
        ('stages = [{stage = "prune", min_savings = "x"}]', "prune: min_savings = 'x'"),
        ('stages = [{stage = "prune", min_savings = -1}]', "min_savings = -1"),
        ('stages = [{stage = "prune", crossing = "leap"}]', "crossing = 'leap'"),
        ('stages = ["prune"]\n[budget]\nmultiply_by = 2', "must leave more than 0"),
        ('stages = ["prune"]\n[budget]\nreserve = 1.5', "reserve = 1.5"),
        ('base = "nope"', "no profile named 'nope' to extend"),
        ("enablePrune = 1", "neither true nor false"),
        ("contextCompaction = 3", "contextCompaction = 3 is not a table"),
        ("file_share = 2", "file_share = 2 is not a number from 0 to 1"),
        ("[background]\nwarm = 0.5", r"\[background\] has no jitter"),
        ('[budget]\nreserve = "x"', r"\[budget\] reserve = 'x' is not a whole number"),
        ("differs = 3", "differs = 3 is not a list of texts"),
    ],
)
def test_what_is_wrong_in_a_users_profile_is_said(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(UsageError, match=message) as error:
        load_profile(path)
    assert str(error.value).startswith(f"profile {path}: ")


def test_an_unknown_profile_is_refused_with_a_hint() -> None:
    with pytest.raises(UsageError, match=r"no profile or file named 'neurolinc'; did you mean"):
        load_profile("neurolinc")


def test_every_option_of_a_stage_can_be_set_in_a_profile() -> None:
    for profile in map(builtin_profile, PROFILES):
        for stage in profile.stages:
            names = set(stage_named(stage.name).options.__struct_fields__)
            assert set(stage.options) <= names
