"""Values of options: numbers, shares and names as they are typed, in files and in variables."""

from pathlib import Path
from typing import Any

import click
import pytest

from compactctl.asks import MAY, MEASURED, NOT_JUDGED
from compactctl.cli.opt import (
    FiniteRange,
    KnownName,
    ParsedText,
    ShareRange,
    opt,
    project_rule,
    section_of,
)
from compactctl.cli.precedence import ENVIRONMENT, TYPED, Setting, SettingSource
from compactctl.cli.settings import (
    settings_of_command_line,
    settings_of_environment,
    settings_of_files,
    validator_of,
    values_of,
)
from compactctl.errors import UsageError
from compactctl.store.settings import SettingsFile


@pytest.mark.parametrize(
    ("text", "share"),
    [("80%", 0.8), ("0.8", 0.8), (" 0.7% ", 0.007), ("10", 10.0), ("0%", 0.0), (0.5, 0.5)],
)
def test_a_share_is_a_number_or_in_percent(text: object, share: float) -> None:
    assert ShareRange(min=0).convert(text, None, None) == share


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("80", "80 would be 8000%; write 80% or 0.8"),
        ("10.5", "10.5 would be 1050%; write 10.5% or 0.105"),
        ("many", "'many' is not a share; write it as 80% or 0.8"),
        ("x%", "'x%' is not a share; write it as 80% or 0.8"),
        ("nan", "nan is not a finite number"),
        ("inf%", "inf is not a finite number"),
        ("-1%", "-0.01 is not in the range x>=0."),
    ],
)
def test_what_is_no_share_is_refused(text: str, said: str) -> None:
    with pytest.raises(click.BadParameter) as raised:
        ShareRange(min=0).convert(text, None, None)
    assert raised.value.message == said


@pytest.mark.parametrize("text", ["inf", "-inf", "nan"])
def test_a_number_is_finite(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a finite number"):
        FiniteRange().convert(text, None, None)
    assert FiniteRange(max=5).convert("1e0", None, None) == 1.0


def parsed(text: str) -> str:
    if text != "known":
        raise UsageError(f"{text} is unknown")
    return text.upper()


def test_a_text_is_parsed_and_a_name_stays_itself() -> None:
    assert ParsedText(parsed).convert("known", None, None) == "KNOWN"
    assert KnownName(parsed).convert("known", None, None) == "known"
    for kind in (ParsedText, KnownName):
        with pytest.raises(click.BadParameter, match="5 is unknown"):
            kind(parsed).convert(5, None, None)


def test_an_option_that_was_not_declared_here_is_about_help() -> None:
    option = opt("inner.keep_turns", MEASURED, MAY, "Help.", short="-k")
    assert (option.opts, option.name) == (["-k", "--keep-turns"], "inner_keep_turns")
    assert (section_of(option), project_rule(option)) == (MEASURED, MAY)
    plain = click.Option(["--version"])
    assert (section_of(plain), project_rule(plain)) == (None, NOT_JUDGED)


OPTIONS: list[click.Parameter] = [
    opt("window", MEASURED, MAY, "A size."),
    opt("pin", MEASURED, MAY, "Names.", multiple=True),
    opt("strict", MEASURED, MAY, "A switch.", is_flag=True),
    opt("count", MEASURED, MAY, "A number.", type=int),
    opt("share", MEASURED, MAY, "A share.", type=ShareRange(min=0)),
    opt("ratio", MEASURED, MAY, "A ratio.", type=float),
    opt("prices", MEASURED, MAY, "A file.", path="settings"),
    opt("here", MEASURED, MAY, "A file.", path="here"),
    opt("scope", MEASURED, MAY, "All.", flag="--all", flag_value="all"),
]
COMMANDS = {
    "stats": click.Command("stats", params=OPTIONS),
    "other": click.Command("other", params=[opt("only", MEASURED, MAY, "Of it.")]),
}


@pytest.mark.parametrize(
    ("variables", "settings"),
    [
        ({"COMPACTCTL_WINDOW": "30k", "WINDOW": "1"}, {"window": "30k"}),
        ({"COMPACTCTL_WINDOW": ""}, {}),
        ({"COMPACTCTL_PIN": "a\nb"}, {"pin": ["a", "b"]}),
        ({"COMPACTCTL_STRICT": "yes"}, {"strict": True}),
        ({"COMPACTCTL_STRICT": "0"}, {"strict": False}),
        ({"COMPACTCTL_STRICT": "maybe"}, {"strict": "maybe"}),
    ],
)
def test_a_variable_sets_an_option(variables: dict[str, str], settings: dict[str, Any]) -> None:
    found = settings_of_environment(COMMANDS["stats"], variables)
    assert {setting.option: setting.value for setting in found} == settings
    assert all(setting.source == ENVIRONMENT for setting in found)


def test_what_is_typed_is_a_setting() -> None:
    found = settings_of_command_line(COMMANDS["stats"], {"window": "1", "scope": "all", "x": 1})
    assert [(setting.option, setting.value) for setting in found] == [
        ("window", "1"),
        ("all", "all"),
    ]
    assert {setting.source for setting in found} == {TYPED}
    assert settings_of_command_line(COMMANDS["stats"], {"scope": "effective"}) == ()


def test_settings_become_values_of_parameters() -> None:
    settings = [
        Setting(option="window", value="1", source=TYPED),
        Setting(option="all", value=True, source=TYPED),
    ]
    assert values_of(COMMANDS["stats"], settings) == {"window": "1", "scope": "all"}
    assert values_of(COMMANDS["stats"], [Setting(option="all", value=False, source=TYPED)]) == {}


@pytest.mark.parametrize(
    ("flag", "good", "bad"),
    [
        ("window", ["1", 1], [True, ["1"], None]),
        ("strict", [True, False], ["yes", 1]),
        ("count", [1], ["1", 1.5]),
        ("share", ["80%", 0.8], [[0.8]]),
        ("ratio", [0.5, 1], [float("inf"), "0.5"]),
        ("pin", [["a", 1]], ["a", [True]]),
    ],
)
def test_a_file_has_values_of_the_type_of_their_option(
    flag: str, good: list[object], bad: list[object]
) -> None:
    [option] = [each for each in OPTIONS if isinstance(each, click.Option) and each.name == flag]
    validate = validator_of(option)
    for value in good:
        validate(value)
    for value in bad:
        with pytest.raises(ValueError, match=r"."):
            validate(value)


def settings_in(
    table: dict[str, Any], tmp_path: Path, *, project: bool = False
) -> dict[str, tuple[object, str]]:
    file = SettingsFile(path=tmp_path / "s.toml", table=table, is_project_file=project)
    found = settings_of_files(COMMANDS, "stats", (file,))
    place = "project" if project else "user"
    assert {(s.source.place, s.source.file) for s in found} <= {(place, str(file.path))}
    return {setting.option: (setting.value, setting.source.table) for setting in found}


def test_a_file_sets_options_for_all_commands_and_for_one(tmp_path: Path) -> None:
    table = {"window": 5, "only": "x", "stats": {"count": 3, "pin": "a"}, "other": {"only": "y"}}
    assert settings_in(table, tmp_path) == {
        "window": ("5", ""), "count": (3, "stats"), "pin": (("a",), "stats"),
    }  # fmt: skip


def test_files_are_named_from_where_the_settings_are(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text("")
    table = {"prices": "p.toml", "here": "p.toml"}
    assert settings_in(table, tmp_path) == {
        "prices": (str(tmp_path / "p.toml"), ""), "here": ("p.toml", ""),
    }  # fmt: skip
    assert settings_in({"prices": "builtin"}, tmp_path)["prices"] == ("builtin", "")
    home = str(Path("~").expanduser())
    assert settings_in({"here": "~/x"}, tmp_path)["here"] == (f"{home}/x", "")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"wndow": 1}, "wndow is not an option; did you mean window?"),
        ({"stats": {"only": 1}}, r"\[stats\] only is not an option; "),
        ({"other": 5}, r"other is a command; write its settings as \[other\]"),
        ({"window": [1]}, "window takes one value, not a list or a table"),
        ({"stats": {"count": "x"}}, "count: "),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, table: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        settings_in(table, tmp_path)


def test_sources_are_ordered_by_their_distance() -> None:
    near = SettingSource(place="project", file="a", table="stats")
    assert near.distance < SettingSource(place="project", file="a").distance
    assert TYPED.distance < ENVIRONMENT.distance < near.distance
