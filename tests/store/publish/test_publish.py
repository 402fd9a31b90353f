"""Publishing a transcript with its archives."""

import errno
import fcntl
import os
from pathlib import Path

import pytest
from store.faults import RENAMES, Watched, order
from store.states import (
    AFTER,
    BEFORE,
    MORE,
    appended,
    archive_of,
    mode,
    names_below,
    operation,
    rows,
    state_before,
    step,
)

from compactctl.errors import ChangedError, IntegrityError
from compactctl.records import replace
from compactctl.store.archive.archive import archive_folder
from compactctl.store.archive.archive_file import restore
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.source import digest_of, open_input
from compactctl.store.publish.publish import publish


def test_a_new_file_leads_back_to_its_input(path: Path, target: Path) -> None:
    each, published = step(path, AFTER, target=target)
    assert (path.read_bytes(), target.read_bytes()) == (BEFORE, AFTER)
    assert archive_of(target).match_transcript([AFTER]) == (each, appended(b""))
    assert state_before(archive_of(target), each.id) == BEFORE
    assert published.path == target
    assert published.digest == digest_of(AFTER)
    assert published.warnings == ()
    assert names_below(path.parent) == {
        "run.jsonl",
        "run.compacted.jsonl",
        "run.compacted.jsonl.archive",
        "run.compacted.jsonl.archive/README",
        "run.compacted.jsonl.archive/lock",
        f"run.compacted.jsonl.archive/0001-compact-{each.id}.parquet",
    }


def test_work_in_place_keeps_the_old_file(path: Path) -> None:
    inode = path.stat().st_ino
    each, published = step(path, AFTER)
    assert path.read_bytes() == AFTER
    assert state_before(archive_of(path), each.id) == BEFORE
    assert published.displaced == archive_folder(path) / f"displaced-{each.id}.{len(BEFORE)}"
    assert published.displaced.stat().st_ino == inode


def test_the_archive_is_durable_and_proven_before_the_transcript_moves(path: Path) -> None:
    fs = Watched()
    step(path, AFTER, fs=fs)
    moves = [("rename", ""), ("rename", ".parquet"), ("link", ""), ("exchange", ".jsonl")]
    moves.append(("rename", f".{len(BEFORE)}"))
    assert [call for call in order(fs.log) if call[0] in {*RENAMES, "link"}] == moves
    calls = [name for name, _ in order(fs.log)]
    assert calls == [
        *("fsync_folder",),
        *("fsync", "rename", "fsync_folder"),
        *("fsync", "rename", "fsync_folder"),
        *("link", "fsync_folder"),
        *("fsync", "exchange", "fsync_folder"),
        "rename",
    ]


def test_an_archive_that_does_not_restore_is_never_relied_on(path: Path, target: Path) -> None:
    source = open_input(path)
    each = operation(BEFORE, AFTER)
    with pytest.raises(IntegrityError):
        publish(
            FileSystem(),
            source=source,
            target=target,
            drafts=[ArchiveDraft(each, rows(BEFORE, AFTER)[1:])],
            content=Content.from_chunks((AFTER,)),
        )
    assert names_below(path.parent) == {"run.jsonl"}


def test_data_that_no_archive_leads_to_is_refused(path: Path, target: Path) -> None:
    with pytest.raises(IntegrityError):
        publish(
            FileSystem(),
            source=open_input(path),
            target=target,
            drafts=[ArchiveDraft(operation(BEFORE, AFTER), rows(BEFORE, AFTER))],
            content=Content.from_chunks((AFTER, MORE)),
        )
    assert names_below(path.parent) == {"run.jsonl"}


def test_several_operations_are_archived_in_order(path: Path, target: Path) -> None:
    first = operation(BEFORE, AFTER)
    second = operation(AFTER, MORE, parent=first.id)
    deposits = [ArchiveDraft(first, rows(BEFORE, AFTER)), ArchiveDraft(second, rows(AFTER, MORE))]
    source = open_input(path)
    published = publish(
        FileSystem(),
        source=source,
        target=target,
        drafts=deposits,
        content=Content.from_chunks((MORE,)),
    )
    assert archive_of(target).operations == (first, second)
    assert [restore(archive) for archive in published.archives] == [BEFORE, AFTER]


def test_without_archives_a_new_file_has_no_folder(path: Path, target: Path) -> None:
    source = open_input(path)
    publish(
        FileSystem(),
        source=source,
        target=target,
        drafts=(),
        content=Content.from_chunks((BEFORE, MORE)),
    )
    assert names_below(path.parent) == {"run.jsonl", "run.compacted.jsonl"}
    published = publish(
        FileSystem(),
        source=source,
        target=path,
        drafts=(),
        content=Content.from_chunks((BEFORE, MORE)),
    )
    assert published.displaced is not None
    assert published.displaced.read_bytes() == BEFORE


def test_standard_input_needs_no_file(target: Path) -> None:
    source = replace(open_input(__file__), path=None, identity=None, lines=(BEFORE,))
    deposits = [ArchiveDraft(operation(BEFORE, AFTER), rows(BEFORE, AFTER))]
    publish(
        FileSystem(),
        source=source,
        target=target,
        drafts=deposits,
        content=Content.from_chunks((AFTER,)),
    )
    assert target.read_bytes() == AFTER
    assert mode(target) == 0o600


def test_mode_and_attributes_are_kept_and_archives_are_private(path: Path, target: Path) -> None:
    before = os.umask(0)
    try:
        _, published = step(path, AFTER, target=target)
        step(path, AFTER)
    finally:
        os.umask(before)
    assert mode(target) == mode(path) == 0o640
    assert mode(archive_folder(target)) == 0o700
    assert {mode(file) for file in archive_folder(target).iterdir()} == {0o600}
    assert published.warnings == ()


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="this system has no such attributes")
def test_extended_attributes_are_kept(path: Path, target: Path) -> None:
    try:
        os.setxattr(path, "user.note", b"mine")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    step(path, AFTER, target=target)
    step(path, AFTER)
    assert os.getxattr(target, "user.note") == os.getxattr(path, "user.note") == b"mine"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_the_owner_is_kept_or_a_warning_says_why_not(path: Path, tmp_path: Path) -> None:
    class Strict(Watched):
        """A disk whose files belong to one user."""

        def before(self, name: str, call: object, arguments: object) -> None:  # noqa: ARG002
            if name in {"chown", "chmod"}:
                raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    os.chown(path, 1234, 2345)
    _, published = step(path, AFTER)
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)
    assert mode(path) == 0o640
    assert published.warnings == ()
    for uid, gid in ((0, 7), (7, 0)):
        other = tmp_path / f"{uid}.jsonl"
        other.write_bytes(BEFORE)
        os.chown(other, uid, gid)
        _, published = step(other, AFTER, fs=Strict())
        assert [warning.partition(": ")[2] or warning for warning in published.warnings] == [
            "its owner and group could not be kept (Operation not permitted)",
            "its permissions could not be kept (Operation not permitted)",
        ]
        assert (other.read_bytes(), mode(other)) == (AFTER, 0o600)


def test_work_in_place_without_archives_keeps_the_old_file_by_its_digest(path: Path) -> None:
    published = publish(
        FileSystem(),
        source=open_input(path),
        target=path,
        drafts=[],
        content=Content.from_chunks((AFTER,)),
    )
    name = f"displaced-{digest_of(BEFORE).sha256[:12]}.{len(BEFORE)}"
    kept = archive_folder(path) / name
    assert (published.displaced, published.archives) == (kept, ())
    assert (path.read_bytes(), kept.read_bytes()) == (AFTER, BEFORE)


def test_a_folder_that_another_compactctl_works_in_is_left_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compactctl.store.archive.lock.WAIT_SECONDS", 0.001)
    folder = archive_folder(path)
    folder.mkdir()
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ChangedError, match="another compactctl"):
            step(path, AFTER)
    assert path.read_bytes() == BEFORE
    step(path, AFTER)
    assert path.read_bytes() == AFTER


class VanishingFolder(FileSystem):
    """The first time, the run before removes the folder just after its lock was opened."""

    vanished = False

    def open_lock(self, path: Path) -> int:
        fd = super().open_lock(path)
        if not self.vanished:
            self.vanished = True
            path.unlink()
            path.parent.rmdir()
        return fd


def test_a_lock_that_was_removed_meanwhile_locks_nothing(path: Path) -> None:
    each, _ = step(path, AFTER, fs=VanishingFolder())
    assert state_before(archive_of(path), each.id) == BEFORE


def test_a_long_name_leaves_room_for_the_draft(tmp_path: Path) -> None:
    path = tmp_path / ("ü" * 120 + ".j")
    path.write_bytes(BEFORE)
    step(path, AFTER)
    assert path.read_bytes() == AFTER
