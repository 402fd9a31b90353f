"""A profile that extends another contains only what differs, and the difference can be listed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.errors import UsageError
from compactctl.profiles.parse import parse_user_profile
from compactctl.profiles.profile import Change
from compactctl.profiles.registry import PROFILES, builtin_profile
from compactctl.profiles.variants import changes_between, extend

BASE = {
    "trigger": "0.8",
    "budget": {"reserve": 0},
    "stages": [{"stage": "deduplicate", "base": "replaced", "why": "once"}, {"stage": "truncate"}],
}


def test_a_table_named_like_a_stage_replaces_options_of_it() -> None:
    extended = extend({"base": "it", "dedup": {"policy": "regex"}, "truncate": {"max": 3}}, BASE)
    assert extended["stages"] == [
        {"stage": "deduplicate", "base": "replaced", "why": "once", "policy": "regex"},
        {"stage": "truncate", "max": 3},
    ]


def test_a_table_of_a_stage_that_does_not_run_has_its_options_on_request() -> None:
    first = extend({"base": "it", "prune": {"min_savings": 1, "margin": 2}}, BASE)
    assert first["stages"] == BASE["stages"]
    assert extend({"prune": {"min_savings": 3}}, first)["prune"] == {"min_savings": 3, "margin": 2}


def test_a_stage_that_neurolinks_keys_add_has_the_options_of_its_table() -> None:
    base = {**BASE, "limit": {"direction": "tail", "max_bytes": 5}}
    extended = extend({"base": "it", "maxToolOutputBytes": 9}, base)
    assert extended["stages"][0] == {"stage": "limit", "direction": "tail", "max_bytes": 9}
    assert "limit" not in extended


def test_changes_are_named_by_table_and_stage() -> None:
    extended = extend(
        {"base": "it", "budget": {"reserve": 5}, "trigger": "0.9", "dedup": {"base": "tokens"}},
        BASE,
    )
    assert changes_between(BASE, extended) == (
        Change(key="trigger", value="0.9", base_value="0.8"),
        Change(key="budget.reserve", value=5, base_value=0),
        Change(key="deduplicate.base", value="tokens", base_value="replaced"),
    )


def test_windows_are_added_to_those_of_the_base() -> None:
    base = {**BASE, "windows": {"m": 1, "openai": {"a": 1, "b": 2}}}
    own = {"windows": {"openai": {"b": 3}, "azure": {"c": 4}}}
    extended = extend(own, base)
    assert extended["windows"] == {"m": 1, "openai": {"a": 1, "b": 3}, "azure": {"c": 4}}
    assert changes_between(base, extended) == (
        Change(key="windows.openai.b", value=3, base_value=2),
        Change(key="windows.azure.c", value=4, base_value=None),
    )


settings = st.dictionaries(st.sampled_from(["a", "b", "c"]), st.integers(0, 3), max_size=3)


@given(base=settings, own=settings)
def test_the_changes_lead_from_the_base_to_the_extension(
    base: dict[str, int], own: dict[str, int]
) -> None:
    extended = {**base, **own}
    changed = {change.key: change.value for change in changes_between(base, extended)}
    assert {**base, **changed} == extended
    assert all(base.get(key) != value for key, value in changed.items())


def test_a_variant_of_a_system_changes_something_and_says_where_it_is_from() -> None:
    for name in PROFILES:
        if "@" in name:
            origin = builtin_profile(name).origin
            assert origin.base == name.partition("@")[0]
            assert origin.changes
            assert origin.source != builtin_profile(origin.base).origin.source


def test_rules_for_a_model_extend_the_profile_for_names_that_begin_like_it() -> None:
    profile = builtin_profile("copilot")
    stages = [stage.name for stage in profile.stages]
    claude, gemini = (profile.for_model(name) for name in ("claude-sonnet-4.5", "gemini-2.5-pro"))
    assert [stage.name for stage in claude.stages] == ["limit", "prioritize", "drop", *stages[2:]]
    assert [stage.name for stage in gemini.stages] == [*stages, "repair"]
    assert profile.for_model("gpt-5") is profile
    (suffix,) = (
        stage.options["suffix"]
        for stage in profile.for_model("gpt-4.1-mini").stages
        if stage.name == "summarize"
    )
    assert "Keep going" in str(suffix)


def test_rules_for_models_are_added_to_those_of_the_base() -> None:
    base = {
        "stages": [{"stage": "prune", "enabled": False}, {"stage": "dedup"}],
        "models": {"gpt": {"prune": {"enabled": True}}},
    }
    rules = {"gpt": {"prune": {"min_savings": 7}}, "claude": {"prune": {"enabled": True}}}
    profile = parse_user_profile({"base": "it", "models": rules}, "mine", lambda _: base)
    (stage, _) = profile.for_model("gpt-5").stages
    assert (stage.name, stage.options) == ("prune", {"min_savings": 7})


@pytest.mark.parametrize(
    ("rules", "complaint"),
    [
        ({"trigger": "0.5"}, "trigger is not the table of a stage"),
        ({"drop": True}, "drop is not the table of a stage"),
        ({"drp": {}}, "no stage named 'drp'; did you mean drop?"),
        (3, "is not a table"),
    ],
)
def test_rules_for_a_model_only_concern_stages(rules: object, complaint: str) -> None:
    table = {"stages": ["prune"], "models": {"claude": rules}}
    with pytest.raises(UsageError, match=re.escape(complaint)):
        parse_user_profile(table, "mine", lambda _: {})


def test_a_profile_has_a_stage_that_runs() -> None:
    with pytest.raises(UsageError, match="names no stages"):
        parse_user_profile({"stages": [{"stage": "prune", "enabled": False}]}, "mine", lambda _: {})


def test_the_longest_beginning_of_a_model_name_decides() -> None:
    table = {
        "stages": [{"stage": "prune", "min_savings": 1}],
        "models": {"gpt": {"prune": {"min_savings": 2}}, "gpt-4": {"prune": {"min_savings": 3}}},
    }
    profile = parse_user_profile(table, "mine", lambda _: {})
    savings = [
        profile.for_model(name).stages[0].options["min_savings"]
        for name in ("o3", "gpt-5", "gpt-4o")
    ]
    assert savings == [1, 2, 3]
