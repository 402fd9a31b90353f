"""Whether another program holds a file open for writing."""

import errno
import os
import signal
import sys
from pathlib import Path


def tells_writers() -> bool:
    """Tell whether this machine knows who has a file open for writing."""
    return sys.platform == "linux"


def has_writer(path: Path) -> bool:
    """Tell whether another process has the file open for writing; False where none can tell.

    On Linux a read lease is granted only when nobody has the file open for writing
    (fcntl(2), F_SETLEASE).
    """
    if not tells_writers():
        return False
    try:
        import fcntl
    except ImportError:
        return False
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        # Breaking a lease sends SIGIO, which ends a process; SIGURG is ignored.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    finally:
        os.close(fd)
    return False
