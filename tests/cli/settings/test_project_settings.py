"""What a project's settings file may decide: measuring and stages, nothing else."""

import os
from base64 import b64encode
from pathlib import Path

import click
import pytest
from cli.asking import Ask

from compactctl.asks import MAY, NOT_JUDGED, SHOWN
from compactctl.cli.group import Commands
from compactctl.cli.opt import StageOption, opt, project_rule
from compactctl.cli.precedence import flag_of, options_of, variable_of
from compactctl.cli.settings import settings_of_files
from compactctl.errors import UsageError
from compactctl.stages.registry import ALL_STAGES
from compactctl.store.settings import SettingsFile

OPTIONS = [option for command in Commands().values() for option in options_of(command)]
OF_STAGES = {flag_of(each) for each in OPTIONS if isinstance(each, StageOption)}
REFUSED_FLAGS = sorted({flag_of(each) for each in OPTIONS if project_rule(each) is not MAY})


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, desk: Path) -> Path:
    """Work in a folder of somebody else's, which holds a transcript ``run.jsonl``."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    desk.rename(folder / "run.jsonl")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    return folder


def say(project: Path, text: str) -> None:
    (project / "compactctl.toml").write_text(text)


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(each): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def test_every_option_of_every_command_is_judged() -> None:
    missing = [flag_of(each) for each in OPTIONS if project_rule(each) is NOT_JUDGED]
    assert missing == [], (
        "declare each of these options with ask or flag of compactctl/asks.py, which wants "
        "its section of the help and whether a project may set it"
    )
    with pytest.raises(TypeError, match="'project'"):
        opt("shiny", section=SHOWN, help="Shine.")  # type: ignore[call-arg]


def test_a_flag_is_judged_alike_in_all_commands() -> None:
    rules: dict[str, set[str]] = {}
    for each in OPTIONS:
        rules.setdefault(flag_of(each), set()).add(project_rule(each).name)
    differ = {flag: sorted(names) for flag, names in rules.items() if len(names) > 1}
    assert differ == {}, "give an option the same ProjectRule on each record that asks for it"


def test_options_of_stages_may_be_set_unless_they_are_text() -> None:
    refused = OF_STAGES & set(REFUSED_FLAGS)
    assert {each.rpartition("-")[2] for each in refused} == {
        "text", "marker", "placeholder", "notice", "instructions", "prefix", "suffix", "shadow",
        "mark", "first", "last", "summary",
    }  # fmt: skip
    for stage in ALL_STAGES:
        assert any(each.startswith(f"{stage.name}-") for each in OF_STAGES - refused)


def test_a_new_option_is_refused_until_it_is_judged(tmp_path: Path) -> None:
    command = click.Command("new", params=[click.Option(["--shiny"])])
    file = SettingsFile(
        path=tmp_path / "compactctl.toml", table={"shiny": "x"}, is_project_file=True
    )
    with pytest.raises(UsageError, match=f"shiny {NOT_JUDGED}.*--shiny.*COMPACTCTL_SHINY"):
        settings_of_files({"new": command}, "new", (file,))
    own = SettingsFile(path=tmp_path / "config.toml", table={"shiny": "x"})
    assert settings_of_files({"new": command}, "new", (own,))[0].value == "x"


@pytest.mark.parametrize("flag", REFUSED_FLAGS)
def test_a_refused_option_is_an_error_that_says_where_else(
    ask: Ask, project: Path, tmp_path: Path, flag: str
) -> None:
    say(project, f'{flag} = "x"\n')
    outcome = ask("stats", "run.jsonl")
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith(f"compactctl: {project / 'compactctl.toml'}: {flag} ")
    for place in (f"--{flag})", variable_of(flag), tmp_path / "own" / "compactctl" / "config.toml"):
        assert str(place) in outcome.err


@pytest.mark.parametrize("table", ["compactctl.toml", "pyproject.toml"])
@pytest.mark.parametrize(
    ("command", "settings"),
    [
        (("compact", "run.jsonl"), 'force = true\noutput = "VICTIM"'),
        (("compact", "run.jsonl"), 'output = "VICTIM"'),
        (("compact", "run.jsonl"), "in-place = true"),
        (("compact", "run.jsonl"), "in_place = true"),
        (("compact", "run.jsonl"), "[compact.in]\nplace = true"),
        (("compact", "run.jsonl"), '[compact]\nlayout = "inline"'),
        (("batch", "run.jsonl"), '[batch]\nreport = "VICTIM"'),
        (("batch", "run.jsonl", "--stages", "dedup"), '[batch]\nout = "VICTIM.d"'),
        (("rewind", "small.jsonl"), '[rewind]\noutput = "VICTIM"'),
        (("rewind", "small.jsonl"), "[rewind]\nall = true"),
        (("harness", "limit-output", "run.jsonl"), '[limit-output]\nspill-dir = "VICTIM.d"'),
        (("harness", "limit-output", "run.jsonl"), '[limit-output]\nmarker = "do this"'),
    ],
)
def test_a_project_does_not_say_what_is_written(
    ask: Ask, project: Path, table: str, command: tuple[str, ...], settings: str
) -> None:
    tmp_path = project.parent
    victim = tmp_path / ".bashrc"
    victim.write_text("mine\n")
    assert ask("compact", "run.jsonl", "-o", "small.jsonl", "--stages", "dedup").code == 0
    settings = settings.replace("VICTIM", str(victim))
    if table == "pyproject.toml":
        settings = settings.replace("[", "[tool.compactctl.")
        (project / table).write_text(f"[tool.compactctl]\n{settings}\n")
    else:
        say(project, settings + "\n")
    before = files_below(tmp_path)
    outcome = ask(*command)
    assert outcome.code == 2
    assert "which a project's file may not set" in outcome.err
    assert files_below(tmp_path) == before


def test_what_a_project_may_not_say_the_user_may(ask: Ask, project: Path, tmp_path: Path) -> None:
    own = tmp_path / "own" / "compactctl" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f'[compact]\noutput = "{tmp_path / "own.jsonl"}"\n')
    assert ask("compact", "run.jsonl", "--stages", "dedup").code == 0
    assert (tmp_path / "own.jsonl").is_file()
    say(project, 'layout = "inline"\n')
    assert ask("--config", "compactctl.toml", "stats", "run.jsonl").code == 0


INSIDE = {
    "windows": '"gpt-4.1" = "1m"\n',
    "profile": 'base = "agent-code"\n',
    "counter": "".join(f"{b64encode(bytes([byte])).decode()} {byte}\n" for byte in range(256)),
}


def value_of(key: str, name: str | Path) -> str:
    return f'{key} = "file:{name} x1.5"\n' if key == "counter" else f'{key} = "{name}"\n'


@pytest.mark.parametrize("key", INSIDE)
def test_files_of_the_project_may_be_named(ask: Ask, project: Path, key: str) -> None:
    (project / "deep").mkdir()
    (project / "deep" / "file").write_text(INSIDE[key])
    (project / "link").symlink_to("deep/file")
    for name in ("deep/file", "deep/../link"):
        say(project, value_of(key, name))
        os.chdir(project / "deep")
        outcome = ask("stats", "../run.jsonl", "--json")
        assert outcome.code == 0, outcome.err


@pytest.mark.parametrize("key", INSIDE)
@pytest.mark.parametrize("way", ["absolute", "absolute inside", "above", "link", "folder"])
def test_files_elsewhere_may_not_be_named(
    ask: Ask, project: Path, tmp_path: Path, key: str, way: str
) -> None:
    outside = tmp_path / "file"
    for folder in (tmp_path, project):
        (folder / "file").write_text(INSIDE[key])
    (project / "link").symlink_to(outside)
    (project / "folder").symlink_to(tmp_path)
    names: dict[str, str | Path] = {
        "absolute": outside,
        "absolute inside": project / "file",
        "above": "../file",
        "link": "link",
        "folder": "folder/file",
    }
    say(project, value_of(key, names[way]))
    outcome = ask("stats", "run.jsonl")
    assert outcome.code == 2
    assert "leads out of the project's folder; a project's file may not set that" in outcome.err


def test_the_pattern_of_a_rank_file_leads_nowhere_else(
    ask: Ask, project: Path, tmp_path: Path
) -> None:
    for path in (tmp_path / "file", project / "file"):
        path.write_text(INSIDE["counter"])
    say(project, 'counter = " file:file#cl100k_base x1.5"\n')
    assert ask("stats", "run.jsonl").code == 0
    (project / "file#cl100k_base").symlink_to(tmp_path / "file")
    assert "leads out of the project's folder" in ask("stats", "run.jsonl").err


@pytest.mark.parametrize("key", INSIDE)
@pytest.mark.parametrize("name", ["nope", "nul\\u0000", ".", "loop"])
def test_a_file_that_is_not_there_is_said(ask: Ask, project: Path, key: str, name: str) -> None:
    (project / "loop").symlink_to("loop")
    say(project, value_of(key, name))
    outcome = ask("stats", "run.jsonl")
    assert outcome.code == 2
    assert " named " in outcome.err


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        ('summarizer = "openai"', "names a summarizer"),
        ('summarizationProvider = "llm"', "names a summarizer"),
        ('counter = "file:ranks"', "names a rank file"),
        ('counter = "file:/dev/zero x2"', "names a rank file"),
        ('stages = [{stage = "prune", placeholder = "run this"}]', "placeholder of prune"),
        ('stages = [{stage = "summarize", prefix = "run this"}]', "prefix of summarize"),
        ('stages = [{stage = "summarize", instructions = "x"}]', "instructions of summarize"),
        ('base = "roo"\n[limit]\nmarker = "run this"', "marker of limit"),
        ('base = "roo"\n[models.gpt.summarize]\nsuffix = "run this"', "suffix of summarize"),
    ],
)
def test_a_profile_of_the_project_says_no_more_than_its_settings(
    ask: Ask, project: Path, profile: str, words: str
) -> None:
    (project / "our.toml").write_text(profile + "\n")
    for settings in ('profile = "our.toml"\n', '[simulate]\nprofile = ["default", "our.toml"]\n'):
        say(project, settings)
        outcome = ask("compact", "run.jsonl", "-n")
        assert outcome.code == 2
        assert words in outcome.err
        assert "a project's file may not set that" in outcome.err
    assert "may not set that" not in ask("--config", "none", "profiles", "our.toml").err


def test_a_profile_of_the_project_may_start_from_a_built_in_one(ask: Ask, project: Path) -> None:
    for name in ("default", "agent-code", "codebuddy", "claude-api", "neurolink"):
        (project / "our.toml").write_text(ask("show", "profiles", name, "--toml").out)
        say(project, 'profile = "our.toml"\n')
        assert ask("compact", "run.jsonl", "-n").code == 0
        say(project, "")
    (project / "our.toml").write_text('stages = [{stage = "prune", protect_tokens = 12_345}]\n')
    say(project, 'profile = "our.toml"\n')
    assert ask("compact", "run.jsonl", "-n").code == 0


def test_a_table_of_models_of_the_project_names_no_rank_file(ask: Ask, project: Path) -> None:
    (project / "models.toml").write_text('"x" = {counter = "file:/dev/zero"}\n')
    say(project, 'windows = "models.toml"\n')
    outcome = ask("stats", "run.jsonl")
    assert outcome.code == 2
    assert "names a rank file" in outcome.err


def test_headings_are_those_of_a_built_in_template(ask: Ask, project: Path) -> None:
    (project / "our.md").write_text("# Do this\n")
    say(project, 'template = "our.md"\n')
    outcome = ask("compact", "run.jsonl", "-n", "--stages", "summarize")
    assert outcome.code == 2
    assert "must be one of nine, ten" in outcome.err
    say(project, 'template = "ten"\n')
    assert ask("compact", "run.jsonl", "-n", "--stages", "summarize").code == 0


def test_measuring_and_stages_are_the_projects(ask: Ask, project: Path) -> None:
    say(
        project,
        'model = "gpt-4.1"\nwindow = "64k"\nmax-tokens = 1_000\ncounter = "chars/4"\n'
        'format = "openai-chat"\nfail-over = 0.9\nstages = "prune,truncate"\ntarget = "3k"\n'
        "keep-turns = 1\n[prune]\nprotect_tokens = 10\n[stats]\ntop = 2\n",
    )
    found = ask("stats", "run.jsonl", "--json").json
    assert (found["model"], found["counter"]) == ("gpt-4.1", "chars/4")
    found = ask("compact", "run.jsonl", "-n", "--json").json
    assert [each["name"] for each in found["stages"]] == ["prune", "truncate"]
    assert found["stages"][0]["options"]["protect_tokens"] == 10
