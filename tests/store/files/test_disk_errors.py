"""A disk that refuses at any call: the old state stays, nothing is left over, one line tells."""

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from store.faults import RENAMES, Failing, Meddling, Watched, appending, risky_calls
from store.states import (
    AFTER,
    BEFORE,
    MORE,
    archive_of,
    names_below,
    operation,
    rows,
    state_before,
    step,
)

from compactctl.errors import IntegrityError, UsageError
from compactctl.store.archive.archive_writer import ArchiveDraft, DraftSink
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import DiskError, FileSystem, disk_errors
from compactctl.store.files.source import open_input
from compactctl.store.files.temp_file import TempFile
from compactctl.store.publish.append import append
from compactctl.store.publish.publish import Published, write_output
from compactctl.store.publish.saved_output import save_output


def lay_out(folder: Path) -> Path:
    folder.mkdir()
    path = folder / "run.jsonl"
    path.write_bytes(BEFORE)
    return path


@pytest.mark.parametrize("number", sorted(errno.errorcode))
def test_to_run_it_again_is_advised_only_where_that_can_help(number: int) -> None:
    with pytest.raises(DiskError) as told, disk_errors(Path("x"), "nothing was changed"):
        raise OSError(number, os.strerror(number))
    helps = {"EAGAIN", "EWOULDBLOCK", "EBUSY", "EINTR", "ETXTBSY", "ENOSPC", "EDQUOT"}
    assert ("run it again" in str(told.value)) == (errno.errorcode[number] in helps)


@pytest.mark.parametrize("name", ["run.jsonl", "run.compacted.jsonl"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_refused_at_every_call(tmp_path: Path, name: str, number: int) -> None:
    path = lay_out(tmp_path / "counted")
    watched = Watched()
    step(path, AFTER, target=path.with_name(name), fs=watched)
    failed = []
    for point in range(1, len(watched.log) + 1):
        path = lay_out(tmp_path / str(point))
        target = path.with_name(name)
        try:
            _, published = step(path, AFTER, target=target, fs=Failing(point, number))
        except DiskError as error:
            failed.append(point)
            assert_nothing_happened(path, error, os.strerror(number))
        else:
            assert_all_happened(path, target, published)
    assert len(failed) > len(watched.log) / 2


@pytest.mark.parametrize("name", ["run.jsonl", "run.compacted.jsonl"])
def test_what_is_said_of_a_refused_close_is_true(tmp_path: Path, name: str) -> None:
    path = lay_out(tmp_path / "counted")
    watched = Watched()
    step(path, AFTER, target=path.with_name(name), fs=watched)
    closes = [n for n, (call, _) in enumerate(watched.log, 1) if call == "close"]
    moved = max(n for n, (call, _) in enumerate(watched.log, 1) if call in RENAMES)
    for point in closes:
        path = lay_out(tmp_path / str(point))
        target = path.with_name(name)
        try:
            _, published = step(path, AFTER, target=target, fs=Failing(point, errno.EACCES))
        except DiskError as error:
            assert point < moved
            assert_nothing_happened(path, error, os.strerror(errno.EACCES))
        else:
            assert_all_happened(path, target, published)
    assert closes[-1] > moved


def assert_nothing_happened(path: Path, error: DiskError, why: str) -> None:
    assert path.read_bytes() == BEFORE
    assert names_below(path.parent) == {"run.jsonl"}
    assert error.exit_code == 74
    assert why in str(error)
    assert "nothing was changed" in str(error)
    assert "\n" not in str(error)


def assert_all_happened(path: Path, target: Path, published: Published) -> None:
    """What fails without harm after the move, or is not vital, is told and no error."""
    assert target.read_bytes() == AFTER
    assert state_before(archive_of(target), operation(BEFORE, AFTER).id) == BEFORE
    assert not {name for name in names_below(path.parent) if ".cctl-" in name}
    assert all("\n" not in warning for warning in published.warnings)


class RaisingAfterMoves(FileSystem):
    """Moves the transcript, by exchanging files if it can, and raises an error all the same."""

    def __init__(self, error: BaseException, *, exchanges: bool) -> None:
        self.error = error
        self.exchanges = exchanges

    def exchange(self, one: Path, other: Path) -> None:
        if not self.exchanges:
            raise OSError(errno.EINVAL, "not supported")
        super().exchange(one, other)
        raise self.error

    def rename(self, old: Path, new: Path) -> None:
        super().rename(old, new)
        if new.suffix == ".jsonl":
            raise self.error


@pytest.mark.parametrize("exchanges", [True, False])
@pytest.mark.parametrize("number", [errno.ENOENT, errno.EIO])
def test_archives_stay_when_a_failed_move_took_place(
    tmp_path: Path, number: int, *, exchanges: bool
) -> None:
    """As NFS may report after a lost answer."""
    path = lay_out(tmp_path / "a")
    fs = RaisingAfterMoves(OSError(number, "lost answer"), exchanges=exchanges)
    each, published = step(path, AFTER, fs=fs)
    assert path.read_bytes() == AFTER
    assert state_before(archive_of(path), each.id) == BEFORE
    assert "lost answer" in published.warnings[0]


@pytest.mark.parametrize("exchanges", [True, False])
def test_archives_stay_when_ctrl_c_comes_right_after_the_move(
    tmp_path: Path, *, exchanges: bool
) -> None:
    path = lay_out(tmp_path / "a")
    with pytest.raises(KeyboardInterrupt):
        step(path, AFTER, fs=RaisingAfterMoves(KeyboardInterrupt(), exchanges=exchanges))
    assert path.read_bytes() == AFTER
    assert state_before(archive_of(path), operation(BEFORE, AFTER).id) == BEFORE


class ForgetfulDisk(FileSystem):
    """Turns a byte of the transcript, as a failing disk may."""

    def write(self, fd: int, data: bytes) -> None:
        super().write(fd, data.replace(b'{"n":1}', b'{"n":3}') if data == AFTER else data)


def test_a_transcript_that_the_disk_gives_back_wrong_is_not_published(tmp_path: Path) -> None:
    path = lay_out(tmp_path / "a")
    with pytest.raises(IntegrityError, match="different bytes"):
        step(path, AFTER, fs=ForgetfulDisk())
    assert path.read_bytes() == BEFORE
    assert names_below(path.parent) == {"run.jsonl"}


class NoLinks(FileSystem):
    """A disk without hard links."""

    def link(self, existing: Path, name: Path) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM), str(existing), None, str(name))


def test_a_disk_without_hard_links_needs_force(tmp_path: Path) -> None:
    path = lay_out(tmp_path / "a")
    with pytest.raises(DiskError, match="--force") as caught:
        step(path, AFTER, fs=NoLinks())
    assert_nothing_happened(path, caught.value, os.strerror(errno.EPERM))
    _, published = step(path, AFTER, fs=NoLinks(), force=True)
    assert published.displaced is None
    assert len(published.warnings) == 1
    assert path.read_bytes() == AFTER


def test_a_system_without_hard_links_is_like_such_a_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = lay_out(tmp_path / "a")
    monkeypatch.delattr("os.link")
    with pytest.raises(DiskError, match=r"by a hard link .* write a new file with -o") as caught:
        step(path, AFTER)
    assert_nothing_happened(path, caught.value, os.strerror(errno.ENOTSUP))


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP])
def test_a_disk_that_cannot_sync_folders_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    real = os.fsync

    def fsync(fd: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{fd}"):  # noqa: PTH112
            raise OSError(number, os.strerror(number))
        real(fd)

    monkeypatch.setattr(os, "fsync", fsync)
    path = lay_out(tmp_path / "a")
    _, published = step(path, AFTER)
    assert published.warnings == ()


def test_a_real_limit_on_file_size(tmp_path: Path) -> None:
    path = lay_out(tmp_path / "a")
    code = """
import resource, sys
from pathlib import Path
from compactctl.errors import CompactctlError
from store.states import AFTER, step
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    step(Path(sys.argv[1]), AFTER)
except CompactctlError as error:
    sys.exit(f"{error.exit_code} {error}")
"""
    run = subprocess.run(
        [sys.executable, "-c", code, path],
        check=False,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert run.returncode == 1
    assert run.stderr.startswith(f"74 {path}: File too large; nothing was changed")
    assert names_below(path.parent) == {"run.jsonl"}
    assert path.read_bytes() == BEFORE


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to every folder")
def test_a_folder_that_may_not_be_written_to(tmp_path: Path) -> None:
    path = lay_out(tmp_path / "a")
    path.parent.chmod(0o500)
    try:
        with pytest.raises(DiskError, match="-o") as caught:
            step(path, AFTER)
    finally:
        path.parent.chmod(0o700)
    assert_nothing_happened(path, caught.value, "Permission denied")


def test_nothing_is_written_after_a_failed_write(tmp_path: Path) -> None:
    fs = Failing(4, errno.ENOSPC)
    with TempFile(fs, tmp_path / "new") as draft:
        sink = DraftSink(draft)
        assert sink.write(b"one") == 3
        assert [name for name, _ in fs.log] == ["create", "write"]
        fs.n = 3
        with pytest.raises(OSError, match="No space"):
            sink.write(b"two")
        # As pyarrow does when it drops a writer that failed.
        assert sink.write(b"footer") == 6
        draft.publish()
    assert (tmp_path / "new").read_bytes() == b"onet"


def in_place(fs: FileSystem, path: Path) -> None:
    step(path, AFTER, fs=fs)


def beside(fs: FileSystem, path: Path) -> None:
    step(path, AFTER, target=path.with_name("run.compacted.jsonl"), fs=fs)


def at_the_end(fs: FileSystem, path: Path) -> None:
    draft = ArchiveDraft(operation(BEFORE, AFTER), rows(BEFORE, AFTER))
    append(fs, source=open_input(path), drafts=[draft], block=MORE)


def to_an_output(fs: FileSystem, path: Path) -> None:
    write_output(fs, path.with_name("report"), Content.from_chunks((b"new",)))


def to_a_saved_output(fs: FileSystem, path: Path) -> None:
    save_output(fs, path.parent / "spill", b"output")


WRITES = [in_place, beside, at_the_end, to_an_output, to_a_saved_output]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("grows", [False, True])
def test_what_is_written_is_durable_before_it_has_its_name(
    tmp_path: Path, write: Callable[[FileSystem, Path], None], *, grows: bool
) -> None:
    path = lay_out(tmp_path / "made")
    deed = appending(path, MORE) if grows and write in (in_place, beside) else list
    fs = Meddling("create", f".cctl-{os.getpid()}-0", deed)
    write(fs, path)
    assert risky_calls(fs.log) == []


@pytest.mark.parametrize("write", WRITES)
def test_without_file_locks_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[FileSystem, Path], None]
) -> None:
    path = lay_out(tmp_path / "made")
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with pytest.raises(UsageError, match="this system has no file locks"):
        write(FileSystem(), path)
    assert path.read_bytes() == BEFORE
    assert names_below(path.parent) == {"run.jsonl"}


@pytest.mark.parametrize("exists", [True, False])
def test_an_output_is_whole_or_not_at_all(tmp_path: Path, *, exists: bool) -> None:
    watched = Watched()
    write_output(watched, tmp_path / "counted", Content.from_chunks((b"new",)))
    for point in range(1, len(watched.log) + 1):
        path = tmp_path / str(point)
        if exists:
            path.write_bytes(b"old")
        try:
            write_output(
                Failing(point, errno.ENOSPC), path, Content.from_chunks((b"new",)), force=True
            )
        except DiskError:
            found = path.read_bytes() if path.exists() else b"old"
            assert found in (b"old", b"new")
        else:
            assert path.read_bytes() == b"new"
    assert not {name for name in names_below(tmp_path) if ".cctl-" in name}
