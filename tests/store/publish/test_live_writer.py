"""A program that goes on writing while its transcript is rewritten in place loses no line."""

import itertools
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from programs import running
from store.states import archive_of, state_before, step

from compactctl.errors import ChangedError
from compactctl.store.archive.archive import archive_folder
from compactctl.store.files.source import open_input, split_lines

LINES = 150
BULK = [b'{"bulk":%d,"text":"%s"}\n' % (n, b"x" * 400) for n in range(200)]
WRITER = """
import os, sys, time
path, how, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
flags = os.O_WRONLY | os.O_APPEND
kept = os.open(path, flags) if how == "keeps" else None
print("ready", flush=True)
for n in range(count):
    fd = os.open(path, flags) if kept is None else kept
    os.write(fd, b'{"live":%d}\\n' % n)
    if kept is None:
        os.close(fd)
    time.sleep(0.0005)
"""


def live_lines(content: bytes) -> set[bytes]:
    return {line for line in split_lines(content) if line.startswith(b'{"live"')}


def rewrite(path: Path, number: int, *, force: bool = False) -> None:
    """Take away some of the bulk and none of the live lines; changed meanwhile is not a failure."""
    source = open_input(path)
    lines = enumerate(split_lines(source.data))
    after = b"".join(line for n, line in lines if n % 7 or b"live" in line)
    with suppress(ChangedError):
        step(path, after, source=source, name=str(number), force=force)


def run_against_writer(path: Path, how: str, *, force: bool) -> None:
    """Rewrite a transcript again and again while it is written to, and once more afterwards."""
    path.write_bytes(b"".join(BULK))
    numbers = itertools.count()
    with running(WRITER, path, how, LINES) as process:
        while process.poll() is None:
            rewrite(path, next(numbers), force=force)
    rewrite(path, next(numbers))


@pytest.mark.parametrize(("how", "force"), [("reopens", False), ("reopens", True), ("keeps", True)])
def test_every_line_can_be_found(tmp_path: Path, how: str, *, force: bool) -> None:
    path = tmp_path / "run.jsonl"
    written = {b'{"live":%d}\n' % n for n in range(LINES)}
    run_against_writer(path, how, force=force)
    found = live_lines(path.read_bytes())
    for displaced in archive_folder(path).glob("displaced-*"):
        found |= live_lines(displaced.read_bytes())
    assert found == written
    archive, now = archive_of(path), path.read_bytes()
    assert archive.match_transcript([now])[0] == archive.operations[-1]
    assert state_before(archive, archive.operations[0].id).startswith(b"".join(BULK))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can tell who writes")
def test_a_writer_that_keeps_its_file_open_is_not_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    written = {b'{"live":%d}\n' % n for n in range(LINES)}
    run_against_writer(path, "keeps", force=False)
    assert live_lines(path.read_bytes()) == written
