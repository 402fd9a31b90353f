"""Archives made by somebody else, with every checksum right: refused, and nothing hangs."""

import os
import shutil
import sys
from pathlib import Path

import pytest
from cli.asking import SAMPLES, Ask, archives
from cli.faults.limited import compactctl
from cli.screens.terminal import PLAIN
from forked import completed
from store.archive.forging import (
    change_operation,
    change_rows,
    claim,
    forge,
    record_of,
    rows_of,
)

from compactctl.__main__ import run

COMMANDS = (
    ("log", "FILE"),
    ("rewind", "FILE", "--check"),
    ("rewind", "FILE", "--all"),
    ("rewind", "FILE"),
    ("view", "FILE", "--all"),
    ("compact", "FILE", "-n", "--stages", "truncate"),
    ("compact", "FILE", "--in-place", "--stages", "truncate"),
)
LIMITED = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems do not limit address space"
)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a transcript that was compacted twice; tests work on copies of its folder."""
    folder = tmp_path_factory.mktemp("once")
    shutil.copy(SAMPLES / "openai-chat.jsonl", folder)
    path = folder / "openai-chat.compacted.jsonl"
    assert run(["compact", str(folder / "openai-chat.jsonl"), "--target", "11k"]) == 0
    assert run(["compact", str(path), "--in-place", "--target", "5k"]) == 0
    return path


@pytest.fixture
def compacted(once: Path, tmp_path: Path) -> Path:
    """Return a copy of the transcript that was compacted twice."""
    return Path(shutil.copytree(once.parent, tmp_path / "desk"), once.name)


@pytest.fixture(params=COMMANDS, ids=" ".join)
def arguments(request: pytest.FixtureRequest, compacted: Path) -> list[str]:
    """Return a command line over the compacted transcript that reads its archive."""
    return [str(compacted) if each == "FILE" else each for each in request.param]


def bytes_in(folder: Path) -> dict[Path, bytes]:
    """Return the content of every file below a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(ask: Ask, arguments: list[str], folder: Path, code: int = 6) -> str:
    """Run a command that must fail with one line and leave everything as it was."""
    before = bytes_in(folder)
    outcome = ask(*arguments)
    assert outcome.code == code, outcome.err
    assert outcome.err.count("\n") == 1
    assert bytes_in(folder) == before
    return outcome.err


def test_two_compactions_in_a_circle(
    ask: Ask, arguments: list[str], compacted: Path, tmp_path: Path
) -> None:
    first, second = archives(compacted)
    name = record_of(second)["id"]
    change_operation(first, lambda record: record.update(parent=name))
    assert "refers to itself" in refused(ask, arguments, tmp_path)


def test_a_compaction_that_builds_upon_itself(
    ask: Ask, arguments: list[str], compacted: Path, tmp_path: Path
) -> None:
    archive = archives(compacted)[-1]
    change_operation(archive, lambda record: record.update(parent=record["id"]))
    assert "refers to itself" in refused(ask, arguments, tmp_path)


def test_a_size_that_is_no_number(
    ask: Ask, arguments: list[str], compacted: Path, tmp_path: Path
) -> None:
    archive = archives(compacted)[-1]
    change_operation(archive, lambda record: record["after"].update(n_bytes="x"))
    assert "after: n_bytes: is not a whole number" in refused(ask, arguments, tmp_path)


def test_a_hundred_thousand_brackets(
    ask: Ask, arguments: list[str], compacted: Path, tmp_path: Path
) -> None:
    archive = archives(compacted)[-1]
    forge(archive, b"[" * 100_000, rows_of(archive))
    assert "nested too deeply" in refused(ask, arguments, tmp_path)


def test_a_state_that_is_larger_than_what_may_be_read(
    ask: Ask, arguments: list[str], compacted: Path, tmp_path: Path
) -> None:
    assert compacted.stat().st_size < 20 << 10
    said = refused(ask, [*arguments, "--max-unpacked", "20K"], tmp_path)
    assert "allow more with --max-unpacked" in said


@pytest.mark.each_choice
@pytest.mark.parametrize("edits", ["[" * 5_000, "{}", '[{"edit":"hide"}]', "null", "[1]"])
@pytest.mark.parametrize(
    "command", [("log",), ("view", "--all"), ("rewind", "--group", "GROUP"), ("compact", "-n")]
)
def test_foreign_edits(
    ask: Ask, compacted: Path, tmp_path: Path, command: tuple[str, ...], edits: str
) -> None:
    group = next(row["group"] for row in rows_of(archives(compacted)[0]) if row["group"])
    for archive in archives(compacted):
        change_rows(archive, lambda rows: rows[2].update(edits=edits))
    name, *options = (each.replace("GROUP", group) for each in command)
    assert "its edits cannot be read" in refused(ask, [name, str(compacted), *options], tmp_path)


@pytest.mark.parametrize("command", [("log",), ("rewind", "--check"), ("verify",)], ids=" ".join)
def test_a_pipe_in_the_place_of_an_archive_is_not_waited_for(
    compacted: Path, command: tuple[str, ...]
) -> None:
    newest = archives(compacted)[-1]
    newest.unlink()
    os.mkfifo(newest)
    done = completed((*command, str(compacted)), Path.cwd(), PLAIN)
    assert done.returncode == (7 if command == ("verify",) else 6)
    said = (done.stdout + done.stderr).decode()
    assert f"{newest}: cannot be read (it is not a regular file)" in said


@LIMITED
@pytest.mark.parametrize("column", ["raw", "edits"])
def test_a_page_that_claims_gigabytes_takes_none(compacted: Path, column: str) -> None:
    claim(archives(compacted)[-1], column, unpacked=(1 << 31) - 1)
    found = compactctl(compacted.parent, "view", compacted.name, "--all", megabytes=1_000)
    assert found.returncode == 7, found.stderr
    assert "contains more than its operation recorded" in found.stderr


@pytest.mark.parametrize("column", ["edits", "tool"])
@pytest.mark.parametrize(
    "command",
    [("view", "--all"), ("verify",), ("compact", "-n", "--stages", "truncate", "--target", "3k")],
    ids=" ".join,
)
def test_a_description_larger_than_what_it_is_of_is_damage(
    ask: Ask, compacted: Path, command: tuple[str, ...], column: str
) -> None:
    newest = archives(compacted)[-1]
    change_rows(newest, lambda rows: rows[2].update({column: " " * (20 << 20) + "[]"}))
    assert newest.stat().st_size < 100_000
    name, *options = command
    found = ask(name, compacted, *options)
    assert found.code == 7
    assert f"{newest}: contains more than its operation recorded" in found.out + found.err


def test_verify_reads_no_more_of_an_archive_than_is_allowed(ask: Ask, compacted: Path) -> None:
    newest = archives(compacted)[-1]
    change_operation(newest, lambda record: record["before"].update(n_bytes=1 << 40))
    found = ask("verify", compacted)
    assert (found.code, found.err) == (6, "")
    assert f"unknown: {newest}: leads back to {1 << 40:,} bytes" in found.out
    assert ask("verify", compacted, "--max-unpacked", "2T").code == 7


@LIMITED
@pytest.mark.parametrize("command", [("rewind", "--all", "--check"), ("verify",)], ids=" ".join)
def test_archives_take_no_more_memory_than_is_in_them(
    compacted: Path, command: tuple[str, ...]
) -> None:
    found = compactctl(compacted.parent, *command, compacted.name, megabytes=600)
    assert found.returncode == 0, found.stderr
