"""Note the permissions of the transcripts that a run reads, so that its outputs grant no more.

The library has no runs: its outputs have the mode of the one transcript they are made from.
"""

import stat
from collections.abc import Iterator
from contextlib import contextmanager

_ALL = 0o777
_shared_modes: list[int] = []


@contextmanager
def noted_modes() -> Iterator[None]:
    """Collect modes for the duration of a run."""
    _shared_modes.append(_ALL)
    try:
        yield
    finally:
        _shared_modes.pop()


def note_mode(mode: int) -> None:
    """Note the mode of a transcript, or of a report about transcripts, that the run reads."""
    if _shared_modes:
        _shared_modes[-1] &= stat.S_IMODE(mode)


def strictest_mode() -> int:
    """Return the permissions common to everything read so far; all if nothing was read."""
    return _shared_modes[-1] if _shared_modes else _ALL
