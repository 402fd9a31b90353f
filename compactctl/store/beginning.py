"""Read the beginning of a file that need not be there."""

import os
from pathlib import Path


def read_beginning(path: Path, n_bytes: int) -> bytes | None:
    """Return at most the first ``n_bytes`` of a file, None if it cannot be read.

    A named pipe is empty: nobody has to write to it.
    """
    try:
        with open(path, "rb", opener=_open_at_once) as stream:
            return stream.read(n_bytes)
    except (OSError, ValueError):
        return None


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)
