"""Advisory locks on open files; the system takes them back when their process ends, however."""

import errno
import os
from contextlib import suppress
from pathlib import Path

from compactctl.errors import UsageError

UNLOCKABLE = frozenset({errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})


def require_locks() -> None:
    """Raise UsageError on a system that has no such locks, so that nothing is written there."""
    try:
        import fcntl  # noqa: F401
    except ImportError as error:
        raise UsageError(
            "this system has no file locks (fcntl), and without them nothing is written; "
            "run compactctl on Linux or macOS, or on Windows in WSL"
        ) from error


def take_lock(fd: int, path: Path, *, wait: bool = False) -> bool:
    """Lock an open file; tell whether it was free, and is still the one at ``path``.

    A file system without locks counts as free. OSError for everything else that goes wrong.
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
    """Tell whether no process holds the lock of an open file; None where there are no locks."""
    import fcntl

    try:
        # Shared, since an exclusive one over NFS needs a file that is open for writing.
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
