"""The few system calls with which anything is written.

Everything that writes goes through a FileSystem, so that a test can put one in its place that
fails or dies at any call. Errors are plain OSErrors.
"""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from compactctl.errors import CompactctlError

NOT_SUPPORTED = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})
PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
SHARED_FOLDER = 0o777
"""What the umask leaves of it."""


class FileSystem:
    """The real disk."""

    def create(self, path: Path) -> int:
        """Create a file that did not exist, for its owner only; return its descriptor."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.open(path, flags, PRIVATE_FILE)

    def open_lock(self, path: Path) -> int:
        """Open a lock file, create it when it is missing; return its descriptor."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.open(path, flags, PRIVATE_FILE)

    def open_folder(self, path: Path) -> int:
        """Open a folder to make what happens in it durable; return its descriptor."""
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def write(self, fd: int, data: bytes) -> None:
        """Write all of ``data``."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(fd, rest) :]

    def open_append(self, path: Path) -> int:
        """Open a file that exists to write behind its end; return its descriptor."""
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

    def append(self, fd: int, data: bytes) -> None:
        """Write ``data`` in one call, so that nothing of another program gets in between.

        OSError when not all of it was taken.
        """
        if os.write(fd, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def truncate(self, fd: int, size: int) -> None:
        """Cut a file off."""
        os.ftruncate(fd, size)

    def chmod(self, fd: int, mode: int) -> None:
        """Set the permission bits."""
        os.fchmod(fd, mode)

    def chown(self, fd: int, uid: int, gid: int) -> None:
        """Set owner and group."""
        os.fchown(fd, uid, gid)

    def set_attribute(self, fd: int, name: str, value: bytes) -> None:
        """Set an extended attribute, where the system has them."""
        if sys.platform == "linux":
            os.setxattr(fd, name, value)

    def fsync(self, fd: int) -> None:
        """Make a file's content durable."""
        if sys.platform == "darwin":
            import fcntl

            # fsync(2) of macOS leaves the data in the drive's cache; not every volume knows this.
            with suppress(OSError):
                fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
                return
        os.fsync(fd)

    def fsync_folder(self, fd: int) -> None:
        """Make a folder's names durable, as far as the file system can do that."""
        try:
            os.fsync(fd)
        except OSError as error:
            if error.errno not in NOT_SUPPORTED:
                raise

    def close(self, fd: int) -> None:
        """Close a descriptor; errors of delayed writes show here."""
        os.close(fd)

    def rename(self, old: Path, new: Path) -> None:
        """Put ``old`` in the place of ``new`` in one step."""
        old.replace(new)

    def link(self, existing: Path, name: Path) -> None:
        """Give a file a second name."""
        if not hasattr(os, "link"):
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
        name.hardlink_to(existing)

    def unlink(self, path: Path) -> None:
        """Remove a name."""
        path.unlink()

    def mkdir(self, path: Path, mode: int = PRIVATE_FOLDER) -> None:
        """Create a folder, for its owner only unless told otherwise."""
        path.mkdir(mode=mode)

    def rmdir(self, path: Path) -> None:
        """Remove an empty folder."""
        path.rmdir()


def make_folders(fs: FileSystem, path: Path, mode: int = PRIVATE_FOLDER) -> None:
    """Create a folder and those above it where they are missing, durably."""
    for each in (*reversed(path.parents), path):
        if each.is_dir():
            continue
        try:
            fs.mkdir(each, mode)
        except FileExistsError:
            # Another process may have made it meanwhile.
            if not each.is_dir():
                raise
        sync_folder(fs, each.parent)


def sync_folder(fs: FileSystem, path: Path) -> None:
    """Make the names in a folder durable."""
    fd = fs.open_folder(path)
    try:
        fs.fsync_folder(fd)
    finally:
        fs.close(fd)


ADVICE = {
    errno.ENOSPC: "free some space and run it again",
    errno.EDQUOT: "free some space and run it again",
    errno.EROFS: "write somewhere else",
    errno.EACCES: "write somewhere else, or change the permissions",
    errno.EPERM: "write somewhere else, or change the permissions",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EMFILE: "close some files or raise the limit (ulimit -n)",
    **dict.fromkeys((errno.EAGAIN, errno.EBUSY, errno.EINTR, errno.ETXTBSY), "run it again"),
}
DEFAULT_ADVICE = "check the disk, or write somewhere else"
"""What to do about any other error, which would come again."""


class DiskError(CompactctlError):
    """The disk refused to take what was written; 74 is EX_IOERR of sysexits.h."""

    exit_code = 74


def already_written_note(path: Path) -> str:
    """Return the note for an exception that comes when the work is done already."""
    return f"{path} was written before"


@contextmanager
def disk_errors(path: Path, outcome: str) -> Iterator[None]:
    """Turn an OSError of the block into a DiskError; ``outcome`` says what is on disk now."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error) or type(error).__name__
        advice = ADVICE.get(error.errno or 0, DEFAULT_ADVICE)
        raise DiskError(f"{path}: {why}; {outcome}; {advice}") from error
