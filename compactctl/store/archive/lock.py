"""The lock of an archive folder, which only processes of compactctl take."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from compactctl.errors import ChangedError
from compactctl.store.archive.names import README
from compactctl.store.files.filesystem import FileSystem, make_folders, sync_folder
from compactctl.store.files.locks import is_free, require_locks, take_lock

LOCK_NAME = "lock"
WAIT_SECONDS = 0.05
ATTEMPTS = 20


@contextmanager
def locked_folder(fs: FileSystem, folder: Path) -> Iterator[None]:
    """Create ``folder`` if it is missing and hold its lock; remove the folder if it stays empty.

    Raises ChangedError if another process holds the lock for a second. On a file system without
    locks, nothing is locked.
    """
    require_locks()
    try:
        fd = _acquire(fs, folder)
    except OSError:
        with suppress(OSError):
            fs.rmdir(folder)
        raise
    try:
        yield
    finally:
        # The work is done: an error here must not report it as failed.
        with suppress(OSError):
            _remove_if_empty(fs, folder)
        with suppress(OSError):
            fs.close(fd)


@contextmanager
def shared_lock(folder: Path) -> Iterator[None]:
    """Read an archive folder while no run writes to it, if none does for more than a second.

    Writers wait as long as the folder is read. Nothing is locked if that is not possible.
    """
    try:
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        fd = os.open(folder / LOCK_NAME, flags)
    except (OSError, AttributeError):
        yield
        return
    try:
        for _ in range(ATTEMPTS):
            if is_free(fd) is not False:
                break
            time.sleep(WAIT_SECONDS)
        yield
    finally:
        os.close(fd)


def _acquire(fs: FileSystem, folder: Path) -> int:
    for _ in range(ATTEMPTS):
        _ensure_folder(fs, folder)
        with suppress(FileNotFoundError):
            fd = fs.open_lock(folder / LOCK_NAME)
            if _is_locked(fd, folder / LOCK_NAME):
                return fd
            os.close(fd)
        time.sleep(WAIT_SECONDS)
    raise ChangedError(f"{folder}: another compactctl is running there; try again later")


def _is_locked(fd: int, path: Path) -> bool:
    # The previous holder may have removed the folder, and the lock file with it.
    try:
        return take_lock(fd, path)
    except OSError:
        os.close(fd)
        raise


def _ensure_folder(fs: FileSystem, folder: Path) -> None:
    make_folders(fs, folder.parent)
    with suppress(FileExistsError):
        fs.mkdir(folder)
    # Even if it existed: its creator may have been killed before it was durable.
    sync_folder(fs, folder.parent)


def _remove_if_empty(fs: FileSystem, folder: Path) -> None:
    """Remove the folder if it holds neither an archive nor a displaced file."""
    names = sorted(path.name for path in folder.iterdir())
    if set(names) <= {README, LOCK_NAME}:
        for name in names:
            fs.unlink(folder / name)
        fs.rmdir(folder)
