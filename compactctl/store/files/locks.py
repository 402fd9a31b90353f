"""Advisory locks on open files, which end with their process, and the detection of writers."""

import errno
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from compactctl.errors import UsageError

UNLOCKABLE = frozenset({errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})


def require_locks() -> None:
    """Raise UsageError on a system without such locks, where nothing may be written."""
    try:
        import fcntl  # noqa: F401
    except ImportError as error:
        raise UsageError(
            "this system has no file locks (fcntl), and without them nothing is written; "
            "run compactctl on Linux or macOS, or on Windows in WSL"
        ) from error


def take_lock(fd: int, path: Path, *, wait: bool = False) -> bool:
    """Lock an open file; return whether that worked and it is still the file at ``path``.

    On a file system without locks it always works. Raises OSError for any other error.
    """
    import fcntl

    try:
        fcntl.flock(fd, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in UNLOCKABLE:
            raise
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(fd), path.stat())
    return False


def is_free(fd: int) -> bool | None:
    """Lock an open file for reading; return whether no process writes, None if nobody can tell."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        # Shared, because an exclusive lock over NFS needs a file that is open for writing.
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def can_detect_writers() -> bool:
    """Return whether ``has_writer`` works on this system."""
    return sys.platform == "linux"


def has_writer(path: Path) -> bool:
    """Whether another process has the file open for writing; False if the system cannot tell.

    Linux grants a read lease only if no process has the file open for writing (fcntl(2),
    F_SETLEASE).
    """
    if not can_detect_writers():
        return False
    try:
        import fcntl
    except ImportError:
        return False
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # Breaking a lease sends SIGIO, which would kill this process; SIGURG is ignored.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(fd)
    return False
