"""Signals end the program with nothing half written and nothing left behind."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from cli.asking import Ask
from cli.screens.terminal import PLAIN
from forked import completed

from compactctl.store.files.filesystem import FileSystem

MOMENTS = [("create", 1), ("write", 1), ("write", 2), ("fsync", 1), ("rename", 1), ("mkdir", 1)]
SIGNALS = pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])


@contextmanager
def signalled(number: signal.Signals, operation: str, at: int) -> Iterator[None]:
    """Send this signal to whoever asks the file system for the ``at``th (from 1) operation."""
    original = getattr(FileSystem, operation)
    calls = 0

    def counted(self: FileSystem, *arguments: object) -> object:
        nonlocal calls
        calls += 1
        if calls == at:
            os.kill(os.getpid(), number)
        return original(self, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FileSystem, operation, counted)
        yield


def compacted(desk: Path) -> CompletedProcess[bytes]:
    return completed(("compact", str(desk), "--target", "5k"), desk.parent, PLAIN)


@pytest.mark.each_choice
@SIGNALS
@pytest.mark.parametrize(("operation", "at"), MOMENTS)
def test_a_signal_leaves_nothing_behind(
    desk: Path, number: signal.Signals, code: int, operation: str, at: int
) -> None:
    before = desk.read_bytes()
    with signalled(number, operation, at):
        done = compacted(desk)
    assert done.returncode == code
    assert done.stderr.endswith(b"no file is left half-written\n")
    assert b"Traceback" not in done.stderr
    assert desk.read_bytes() == before
    assert _left_over(desk.parent) == []


@pytest.mark.each_choice
@SIGNALS
@pytest.mark.parametrize("command", ["compact", "rewind"])
def test_what_was_written_before_a_signal_is_told(
    ask: Ask, desk: Path, command: str, number: signal.Signals, code: int
) -> None:
    output, restored = desk.with_name("openai-chat.compacted.jsonl"), desk.with_name("out.jsonl")
    # The last folder is synced after the output was moved to its place.
    if command == "rewind":
        ask("compact", desk, "--target", "5k")
        with signalled(number, "fsync_folder", 1):
            done = completed(("rewind", str(output), "-o", str(restored)), desk.parent, PLAIN)
    else:
        with signalled(number, "fsync_folder", 4):
            done = compacted(desk)
    written = restored if command == "rewind" else output
    assert done.returncode == code
    assert done.stderr.endswith(f"ed; {written} was written before\n".encode())
    assert written.is_file()
    assert _left_over(desk.parent) == []
    assert ask("rewind", output, "--check").code == 0


def test_an_interrupted_compaction_can_be_run_again(ask: Ask, desk: Path) -> None:
    with signalled(signal.SIGTERM, "rename", 2):
        assert compacted(desk).returncode == 143
    assert ask("compact", desk, "--target", "5k").code == 0
    output = desk.with_name("openai-chat.compacted.jsonl")
    assert ask("rewind", output).code == 0
    assert output.read_bytes() == desk.read_bytes()


def _left_over(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if ".cctl-" in path.name]
