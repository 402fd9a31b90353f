"""Help: quick, complete, and the same wherever it is shown."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from cli.asking import SERVERS, Ask

from compactctl.cli.group import COMMANDS, Commands, cli, words_of
from compactctl.cli.help import HelpfulCommand, first_sentence
from compactctl.cli.opt import StageOption
from compactctl.cli.precedence import flag_of
from compactctl.cli.renamed import ALIASES
from compactctl.clients.registry import ALL_FORMATS
from compactctl.profiles.registry import DEFAULT_PROFILE, builtin_profile
from compactctl.stages.registry import ALL_STAGES
from compactctl.stages.support.stage import Stage

HEAVY = ("rich", "pyarrow", "tiktoken", "orjson", "multiprocessing", "compactctl.commands")


def command(name: str) -> HelpfulCommand:
    found = Commands()[name]
    assert isinstance(found, HelpfulCommand)
    return found


def test_the_groups_help_imports_nothing_heavy() -> None:
    probe = "import sys; from compactctl.__main__ import run; run(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True, text=True)
    assert "compactctl.cli.group" in done.stdout.split()
    loaded = set(done.stdout.split()) & set(HEAVY)
    assert loaded == set(), "import these in the function that needs them: --help has to be quick"


def test_each_command_has_one_line_of_a_terminal(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = ask("--help").out.splitlines()
    said = [line.split(maxsplit=1) for line in shown]
    assert [line for line in said if line and line[0] in cli.lines] == [
        [name, text] for name, text in cli.lines.items()
    ], "compactctl/cli: make the first line of its help fit on a terminal of 80 columns"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name: str) -> None:
    options = [each for each in command(name).params if isinstance(each, click.Option)]
    unexplained = [each.name for each in options if not each.help or "``" in each.help]
    assert options
    assert not unexplained, f"compactctl/cli: give each of these options of {name} its help"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_tells_the_default_of_every_option_that_has_one(name: str) -> None:
    context = click.Context(command(name))
    with context:
        silent = [
            option.name
            for option in context.command.params
            if isinstance(option, click.Option)
            and isinstance(default := option.get_default(context), str | int | float)
            and default
            and "[default" not in (option.get_help_record(context) or ("", "[default"))[1]
        ]
    assert not silent, f"compactctl/cli: show_default=True, or [default: ...] in the help of {name}"


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - SERVERS))
def test_every_command_has_json(ask: Ask, name: str) -> None:
    assert "--json" in ask(name, "--help").out, (
        f"compactctl/cli: add SHOWN_AS to the options of {name}, which lets users choose the output"
    )


def test_stages_are_listed_and_a_document_has_those_that_are_named(ask: Ask) -> None:
    shown = ask("show", "stages").out
    assert all(re.search(rf"^{stage.name} ", shown, re.MULTILINE) for stage in ALL_STAGES)
    document = ask("show", "stages", "prune", "--json").json
    assert [stage["name"] for stage in document["stages"]] == ["prune"]


@pytest.mark.parametrize("stage", ALL_STAGES, ids=lambda stage: stage.name)
def test_every_stage_and_its_options_are_explained(ask: Ask, stage: Stage[Any]) -> None:
    shown = ask("show", "stages", stage.name).out
    assert shown.startswith(f"{stage.name}: ")
    for name in stage.options.__struct_fields__:
        flag = f"--{stage.name}-{name}".replace("_", "-")
        assert flag in shown


@pytest.mark.parametrize(
    ("stage", "flag", "default"),
    [
        ("prune", "prune-protect-tools", "skill"),
        ("prune", "prune-only-tools", "none"),
        ("prune", "prune-min-savings", "20,000"),
        ("prune", "prune-keep-errors", "off"),
        ("dedup", "dedup-read-tools", "none"),
        ("summarize", "summarize-template", "nine"),
    ],
)
def test_what_an_option_of_a_stage_is_by_default_is_told(
    ask: Ask, stage: str, flag: str, default: str
) -> None:
    shown = " ".join(ask("show", "stages", stage).out.split())
    after = shown.partition(f" --{flag} ")[2]
    assert after.partition("[default: ")[2].partition("]")[0] == default


def test_stages_are_explained_the_same_where_docstrings_are_left_out(ask: Ask) -> None:
    names = [stage.name for stage in ALL_STAGES]
    probe = f"from compactctl.__main__ import run; run(['stages', *{names!r}])"
    done = subprocess.run(
        [sys.executable, "-OO", "-c", probe], capture_output=True, check=True, text=True
    )
    assert done.stdout == ask("show", "stages", *names).out


def test_help_is_the_same_where_docstrings_are_left_out(ask: Ask) -> None:
    lines = [["--help"], *([*words_of(name), "--help"] for name in COMMANDS)]
    probe = f"from compactctl.__main__ import run; [run(line) for line in {lines!r}]"
    done = subprocess.run(
        [sys.executable, "-OO", "-c", probe], capture_output=True, check=True, text=True
    )
    assert done.stdout == "".join(ask(*line).out for line in lines)


@pytest.mark.parametrize("name", ["compact", "batch"])
def test_help_leaves_the_options_of_stages_out_but_takes_them(ask: Ask, name: str) -> None:
    assert "--truncate-fraction" not in ask(name, "--help").out
    assert "--truncate-fraction" in {flag for each in command(name).params for flag in each.opts}


@pytest.mark.parametrize("name", COMMANDS)
def test_many_options_stand_in_sections_each_in_its_own(ask: Ask, name: str) -> None:
    found = command(name)
    own = [
        o for o in found.params if isinstance(o, click.Option) and not isinstance(o, StageOption)
    ]
    shown = ask(name, "--help-all" if found.usual else "--help").out
    if len(found.params) > 12:
        assert "\nOptions:" not in shown, f"compactctl/cli: give each option of {name} a section"
    for each in own:
        assert shown.count(f"  --{flag_of(each)}") + shown.count(f", --{flag_of(each)}") >= 1


@pytest.mark.parametrize("columns", [60, 80, 100])
@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_and_parts_no_flag(
    ask: Ask, name: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for line in ask(name, "--help").out.splitlines():
        is_example = line.strip() in command(name).examples
        assert len(line) <= max(columns, 80 if is_example else 0), (
            f"compactctl/cli: this line of {name} --help is too long"
        )
        assert not re.search(r"--[a-z-]*-$", line), f"{name} --help breaks a flag over two lines"


def option_line(ask: Ask, command: str, flag: str) -> str:
    lines = ask(command, "--help-all").out.splitlines()
    return next(line for line in lines if line.startswith(f"  {flag} "))


@pytest.mark.parametrize(("columns", "beside"), [(60, False), (73, False), (74, True), (100, True)])
def test_on_a_narrow_terminal_long_options_have_their_text_below(
    ask: Ask, columns: int, *, beside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    # Two of the columns are the margin of all help.
    assert ("Use this" in option_line(ask, "compact", "--summary-file")) == beside


def test_short_options_have_their_text_beside_them_on_any_terminal(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = ask("log", "--help").out.splitlines()
    assert "  --archive DIR        Archive folder of FILE, if FILE was" in lines


def test_lines_of_help_are_no_longer_than_is_easy_to_read(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    longest = max(len(line) for line in ask("compact", "--help").out.splitlines())
    assert 80 < longest <= 100


def test_what_commands_do_stands_in_one_column(ask: Ask) -> None:
    lines = ask("--help").out.splitlines()
    columns = {
        line.index(text)
        for name, text in cli.lines.items()
        for line in lines
        if line.startswith(f"  {name} ") and text in line
    }
    assert len(columns) == 1


def test_the_stages_that_run_unasked_are_named_as_the_profile_has_them(ask: Ask) -> None:
    names = [stage.name for stage in builtin_profile(DEFAULT_PROFILE).stages]
    told = ask("compact", "--help").out.partition("By default")[2].partition("\n\n")[0]
    assert re.findall(r"\((\w+)\)", told) == names
    page = Path(__file__).resolve().parents[3] / "docs" / "stages.md"
    words = f"the default: {', then '.join(names)}"
    assert words in page.read_text(), f"docs/stages.md: name what runs unasked as {words!r}"


def test_every_format_is_named(ask: Ask) -> None:
    shown = " ".join(ask("stats", "--help-all").out.replace("-\n", "-").split())
    for each in ALL_FORMATS:
        assert each.name in shown.replace("- ", "-"), f"stats --help-all, --format: {each.name}"


@pytest.mark.parametrize("name", COMMANDS)
def test_short_and_long_help_are_the_same(ask: Ask, name: str) -> None:
    assert ask(name, "-h").out == ask(name, "--help").out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_on_a_screen(ask: Ask, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = ask(name, "-h").out.splitlines()
    assert len(lines) <= 60, f"compactctl/cli: name fewer usual options of {name}"
    known = {flag for option in command(name).params for flag in option.opts}
    assert set(command(name).usual) <= known, f"compactctl/cli: {name} has no such usual option"


def test_the_first_page_has_16_names() -> None:
    assert len(cli.lines) == 16, "put the command into a group: the first page is not to grow"


@pytest.mark.parametrize("name", COMMANDS)
def test_all_options_are_in_the_complete_help(ask: Ask, name: str) -> None:
    shown = ask(name, "--help-all" if command(name).usual else "--help").out
    for option in command(name).params:
        if isinstance(option, click.Option) and not isinstance(option, StageOption):
            assert f"--{flag_of(option)}" in shown


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Use N tokens, e.g. 5. Or fewer. [default: 3]", "Use N tokens, e.g. 5."),
        ("Use 0.5 of it. [default: 1]", "Use 0.5 of it."),
        ("Count by model [default: yes]", "Count by model."),
        ("Take [this] one.", "Take [this] one."),
    ],
)
def test_short_help_has_the_first_sentence_of_an_option(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


def test_without_arguments_the_help_is_an_error(ask: Ask) -> None:
    outcome = ask()
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == ask("--help").out


def test_the_version_is_told(ask: Ask) -> None:
    assert ask("--version").out.startswith("compactctl, version ")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("stat",), "compactctl: no command named 'stat'; did you mean stats?"),
        (("sesions",), "compactctl: no command named 'sesions'; did you mean sessions?"),
        (("compare",), "compactctl: no command named 'compare'; compactctl lab simulate compares"),
        (("codex",), "compactctl: no command named 'codex'; compactctl sessions codex lists its"),
        (("lab", "compare"), "compactctl lab: no command named 'compare'; there are simulate, "),
        (("rescue", "--keep", "30%"), "compactctl rescue: no option --keep; see compactctl rescue"),
        (("rescue", "--client", "pi"), "compactctl rescue: no option --client; see compactctl re"),
        (("sessions", "--full"), "compactctl sessions: no option --full; see compactctl sessions"),
        (
            ("rescue", "--targt", "5k"),
            "compactctl rescue: no option --targt; did you mean --target",
        ),
        (("frobnicate",), "compactctl: no command named 'frobnicate'; there are stats, "),
        (("lab", "evil"), "compactctl lab: no command named 'evil'; did you mean eval?"),
        (
            ("prompt",),
            "compactctl harness prompt: missing argument 'FILE'; see compactctl harness ",
        ),
        (("log", "a", "b"), "compactctl log: got unexpected extra argument (b)"),
    ],
)
def test_a_usage_error_is_one_line_that_helps(
    ask: Ask, arguments: tuple[str, ...], line: str
) -> None:
    outcome = ask(*arguments)
    assert outcome.err.startswith(line)
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("typed", sorted(ALIASES))
def test_what_other_programs_call_a_command_runs_it(ask: Ask, typed: str) -> None:
    for words in (("--help",), ("a", "b", "--json"), ("--targt",)):
        assert ask(typed, *words) == ask(ALIASES[typed], *words)
    assert typed not in cli.lines


@pytest.mark.parametrize("words", [(), ("compact",), ("lab", "eval")])
def test_help_is_a_word_too(ask: Ask, words: tuple[str, ...]) -> None:
    assert ask("help", *words) == ask(*words, "--help")


def test_completion_offers_the_commands_without_importing_one() -> None:
    probe = "import sys; from compactctl.__main__ import run; run([])"
    environment = {
        "_COMPACTCTL_COMPLETE": "bash_complete",
        "COMP_WORDS": "compactctl s",
        "COMP_CWORD": "s",
    }
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", probe],
        capture_output=True,
        check=True,
        env=environment,
        text=True,
    )
    assert done.stdout.split() == [f"plain,{name}" for name in ("stats", "sessions", "show")]
    assert "compactctl.commands" not in done.stderr
