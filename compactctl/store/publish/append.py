"""Appending to a transcript in its place, which another program may append to as well."""

import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from compactctl.errors import ChangedError, UsageError
from compactctl.store.archive.archive_writer import Deposit, deposit
from compactctl.store.archive.lock import locked_folder
from compactctl.store.archive.names import archive_folder
from compactctl.store.archive.permissions import check_owner, tighten
from compactctl.store.files.filesystem import FileSystem, disk_errors, written_before
from compactctl.store.files.source import Identity, Source
from compactctl.store.files.stale_drafts import sweep
from compactctl.store.publish.input_changes import appended


def append(
    fs: FileSystem, *, source: Source, deposits: Sequence[Deposit], block: bytes
) -> tuple[str, ...]:
    """Append ``block`` to the file that was read, after the archives that lead back from it.

    It is written in one call and read back; unless it follows what was read, it is taken away
    again. Returns warnings.

    Raises UsageError for what cannot be appended to, ChangedError when the file was changed
    meanwhile, IntegrityError when an archive does not prove, and DiskError.
    """
    path, identity = _file_of(source)
    folder = archive_folder(path)
    with disk_errors(path, "nothing was changed"):
        check_owner(folder)
        with locked_folder(fs, folder):
            sweep(fs, folder)
            warnings = tighten(fs, folder)
            undo = ExitStack()
            try:
                deposit(fs, folder, deposits, undo)
                _append(fs, path, identity, block)
            except BaseException as error:
                # What stands in the file needs its archive.
                if _stands(path, identity, block):
                    error.add_note(written_before(path))
                else:
                    undo.close()
                raise
    return warnings


def _file_of(source: Source) -> tuple[Path, Identity]:
    if source.path is None or source.identity is None:
        raise UsageError("standard input cannot be appended to; name a file")
    if source.packed:
        raise UsageError(f"{source.path}: is compressed and cannot be appended to")
    path = source.path
    return (Path(os.path.realpath(path)) if path.is_symlink() else path), source.identity


def _append(fs: FileSystem, path: Path, identity: Identity, block: bytes) -> None:
    _check_follows(path, identity, b"")
    fd = fs.open_append(path)
    try:
        fs.append(fd, block)
        fs.fsync(fd)
        _check_follows(path, identity, block)
    except BaseException:
        with suppress(OSError, ChangedError):
            _take_back(fs, fd, appended(path, identity), identity, block)
        raise
    finally:
        # What was written is durable and was read back: no error here may deny it.
        with suppress(OSError):
            fs.close(fd)


def _take_back(fs: FileSystem, fd: int, tail: bytes, identity: Identity, block: bytes) -> None:
    """Cut off what was written, or as much of it as was, as long as nothing follows it."""
    ours = next((n for n in range(len(block), 0, -1) if tail.endswith(block[:n])), 0)
    if ours:
        fs.truncate(fd, identity.size + len(tail) - ours)


def _stands(path: Path, identity: Identity, block: bytes) -> bool:
    with suppress(OSError, ChangedError):
        return block in appended(path, identity)
    return False


def _check_follows(path: Path, identity: Identity, data: bytes) -> None:
    if appended(path, identity) != data:
        what = "was written to meanwhile; nothing was changed, run it again"
        raise ChangedError(f"{path}: {what}")
