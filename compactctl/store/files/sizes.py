"""The size and the beginning of a file of any kind, without reading the rest."""

import stat
from pathlib import Path

from compactctl.errors import NoInputError

HEAD_BYTES = 8_192


def size_and_head(path: str) -> tuple[int, bytes]:
    """Return a regular file's size in bytes and its first bytes; it may be empty.

    Raises:
        NoInputError: there is no such file, it is not a regular one, or cannot be opened.
    """
    try:
        info = Path(path).stat()
        if not stat.S_ISREG(info.st_mode):
            raise NoInputError(f"{path}: is not a regular file; name files only")
        with Path(path).open("rb") as stream:
            return info.st_size, stream.read(HEAD_BYTES)
    except FileNotFoundError as error:
        raise NoInputError(f"{path}: no such file; name existing files") from error
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise NoInputError(f"{path}: cannot be opened ({why}); name a readable file") from error
