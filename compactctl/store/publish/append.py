"""Append to a transcript in place, while another program may append to it too."""

import errno
import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from compactctl.errors import ChangedError, UsageError
from compactctl.records import Record
from compactctl.store.archive.archive import Archive, lineage_behind
from compactctl.store.archive.archive_writer import ArchiveDraft, write_archives
from compactctl.store.archive.lock import locked_folder
from compactctl.store.archive.names import archive_folder
from compactctl.store.archive.permissions import check_owner, restrict_to_owner
from compactctl.store.files.filesystem import (
    DiskError,
    FileSystem,
    already_written_note,
    disk_errors,
)
from compactctl.store.files.source import FileIdentity, Source
from compactctl.store.files.stale_drafts import remove_stale_drafts
from compactctl.store.publish.input_changes import changed_error, read_appended

# More than a program writes while the block is made to follow what it has written so far.
_MAX_TRIES = 100
_WAIT_SECONDS = 0.002
# Of a block, so many bytes are archived, which tell a torn one from what its client wrote.
_N_TOLD = 256


class Appended(Record, kw_only=False):
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
    carry: Callable[[bytes], bytes] | None = None,
) -> Appended:
    """Write the archives, then append ``block`` to the file that was read.

    If another program has appended complete lines since, ``carry`` returns the block that follows
    them, or raises ChangedError. They stand before the block then, and its archive does not hold
    them: what an operation appended is told from them by its marks.

    The block is written in one call and read back. If only a part of it could be written, or lines
    of another program came in between, it is cut off again as long as nothing follows it.

    Raises UsageError for an input that cannot be appended to, ChangedError if the file was changed
    meanwhile, IntegrityError if an archive does not verify, and DiskError.
    """
    path, identity = _file_of(source)
    folder = archive_folder(path)
    with disk_errors(path, "nothing was changed"):
        check_owner(folder)
        with locked_folder(fs, folder), ExitStack() as undo:
            remove_stale_drafts(fs, folder)
            warnings = restrict_to_owner(fs, folder)
            lineage = lineage_behind(Archive(folder), source.lines)
            *earlier, newest = drafts
            newest = newest._replace(block=block[:_N_TOLD])
            write_archives(fs, lineage.folder, (*earlier, newest), undo)
            job = _Append(fs=fs, path=path, identity=identity, block=block, carry=carry)
            try:
                grown, block = job.run()
            except _StaysError as error:
                undo.pop_all()
                raise error.reason from error
            undo.pop_all()
            return Appended(grown, block, warnings)


def cut_off(fs: FileSystem, fd: int, start: int, end: int, block: bytes) -> bool:
    """Cut off what was written of a block, from ``start`` to ``end``, if a file ends with it.

    Return whether it was. What another program appends between the last look and the cut is lost.
    """
    try:
        is_ours = os.pread(fd, end - start, start) == block[: end - start]
        if not is_ours or os.fstat(fd).st_size != end:
            return False
        fs.truncate(fd, start)
    except OSError:
        return False
    return True


def _file_of(source: Source) -> tuple[Path, FileIdentity]:
    if source.path is None or source.identity is None:
        raise UsageError("standard input cannot be appended to; name a file")
    if source.is_compressed:
        raise UsageError(f"{source.path}: is compressed and cannot be appended to")
    path = source.path
    return (Path(os.path.realpath(path)) if path.is_symlink() else path), source.identity


def _check_whole(n_written: int, block: bytes) -> None:
    if n_written < len(block):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class _StaysError(Exception):
    """All or a part of a block stays in the file after an error, and needs its archive."""

    def __init__(self, reason: BaseException) -> None:
        super().__init__(str(reason))
        self.reason = reason


class _Append(Record):
    """One append, under the lock and with its archives written."""

    fs: FileSystem
    path: Path
    identity: FileIdentity
    block: bytes
    carry: Callable[[bytes], bytes] | None

    def run(self) -> tuple[bytes, bytes]:
        """Return the lines that came before the block, and the block.

        Raises _StaysError if a part of it stays in the file.
        """
        fd = self.fs.open_append(self.path)
        try:
            for _ in range(_MAX_TRIES):
                grown, block = self._settled()
                if self._is_written(fd, self.identity.size + len(grown), block):
                    return grown, block
        finally:
            # The block is durable and was read back: an error here must not report it as failed.
            with suppress(OSError):
                self.fs.close(fd)
        raise changed_error(self.path)

    def _settled(self) -> tuple[bytes, bytes]:
        """Return what another program has appended by now, and the block that follows it.

        The size is compared last, so that nothing is likely to be appended before the block is.
        """
        grown = read_appended(self.path, self.identity)
        with self.path.open("rb") as stream:
            for _ in range(_MAX_TRIES):
                if grown and self.carry is None:
                    break
                is_complete = not grown or grown.endswith(b"\n")
                block = self.carry(grown) if self.carry and grown and is_complete else self.block
                size = self.identity.size + len(grown)
                if is_complete and os.fstat(stream.fileno()).st_size == size:
                    return grown, block
                time.sleep(0 if is_complete else _WAIT_SECONDS)
                stream.seek(self.identity.size)
                grown = stream.read()
        raise changed_error(self.path)

    def _is_written(self, fd: int, start: int, block: bytes) -> bool:
        """Append a block that belongs at ``start``; return False if it had to be cut off again.

        Raises ChangedError if the file changed otherwise, and _StaysError if a part of the block,
        or all of it, cannot be cut off.
        """
        n_written, position = 0, os.lseek(fd, 0, os.SEEK_CUR)
        try:
            n_written = self.fs.append(fd, block)
            _check_whole(n_written, block)
            self.fs.fsync(fd)
            grown = read_appended(self.path, self.identity)
            if grown[start - self.identity.size :].startswith(block):
                return True
        except BaseException as error:
            if not self._is_cut(fd, position, start, block, n_written):
                raise _StaysError(self._explained(error)) from error
            raise
        if self._is_cut(fd, position, start, block, n_written):
            return False
        what = "another program wrote at the same moment, and may not see what was appended"
        raise _StaysError(ChangedError(f"{self.path}: {what}; undo it with compactctl rewind"))

    def _is_cut(self, fd: int, position: int, start: int, block: bytes, n_written: int) -> bool:
        """Cut off what was written of a block; return whether nothing of it is left.

        The position in the file is the end of that, and as before if nothing was written.
        """
        end = os.lseek(fd, 0, os.SEEK_CUR)
        if end == position:
            return True
        start = end - n_written if n_written else start
        return cut_off(self.fs, fd, start, end, block)

    def _explained(self, error: BaseException) -> BaseException:
        """Say of an error of the disk that what was appended is not complete."""
        if not isinstance(error, OSError):
            error.add_note(already_written_note(self.path))
            return error
        why = error.strerror or type(error).__name__
        return DiskError(
            f"{self.path}: {why}; what was appended may be incomplete; free some space and undo "
            "it with compactctl rewind"
        )
