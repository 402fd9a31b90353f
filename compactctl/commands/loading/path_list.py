"""Paths that another program has listed."""

import os

from compactctl.errors import NoInputError
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.lines import open_input


def listed_paths(source: str) -> tuple[str, ...]:
    """Read paths from a file, ``-`` for standard input: a line each, or each ended by a NUL byte.

    Raises NoInputError for a list that cannot be read or names nothing.
    """
    data = open_input(source, TEXT_LIMITS).data
    separator = b"\0" if b"\0" in data else b"\n"
    paths = tuple(os.fsdecode(path) for path in data.split(separator) if path.strip())
    if not paths:
        raise NoInputError(f"{source}: lists no path; write one a line")
    return paths
