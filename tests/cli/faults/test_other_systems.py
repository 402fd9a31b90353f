"""Where a system lacks what writing needs, a sentence says so, and reading goes on."""

import subprocess
import sys
from pathlib import Path

import pytest
from cli.asking import Ask
from cli.screens.terminal import PLAIN

WITHOUT_LOCKS = (
    "import sys; sys.modules['fcntl'] = None; from compactctl.__main__ import main; main()"
)


@pytest.fixture
def places(compacted: Path, desk: Path) -> dict[str, str]:
    """Return what stands for a transcript, a compacted one and their folder in a command line."""
    return {"DESK": str(desk), "SMALL": str(compacted), "FOLDER": str(desk.parent)}


def filled_in(arguments: tuple[str, ...], places: dict[str, str]) -> list[str]:
    found = list(arguments)
    for name, place in places.items():
        found = [each.replace(name, place) for each in found]
    return found


def below(folder: Path) -> dict[Path, bytes]:
    return {each: each.read_bytes() if each.is_file() else b"" for each in folder.rglob("*")}


@pytest.mark.parametrize(
    "arguments",
    [
        ("compact", "DESK", "--target", "5k"),
        ("compact", "DESK", "--target", "5k", "--layout", "inline", "-o", "FOLDER/inline.jsonl"),
        ("compact", "DESK", "--target", "5k", "--in-place"),
        ("rewind", "SMALL"),
        ("rewind", "SMALL", "-o", "FOLDER/back.jsonl"),
        ("batch", "DESK", "--report", "FOLDER/report.parquet"),
        ("harness", "limit-output", "DESK", "--max-bytes", "10", "--spill-dir", "FOLDER/spilled"),
    ],
    ids=" ".join,
)
def test_without_file_locks_nothing_is_written(
    ask: Ask, places: dict[str, str], monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    before = below(Path(places["FOLDER"]))
    monkeypatch.setitem(sys.modules, "fcntl", None)
    outcome = ask(*filled_in(arguments, places))
    assert outcome.code == 2
    assert "this system has no file locks (fcntl)" in outcome.err
    assert "Linux or macOS" in outcome.err
    assert outcome.err.splitlines()[-1].startswith("compactctl: ")
    assert below(Path(places["FOLDER"])) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ("compact", "DESK", "--target", "5k", "--dry-run"),
        ("compact", "DESK", "--target", "5k", "--layout", "inline", "-o", "-"),
        ("rewind", "SMALL", "--check"),
        ("rewind", "SMALL", "-o", "-"),
        ("log", "SMALL"),
        ("view", "SMALL"),
    ],
    ids=" ".join,
)
def test_without_file_locks_reading_works(
    ask: Ask, places: dict[str, str], monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    outcome = ask(*filled_in(arguments, places))
    assert outcome.code == 0, outcome.err


@pytest.mark.parametrize(
    ("command", "code"), [pytest.param("check", 1, marks=pytest.mark.long), ("compact", 2)]
)
def test_a_program_started_without_file_locks_reads_and_says_why_it_does_not_write(
    desk: Path, command: str, code: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LOCKS, command, str(desk), "--trigger", "5k"],
        capture_output=True,
        check=False,
        env=PLAIN,
    )
    assert done.returncode == code
    assert (b"no file locks" in done.stderr) == (code == 2)
    assert b"Traceback" not in done.stderr


def test_windows_is_told_where_to_run_it(
    ask: Ask, places: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = below(Path(places["FOLDER"]))
    monkeypatch.setattr("sys.platform", "win32")
    outcome = ask("stats", places["DESK"])
    monkeypatch.undo()
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "compactctl: needs Linux or macOS; on Windows run it in WSL\n"
    assert below(Path(places["FOLDER"])) == before
