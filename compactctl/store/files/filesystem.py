"""The system calls that write, and the errors of disks.

Everything that writes goes through a FileSystem, so that a test can replace it by one that fails or
dies at any call. Its errors are plain OSErrors.
"""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from compactctl.errors import CompactctlError

NOT_SUPPORTED = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})
PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
SHARED_FOLDER = 0o777
"""Before the umask is applied."""
# Flags of renameat2(2), and AT_FDCWD, which stands for the current folder.
_NO_REPLACE, _EXCHANGE, _CURRENT_FOLDER = 1, 2, -100


class FileSystem:
    """The real disk."""

    def create(self, path: Path) -> int:
        """Create a new file for its owner only; return its descriptor."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.open(path, flags, PRIVATE_FILE)

    def open_lock(self, path: Path) -> int:
        """Open a lock file, or create it if it is missing; return its descriptor."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        return os.open(path, flags, PRIVATE_FILE)

    def open_folder(self, path: Path) -> int:
        """Open a folder for ``fsync_folder``; return its descriptor."""
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def write(self, fd: int, data: bytes) -> None:
        """Write all of ``data``."""
        remaining = memoryview(data)
        while remaining:
            remaining = remaining[os.write(fd, remaining) :]

    def open_append(self, path: Path) -> int:
        """Open an existing file for appending and reading; return its descriptor."""
        return os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)

    def append(self, fd: int, data: bytes) -> int:
        """Write ``data`` in one call, so that no other program can write in between.

        Return how many bytes were written, fewer if the disk is full.
        """
        return os.write(fd, data)

    def truncate(self, fd: int, size: int) -> None:
        """Truncate a file to ``size`` bytes."""
        os.ftruncate(fd, size)

    def chmod(self, fd: int, mode: int) -> None:
        """Set the permission bits."""
        os.fchmod(fd, mode)

    def chown(self, fd: int, uid: int, gid: int) -> None:
        """Set owner and group."""
        os.fchown(fd, uid, gid)

    def set_attribute(self, fd: int, name: str, value: bytes) -> None:
        """Set an extended attribute on Linux; do nothing elsewhere."""
        if sys.platform == "linux":
            os.setxattr(fd, name, value)

    def fsync(self, fd: int) -> None:
        """Make a file's content durable."""
        if sys.platform == "darwin":
            import fcntl

            # fsync(2) of macOS leaves data in the drive's cache; not every volume supports this.
            with suppress(OSError):
                fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
                return
        os.fsync(fd)

    def fsync_folder(self, fd: int) -> None:
        """Make the names in a folder durable, if the file system supports that."""
        try:
            os.fsync(fd)
        except OSError as error:
            if error.errno not in NOT_SUPPORTED:
                raise

    def close(self, fd: int) -> None:
        """Close a descriptor; errors of delayed writes are raised here."""
        os.close(fd)

    def rename(self, old: Path, new: Path) -> None:
        """Replace ``new`` by ``old`` atomically."""
        old.replace(new)

    def rename_new(self, old: Path, new: Path) -> None:
        """Rename to a name that is free, atomically.

        Raises FileExistsError, and an error of ``NOT_SUPPORTED`` where the system cannot do it.
        """
        _rename_with(_NO_REPLACE, old, new)

    def exchange(self, one: Path, other: Path) -> None:
        """Swap the names of two files atomically; raises as ``rename_new``."""
        _rename_with(_EXCHANGE, one, other)

    def link(self, existing: Path, name: Path) -> None:
        """Create a hard link ``name`` of a file."""
        if not hasattr(os, "link"):
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
        name.hardlink_to(existing)

    def unlink(self, path: Path) -> None:
        """Remove a name."""
        path.unlink()

    def mkdir(self, path: Path, mode: int = PRIVATE_FOLDER) -> None:
        """Create a folder, by default for its owner only."""
        path.mkdir(mode=mode)

    def rmdir(self, path: Path) -> None:
        """Remove an empty folder."""
        path.rmdir()


def _rename_with(flag: int, old: Path, new: Path) -> None:
    """Call renameat2(2) of Linux, which Python does not offer."""
    import ctypes

    call = None
    if sys.platform == "linux":
        call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if call(_CURRENT_FOLDER, os.fsencode(old), _CURRENT_FOLDER, os.fsencode(new), flag):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(old), None, str(new))


def make_folders(fs: FileSystem, path: Path, mode: int = PRIVATE_FOLDER) -> None:
    """Create a folder and its missing parents, durably."""
    for folder in (*reversed(path.parents), path):
        if folder.is_dir():
            continue
        try:
            fs.mkdir(folder, mode)
        except FileExistsError:
            # Another process may have created it meanwhile.
            if not folder.is_dir():
                raise
        sync_folder(fs, folder.parent)


def is_folder(path: Path) -> bool:
    """Return whether a folder is at a path; none is where the name is too long for one."""
    try:
        return path.is_dir()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise


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
"""For every other error, which running the command again would not solve."""


class DiskError(CompactctlError):
    """A write failed; 74 is EX_IOERR of sysexits.h."""

    exit_code = 74


def already_written_note(path: Path) -> str:
    """Return the note for an exception that is raised after ``path`` was written."""
    return f"{path} was written before"


@contextmanager
def disk_errors(path: Path, outcome: str) -> Iterator[None]:
    """Turn an OSError into a DiskError; ``outcome`` says what is on disk now."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error) or type(error).__name__
        advice = ADVICE.get(error.errno or 0, DEFAULT_ADVICE)
        raise DiskError(f"{path}: {why}; {outcome}; {advice}") from error
