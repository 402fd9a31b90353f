"""Errors of the disk, put into a line that helps."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from compactctl.errors import CompactctlError

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
OTHERWISE = "check the disk, or write somewhere else"
"""What to do about any other error, which would come again."""


class DiskError(CompactctlError):
    """The disk refused to take what was written; 74 is EX_IOERR of sysexits.h."""

    exit_code = 74


def written_before(path: Path) -> str:
    """Return the note for an exception that comes when the work is done already."""
    return f"{path} was written before"


@contextmanager
def disk_errors(path: Path, outcome: str) -> Iterator[None]:
    """Turn an OSError of the block into a DiskError; ``outcome`` says what is on disk now."""
    try:
        yield
    except OSError as error:
        why = error.strerror or str(error) or type(error).__name__
        advice = ADVICE.get(error.errno or 0, OTHERWISE)
        raise DiskError(f"{path}: {why}; {outcome}; {advice}") from error
