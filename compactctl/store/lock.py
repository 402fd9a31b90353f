"""The lock of an archive folder, against other processes of compactctl only."""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from compactctl.errors import ChangedError
from compactctl.store.filesystem import FileSystem, sync_folder
from compactctl.store.folder import README

LOCK = "lock"
WAIT_SECONDS = 0.05
ATTEMPTS = 20
UNLOCKABLE = frozenset({errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})


@contextmanager
def locked_folder(fs: FileSystem, folder: Path) -> Iterator[None]:
    """Create ``folder`` when it is missing and hold its lock; a folder left empty is removed.

    A lock that stays taken for a second raises ChangedError. A file system without locks is
    used without one.
    """
    try:
        fd = _acquire(fs, folder)
    except OSError:
        with suppress(OSError):
            fs.rmdir(folder)
        raise
    try:
        yield
    finally:
        with suppress(OSError):
            _remove_bare(fs, folder)
        os.close(fd)


def _acquire(fs: FileSystem, folder: Path) -> int:
    for _ in range(ATTEMPTS):
        _ensure_folder(fs, folder)
        with suppress(FileNotFoundError):
            fd = fs.open_lock(folder / LOCK)
            if _is_locked(fd, folder / LOCK):
                return fd
            os.close(fd)
        time.sleep(WAIT_SECONDS)
    raise ChangedError(f"{folder}: another compactctl is at work there; run it again later")


def _is_locked(fd: int, path: Path) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in UNLOCKABLE:
            os.close(fd)
            raise
    # The holder before us may have removed the folder, and the lock with it.
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(fd), path.stat())
    return False


def _ensure_folder(fs: FileSystem, folder: Path) -> None:
    with suppress(FileExistsError):
        fs.mkdir(folder)
        sync_folder(fs, folder.parent)


def _remove_bare(fs: FileSystem, folder: Path) -> None:
    """Remove the folder when it keeps nothing back."""
    names = sorted(path.name for path in folder.iterdir())
    if set(names) <= {README, LOCK}:
        for name in names:
            fs.unlink(folder / name)
        fs.rmdir(folder)
