"""Input that is not a transcript: one line that says where, what and what to do."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.asking import Ask

COMMANDS = ("stats", "compact", "view", "log", "rewind")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _folder(path: Path) -> None:
    path.mkdir()


def _binary(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 40)


def _prose(path: Path) -> None:
    path.write_text("Dear diary,\ntoday nothing was compacted.\n")


def _other_json(path: Path) -> None:
    path.write_text('{"level": "info", "event": "started"}\n{"level": "info", "event": "ended"}\n')


def _blank_lines(path: Path) -> None:
    path.write_bytes(b"\n\n\n")


def _torn_gzip(path: Path) -> None:
    path.write_bytes(gzip.compress(b'{"role":"user","content":"x"}\n' * 99)[:-9])


def _missing(_: Path) -> None:
    pass


def _pipe(path: Path) -> None:
    os.mkfifo(path)


KINDS = (
    _empty,
    _folder,
    _binary,
    _prose,
    _other_json,
    _blank_lines,
    _torn_gzip,
    _missing,
    _pipe,
)


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("command", COMMANDS)
def test_one_line_says_where_and_what_to_do(
    ask: Ask, tmp_path: Path, command: str, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "input"
    make(path)
    outcome = ask(command, path)
    assert outcome.code in (3, 4)
    assert outcome.out == ""
    assert outcome.err.startswith(f"compactctl: {path}: ")
    assert ";" in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.parametrize("make", KINDS)
def test_nothing_is_written_beside_it(
    ask: Ask, tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "input"
    make(path)
    before = sorted(tmp_path.rglob("*"))
    ask("compact", path, "--stages", "prune")
    assert sorted(tmp_path.rglob("*")) == before


def test_an_empty_standard_input_is_told(ask: Ask) -> None:
    outcome = ask("stats", "-", stdin=b"")
    assert outcome.code == 3
    assert "empty" in outcome.err


def test_two_lines_are_enough(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    path.write_text('{"role":"user","content":"hi"}\n{"role":"assistant","content":"ho"}\n')
    assert ask("stats", path).code == 0
    outcome = ask("compact", path, "--stages", "dedup,prune,summarize,truncate")
    assert outcome.code == 0
    assert "nothing was changed" in outcome.out
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_line_end_in_a_file_name_leaves_the_error_on_one_line(ask: Ask, command: str) -> None:
    outcome = ask(command, "no\nsuch.jsonl")
    assert outcome.code == 3
    assert outcome.err.splitlines()[0].startswith("compactctl: no\\nsuch.jsonl: ")
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.parametrize("command", ["view", "log", "rewind"])
@pytest.mark.parametrize("name", ["openai-chat.jsonl", "missing"])
def test_an_archive_is_a_folder_that_is_there(
    ask: Ask, compacted: Path, command: str, name: str
) -> None:
    before = compacted.read_bytes()
    outcome = ask(command, compacted, "--archive", compacted.with_name(name))
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"compactctl {command}: invalid value for '--archive': ")
    assert compacted.read_bytes() == before
