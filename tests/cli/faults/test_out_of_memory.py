"""Too little memory: a sentence and exit code 74, or death; never a wrong or half written file.

A few limits by default; COMPACTCTL_LONG_TESTS=1 goes from plenty down to where Python does not
start.
"""

import errno
import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from cli.asking import SAMPLES, Ask
from cli.faults.limited import compactctl
from examples import LONG

SENTENCE = (
    "compactctl: there is not enough memory; no file is left half-written: "
    "end other programs, raise the limit (ulimit -v), or split the transcript\n"
)


ERRORS = (
    MemoryError(),
    ImportError("x.so: failed to map segment from shared object"),
    ImportError("libx.so: cannot allocate memory in static TLS block"),
    OSError(errno.ENOMEM, "Cannot allocate memory", "/x"),
    SyntaxError("invalid syntax", ("<string>", 1, 1, "def __init__(self)")),
)


@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_too_little_memory_is_74(
    ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr("compactctl.commands.inspect.stats.scan", fails)
    outcome = ask("stats", desk)
    assert (outcome.code, outcome.out, outcome.err) == (74, "", SENTENCE)


@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_a_file_of_a_batch_that_takes_too_much_memory_is_told(
    ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr("compactctl.commands.batch.one_file.scan", fails)
    outcome = ask("batch", desk)
    assert outcome.code == 74
    assert "there is not enough memory" in outcome.out


@pytest.mark.parametrize(
    "error",
    [
        pa.ArrowMemoryError("malloc of size 65536 failed"),
        pa.ArrowException("Unknown error: Failed to launch worker thread: try again"),
        OSError(errno.ENOMEM, "Cannot allocate memory", "/x"),
    ],
    ids=str,
)
def test_out_of_memory_is_not_damage_of_an_archive(
    ask: Ask, compacted: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("pyarrow.parquet.ParquetFile", fails)
    assert ask("rewind", compacted).code == 74


def test_an_import_that_fails_for_another_reason_is_a_bug(
    ask: Ask, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise ImportError(errno.ENOENT)

    monkeypatch.setattr("compactctl.commands.inspect.stats.scan", fails)
    assert ask("stats", desk).code == 70


LIMITS = range(420, 10, -6) if LONG else (190, 90)
"""Megabytes of address space. Python alone takes 20, what counts and compacts 110, pyarrow 150."""
SHORT_COMMANDS = (
    ("stats", "run.jsonl"),
    ("compact", "run.compacted.jsonl", "--in-place", "--target", "5k"),
    ("rewind", "run.compacted.jsonl"),
)
COMMANDS = (
    *SHORT_COMMANDS,
    ("check", "run.jsonl"),
    ("compact", "run.jsonl", "-o", "out.jsonl", "--target", "5k"),
    ("compact", "run.jsonl", "-o", "out.jsonl", "--target", "5k", "--layout", "inline"),
    ("view", "run.compacted.jsonl", "--all"),
    ("log", "run.compacted.jsonl"),
    ("rewind", "run.compacted.jsonl", "-o", "out.jsonl"),
    ("batch", "run.jsonl", "--out", ".", "--target", "5k"),
)


def transcripts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.jsonl")}


def archived(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*.parquet")}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a transcript and a compacted one."""
    folder = tmp_path_factory.mktemp("base")
    shutil.copy(SAMPLES / "openai-chat.jsonl", folder / "run.jsonl")
    compacted = compactctl(folder, "compact", "run.jsonl", "--target", "11k")
    assert compacted.returncode == 0
    return folder


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit address space")
@pytest.mark.parametrize("command", COMMANDS if LONG else SHORT_COMMANDS, ids=" ".join)
def test_with_ever_less_memory_there_is_a_right_result_or_none(
    base: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    right = compactctl(shutil.copytree(base, tmp_path / "right"), *command)
    assert right.returncode in (0, 1)
    for megabytes in LIMITS:
        folder = shutil.copytree(base, tmp_path / str(megabytes))
        found = compactctl(folder, *command, megabytes=megabytes)
        if found.returncode == right.returncode:
            assert found.stdout == right.stdout
            assert transcripts(folder) == transcripts(tmp_path / "right")
            continue
        assert transcripts(folder) == transcripts(base)
        assert archived(base).items() <= archived(folder).items()
        if found.returncode > 0 and has_started(folder, megabytes):
            assert found.returncode == 74, found.stdout + found.stderr
            # Libraries may have complained before; a batch tells it in the row of the file.
            said = found.stderr.endswith(SENTENCE), "there is not enough memory" in found.stdout
            assert said == (not found.stdout, bool(found.stdout))
            assert not found.stdout or command[0] == "batch"
            assert "Traceback" not in found.stderr
            assert archived(folder) == archived(base)
        if found.returncode < 0:
            assert compactctl(folder, *command).returncode == right.returncode
            assert transcripts(folder) == transcripts(tmp_path / "right")


def has_started(folder: Path, megabytes: int) -> bool:
    """Tell whether there is enough memory for Python to come to the program."""
    started = compactctl(folder, "--version", megabytes=megabytes + 3)
    return started.returncode == 0
