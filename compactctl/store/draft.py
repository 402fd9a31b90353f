"""Temporary files: written beside their place, moved there whole or not at all."""

import hashlib
import itertools
import os
import re
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from compactctl.errors import IntegrityError
from compactctl.model.operation import Digest
from compactctl.store.attributes import take_attributes
from compactctl.store.filesystem import FileSystem

DRAFT = re.compile(r"\.(?P<base>.+)\.cctl-(?P<pid>\d+)-\d+", re.DOTALL)
NAME_LIMIT = 200
"""Bytes of a name that a draft's name repeats; 255 are allowed in all on common systems."""


class Draft:
    """A file under way, open in its block. It is gone afterwards unless it was published."""

    def __init__(self, fs: FileSystem, place: Path) -> None:
        self.place = place
        self.published = False
        self.path = place
        self.fd: int | None = None
        self._fs = fs

    def __enter__(self) -> Self:
        for number in itertools.count():
            self.path = self.place.with_name(_draft_name(self.place.name, number))
            try:
                self.fd = self._fs.create(self.path)
            except FileExistsError:
                continue
            break
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
        # Asks the disk, since an error or Ctrl-C may come right after the move.
        self.published = self.published or not self.path.exists()
        if not self.published:
            remove(self._fs, self.path)

    def write(self, data: bytes) -> None:
        """Append ``data``."""
        if self.fd is None:
            raise ValueError(f"{self.path.name} is closed")
        self._fs.write(self.fd, data)

    def sync(self) -> None:
        """Make what was written durable."""
        if self.fd is not None:
            self._fs.fsync(self.fd)

    def close(self) -> None:
        """End writing."""
        fd, self.fd = self.fd, None
        if fd is not None:
            self._fs.close(fd)

    def verify(self, expected: Digest) -> None:
        """Read the file again; IntegrityError unless it holds exactly what it should."""
        with self.path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != expected.sha256:
            raise IntegrityError(
                f"{self.place}: the disk gives back other bytes than were written; check the disk"
            )

    def take_attributes(self, origin: Path) -> tuple[str, ...]:
        """Take mode, owner and extended attributes from a file; return a line for each refusal."""
        return () if self.fd is None else take_attributes(self._fs, self.fd, origin)

    def chmod(self, mode: int) -> None:
        """Set the permission bits."""
        if self.fd is not None:
            self._fs.chmod(self.fd, mode)

    def publish(self) -> None:
        """Move the file to its place and make that durable.

        After an error ``path`` still exists unless the file was moved.
        """
        folder = self._fs.open_folder(self.place.parent)
        try:
            self._fs.rename(self.path, self.place)
            self.published = True
            self._fs.fsync_folder(folder)
        finally:
            self._fs.close(folder)


def remove(fs: FileSystem, path: Path) -> None:
    """Remove a file if that is possible."""
    with suppress(OSError):
        fs.unlink(path)


def sweep(fs: FileSystem, folder: Path, *, base: str | None = None) -> None:
    """Remove drafts that a dead process left in ``folder``, only those for ``base`` if given."""
    wanted = None if base is None else _draft_base(base)
    for path in sorted(folder.glob(".*.cctl-*")):
        match = DRAFT.fullmatch(path.name)
        if match and wanted in {None, match["base"]} and not _is_alive(int(match["pid"])):
            remove(fs, path)


def _draft_name(base: str, number: int) -> str:
    return f".{_draft_base(base)}.cctl-{os.getpid()}-{number}"


def _draft_base(base: str) -> str:
    return os.fsencode(base)[:NAME_LIMIT].decode("utf-8", "replace")


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
