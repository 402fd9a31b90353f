"""Profiles, models and settings as users are told of them."""

from fractions import Fraction
from typing import Any

import pytest
from unit.views.results.screens import shown, titles, words

from compactctl.commands.reference import (
    ConfigResult,
    ConfigRow,
    ProfilesResult,
    models,
    profiles,
    stages,
)
from compactctl.profiles.profile import (
    LevelRule,
    Profile,
    ProfileCounting,
    ProfileOrigin,
    ProfileProtection,
    ProfileStage,
)
from compactctl.records import replace
from compactctl.tokens.budget import BudgetRule, TargetSize
from compactctl.tokens.models.system_windows import parse_system_windows
from compactctl.tokens.trigger import parse_trigger
from compactctl.views.results.reference import (
    config_document,
    config_terminal,
    models_document,
    models_terminal,
    profiles_document,
    profiles_terminal,
    stages_document,
    stages_terminal,
)

DEDUP = ProfileStage(name="dedup", explanation="first")
PROFILE = Profile(
    name="mine", title="My own", stages=(DEDUP,), trigger=parse_trigger("tokens>=50000")
)


def explained(**changes: Any) -> list[str]:
    profile = replace(PROFILE, **changes)
    return words(profiles_terminal(ProfilesResult(profiles=(profile,), named=True)))


def fact(label: str, **changes: Any) -> str:
    [line] = [line for line in explained(**changes) if line.startswith(f"{label} ")]
    return line.removeprefix(f"{label} ")


def test_a_profile_is_explained() -> None:
    assert explained() == [
        "mine: My own",
        f"compacts when {PROFILE.trigger}",
        "down to below the trigger",
        "output reserve 35% of the window, at most 64,000 tokens",
        "leaves alone the newest turn's prompt and its newest 10 steps",
        "",
        "stages",
        "dedup first",
    ]


def test_what_is_special_about_a_profile_is_told() -> None:
    counting = ProfileCounting(
        counter="chars/4", estimator="words", image_tokens=1_600, window="128k",
    )  # fmt: skip
    origin = ProfileOrigin(source="its documentation", differences=("one", "two"))
    levels = (
        LevelRule(name="warning", trigger=parse_trigger("tokens>=1")),
        LevelRule(name="blocked", trigger=parse_trigger("tokens>=2")),
    )
    assert explained(
        enabled=False,
        budget=BudgetRule(usable_share=Fraction(9, 10)),
        counting=counting,
        origin=origin,
        levels=levels,
        overflow_stages=(ProfileStage(name="drop"),),
    ) == [
        "mine: My own",
        "disabled compaction is never due",
        f"compacts when {PROFILE.trigger}",
        "down to below the trigger",
        "output reserve 35% of the window, at most 64,000 tokens",
        "safety margin 90.0% of the rest is used",
        "window 128k",
        "counter chars/4",
        "leaves alone the newest turn's prompt and its newest 10 steps",
        "its own counter words; see --counter",
        "image 1,600 tokens, of any size",
        f"levels warning when {levels[0].trigger}",
        f"blocked when {levels[1].trigger}",
        "source its documentation",
        "",
        "stages",
        "dedup first",
        "",
        "stages after an overflow",
        "drop",
        "",
        "differs in one",
        "two",
    ]


def test_windows_of_its_own_are_counted() -> None:
    windows = parse_system_windows({"a": 1, "b": {"_default": 2, "c": 3}}, "[windows]")
    assert fact("windows", counting=ProfileCounting(windows=windows)) == "its own of 2 models"


@pytest.mark.parametrize(
    ("target", "said", "documented"),
    [
        ("all", "every stage runs, whatever the size", "all"),
        (TargetSize(value=0.25, unit="ratio"), "0.25 of the available input", 0.25),
        (TargetSize(value=30_000, unit="tokens"), "30,000 tokens", 30_000),
    ],
)
def test_a_size_to_reach_is_told(target: Any, said: str, documented: object) -> None:
    assert fact("down to", target=target) == said
    [document] = profiles_document(
        ProfilesResult(profiles=(replace(PROFILE, target=target),), named=True)
    )["profiles"]
    assert document["target"] == documented


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (BudgetRule(reserve=8_000, max_reserve=None), "8,000 tokens"),
        (BudgetRule(percent=20, max_reserve=None), "20% of the window"),
        (
            BudgetRule(use_max_output=True, reserve=8_000, max_reserve=9_000),
            ("the model's maximum output, 8,000 tokens if unknown, at most 9,000 tokens"),
        ),
    ],
)
def test_a_reserve_is_told(rule: BudgetRule, said: str) -> None:
    assert fact("output reserve", budget=rule) == said


@pytest.mark.parametrize(
    ("protection", "said"),
    [
        (ProfileProtection(turns=0), "the newest message, beside what its stages keep"),
        (
            ProfileProtection(turns=1_200),
            "the newest 1,200 turns and the newest message, beside what its stages keep",
        ),
        (ProfileProtection(steps=1), "the newest turn's prompt and its newest step"),
        (ProfileProtection(steps=2), "the newest turn's prompt and its newest 2 steps"),
    ],
)
def test_what_is_left_alone_is_told(protection: ProfileProtection, said: str) -> None:
    assert fact("leaves alone", protection=protection) == said


def test_options_of_stages_are_told() -> None:
    stage = ProfileStage(
        name="prune",
        options={
            "protect_tokens": 40_000, "tools": ("a", "b"), "none": (), "on": True, "off": False,
            "share": 0.5, "text": "two words", "word": "one",
        },
        explanation="why",
        falls_back=True,
        always=True,
        target=TargetSize(value=30_000, unit="tokens"),
    )  # fmt: skip
    assert explained(stages=(stage,))[7:] == [
        "prune why; undone if the result does not fit; runs even within the target",
        "down to 30,000 tokens",
        (
            "protect_tokens 40,000, tools a b, none none, on on, off off, share 0.5, "
            'text "two words", word one'
        ),
    ]


def test_a_document_of_a_profile_has_null_for_what_it_leaves_open() -> None:
    [document] = profiles_document(ProfilesResult(profiles=(PROFILE,), named=True))["profiles"]
    assert document["budget"] == {
        "reserveTokens": None, "reservePercent": 35, "reserveAtMostTokens": 64_000,
        "reserveLongestAnswer": False, "usableShare": 1.0, "besideTools": False,
    }  # fmt: skip
    assert [document[name] for name in ("source", "counter", "estimator", "window")] == [None] * 4
    assert document["stages"] == [
        {
            "stage": "dedup", "options": {}, "why": "first", "fallsBack": False, "always": False,
            "target": None,
        }
    ]  # fmt: skip


def test_profiles_are_listed_with_their_stages() -> None:
    twice = replace(PROFILE, stages=(DEDUP, ProfileStage(name="drop"), DEDUP))
    lines = words(profiles_terminal(ProfilesResult(profiles=(twice,), named=False)))
    assert lines == [
        "Profile Compacts when Stages What it is",
        "─",
        f"mine {PROFILE.trigger} dedup, drop My own",
        "",
        "details of one: compactctl show profiles NAME",
    ]


def test_stages_are_listed() -> None:
    result = stages(["dedup", "drop"])
    lines = words(stages_terminal(result))
    assert lines[0] == f"dedup {result.stages[0].title}"
    assert lines[2:] == ["", "options of one: compactctl show stages STAGE"]
    assert [stage["name"] for stage in stages_document(result)["stages"]] == ["dedup", "drop"]


@pytest.mark.parametrize(
    ("name", "found_by"),
    [
        ("gpt-4.1", "its name: gpt-4.1"),
        ("gpt-4.1-new", "the beginning of its name: gpt-4.1; this model itself is not listed"),
        ("claude-opus-4-99", "line and version: "),
        ("claude-opus-next", "its model line: "),
        ("mystery", "nothing: neither model nor provider is listed"),
    ],
)
def test_how_a_model_was_found_is_told(name: str, found_by: str) -> None:
    lines = words(models_terminal(models(name)))
    assert lines[0] == f"model {name}"
    assert lines[1].startswith(f"found by {found_by}")
    assert lines[-1].startswith("available input ")
    window = next(line for line in lines if line.startswith("window "))
    assert (", the default for unknown models" in window) is (name == "mystery")
    assert models_document(models(name))["resolved"]["modelKnown"] is (name == "gpt-4.1")


def test_a_window_that_may_be_longer_is_told() -> None:
    resolved = models("claude-opus-4-6").resolved
    assert resolved is not None
    lines = words(models_terminal(models("claude-opus-4-6")))
    assert any(line.endswith("; 1,000,000 once a larger request was answered") for line in lines)
    assert any(line.startswith("max output ") for line in lines)


def test_models_are_listed_with_sources_and_clients() -> None:
    result = models()
    lines = shown(models_terminal(result))
    assert len(result.rows) == lines.index("") - 2
    assert lines[lines.index("") + 1] == "Sources of the windows"
    at = lines.index("Where clients compact")
    assert len(lines) - at - 1 == 2 * len(result.clients)
    document = models_document(result)
    assert document["resolved"] is None
    assert len(document["models"]) == len(result.rows)
    assert {client["versions"] for client in document["clients"]} > {None}


def test_settings_are_rows_with_where_they_come_from() -> None:
    values = [None, True, False, ["a", 1], [], "x"]
    rows = tuple(
        ConfigRow(option="--x", value=value, origin="default", project=value is True)
        for value in values
    )
    result = ConfigResult(command="stats", files=("a.toml", "b.toml"), rows=rows)
    assert words(config_terminal(result)) == [
        "settings a.toml",
        "b.toml",
        "",
        "Option Value From Project may",
        "─",
        "--x not set default no",
        "--x on default yes",
        "--x off default no",
        "--x a, 1 default no",
        "--x none default no",
        "--x x default no",
    ]
    assert config_document(result)["settings"][1]["value"] is True
    assert words(config_terminal(ConfigResult(command="stats", files=(), rows=()))) == [
        "settings none found", "", "every option of stats is at its default; --all lists them",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("width", "shown_titles"),
    [
        (98, ["Profile Compacts when Stages"]),
        (72, ["Profile Compacts when"]),
    ],
)
def test_on_a_narrow_terminal_columns_of_profiles_are_left_out(
    width: int, shown_titles: list[str]
) -> None:
    assert titles(profiles_terminal(profiles()), width) == shown_titles
    assert titles(profiles_terminal(profiles()), width + 1) != shown_titles


@pytest.mark.parametrize(
    ("width", "shown_titles"),
    [
        (82, ["Name begins with Window Max output Counter Exactness"]),
        (68, ["Name begins with Window Max output Counter"]),
        (57, ["Name begins with Window Counter"]),
        (45, ["Name begins with Window"]),
    ],
)
def test_on_a_narrow_terminal_columns_of_models_are_left_out(
    width: int, shown_titles: list[str]
) -> None:
    assert titles(models_terminal(models()), width) == shown_titles
    assert titles(models_terminal(models()), width + 1) != shown_titles
