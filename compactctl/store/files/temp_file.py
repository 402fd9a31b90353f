"""Temporary files: written beside their target, and moved there completely or not at all."""

import hashlib
import itertools
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from compactctl.errors import IntegrityError
from compactctl.store.files.content import Content, rechunk
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.locks import take_lock
from compactctl.store.files.source import sha256_of
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


class TempFile:
    """A draft of the file ``target``, open in its block, and removed there unless published."""

    def __init__(self, fs: FileSystem, target: Path) -> None:
        self.target = target
        self.published = False
        self.path = target
        self.fd: int | None = None
        self._fs = fs
        self._written = hashlib.sha256()

    def __enter__(self) -> Self:
        for number in itertools.count():
            self.path = self.target.with_name(_draft_name(self.target.name, number))
            try:
                self.fd = self._fs.create(self.path)
            except FileExistsError:
                continue
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
        self.published = self.published or not self.path.exists()
        if not self.published:
            remove_quietly(self._fs, self.path)

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
        """Append ``content``; IntegrityError if its chunks do not match its digest."""
        for block in rechunk(content.chunks):
            self.write(block)
        if self.sha256 != content.digest.sha256:
            raise IntegrityError(f"{self.target}: its content changed while it was being written")

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
        """Move the draft to its target and make that durable.

        After an error, ``path`` exists only if the draft was not moved.
        """
        folder = self._fs.open_folder(self.target.parent)
        try:
            self._fs.rename(self.path, self.target)
            self.published = True
            self._fs.fsync_folder(folder)
        finally:
            self._fs.close(folder)

    def publish_or_warn(self) -> tuple[str, ...]:
        """Publish the draft; an error after the move is returned as a warning."""
        try:
            self.publish()
        except OSError as error:
            if self.path.exists():
                raise
            return (
                f"{self.target}: written, but may be lost in a power failure ({error.strerror})",
            )
        return ()


def _draft_name(base: str, number: int) -> str:
    # Cut between characters: macOS takes only UTF-8. Bytes that are not UTF-8 stay.
    while len(os.fsencode(base)) > NAME_LIMIT:
        base = base[:-1]
    return f".{base}.cctl-{os.getpid()}-{number}"
