"""A block is appended in one piece with its archive, or the file is as it was."""

import errno
import gzip
import io
from pathlib import Path

import pytest
from store.faults import Failing, Meddling, Watched, appending
from store.states import (
    AFTER,
    BEFORE,
    MORE,
    archive_of,
    mode,
    names_below,
    operation,
    rows,
    state_before,
)

from compactctl.errors import ArchiveError, ChangedError, UsageError
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.files.filesystem import DiskError, FileSystem
from compactctl.store.files.source import Source, open_input
from compactctl.store.publish.append import append

BLOCK = b'{"n":8}\n{"n":9}\n'
OPERATION = operation(BEFORE, AFTER)


def appended(path: Path, fs: FileSystem | None = None, source: Source | None = None) -> None:
    draft = ArchiveDraft(OPERATION, rows(BEFORE, AFTER))
    append(fs or FileSystem(), source=source or open_input(path), drafts=[draft], block=BLOCK)


def is_untouched(path: Path) -> bool:
    return path.read_bytes() == BEFORE and not list(path.parent.rglob("*.parquet"))


def test_a_block_is_appended_and_its_archive_is_private(path: Path) -> None:
    appended(path)
    assert path.read_bytes() == BEFORE + BLOCK
    assert mode(path) == 0o640
    assert state_before(archive_of(path), OPERATION.id) == BEFORE
    assert mode(path.with_name("run.jsonl.archive")) == 0o700


def test_a_block_is_durable_and_what_a_killed_run_left_is_removed(path: Path) -> None:
    left = path.with_name("run.jsonl.archive") / ".x.cctl-4194999-0"
    left.parent.mkdir()
    left.touch()
    watched = Watched()
    appended(path, watched)
    assert not left.exists()
    calls = [name for name, _ in watched.log]
    start = calls.index("open_append")
    assert calls[start : start + 4] == ["open_append", "append", "fsync", "close"]


def test_a_link_stays_a_link_to_the_file_that_is_appended_to(path: Path) -> None:
    link = path.with_name("link.jsonl")
    link.symlink_to(path)
    appended(link)
    assert link.is_symlink()
    assert path.read_bytes() == BEFORE + BLOCK
    assert state_before(archive_of(path), OPERATION.id) == BEFORE


def test_only_a_plain_file_can_be_appended_to(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zipped = path.with_name("run.jsonl.gz")
    zipped.write_bytes(gzip.compress(BEFORE))
    with pytest.raises(UsageError, match=r"run\.jsonl\.gz: is compressed and cannot be appended"):
        appended(zipped)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BEFORE)))
    with pytest.raises(UsageError, match=r"^standard input cannot be appended to; name a file$"):
        appended(path, source=open_input("-"))
    assert is_untouched(path)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_refused_at_every_call(tmp_path: Path, number: int) -> None:
    watched = Watched()
    counted = tmp_path / "counted.jsonl"
    counted.write_bytes(BEFORE)
    appended(counted, watched)
    calls = [name for name, _ in watched.log]
    written = calls.index("append") + 1
    failed = []
    for point in range(1, len(calls) + 1):
        path = tmp_path / str(point) / "run.jsonl"
        path.parent.mkdir()
        path.write_bytes(BEFORE)
        try:
            appended(path, Failing(point, number))
        except DiskError as error:
            failed.append((point, str(error).partition("; ")[2][:19]))
            assert is_untouched(path), point
        else:
            assert path.read_bytes() == BEFORE + BLOCK
            assert state_before(archive_of(path), OPERATION.id) == BEFORE
    assert {outcome for _, outcome in failed} == {"nothing was changed"}
    assert written <= max(failed)[0] <= written + 1


@pytest.mark.parametrize("n_bytes", [0, 1, len(BLOCK) - 1])
def test_the_part_of_a_block_that_was_written_is_cut_off(path: Path, n_bytes: int) -> None:
    class Full(FileSystem):
        """The disk is full after some bytes."""

        def append(self, fd: int, data: bytes) -> int:
            return super().append(fd, data[:n_bytes])

    with pytest.raises(DiskError, match="nothing was changed; free some space"):
        appended(path, Full())
    assert is_untouched(path)


@pytest.mark.parametrize("call", ["open_append", "append"])
def test_what_another_program_appends_meanwhile_stays(path: Path, call: str) -> None:
    suffix = ".jsonl" if call == "open_append" else repr(BLOCK)[-1]
    fs = Meddling(call, suffix, appending(path, MORE))
    with pytest.raises(
        ChangedError, match="changed while compactctl was running; nothing was written"
    ):
        appended(path, fs)
    assert path.read_bytes() == BEFORE + MORE
    assert not list(path.parent.rglob("*.parquet"))


def test_a_file_that_changed_before_is_not_appended_to(path: Path) -> None:
    source = open_input(path)
    path.write_bytes(BEFORE + MORE)
    with pytest.raises(ChangedError, match="changed while compactctl was running"):
        appended(path, source=source)
    path.write_bytes(BEFORE.replace(b"1", b"7"))
    with pytest.raises(ChangedError, match="changed while compactctl was running"):
        appended(path, source=source)
    assert not list(path.parent.rglob("*.parquet"))


def test_a_block_with_something_behind_it_stays_with_its_archive(path: Path) -> None:
    class Followed(FileSystem):
        """Another program appends right after the block."""

        def append(self, fd: int, data: bytes) -> int:
            n_written = super().append(fd, data)
            appending(path, MORE)()
            return n_written

    appended(path, Followed())
    assert path.read_bytes() == BEFORE + BLOCK + MORE
    assert state_before(archive_of(path), OPERATION.id) == BEFORE


def test_the_archive_folder_of_somebody_else_is_not_written_to(path: Path) -> None:
    folder = path.with_name("run.jsonl.archive")
    folder.symlink_to("elsewhere")
    with pytest.raises(ArchiveError, match="is a symbolic link"):
        appended(path)
    assert path.read_bytes() == BEFORE
    assert names_below(path.parent) == {"run.jsonl", folder.name}
