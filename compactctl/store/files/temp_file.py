"""Temporary files: written beside their target, and moved there completely or not at all."""

import hashlib
import itertools
import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from compactctl.errors import ChangedError, IntegrityError, OutputFaultError
from compactctl.records import Record
from compactctl.store.files.content import Content, read_first, rechunk
from compactctl.store.files.filesystem import NOT_SUPPORTED, FileSystem
from compactctl.store.files.locks import take_lock
from compactctl.store.files.source import FileIdentity, digest_of, sha256_of
from compactctl.store.files.stale_drafts import remove_quietly


def copy_attributes(fs: FileSystem, fd: int, origin: Path) -> tuple[str, ...]:
    """Copy owner, mode and extended attributes to an open file; return a warning per refusal.

    No refusal is fatal: the initial mode lets only the owner read the file. Extended attributes are
    copied as far as possible and without warnings, because some belong to the system.
    """
    info, current = origin.stat(), os.fstat(fd)
    warnings = []
    if (info.st_uid, info.st_gid) != (current.st_uid, current.st_gid):
        try:
            fs.chown(fd, info.st_uid, info.st_gid)
        except OSError as error:
            warnings.append(f"its owner and group could not be kept ({error.strerror})")
    try:
        # After chown, which clears some of these bits.
        fs.chmod(fd, stat.S_IMODE(info.st_mode))
    except OSError as error:
        warnings.append(f"its permissions could not be kept ({error.strerror})")
    _copy_extended(fs, fd, origin)
    return tuple(warnings)


def _copy_extended(fs: FileSystem, fd: int, origin: Path) -> None:
    if sys.platform != "linux":
        return
    with suppress(OSError):
        for name in os.listxattr(origin):
            with suppress(OSError):
                fs.set_attribute(fd, name, os.getxattr(origin, name))


NAME_LIMIT = 200
"""Bytes of the target's name in a draft's name; common systems allow 255 bytes in all."""


class ExistingFile(Record, kw_only=False):
    """The file that an output replaces; ``read`` is what was read of it if it may have grown."""

    info: os.stat_result
    read: FileIdentity | None = None

    @classmethod
    def at(cls, path: Path) -> "ExistingFile | None":
        """Return the file at a path, None if there is none."""
        try:
            return cls(path.stat())
        except FileNotFoundError:
            return None

    def is_at(self, path: Path) -> bool:
        """Return whether the file at a path is this one, unchanged or grown."""
        now, then = path.stat(), self.info
        if (now.st_size, now.st_mtime_ns) == (then.st_size, then.st_mtime_ns):
            return os.path.samestat(now, then)
        return os.path.samestat(now, then) and self._has_grown(path)

    def _has_grown(self, path: Path) -> bool:
        if self.read is None:
            return False
        with path.open("rb") as stream:
            return digest_of(read_first(stream, self.read.size)).sha256 == self.read.sha256


class TempFile:
    """A draft of the file ``target``, open in its block, and removed there unless published."""

    def __init__(self, fs: FileSystem, target: Path) -> None:
        self.target = target
        self.published = False
        self.path = target
        self.fd: int | None = None
        self._info: os.stat_result
        self._has_exchanged = False
        self._was_put_back = False
        self._fs = fs
        self._written = hashlib.sha256()

    def __enter__(self) -> Self:
        for number in itertools.count():
            self.path = self.target.with_name(_draft_name(self.target.name, number))
            try:
                self.fd = self._fs.create(self.path)
            except FileExistsError:
                continue
            self._info = os.fstat(self.fd)
            if self._lock(self.fd):
                break
            self.close()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.fd is not None:
            with suppress(OSError):
                self.close()
        # Asks the disk, because an error or Ctrl-C may come right after the move.
        is_at_path = self._is_at_path()
        self.published = self.published or not (is_at_path or self._was_put_back)
        if self.path.exists() and (is_at_path or self._has_exchanged):
            remove_quietly(self._fs, self.path)

    def _is_at_path(self) -> bool:
        """Whether the draft has its own name yet."""
        try:
            return os.path.samestat(self.path.lstat(), self._info)
        except FileNotFoundError:
            return False

    def _lock(self, fd: int) -> bool:
        """Lock the new file, so that no other run takes it for a stale draft."""
        try:
            return take_lock(fd, self.path, wait=True)
        except BaseException:
            self.__exit__(None, None, None)
            raise

    def write(self, data: bytes) -> None:
        """Append ``data``."""
        if self.fd is None:
            raise ValueError(f"{self.path.name} is closed")
        self._fs.write(self.fd, data)
        self._written.update(data)

    def write_all(self, content: Content) -> None:
        """Append ``content``; OutputFaultError if its chunks do not match its digest."""
        for block in rechunk(content.chunks):
            self.write(block)
        if self.sha256 != content.digest.sha256:
            raise OutputFaultError(
                f"{self.target}: compactctl made a mistake: its content changed while it was being "
                "written; nothing was written; please report this"
            )

    @property
    def sha256(self) -> str:
        """The digest of everything that was written."""
        return self._written.hexdigest()

    def sync(self) -> None:
        """Make what was written durable."""
        if self.fd is not None:
            self._fs.fsync(self.fd)

    def close(self) -> None:
        """Close the draft; ends writing."""
        fd, self.fd = self.fd, None
        if fd is not None:
            self._fs.close(fd)

    def verify(self) -> None:
        """Read the draft back; IntegrityError unless it holds exactly what was written."""
        if sha256_of(self.path) != self.sha256:
            raise IntegrityError(
                f"{self.target}: the disk returned different bytes than were written; check the "
                "disk"
            )

    def copy_attributes(self, origin: Path) -> tuple[str, ...]:
        """Copy owner, mode and extended attributes of a file; return a warning per refusal."""
        return () if self.fd is None else copy_attributes(self._fs, self.fd, origin)

    def chmod(self, mode: int) -> None:
        """Set the permission bits."""
        if self.fd is not None:
            self._fs.chmod(self.fd, mode)

    def publish(self) -> None:
        """Move the draft to its target and make that durable."""
        self._publish(lambda: self._fs.rename(self.path, self.target))

    def _publish(self, move: Callable[[], None]) -> None:
        folder = self._fs.open_folder(self.target.parent)
        try:
            move()
            self.published = True
            self._fs.fsync_folder(folder)
        finally:
            self._fs.close(folder)

    def publish_over(self, existing: ExistingFile | None) -> tuple[str, ...]:
        """Publish the draft in the place of ``existing``, None for a new file; return warnings.

        An error after the move is a warning. Raises ChangedError if another file is there by now,
        where the system can tell.
        """
        try:
            self._publish(lambda: self._move_over(existing))
        except OSError as error:
            if self._is_at_path():
                raise
            return (
                f"{self.target}: written, but may be lost in a power failure ({error.strerror})",
            )
        return ()

    def _move_over(self, existing: ExistingFile | None) -> None:
        try:
            if existing is None:
                self._fs.rename_new(self.path, self.target)
            else:
                self._exchange(existing)
        except FileExistsError as error:
            raise _replaced_meanwhile(self.target) from error
        except OSError as error:
            # A file that is gone from its name was moved by its owner, who has it.
            is_gone = isinstance(error, FileNotFoundError) and self._is_at_path()
            if not is_gone and error.errno not in NOT_SUPPORTED:
                raise
            self._fs.rename(self.path, self.target)

    def _exchange(self, existing: ExistingFile) -> None:
        try:
            self._fs.exchange(self.path, self.target)
            self._has_exchanged = existing.is_at(self.path)
        finally:
            # An error or Ctrl-C may come right after the exchange.
            if not (self._has_exchanged or self._is_at_path()):
                self._put_back(existing)
        if not self._has_exchanged:
            raise _replaced_meanwhile(self.target)
        remove_quietly(self._fs, self.path)

    def _put_back(self, existing: ExistingFile) -> None:
        """Give the file of another program its name back, the newest one if there are several."""
        with suppress(OSError):
            self._has_exchanged = existing.is_at(self.path)
        if self._has_exchanged or not self.path.exists():
            return
        try:
            with suppress(FileNotFoundError):
                self._fs.exchange(self.path, self.target)
            if not self._is_at_path():
                self._fs.rename(self.path, self.target)
        except OSError as error:
            raise ChangedError(
                f"{self.target}: another program has just written it, and its file is now "
                f"{self.path} ({error.strerror}); give that another name, or it is removed"
            ) from error
        self._was_put_back = True


def _replaced_meanwhile(path: Path) -> ChangedError:
    return ChangedError(f"{path}: another program has just written it; run the command again")


def _draft_name(base: str, number: int) -> str:
    # Cut between characters: macOS takes only UTF-8. Bytes that are not UTF-8 stay.
    while len(os.fsencode(base)) > NAME_LIMIT:
        base = base[:-1]
    return f".{base}.cctl-{os.getpid()}-{number}"
