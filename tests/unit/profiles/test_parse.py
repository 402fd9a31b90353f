"""Every key of a profile, what it means where it is missing, and what is refused."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from compactctl.errors import UsageError
from compactctl.profiles.neurolink_keys import translate_neurolink_keys
from compactctl.profiles.parse import parse_profile, parse_user_profile
from compactctl.profiles.profile import (
    NO_LEVEL,
    BackgroundTrigger,
    Profile,
    ProfileCounting,
    ProfileProtection,
    ProfileStage,
    ProfileSummarizer,
)
from compactctl.profiles.registry import builtin_profile, emulates_system, load_profile
from compactctl.tokens.budget import DEFAULT_BUDGET_RULE, BudgetRule, TargetSize
from compactctl.tokens.trigger import ALWAYS, NEVER, TriggerInput, parse_trigger


def profile(**entries: Any) -> Profile:
    return parse_user_profile({"stages": ["prune"], **entries}, "mine", lambda _: {}, "text")


def test_a_profile_of_stages_alone_has_the_defaults() -> None:
    plain = profile()
    assert plain == Profile(
        name="mine",
        title="mine",
        stages=(ProfileStage(name="prune"),),
        trigger=ALWAYS,
        origin=plain.origin,
    )
    assert plain.budget == DEFAULT_BUDGET_RULE
    assert (plain.origin.source, plain.origin.differences, plain.origin.file_text) == (
        "", (), "text",
    )  # fmt: skip
    assert (plain.target, plain.background, plain.levels, plain.file_share, plain.enabled) == (
        "trigger", None, (), 0.6, True,
    )  # fmt: skip
    assert plain.effective_trigger is plain.trigger
    assert plain.summarizer.on_failure == "builtin"


def test_every_key_is_read() -> None:
    found = profile(
        title="My own",
        source="measured",
        differs=["a", "b"],
        trigger="ratio > 0.5",
        target="all",
        reactive=["truncate", {"stage": "dedup"}],
        keep_turns=0,
        keep_steps=1,
        estimator="chars/4",
        counter="fast",
        window="16k",
        image_tokens=0,
        document_bytes=4,
        summarizer="llm",
        summarizer_model="small",
        on_summarizer_failure="skip",
        label_style="role",
        file_share=0.25,
        enabled=False,
    )
    assert (found.title, found.origin.source, found.origin.differences) == (
        "My own", "measured", ("a", "b"),
    )  # fmt: skip
    assert (str(found.trigger), found.effective_trigger, found.target) == (
        "ratio > 0.5", NEVER, "all",
    )  # fmt: skip
    assert [stage.name for stage in found.overflow_stages] == ["truncate", "dedup"]
    assert found.protection == ProfileProtection(turns=0, steps=1)
    assert found.counting == ProfileCounting(
        counter="fast", estimator="chars/4", image_tokens=0, document_bytes=4, window="16k"
    )
    assert found.summarizer == ProfileSummarizer(
        name="llm", model="small", on_failure="skip", label_style="role"
    )
    assert (found.file_share, found.enabled) == (0.25, False)


def test_a_stage_has_its_name_its_target_and_the_systems_words() -> None:
    (stage,) = profile(
        stages=[
            {
                "stage": "prune",
                "why": "clears results",
                "falls_back": True,
                "always": True,
                "target": "60%",
                "min_savings": 3,
            }
        ]
    ).stages
    assert stage == ProfileStage(
        name="prune",
        options={"min_savings": 3},
        explanation="clears results",
        falls_back=True,
        always=True,
        target=TargetSize(value=0.6, unit="ratio"),
    )
    assert stage.display_name == "prune"
    renamed = ProfileStage(name="prune", system_name="clear")
    assert renamed.display_name == "clear"


@pytest.mark.parametrize(
    ("entries", "rule"),
    [
        ({}, BudgetRule()),
        ({"reserve": 5}, BudgetRule(reserve=5, max_reserve=None)),
        ({"reserve": 5, "reserve_max": 4}, BudgetRule(reserve=5, max_reserve=4)),
        ({"reserve_max": 4}, BudgetRule(max_reserve=4)),
        ({"reserve_percent": 10}, BudgetRule(percent=10)),
        ({"longest_answer": True}, BudgetRule(use_max_output=True)),
        ({"multiply_by": 0.8}, BudgetRule(usable_share=Fraction(4, 5))),
        ({"divide_by": 1.25}, BudgetRule(usable_share=Fraction(4, 5))),
        ({"divide_by": 2, "multiply_by": 1.5}, BudgetRule(usable_share=Fraction(3, 4))),
        ({"divide_by": 1}, BudgetRule()),
    ],
)
def test_a_budget(entries: Mapping[str, Any], rule: BudgetRule) -> None:
    assert profile(budget=entries).budget == rule


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"budget": {"divide_by": 0}}, "must leave more than 0"),
        ({"budget": {"divide_by": 0.99}}, "must leave more than 0"),
        ({"budget": {"multiply_by": 0}}, "must leave more than 0"),
        ({"budget": {"multiply_by": 1.01}}, "must leave more than 0"),
        (
            {"budget": {"multiply": 1}},
            r"\[budget\] has no key 'multiply'; did you mean multiply_by",
        ),
        ({"budget": 3}, "budget = 3 is not a table"),
        ({"background": {"warm": 0.1, "jitter": 0, "cold": 1, "hot": 1}}, "has no key 'hot'"),
        ({"background": {"warm": 0.1, "jitter": 0}}, r"has no cold; give warm, jitter, cold"),
        ({"background": {"warm": 2, "jitter": 0, "cold": 1}}, r"\[background\] warm = 2 is not"),
        ({"levels": [{"name": "a", "wen": "0.8"}]}, "a level has no key 'wen'; did you mean when"),
        ({"levels": ["a"]}, "write a level as"),
        ({"keep_steps": 0}, "keep_steps = 0 is not at least 1"),
        ({"on_summarizer_failure": "stop"}, "must be one of builtin, skip, fail"),
        ({"stages": [{"stage": "prune", "falls_back": 1}]}, "stage prune: falls_back = 1"),
        ({"stages": [{"why": "x"}]}, "write a stage as"),
        ({"contextCompaction": {"enabledd": True}}, "contextCompaction has no key 'enabledd'"),
        ({"CompactionConfig": {"trigger": "0.5"}}, "CompactionConfig has no key 'trigger'"),
    ],
)
def test_what_a_key_cannot_hold_is_refused(entries: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message) as error:
        profile(**entries)
    assert str(error.value).startswith("profile mine: ")


def test_settings_about_other_things_are_ignored_in_the_block_of_memory() -> None:
    assert profile(conversationMemory={"redis": "localhost"}) == profile()


def test_a_background_trigger_and_levels_are_read() -> None:
    found = profile(
        trigger="0.9",
        background={"warm": 0.1, "jitter": 0, "cold": 1},
        levels=[
            {"name": "half", "when": "0.5", "text": "{percent}"},
            {"name": "most", "when": "0.8"},
            {"name": "full", "when": "due"},
        ],
    )
    assert found.background == BackgroundTrigger(warm=0.1, jitter=0, cold=1)
    assert [(level.name, str(level.trigger), level.text) for level in found.levels] == [
        ("half", "ratio >= 0.5", "{percent}"),
        ("most", "ratio >= 0.8", ""),
        ("full", "ratio >= 0.9", ""),
    ]
    names = {
        tokens: found.level_at(TriggerInput(tokens=tokens, available=100, turns=0, messages=0)).name
        for tokens in (49, 50, 79, 80, 89, 90, 100)
    }
    assert names == {
        49: "none", 50: "half", 79: "half", 80: "most", 89: "most", 90: "full", 100: "full",
    }  # fmt: skip
    assert NO_LEVEL.name == "none"


def test_an_own_profile_keeps_what_it_says_over_its_base() -> None:
    base = {
        "stages": [{"stage": "prune", "min_savings": 1}, "truncate"],
        "budget": {"reserve": 7, "reserve_max": 9},
        "trigger": "0.5",
    }
    own = {"base": "other", "budget": {"reserve": 8}, "trigger": "0.7"}
    merged = translate_neurolink_keys(own, base)
    assert merged == {
        "stages": base["stages"],
        "budget": {"reserve": 8, "reserve_max": 9},
        "trigger": "0.7",
    }


@pytest.mark.parametrize(
    ("settings", "stages"),
    [
        ({"pruneMinimumSavings": 5}, [{"stage": "prune", "min_savings": 5}, {"stage": "truncate"}]),
        (
            {"maxToolOutputLines": 5},
            [{"stage": "limit", "max_lines": 5}, {"stage": "prune"}, {"stage": "truncate"}],
        ),
        (
            {"keepRecentRatio": 0.5, "truncationFraction": 0.2},
            [
                {"stage": "summarize", "keep_ratio": 0.5},
                {"stage": "prune"},
                {"stage": "truncate", "fraction": 0.2},
            ],
        ),
        ({"enablePrune": False}, [{"stage": "truncate"}]),
        ({"enablePrune": True, "enableTruncate": False}, [{"stage": "prune"}]),
        ({"enableSlidingWindow": False}, [{"stage": "prune"}]),
    ],
)
def test_settings_of_another_system_change_its_stages(
    settings: dict[str, Any], stages: list[dict[str, Any]]
) -> None:
    base = {"stages": ["prune", {"stage": "truncate"}]}
    assert translate_neurolink_keys(settings, base)["stages"] == stages
    assert base == {"stages": ["prune", {"stage": "truncate"}]}


def test_settings_of_another_system_name_its_counter_and_trigger() -> None:
    merged = translate_neurolink_keys(
        {
            "provider": "vertex",
            "contextCompaction": {"threshold": 0.7, "enabled": False},
            "summarizationModel": "m",
        },
        {},
    )
    assert merged == {
        "budget": {},
        "stages": [],
        "counter": "neurolink/vertex",
        "trigger": 0.7,
        "enabled": False,
        "summarizer_model": "m",
    }
    assert "counter" not in translate_neurolink_keys({"provider": ""}, {})
    code = translate_neurolink_keys({"provider": "vertex"}, {"counter": "neurolink@code"})
    assert code["counter"] == "neurolink@code/vertex"


def test_the_profiles_that_are_compactctls_own() -> None:
    own = ["default", "staged"]
    assert not any(emulates_system(builtin_profile(name)) for name in own)
    assert emulates_system(builtin_profile("neurolink"))
    assert not emulates_system(None)


def test_options_of_a_built_in_stage_are_taken_as_they_are() -> None:
    table = {"stages": [{"stage": "prune", "protect_tools": ["a"], "unheard": 1}]}
    (stage,) = parse_profile(table, "theirs").stages
    assert stage.options == {"protect_tools": ("a",), "unheard": 1}
    with pytest.raises(UsageError, match="profile theirs: the profile has no key 'wrong'"):
        parse_profile({**table, "wrong": 1}, "theirs")


def test_a_file_of_a_megabyte_is_read_and_a_larger_one_refused(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    text = 'stages = ["prune"]\n'
    path.write_text(text + "#" * (2**20 - len(text)))
    assert load_profile(str(path)).stages == (ProfileStage(name="prune"),)
    path.write_text(text + "#" * (2**20 + 1 - len(text)))
    with pytest.raises(UsageError, match="has more than 1,048,576 bytes; name another"):
        load_profile(str(path))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("mine.json", b"[]", "contains no table"),
        ("mine.json", b"{", "not understood"),
        ("mine.json", b"[" * 100_000, "not understood"),
        ("mine.toml", b"a = \xff", "cannot be read"),
    ],
)
def test_a_file_that_holds_no_profile_is_refused(
    name: str, data: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(UsageError, match=f"profile {path}: {message}"):
        load_profile(str(path))
    with pytest.raises(UsageError, match="no profile or file named"):
        load_profile(str(tmp_path))


def test_a_trigger_may_be_a_number() -> None:
    assert profile(trigger=0.8).trigger == parse_trigger("0.8")
    assert profile(target=60_000).target == TargetSize(value=60_000, unit="tokens")
