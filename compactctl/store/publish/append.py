"""Append to a transcript in place, while another program may append to it too."""

import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from compactctl.errors import ChangedError, UsageError
from compactctl.store.archive.archive_writer import ArchiveDraft, write_archives
from compactctl.store.archive.lock import locked_folder
from compactctl.store.archive.names import archive_folder
from compactctl.store.archive.permissions import check_owner, restrict_to_owner
from compactctl.store.files.filesystem import FileSystem, already_written_note, disk_errors
from compactctl.store.files.source import FileIdentity, Source
from compactctl.store.files.stale_drafts import remove_stale_drafts
from compactctl.store.publish.input_changes import read_appended


def append(
    fs: FileSystem, *, source: Source, drafts: Sequence[ArchiveDraft], block: bytes
) -> tuple[str, ...]:
    """Write the archives, then append ``block`` to the file that was read; return warnings.

    The block is written in one call and read back. If it does not follow what was read, it is
    removed again.

    Raises UsageError for an input that cannot be appended to, ChangedError if the file was changed
    meanwhile, IntegrityError if an archive does not verify, and DiskError.
    """
    path, identity = _file_of(source)
    folder = archive_folder(path)
    with disk_errors(path, "nothing was changed"):
        check_owner(folder)
        with locked_folder(fs, folder):
            remove_stale_drafts(fs, folder)
            warnings = restrict_to_owner(fs, folder)
            undo = ExitStack()
            try:
                write_archives(fs, folder, drafts, undo)
                _append(fs, path, identity, block)
            except BaseException as error:
                # A block in the file needs its archive.
                if _is_appended(path, identity, block):
                    error.add_note(already_written_note(path))
                else:
                    undo.close()
                raise
    return warnings


def _file_of(source: Source) -> tuple[Path, FileIdentity]:
    if source.path is None or source.identity is None:
        raise UsageError("standard input cannot be appended to; name a file")
    if source.is_compressed:
        raise UsageError(f"{source.path}: is compressed and cannot be appended to")
    path = source.path
    return (Path(os.path.realpath(path)) if path.is_symlink() else path), source.identity


def _append(fs: FileSystem, path: Path, identity: FileIdentity, block: bytes) -> None:
    _check_appended(path, identity, b"")
    fd = fs.open_append(path)
    try:
        fs.append(fd, block)
        fs.fsync(fd)
        _check_appended(path, identity, block)
    except BaseException:
        with suppress(OSError, ChangedError):
            _roll_back(fs, fd, read_appended(path, identity), identity, block)
        raise
    finally:
        # The block is durable and was read back: an error here must not report it as failed.
        with suppress(OSError):
            fs.close(fd)


def _roll_back(fs: FileSystem, fd: int, tail: bytes, identity: FileIdentity, block: bytes) -> None:
    """Cut off the block, or the part of it that was written, if nothing follows it."""
    n_written = next((n for n in range(len(block), 0, -1) if tail.endswith(block[:n])), 0)
    if n_written:
        fs.truncate(fd, identity.size + len(tail) - n_written)


def _is_appended(path: Path, identity: FileIdentity, block: bytes) -> bool:
    with suppress(OSError, ChangedError):
        return block in read_appended(path, identity)
    return False


def _check_appended(path: Path, identity: FileIdentity, data: bytes) -> None:
    if read_appended(path, identity) != data:
        what = "changed while compactctl was running; nothing was written; try again"
        raise ChangedError(f"{path}: {what}")
