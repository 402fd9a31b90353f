"""The owner and the permissions of archive folders, which are private."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from compactctl.errors import ArchiveError
from compactctl.store.archive.names import transcript_of
from compactctl.store.files.filesystem import PRIVATE_FILE, PRIVATE_FOLDER, FileSystem

ROOT = 0
GROUP_AND_OTHERS = stat.S_IRWXG | stat.S_IRWXO
SHARED_WRITE = stat.S_IWGRP | stat.S_IWOTH


def check_owner(folder: Path) -> None:
    """Raise ArchiveError for an archive folder that is a link or another user's; it may be missing.

    The owner of the folder can replace archives and so decides what a rewind restores. This user,
    root, and the owner of the transcript, who can change it anyway, are trusted.
    """
    try:
        info = folder.lstat()
    except OSError:
        return
    if stat.S_ISLNK(info.st_mode):
        raise ArchiveError(
            f"{folder}: is a symbolic link, which is not followed; put the folder itself there"
        )
    if info.st_uid not in {os.geteuid(), ROOT, *_owner_of(transcript_of(folder))}:
        raise ArchiveError(
            f"{folder}: belongs to another user (uid {info.st_uid}), who could change what is "
            "restored; move it away, or make it yours with chown if you trust it"
        )


def tamper_warning(folder: Path) -> str | None:
    """Return how another user, except for root, could change what is restored; None if none can.

    None too if the folder is missing or cannot be read.
    """
    try:
        owner = folder.lstat().st_uid
        is_writable = _is_writable(folder)
    except OSError:
        return None
    if is_writable:
        return (
            f"{folder}: other users can write there and change what is restored; fix it with "
            "compactctl verify --repair"
        )
    if owner not in {os.geteuid(), ROOT}:
        return (
            f"{folder}: belongs to another user (uid {owner}), who could change what is "
            "restored; make it yours with chown, or copy it together with the transcript"
        )
    return None


def _is_writable(folder: Path) -> bool:
    """Return whether others may write to an archive folder, or to a file that they reach in it."""
    mode = folder.lstat().st_mode
    if mode & SHARED_WRITE or not mode & GROUP_AND_OTHERS:
        return bool(mode & SHARED_WRITE)
    return any(
        stat.S_ISREG(info.st_mode) and info.st_mode & SHARED_WRITE for info in infos_in(folder)
    )


def infos_in(folder: Path) -> Iterator[os.stat_result]:
    """Yield what describes the files in a folder, links themselves; files may vanish meanwhile."""
    for path in folder.iterdir():
        with suppress(FileNotFoundError):
            yield path.lstat()


def restrict_to_owner(fs: FileSystem, folder: Path) -> tuple[str, ...]:
    """Restrict an archive folder and its files to their owner; return warnings.

    A file with hard links elsewhere is not changed: its permissions are those of the links too.
    """
    try:
        _restrict_mode(fs, folder, PRIVATE_FOLDER)
    except OSError as error:
        why = f"its permissions could not be changed ({error.strerror})"
        return (f"{folder}: other users may read it; {why}",)
    for path in sorted(folder.iterdir()):
        restrict_file(fs, path)
    return ()


def restrict_file(fs: FileSystem, path: Path) -> None:
    """Restrict a regular file without hard links to its owner; ignores errors."""
    with suppress(OSError):
        info = path.lstat()
        if stat.S_ISREG(info.st_mode) and info.st_nlink == 1:
            _restrict_mode(fs, path, PRIVATE_FILE)


def is_open_to_others(folder: Path) -> bool:
    """Return whether ``restrict_to_owner`` would change any permissions."""
    infos = infos_in(folder)
    files = [info for info in infos if info.st_nlink == 1 and stat.S_ISREG(info.st_mode)]
    return any(info.st_mode & GROUP_AND_OTHERS for info in (folder.lstat(), *files))


def _restrict_mode(fs: FileSystem, path: Path, mode: int) -> None:
    if not path.lstat().st_mode & GROUP_AND_OTHERS:
        return
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        fs.chmod(fd, mode)
    finally:
        os.close(fd)


def _owner_of(path: Path) -> tuple[int, ...]:
    try:
        return (path.stat().st_uid,)
    except OSError:
        return ()
