"""Permissions of the transcripts that a run reads: what it writes of their text has none beyond.

The library has no runs: what it writes takes its mode from the one transcript it is made of.
"""

import stat
from collections.abc import Iterator
from contextlib import contextmanager

_ALL = 0o777
_shared_modes: list[int] = []


@contextmanager
def noted_modes() -> Iterator[None]:
    """Note modes while a run lasts, beginning with none."""
    _shared_modes.append(_ALL)
    try:
        yield
    finally:
        _shared_modes.pop()


def note_mode(mode: int) -> None:
    """Note the mode of a transcript, or of a report about some, that the run reads."""
    if _shared_modes:
        _shared_modes[-1] &= stat.S_IMODE(mode)


def strictest_mode() -> int:
    """Return the permissions that everything read so far has in common; all where nothing was."""
    return _shared_modes[-1] if _shared_modes else _ALL
