"""Find and remove the temporary files of killed runs."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from compactctl.store.files.filesystem import FileSystem, is_folder
from compactctl.store.files.locks import is_free

DRAFT = re.compile(r"\..+\.cctl-(?P<pid>\d+)-\d+", re.DOTALL)


def remove_quietly(fs: FileSystem, path: Path) -> None:
    """Remove a file; ignore errors."""
    with suppress(OSError):
        fs.unlink(path)


def remove_folder_quietly(fs: FileSystem, path: Path) -> None:
    """Remove an empty folder; ignore errors."""
    with suppress(OSError):
        fs.rmdir(path)


def remove_stale_drafts(fs: FileSystem, folder: Path) -> None:
    """Remove the drafts in ``folder`` whose process has ended.

    A process holds the lock of its draft as long as it lives, even on another machine or in a
    container, so a reused process id protects no draft. Drafts of other users, links, and files
    with other names are not touched.
    """
    for path in stale_drafts(folder):
        remove_quietly(fs, path)


def stale_drafts(folder: Path) -> Iterator[Path]:
    """Yield the drafts in ``folder`` that no running process holds, each locked meanwhile."""
    for path in sorted(folder.glob(".*.cctl-*")) if is_folder(folder) else ():
        if match := DRAFT.fullmatch(path.name):
            with suppress(OSError), _opened(path) as fd:
                if _is_stale(fd, int(match["pid"])):
                    yield path


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        yield fd
    finally:
        os.close(fd)


def _is_stale(fd: int, pid: int) -> bool:
    info = os.fstat(fd)
    if not stat.S_ISREG(info.st_mode) or os.geteuid() not in {0, info.st_uid}:
        return False
    is_unlocked = is_free(fd)
    return not _is_alive(pid) if is_unlocked is None else is_unlocked


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
