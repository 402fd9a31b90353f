"""Settings from the environment and from files, and which of them counts."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cli.asking import Ask

from compactctl.cli.group import Commands
from compactctl.cli.opt import Opt
from compactctl.cli.precedence import flag_of, options_of


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a project of its own, with an empty folder for the user's settings."""
    project = tmp_path / "project"
    (project / "deep").mkdir(parents=True)
    (project / ".git").mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    monkeypatch.chdir(project / "deep")
    return project


def model_of(ask: Ask, desk: Path, *arguments: str) -> object:
    return ask(*arguments, "stats", desk, "--json").json["model"]


def user_settings(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "settings" / "compactctl"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text)


def test_what_counts_more(
    ask: Ask, desk: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_settings(tmp_path, 'model = "gpt-4"\n')
    assert model_of(ask, desk) == "gpt-4"
    (home / "pyproject.toml").write_text('[tool.compactctl]\nmodel = "o1"\n')
    assert model_of(ask, desk) == "o1"
    (home / "deep" / "compactctl.toml").write_text('model = "o3"\n[stats]\nmodel = "o4-mini"\n')
    assert model_of(ask, desk) == "o4-mini"
    monkeypatch.setenv("COMPACTCTL_MODEL", "gpt-5")
    assert model_of(ask, desk) == "gpt-5"
    found = ask("stats", desk, "--json", "--model", "gpt-4.1").json
    assert found["model"] == "gpt-4.1"


def test_a_file_can_be_named_or_none_at_all(ask: Ask, desk: Path, home: Path) -> None:
    plain = model_of(ask, desk)
    (home / "compactctl.toml").write_text('model = "o3"\n')
    (home / "other.toml").write_text('model = "o1"\n')
    assert model_of(ask, desk) == "o3"
    assert model_of(ask, desk, "--config", str(home / "other.toml")) == "o1"
    assert model_of(ask, desk, "--config", "none") == plain


def test_the_environment_names_a_file_or_none_at_all(
    ask: Ask, desk: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = model_of(ask, desk)
    (home / "compactctl.toml").write_text('model = "o3"\n')
    (home / "other.toml").write_text('model = "o1"\n')
    monkeypatch.setenv("COMPACTCTL_CONFIG", "none")
    assert model_of(ask, desk) == plain
    assert ask("show", "settings", "--json").json["files"] == []
    assert model_of(ask, desk, "--config", str(home / "other.toml")) == "o1"
    monkeypatch.setenv("COMPACTCTL_CONFIG", str(home / "other.toml"))
    assert model_of(ask, desk) == "o1"


@pytest.mark.parametrize("name", ["XDG_CONFIG_HOME", "HOME"])
def test_a_relative_folder_does_not_hold_the_users_settings(
    ask: Ask, desk: Path, home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    plain = model_of(ask, desk)
    monkeypatch.delenv("XDG_CONFIG_HOME")
    monkeypatch.setenv(name, "here")
    for folder in ("here", "here/.config"):
        (home / "deep" / folder / "compactctl").mkdir(parents=True)
        (home / "deep" / folder / "compactctl" / "config.toml").write_text('model = "o3"\n')
    assert model_of(ask, desk) == plain


def test_settings_end_at_the_root_of_the_project(ask: Ask, desk: Path, home: Path) -> None:
    plain = model_of(ask, desk)
    (home.parent / "compactctl.toml").write_text('model = "o3"\n')
    assert model_of(ask, desk) == plain


def test_a_pyproject_without_our_table_is_passed_over(ask: Ask, desk: Path, home: Path) -> None:
    (home / "compactctl.toml").write_text('model = "o3"\n')
    (home / "deep" / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert model_of(ask, desk) == "o3"


MERGING = b"<<<<<<< ours\n[tool.ruff]\n"
NOT_OURS = {
    "merging": MERGING,
    "of a project called compactctl": b'<<<<<<<\n[project]\nname = "compactctl"\n',
    "no UTF-8": b"x = '\xff'\n",
    "a mark and no TOML": b"\xef\xbb\xbfx",
    "nested": b"a = " + b"[" * 5_000,
    "large": b"#" * (1 << 21),
}


@pytest.mark.parametrize("text", NOT_OURS.values(), ids=NOT_OURS)
def test_a_broken_pyproject_that_does_not_name_our_table_is_passed_by(
    ask: Ask, desk: Path, home: Path, text: bytes
) -> None:
    (home / "compactctl.toml").write_text('model = "o3"\n')
    (home / "deep" / "pyproject.toml").write_bytes(text)
    assert model_of(ask, desk) == "o3"


@pytest.mark.parametrize("name", ["pyproject.toml", "compactctl.toml"])
def test_what_is_no_file_holds_no_settings(ask: Ask, desk: Path, home: Path, name: str) -> None:
    (home / "compactctl.toml").write_text('model = "o3"\n')
    place = home / "deep" / name
    place.mkdir()
    assert model_of(ask, desk) == "o3"
    place.rmdir()
    place.symlink_to("nowhere")
    assert model_of(ask, desk) == "o3"
    place.unlink()
    os.mkfifo(place)
    assert model_of(ask, desk) == "o3"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_pyproject_that_may_not_be_read_is_passed_by(ask: Ask, desk: Path, home: Path) -> None:
    (home / "deep" / "pyproject.toml").write_bytes(MERGING)
    (home / "deep" / "pyproject.toml").chmod(0)
    assert ask("stats", desk).code == 0


BROKEN = (
    ("compactctl.toml", MERGING, "line 1"),
    ("compactctl.toml", b'model = "o3"\n# \xff\n', "line 2 is not UTF-8"),
    ("pyproject.toml", MERGING + b"[tool.compactctl]\n", "line 1"),
    ("pyproject.toml", b'<<<\n[tool."compactctl".stats]\n', "line 1"),
)


@pytest.mark.parametrize("broken", BROKEN, ids=repr)
def test_broken_settings_are_named_with_their_line(
    ask: Ask, desk: Path, home: Path, broken: tuple[str, bytes, str]
) -> None:
    name, text, where = broken
    path = home / "deep" / name
    path.write_bytes(text)
    outcome = ask("stats", desk)
    assert outcome.code == 2
    assert outcome.err.startswith(f"compactctl: {path}: settings cannot be read: ")
    assert where in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_mark_in_front_of_settings_is_no_part_of_them(ask: Ask, desk: Path, home: Path) -> None:
    (home / "compactctl.toml").write_bytes(b'\xef\xbb\xbfmodel = "o3"\n')
    assert model_of(ask, desk) == "o3"


def test_every_option_that_names_a_file_is_known_for_it() -> None:
    options = [option for command in Commands().values() for option in options_of(command)]
    words = ("FILE", "DIR", "FOLDER")
    naming = {flag_of(each) for each in options if any(w in (each.metavar or "") for w in words)}
    paths = {(flag_of(each), each.path) for each in options if isinstance(each, Opt) and each.path}
    assert naming == dict(paths).keys(), (
        "compactctl/cli: an option whose metavar is a FILE, DIR or FOLDER needs path=, and only it"
    )
    assert len(paths) == len(naming), "compactctl/cli: options of one name need the same path="


@pytest.mark.parametrize("value", ['"mine.toml"', '["mine.toml"]', '["roo", "~/mine.toml"]'])
def test_files_of_a_list_are_relative_to_the_settings(
    ask: Ask, desk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    own = tmp_path / "settings" / "compactctl"
    monkeypatch.setenv("HOME", str(own))
    user_settings(tmp_path, f"[simulate]\nprofile = {value}\n")
    (own / "mine.toml").write_text('base = "roo"\n')
    outcome = ask("lab", "simulate", desk, "--json")
    assert outcome.err == ""
    assert "mine" in outcome.out


def test_stage_options_and_profiles_can_be_set(ask: Ask, desk: Path, home: Path) -> None:
    (home / "mine.toml").write_text('base = "agent-code"\ntarget = 2_000\n')
    (home / "compactctl.toml").write_text(
        'profile = "mine.toml"\n[microcompact]\nkeep_recent = 1\n'
    )
    found = ask("compact", desk, "-n", "--json").json
    assert found["targetTokens"] == 2_000
    options = found["stages"][0]["options"]
    assert (found["stages"][0]["name"], options["keep_recent"]) == ("microcompact", 1)


def test_config_tells_every_value_with_its_origin(
    ask: Ask, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "compactctl.toml").write_text('window = "64k"\n[compact]\nstages = "prune"\n')
    monkeypatch.setenv("COMPACTCTL_TARGET", "0.5")
    found = ask("show", "settings", "--all", "--json").json
    rows = {row["option"]: (row["value"], row["origin"]) for row in found["settings"]}
    file = str(home / "compactctl.toml")
    assert found["files"] == [file]
    assert rows["--window"] == ("64k", file)
    assert rows["--stages"] == ("prune", file)
    assert rows["--target"] == ("0.5", "environment: COMPACTCTL_TARGET")
    assert rows["--layout"] == ("split", "default")
    assert rows["--prune-min-savings"] == (20_000, "default")
    assert "--window" in ask("show", "settings").out
    assert "--layout" not in ask("show", "settings").out


def test_config_tells_which_setting_overrules_another(
    ask: Ask, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)
    user_settings(tmp_path, "page = 2\n")
    (home / "compactctl.toml").write_text('keep = "30%"\n')
    monkeypatch.setenv("COMPACTCTL_TARGET", "5k")

    def rows(command: str) -> dict[str, tuple[object, str]]:
        found = ask("show", "settings", command, "--json").json
        return {row["option"]: (row["value"], row["origin"]) for row in found["settings"]}

    assert rows("compact") == {
        "--target": ("5k", "environment: COMPACTCTL_TARGET"),
        "--keep": (None, "default; compactctl.toml is overruled by --target"),
    }
    own = tmp_path / "settings" / "compactctl" / "config.toml"
    assert rows("view") == {"--page": (1, f"default; {own} is without an effect")}
    assert ask("show", "settings", "frobnicate").err.startswith(
        "compactctl: no command named 'frobnicate'; see compactctl --help"
    )


def test_config_tells_what_a_project_may_set(ask: Ask) -> None:
    found = ask("show", "settings", "--all", "--json").json
    marked = {row["option"]: row["project"] for row in found["settings"]}
    assert marked["--window"]
    assert marked["--prune-min-savings"]
    assert not marked["--output"]
    assert not marked["--prune-placeholder"]
    shown = ask("show", "settings", "--all").out
    assert re.search(r"^--window .* yes$", shown, re.MULTILINE)
    assert re.search(r"^--output .* no$", shown, re.MULTILINE)


def test_settings_of_a_command_import_no_other(desk: Path, home: Path) -> None:
    (home / "compactctl.toml").write_text('model = "o3"\nprofile = "neurolink"\n')
    probe = (
        "import sys; from compactctl.__main__ import run; run(sys.argv[1:]); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe, "stats", str(desk)],
        capture_output=True,
        check=True,
        text=True,
    )
    imported = done.stdout.split()
    assert "compactctl.cli.stats" in imported
    assert not {"compactctl.cli.batch", "compactctl.cli.compact"} & set(imported)


def test_options_of_another_command_are_passed_over(ask: Ask, desk: Path, home: Path) -> None:
    (home / "compactctl.toml").write_text('target = "5k"\n[batch]\nstages = "prune"\n')
    assert ask("stats", desk).code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("modl = 1", "modl is not an option; did you mean model?"),
        ("[stats]\ntarget = 3", "[stats] target is not an option"),
        (
            "[prune]\nmin_saving = 3",
            "prune-min-saving is not an option; did you mean prune-min-savings",
        ),
        ("stats = 3", "write its settings as [stats]"),
        ('top = "many"', "top: 'many' is not a whole number"),
        ("top = inf", "top: inf is not a whole number"),
        ("top = 2.5", "top: 2.5 is not a whole number"),
        ("top = true", "top: True is not a whole number"),
        ("top = -1", "top: -1 is not in the range"),
        ("strict = 1", "strict: 1 is neither true nor false"),
        ("fail-over = true", "fail-over: True is not a number"),
        ('fail-over = "much"', "fail-over: 'much' is not a share; write it as 80% or 0.8"),
        ("model = 2026-01-31", "model: datetime.date(2026, 1, 31) is not text"),
        ("model = true", "model: True is not text"),
        ('model = ["o3"]', "model takes one value"),
        ("[prune.min]\nsavings = 1", "prune-min is not an option"),
        ("a = " + "[" * 5_000, "settings cannot be read: nested too deeply; simplify it"),
        ("prune" + ".a" * 5_000 + " = 1", "prune-a is not an option"),
        ("model = [", "settings cannot be read: "),
    ],
)
def test_what_is_wrong_in_settings_is_said(
    ask: Ask, desk: Path, home: Path, text: str, message: str
) -> None:
    (home / "compactctl.toml").write_text(text)
    outcome = ask("stats", desk)
    assert outcome.code == 2
    assert outcome.err.startswith(f"compactctl: {home / 'compactctl.toml'}: ")
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("min-savings = 2.5", "prune-min-savings: 2.5 is not a whole number"),
        ("keep-errors = 1", "prune-keep-errors: 1 is neither true nor false"),
        ("unit = 3", "prune-unit: 3 is not text"),
        ("protect-tools = [3]", "prune-protect-tools: [3] is not text"),
    ],
)
def test_a_stage_takes_from_settings_what_it_takes_from_profiles(
    ask: Ask, desk: Path, home: Path, text: str, message: str
) -> None:
    (home / "compactctl.toml").write_text(f"[prune]\n{text}\n")
    of_settings = ask("compact", desk, "-n")
    (home / "compactctl.toml").unlink()
    (home / "own.toml").write_text(f'[[stages]]\nstage = "prune"\n{text.replace("-", "_")}\n')
    of_profile = ask("compact", desk, "-n", "--profile", home / "own.toml")
    assert (of_settings.code, of_profile.code) == (2, 2)
    assert message in of_settings.err
    assert message.partition(": ")[2] in of_profile.err


def test_texts_may_be_numbers_and_a_list_of_one_needs_no_brackets(
    ask: Ask, desk: Path, home: Path
) -> None:
    (home / "compactctl.toml").write_text(
        'target = 0.5\nwindow = 32000\npin = "m1"\n[prune]\nprotect-tools = "Read"\n'
    )
    found = ask("compact", desk, "-n", "--json").json
    assert found["targetTokens"] == 16_000


def test_a_settings_file_that_is_not_there_is_a_usage_error(ask: Ask, desk: Path) -> None:
    outcome = ask("--config", "nope.toml", "stats", desk)
    assert outcome.code == 2
    said = "nope.toml: settings cannot be read: No such file or directory; name a readable file"
    assert outcome.err == f"compactctl: {said}\n"


def test_a_project_cannot_have_a_profile_choose_who_writes(
    ask: Ask, desk: Path, home: Path
) -> None:
    (home / "mine.toml").write_text('summarizer = "openai"\nsummarizer_model = "small"\n')
    (home / "compactctl.toml").write_text('profile = "mine.toml"\n')
    outcome = ask("compact", desk, "-n", "--stages", "summarize")
    assert outcome.code == 2
    assert "a project's file may not set that" in outcome.err


def test_an_option_with_the_name_of_a_command_can_be_set_for_all(ask: Ask, home: Path) -> None:
    (home / "compactctl.toml").write_text('stages = "dedup,prune"\n')
    assert "dedup,prune" in ask("show", "settings", "compact").out
    (home / "compactctl.toml").write_text("stats = 5\n")
    assert "write its settings as [stats]" in ask("show", "settings", "compact").err


MEANINGLESS = {
    "window": "99x",
    "target": "99z",
    "trigger": "sometimes",
    "stages": "prune,nothing",
    "format": "letters",
}


@pytest.mark.parametrize("option", MEANINGLESS)
def test_a_value_that_means_nothing_is_told_with_where_it_stands(
    ask: Ask, desk: Path, home: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    value = MEANINGLESS[option]
    given = ask("compact", desk, f"--{option}", value)
    (home / "compactctl.toml").write_text(f'{option} = "{value}"\n')
    of_file = ask("compact", desk)
    (home / "compactctl.toml").unlink()
    monkeypatch.setenv(f"COMPACTCTL_{option.upper()}", value)
    of_environment = ask("compact", desk)
    assert (given.code, of_file.code, of_environment.code) == (2, 2, 2)
    assert f"invalid value for '--{option}': " in given.err
    assert "environment" not in given.err
    assert of_file.err.startswith(f"compactctl: {home / 'compactctl.toml'}: {option}: ")
    origin = f"it is the value of COMPACTCTL_{option.upper()} in the environment; see compactctl"
    assert origin in of_environment.err


def test_of_an_option_that_may_be_repeated_it_is_told_how_the_environment_has_it(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPACTCTL_CLIENT", "codex\nnobody")
    outcome = ask("sessions")
    assert outcome.code == 2
    assert "no client named 'nobody'" in outcome.err
    assert "the value of COMPACTCTL_CLIENT in the environment, one on a line;" in outcome.err


@pytest.mark.parametrize("option", ["fail-over", "chars-per-token"])
@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_a_limit_that_nothing_is_over_is_refused(
    ask: Ask, desk: Path, option: str, value: str
) -> None:
    refused = ask("stats", desk, f"--{option}", value)
    assert (refused.code, refused.out) == (2, "")
    assert f"'--{option}'" in refused.err


def test_config_masks_secrets_in_commands(
    ask: Ask, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert home.is_dir()
    monkeypatch.setenv("COMPACTCTL_COUNTER_CMD", "count --api-key hunter-2 --fast")
    for given in ([], ["--json"]):
        shown = ask("show", "settings", *given).out
        assert "count --api-key [REDACTED:credential] --fast" in shown
        assert "hunter-2" not in shown
