"""What a new file takes over from the file it is made from: mode, owner, extended attributes."""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from compactctl.store.files.filesystem import FileSystem


def take_attributes(fs: FileSystem, fd: int, origin: Path) -> tuple[str, ...]:
    """Give an open file the attributes of ``origin``; return a line for each that it refuses.

    Nothing is fatal: a file that keeps its first mode can be read by its owner alone. Extended
    attributes are taken silently as far as possible, since some belong to the system.
    """
    info = origin.stat()
    refused = []
    own = os.fstat(fd)
    if (info.st_uid, info.st_gid) != (own.st_uid, own.st_gid):
        try:
            fs.chown(fd, info.st_uid, info.st_gid)
        except OSError as error:
            refused.append(f"its owner and group could not be kept ({error.strerror})")
    try:
        # After chown, which clears some of these bits.
        fs.chmod(fd, stat.S_IMODE(info.st_mode))
    except OSError as error:
        refused.append(f"its permissions could not be kept ({error.strerror})")
    _take_extended(fs, fd, origin)
    return tuple(refused)


def _take_extended(fs: FileSystem, fd: int, origin: Path) -> None:
    if sys.platform != "linux":
        return
    with suppress(OSError):
        for name in os.listxattr(origin):
            with suppress(OSError):
                fs.set_attribute(fd, name, os.getxattr(origin, name))
