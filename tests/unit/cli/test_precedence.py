"""Which of several settings takes effect, which have none, and which contradict each other."""

from typing import Any

import click
import pytest

from compactctl.cli.precedence import (
    ENVIRONMENT,
    OF_STAGES,
    TYPED,
    Exclusive,
    Overruled,
    Setting,
    SettingSource,
    decide,
    flag_of,
    matches,
    options_of,
    variable_of,
)

PROJECT = SettingSource(place="project", file=".compactctl.toml")
IN_TABLE = SettingSource(place="project", file=".compactctl.toml", table="compact")
USER = SettingSource(place="user", file="config.toml")
NEAR_TO_FAR = [TYPED, ENVIRONMENT, IN_TABLE, PROJECT, USER]


ON: object = True


def of(option: str, value: object = ON, source: SettingSource = TYPED, **more: Any) -> Setting:
    return Setting(option=option, value=value, source=source, **more)


def effect(*settings: Setting, command: str = "compact") -> dict[str, object]:
    decision = decide(command, settings)
    assert decision.complaint == ""
    return {name: setting.value for name, setting in decision.in_effect.items()}


def complaint(*settings: Setting, command: str = "compact") -> str:
    return decide(command, settings).complaint


@pytest.mark.parametrize("at", range(4))
def test_the_setting_nearest_to_the_command_line_wins(at: int) -> None:
    near, far = of("target", "30k", NEAR_TO_FAR[at]), of("target", "50k", NEAR_TO_FAR[at + 1])
    for settings in ((near, far), (far, near)):
        decision = decide("compact", settings)
        assert decision.in_effect == {"target": near}
        assert decision.overruled == {}


@pytest.mark.parametrize("at", range(4))
def test_what_a_nearer_setting_excludes_has_no_effect(at: int) -> None:
    near, far = of("target", "30k", NEAR_TO_FAR[at]), of("keep", "30%", NEAR_TO_FAR[at + 1])
    decision = decide("compact", (far, near))
    assert (decision.in_effect, decision.complaint) == ({"target": near}, "")
    assert decision.overruled == {"keep": Overruled(setting=far, by="target")}


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (TYPED, "--target and --keep cannot be used together"),
        (
            ENVIRONMENT,
            "COMPACTCTL_TARGET and COMPACTCTL_KEEP cannot be used together",
        ),
        (USER, "config.toml: target and keep cannot be used together"),
        (
            IN_TABLE,
            ".compactctl.toml: [compact] target and keep cannot be used together",
        ),
    ],
)
def test_two_of_one_source_that_exclude_each_other_are_an_error(
    source: SettingSource, said: str
) -> None:
    assert complaint(of("target", "30k", source), of("keep", "30%", source)) == said


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            (of("native"), of("layout", "inline")),
            "--native and --layout inline cannot be used together",
        ),
        (
            (of("native"), of("tags", value=False)),
            "--native and --no-tags cannot be used together",
        ),
        (
            (of("layout", "messages"), of("output", "x")),
            "--layout messages and --output cannot be used together",
        ),
        (
            (of("plan", "p"), of("prune-protect", 1, of_stage=True)),
            "--plan and --prune-protect cannot be used together",
        ),
    ],
)
def test_values_are_named_where_they_are_what_contradicts(
    settings: tuple[Setting, ...], said: str
) -> None:
    assert complaint(*settings) == said
    assert complaint(*settings[::-1]) == said


@pytest.mark.parametrize(
    "settings",
    [
        (of("layout", "messages"), of("output", "-")),
        (of("native"), of("layout", "split")),
        (of("native"), of("tags", value=True)),
        (of("in-place", value=False), of("output", "x")),
        (of("target", ""), of("keep", "30%")),
        (of("plan", "p"), of("explain")),
    ],
)
def test_other_values_go_together(settings: tuple[Setting, ...]) -> None:
    assert complaint(*settings) == ""
    assert len(effect(*settings)) == 2


def test_a_profile_leaves_to_nearer_settings_what_it_decides() -> None:
    profile, stages = of("profile", "roo", USER), of("stages", "drop")
    assert effect(profile, stages) == {"stages": "drop", "profile": "roo"}
    both = (of("profile", "roo"), of("stages", "drop"))
    assert effect(*both) == {"profile": "roo", "stages": "drop"}
    farther = decide("compact", (of("profile", "roo"), of("stages", "drop", USER)))
    assert list(farther.in_effect) == ["profile"]
    assert farther.overruled["stages"].by == "profile"


@pytest.mark.parametrize(("command", "count"), [("compact", 1), ("eval", 1), ("simulate", 2)])
def test_a_rule_is_for_its_commands(command: str, count: int) -> None:
    settings = (of("profile", "roo"), of("stages", "drop", USER))
    assert len(decide(command, settings).in_effect) == count


def test_what_needs_another_option_has_no_effect_without_it() -> None:
    assert complaint(of("page", 2), command="view") == ("--page has no effect without --limit")
    assert complaint(of("mask-secrets", value=False), command="stats") == (
        "--no-mask-secrets has no effect without --html"
    )
    far = decide("view", (of("page", 2, USER),))
    assert (far.in_effect, far.complaint) == ({}, "")
    assert far.overruled["page"] == Overruled(setting=of("page", 2, USER), by="")
    assert effect(of("page", 2), of("limit", 5), command="view") == {"page": 2, "limit": 5}
    assert effect(of("page", 2), command="other") == {"page": 2}
    for needed in ("client", "group"):
        assert len(effect(of("native"), of(needed), command="rewind")) == 2


def test_an_option_that_has_what_it_needs_hides_no_other() -> None:
    settings = (of("redact"), of("html", "page.html"), of("resume"))
    assert complaint(*settings, command="batch") == ("--resume has no effect without --out")


def test_a_key_is_not_sent_to_another_server() -> None:
    own = (of("base-url", "https://own", USER), of("api-key-env", "OWN", USER))
    other = decide("compact", (*own, of("base-url", "https://other")))
    assert list(other.in_effect) == ["base-url"]
    assert other.overruled["api-key-env"].by == "base-url"
    assert effect(*own, of("base-url", "https://own")) == {
        "base-url": "https://own", "api-key-env": "OWN",
    }  # fmt: skip
    assert effect(*own) == {"base-url": "https://own", "api-key-env": "OWN"}


def test_what_belongs_to_another_summarizer_has_no_effect() -> None:
    file = [
        of(name, "x", USER)
        for name in ("api-key-env", "summarizer-model", "base-url", "summarizer")
    ]
    decision = decide("compact", (*file, of("summarizer", "offline")))
    assert effect(*file, of("summarizer", "offline")) == {"summarizer": "offline"}
    assert {loser.by for loser in decision.overruled.values()} == {"summarizer"}
    excluded = decide("compact", (*file, of("summary-file", "s.md")))
    assert list(excluded.in_effect) == ["summary-file"]
    assert {loser.by for loser in excluded.overruled.values()} == {"summary-file"}


@pytest.mark.parametrize(
    ("term", "setting", "is_met"),
    [
        ("keep", of("keep", "1"), True),
        ("keep", of("keeps", "1"), False),
        ("keep", of("keep", None), False),
        ("keep", of("keep", ()), False),
        ("keep", of("keep", 0), False),
        ("tags=false", of("tags", value=False), True),
        ("tags=false", of("tags", value=True), False),
        ("layout=inline", of("layout", "inline"), True),
        ("layout=inline", of("layout", "split"), False),
        ("output!=-", of("output", "-"), False),
        ("output!=-", of("output", "x"), True),
        (OF_STAGES, of("x", of_stage=True), True),
        (OF_STAGES, of("x"), False),
    ],
)
def test_a_term_is_an_option_or_one_of_its_values(
    term: str, setting: Setting, *, is_met: bool
) -> None:
    assert matches(term, setting) is is_met


def test_a_rule_excludes_all_of_its_terms_or_each_of_two_lists() -> None:
    assert Exclusive(terms=("a", "b", "c")).pairs == (("a", "b"), ("a", "c"), ("b", "c"))
    assert Exclusive(terms=("a",), against=("x", "y")).pairs == (("a", "x"), ("a", "y"))


def test_an_option_has_one_name_in_files_and_in_the_environment() -> None:
    option = click.Option(["-k", "--keep-turns", "--keep"])
    assert (flag_of(option), variable_of(flag_of(option))) == (
        "keep-turns",
        "COMPACTCTL_KEEP_TURNS",
    )
    command = click.Command("x", params=[option, click.Argument(["file"])], add_help_option=True)
    assert list(options_of(command)) == [option]
