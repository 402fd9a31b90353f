"""No CI runner finds a command in what is printed, whatever stands where and whoever runs it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cli.asking import Ask
from cli.calls import CALLS
from cli.screens.runners import PIECES, commands_in
from cli.screens.terminal import run_on_terminal
from examples import LONG, tries
from forked import completed
from formats.jsonl import write_lines
from hypothesis import given, settings
from hypothesis import strategies as st

from compactctl.profiles.registry import PROFILES
from compactctl.views.encode import dump_json
from compactctl.views.terminal.screen import PLAIN, register
from compactctl.views.terminal.tables import number, table, table_lines, text
from compactctl.views.terminal.text import defused, one_line, safe_text, shell_path

HOSTILE = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=2)), max_size=8).map("".join)
# Whole commands, one after another, for places where a random text seldom begins a line.
ALL = "\n".join(PIECES)
FEW = settings(max_examples=60 if LONG else 4)


@pytest.fixture(autouse=True)
def runner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a runner read what is printed."""
    monkeypatch.setenv("CI", "true")


def visible(shown: str) -> str:
    return shown.replace("\\", "")


def transcript(folder: Path, hostile: str) -> Path:
    """Write a transcript with hostile text wherever text can stand, its name included."""
    call = {"id": hostile, "function": {"name": hostile, "arguments": hostile}}
    records = [
        {"role": "user", "content": hostile},
        {"role": "assistant", "content": hostile, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": hostile, "content": hostile * 40},
        {"role": "user", "content": "and now?"},
        {"role": "assistant", "content": f"done\n{hostile}", "model": hostile},
    ]
    name = "".join(each for each in hostile if each not in "/\0")[:60]
    return write_lines(folder / f"{name.encode('utf-8', 'replace').decode()}.jsonl", *records)


@given(HOSTILE)
def test_no_command_is_left_in_a_text(hostile: str) -> None:
    for shown in (defused(hostile), safe_text(hostile), one_line(hostile), shell_path(hostile)):
        assert commands_in(shown) == []
    assert visible(defused(hostile)) == visible(hostile)
    assert defused(defused(hostile)) == defused(hostile)


@given(HOSTILE, st.sampled_from(["ascii", "latin-1", "cp437", "utf-8"]))
def test_none_appears_where_letters_are_replaced(hostile: str, encoding: str) -> None:
    register()
    shown = safe_text(hostile)
    assert commands_in(shown.encode(encoding, PLAIN).decode(encoding)) == []


@settings(tries(5))
@given(st.lists(HOSTILE.filter(lambda name: "\0" not in name), min_size=5, max_size=20))
def test_a_path_with_a_command_can_be_pasted(names: list[str]) -> None:
    paths = [name.encode("utf-8", "replace").decode() or "x" for name in names]
    told = subprocess.run(
        ["/bin/bash", "-c", f"printf '%s\\0' {' '.join(map(shell_path, paths))}"],
        capture_output=True,
        check=True,
        env={"LC_ALL": "C.UTF-8"},
    )
    shown = told.stdout.decode().split("\0")[:-1]
    assert list(map(os.path.normpath, shown)) == list(map(os.path.normpath, paths))


@given(st.lists(st.tuples(HOSTILE, HOSTILE), min_size=1), st.integers(20, 100))
def test_tables_stay_aligned(rows: list[tuple[str, str]], width: int) -> None:
    shown = ((one_line(first, 40), one_line(second, 40), "1") for first, second in rows)
    grid = table([text("File", "end"), text("Text", "end"), number("N")], shown)
    titles, rule, *lines = table_lines(grid, width)
    assert len({len(line) for line in (titles, rule)}) == 1
    assert {line.rpartition(" ")[2] for line in lines} == {"1"}


@given(HOSTILE)
def test_a_document_holds_the_same_data_and_no_command(hostile: str) -> None:
    document = {hostile: [hostile, {"text": hostile}]}
    assert commands_in(dump_json(document)) == []
    assert json.loads(dump_json(document)) == document


# With options that show more; a command that is not here is called with the transcript alone.
_WAYS = (
    ("stats",),
    ("stats", "--scope", "full", "--json"),
    ("view",),
    ("view", "--all", "--full"),
    ("view", "--json"),
    ("view", "--message", "1"),
    ("view", "--message", "2", "--json"),
    ("compact", "--stages", "microcompact,summarize", "--explain", "-n"),
    ("compact", "--stages", "limit,truncate", "--limit-max-bytes", "300", "--force"),
    ("rescue", "-n"),
    ("simulate", "--profile", "agent-code"),
    ("batch", "--stages", "dedup", "--jobs", "1"),
    ("report",),
    ("report", "--baseline"),
    ("limit-output",),
    ("limit-output", "--max-bytes", "90"),
    ("rewind", "--check"),
    ("compact", "--hide", "1..2", "-n"),
)
WAYS = (*_WAYS, *((name,) for name in CALLS if name not in {way[0] for way in _WAYS}))


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
@FEW
@given(hostile=HOSTILE)
def test_no_command_prints_one(
    ask: Ask, tmp_path: Path, way: tuple[str, ...], hostile: str
) -> None:
    folder = tmp_path / "case"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for each in (hostile, ALL):
        outcome = ask(way[0], transcript(folder, each), *way[1:])
        assert outcome.out + outcome.err
        assert commands_in(outcome.out) == []
        assert commands_in(outcome.err) == []


@pytest.mark.parametrize(
    "options",
    [
        ("--model",),
        ("--window",),
        ("--counter",),
        ("--format",),
        ("--profile",),
        ("--scope",),
        ("--top",),
        ("--system",),
        ("--",),
        (),
    ],
    ids=" ".join,
)
def test_no_error_repeats_one(ask: Ask, desk: Path, options: tuple[str, ...]) -> None:
    for piece in (*PIECES, ALL) if LONG else (*filter(commands_in, PIECES), ALL):
        given_text = f"--{piece}" if not options else piece
        outcome = ask("stats", desk, *options, given_text.replace("\0", ""))
        assert commands_in(outcome.out + outcome.err) == []


def test_no_line_that_is_wrapped_begins_with_one(desk: Path) -> None:
    path = Path(shutil.copy(desk, desk.with_name(f"run{' ::error::x' * 9}.jsonl")))
    shown = run_on_terminal(40, desk.parent, "stats", "--details", path.name)
    assert "\\::error::x" in shown
    assert commands_in(shown) == []


def test_help_with_defaults_from_settings_holds_none(ask: Ask, tmp_path: Path) -> None:
    marker = "".join(f"\\u{ord(each):04x}" for each in f"\x1b[31m{ALL}")
    mine = tmp_path / "mine.toml"
    mine.write_text(f'[limit-output]\nmarker = "{marker}"\n')
    shown = ask("--config", mine, "limit-output", "--help").out
    assert "#\\#[error]" in shown
    assert "\x1b" not in shown
    assert commands_in(shown) == []


def test_an_internal_error_repeats_none(
    ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise LookupError

    monkeypatch.setattr("compactctl.commands.inspect.stats.scan", broken)
    shown = ask("stats", desk, "--top=1", "--pin", *(f"--{each}=1" for each in PIECES)).err
    assert commands_in(shown) == []


def test_transcripts_are_data_and_stay_as_they_are(ask: Ask, tmp_path: Path) -> None:
    path = transcript(tmp_path, ALL)
    data = path.read_bytes().decode()
    assert commands_in(data)
    assert ask("view", path, "--jsonl").out == data
    assert ask("compact", path, "--stages", "prune", "--layout", "inline", "-o", "-").out == data
    small = tmp_path / "small.jsonl"
    assert (
        ask("compact", path, "--stages", "limit", "--limit-max-bytes", "90", "-o", small).code == 0
    )
    assert ask("rewind", small, "-o", "-").out == data


def test_an_output_for_an_agent_is_as_it_was(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f"{piece}\n" for piece in PIECES)
    monkeypatch.delenv("CI")
    assert ask("harness", "limit-output", stdin=text.encode()).out == text
    for name in ("TF_BUILD", "BUILDKITE"):
        with monkeypatch.context() as on_runner:
            on_runner.setenv(name, "true")
            assert commands_in(ask("harness", "limit-output", stdin=text.encode()).out) == []


def test_an_output_is_kept_within_its_limit_with_its_marks(ask: Ask) -> None:
    text = "".join(f"{piece}\n" for piece in PIECES * 30)
    for size in range(40, 400, 7):
        shown = ask("harness", "limit-output", "--max-bytes", str(size), stdin=text.encode()).out
        assert len(shown.encode()) <= size
        assert commands_in(shown) == []
    assert ask("harness", "limit-output", "--json", stdin=text.encode()).json["content"] == text


def test_no_bundled_profile_holds_one(ask: Ask) -> None:
    for name in PROFILES:
        shown = ask("show", "profiles", name, "--toml").out
        assert commands_in(shown) == []
        assert "\\#" not in shown


def test_the_environment_makes_no_difference(desk: Path) -> None:
    path = transcript(desk.parent, ALL)
    shown = {
        completed(("view", str(path)), desk.parent, {"LC_ALL": "C.UTF-8"} | variables).stdout
        for variables in ({}, {"GITHUB_ACTIONS": "true"}, {"TF_BUILD": "True"}, {"CI": "true"})
    }
    assert len(shown) == 1
    assert shown != {b""}
