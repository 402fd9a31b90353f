"""Append to a transcript in place, while another program may append to it too."""

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from compactctl.errors import ChangedError, UsageError
from compactctl.records import dataclass
from compactctl.store.archive.archive_writer import ArchiveDraft, write_archives
from compactctl.store.archive.lock import locked_folder
from compactctl.store.archive.names import archive_folder
from compactctl.store.archive.permissions import check_owner, restrict_to_owner
from compactctl.store.files.filesystem import FileSystem, already_written_note, disk_errors
from compactctl.store.files.source import FileIdentity, Source
from compactctl.store.files.stale_drafts import remove_stale_drafts
from compactctl.store.publish.input_changes import read_appended

# More than a program writes while the block is made to follow what it has written so far.
_MAX_TRIES = 100
_WAIT_SECONDS = 0.002


class Carrier(Protocol):
    """How a block is appended to a file to which another program has appended lines meanwhile."""

    def block(self, grown: bytes) -> bytes:
        """Return the block that follows these complete lines; raises ChangedError if none can."""

    def drafts_after(self, grown: bytes, block: bytes) -> Sequence[ArchiveDraft]:
        """Return the archives for a file that had these lines, and now ends with the block."""


@dataclass(frozen=True, slots=True)
class Appended:
    """What was appended: the lines of another program, ``grown``, and then the block."""

    grown: bytes
    block: bytes
    warnings: tuple[str, ...] = ()


def append(
    fs: FileSystem,
    *,
    source: Source,
    drafts: Sequence[ArchiveDraft],
    block: bytes,
    carrier: Carrier | None = None,
) -> Appended:
    """Write the archives, then append ``block`` to the file that was read.

    The block is written in one call and read back. If it does not follow what was read, and what
    ``carrier`` can carry, it is removed again. Archives are written anew after lines were carried.

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
            appended = Appended(b"", block)
            try:
                write_archives(fs, folder, drafts, undo)
                appended = _append(fs, path, identity, block, carrier)
            except BaseException as error:
                # A block in the file needs its archive.
                if _is_appended(path, identity, block):
                    error.add_note(already_written_note(path))
                else:
                    undo.close()
                raise
            if appended.grown and carrier is not None:
                undo.close()
                renewed = carrier.drafts_after(appended.grown, appended.block)
                write_archives(fs, folder, renewed, ExitStack())
    return replace(appended, warnings=warnings)


def _file_of(source: Source) -> tuple[Path, FileIdentity]:
    if source.path is None or source.identity is None:
        raise UsageError("standard input cannot be appended to; name a file")
    if source.is_compressed:
        raise UsageError(f"{source.path}: is compressed and cannot be appended to")
    path = source.path
    return (Path(os.path.realpath(path)) if path.is_symlink() else path), source.identity


def _append(
    fs: FileSystem, path: Path, identity: FileIdentity, block: bytes, carrier: Carrier | None
) -> Appended:
    grown = read_appended(path, identity)
    fd = fs.open_append(path)
    try:
        grown, block = _settled(path, identity, grown, block, carrier)
        fs.append(fd, block)
        fs.fsync(fd)
        _check_appended(path, identity, grown + block)
    except BaseException:
        with suppress(OSError, ChangedError):
            _roll_back(fs, fd, read_appended(path, identity), identity, block)
        raise
    finally:
        # The block is durable and was read back: an error here must not report it as failed.
        with suppress(OSError):
            fs.close(fd)
    return Appended(grown, block)


def _settled(
    path: Path, identity: FileIdentity, grown: bytes, block: bytes, carrier: Carrier | None
) -> tuple[bytes, bytes]:
    """Return what another program has appended by now, and the block that follows it.

    The size is compared last, so that nothing is likely to be appended before the block is.
    """
    with path.open("rb") as stream:
        for _ in range(_MAX_TRIES):
            if grown and carrier is None:
                break
            is_complete = not grown or grown.endswith(b"\n")
            following = carrier.block(grown) if carrier and grown and is_complete else block
            if is_complete and os.fstat(stream.fileno()).st_size == identity.size + len(grown):
                return grown, following
            time.sleep(0 if is_complete else _WAIT_SECONDS)
            stream.seek(identity.size)
            grown = stream.read()
    raise _changed(path)


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
    """Raise ChangedError unless this was appended; another program may have gone on behind it."""
    if not read_appended(path, identity).startswith(data):
        raise _changed(path)


def _changed(path: Path) -> ChangedError:
    what = "changed while compactctl was running; nothing was written; try again"
    return ChangedError(f"{path}: {what}")
