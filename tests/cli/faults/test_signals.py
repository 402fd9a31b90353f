"""Signals end the program with nothing half written and nothing left behind."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli.asking import Ask
from cli.screens.terminal import PLAIN

PROBE = Path(__file__).with_name("interrupted.py")
MOMENTS = [("create", 1), ("write", 1), ("write", 2), ("fsync", 1), ("rename", 1), ("mkdir", 1)]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize(("operation", "at"), MOMENTS)
def test_a_signal_leaves_nothing_behind(
    desk: Path, number: signal.Signals, code: int, operation: str, at: int
) -> None:
    before = desk.read_bytes()
    done = subprocess.run(
        [
            *(sys.executable, str(PROBE), str(int(number)), operation, str(at)),
            *("compact", str(desk), "--target", "5k"),
        ],
        capture_output=True,
        check=False,
        env=PLAIN,
        text=True,
    )
    assert done.returncode == code
    assert done.stderr.endswith("nothing is half written\n")
    assert "Traceback" not in done.stderr
    assert desk.read_bytes() == before
    assert _left_over(desk.parent) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("command", ["compact", "rewind"])
def test_what_was_written_before_a_signal_is_told(
    ask: Ask, desk: Path, command: str, number: signal.Signals, code: int
) -> None:
    compacted, out = desk.with_name("openai-chat.compacted.jsonl"), desk.with_name("out.jsonl")
    # The last folder is synced after the output was moved to its place.
    arguments: tuple[str | Path, ...] = ("4", "compact", desk, "--target", "5k")
    written = compacted
    if command == "rewind":
        ask("compact", desk, "--target", "5k")
        arguments, written = ("1", "rewind", compacted, "-o", out), out
    done = subprocess.run(
        [sys.executable, str(PROBE), str(int(number)), "fsync_folder", *map(str, arguments)],
        capture_output=True,
        check=False,
        env=PLAIN,
        text=True,
    )
    assert done.returncode == code
    assert done.stderr.endswith(f"ed; {written} was written before\n")
    assert written.is_file()
    assert _left_over(desk.parent) == []
    assert ask("rewind", compacted, "--check").code == 0


def test_an_interrupted_compaction_can_be_run_again(ask: Ask, desk: Path) -> None:
    subprocess.run(
        [
            *(sys.executable, str(PROBE), str(int(signal.SIGTERM)), "rename", "2"),
            *("compact", str(desk), "--target", "5k"),
        ],
        capture_output=True,
        check=False,
        env=PLAIN,
    )
    assert ask("compact", desk, "--target", "5k").code == 0
    compacted = desk.with_name("openai-chat.compacted.jsonl")
    assert ask("rewind", compacted).code == 0
    assert compacted.read_bytes() == desk.read_bytes()


def _left_over(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if ".cctl-" in path.name]
