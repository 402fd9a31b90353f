"""Real transcripts, and which of them, in which ways, a change is tried on.

A change is tried on one file per client, in a few of many ways; COMPACTCTL_LONG_TESTS=1 asks for
all of them in all ways.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import log
from pathlib import Path
from typing import TypeVar
from zlib import crc32

import pytest
from examples import LONG

from compactctl.formats.registry import ALL_FORMATS
from compactctl.history.pairs import find_orphans
from compactctl.model.message import Message

REAL = Path(__file__).resolve().parents[3] / "shared" / "transcripts"
# Folders of the clients whose files are read: some are named otherwise than their format.
READ = {known.name for known in ALL_FORMATS} | {"mini-swe-agent"}
# Big enough for every stage to find something to do, small enough to be tried on every change.
_USUAL_BYTES = 100_000
# The screen and bookkeeping files that clients keep beside a history.
_NO_HISTORY = {"ui_messages.json", "task_metadata.json"}

T = TypeVar("T")


def transcripts() -> Iterator[Path]:
    for path in sorted(REAL.rglob("*")):
        if path.is_file() and client_of(path) in READ and path.name not in _NO_HISTORY:
            yield path


def client_of(path: Path) -> str:
    return path.relative_to(REAL).parts[0]


def name_of(path: Path) -> str:
    return str(path.relative_to(REAL))


FILES = list(transcripts()) if REAL.is_dir() else []


def how_unusual(path: Path) -> float:
    """Return how far the size of a file is from the usual one, many times or few."""
    return abs(log(path.stat().st_size / _USUAL_BYTES))


def usual(count: int = 1) -> Iterator[Path]:
    """Yield so many files of each client, those whose sizes come nearest to the usual one."""
    for _, group in groupby(FILES, client_of):
        yield from sorted(group, key=how_unusual)[:count]


TRIED = FILES if LONG else list(usual())
needs_files = pytest.mark.skipif(not FILES, reason="no real transcripts beside the checkout")
each_file = pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=name_of(path), marks=() if path in TRIED else pytest.mark.long)
        for path in FILES
    ],
)


def chosen(ways: Sequence[T], key: str, count: int) -> Sequence[T]:
    """Return ``count`` of the ways, others for other keys; all with COMPACTCTL_LONG_TESTS=1."""
    if LONG or count >= len(ways):
        return ways
    return sorted(ways, key=lambda way: crc32(f"{key} {way}".encode()))[:count]


def orphaned(messages: tuple[Message, ...]) -> Counter[str]:
    """Count by kind: where a transcript has no call ids, those derived may change."""
    return Counter(orphan.kind for orphan in find_orphans(messages))
