"""Archive folders are private: whom they may belong to, and the permissions of what is in them."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from compactctl.errors import ArchiveError
from compactctl.store.archive.names import transcript_of
from compactctl.store.files.filesystem import PRIVATE_FILE, PRIVATE_FOLDER, FileSystem

ROOT = 0
GROUP_AND_OTHERS = stat.S_IRWXG | stat.S_IRWXO
SHARED_WRITE = stat.S_IWGRP | stat.S_IWOTH


def check_owner(folder: Path) -> None:
    """Raise ArchiveError for an archive folder that is a link or a stranger's; it may be missing.

    Whoever owns the folder can put other archives into it and so decides what a rewind restores.
    That may be this user, root, or whom the transcript belongs to, who decides about it anyway.
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
    """Return in a sentence how another user could change what is restored, None where none can.

    Root can always. Nothing is said of a folder that is missing or cannot be looked into.
    """
    try:
        owner = folder.lstat().st_uid
        is_writable = _is_writable(folder)
    except OSError:
        return None
    if is_writable:
        return (
            f"{folder}: other users may write there and so change what is restored; "
            "take that from them with compactctl verify --repair"
        )
    if owner not in {os.geteuid(), ROOT}:
        return (
            f"{folder}: belongs to another user (uid {owner}), who may change what is restored; "
            "make it yours with chown, or copy it together with the transcript"
        )
    return None


def _is_writable(folder: Path) -> bool:
    """Tell whether others may write to an archive folder, or to a file in it that they reach."""
    mode = folder.lstat().st_mode
    if mode & SHARED_WRITE or not mode & GROUP_AND_OTHERS:
        return bool(mode & SHARED_WRITE)
    files = (path.lstat().st_mode for path in folder.iterdir())
    return any(stat.S_ISREG(each) and each & SHARED_WRITE for each in files)


def restrict_to_owner(fs: FileSystem, folder: Path) -> tuple[str, ...]:
    """Leave an archive folder and the files in it to their owner alone; return warnings.

    A file with a second name is left: its permissions are those of the other name, too.
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
    """Leave a file to its owner alone where that is possible and it has no second name."""
    with suppress(OSError):
        info = path.lstat()
        if stat.S_ISREG(info.st_mode) and info.st_nlink == 1:
            _restrict_mode(fs, path, PRIVATE_FILE)


def is_open_to_others(folder: Path) -> bool:
    """Tell whether ``restrict_to_owner`` would take permissions from others."""
    alone = [each for each in map(Path.lstat, folder.iterdir()) if each.st_nlink == 1]
    files = [each for each in alone if stat.S_ISREG(each.st_mode)]
    return any(each.st_mode & GROUP_AND_OTHERS for each in (folder.lstat(), *files))


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
