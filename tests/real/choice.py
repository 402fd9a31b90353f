"""Sessions of all clients, real and written ones, and which of them a change is tried on.

The written ones are invented; a change is tried on all of them, in a few of many ways.
COMPACTCTL_LONG_TESTS=1 asks for all ways, and for the real ones as well where they are at hand.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar
from zlib import crc32

import pytest
from examples import LONG
from samples.clients.sessions import write_sessions
from transcripts import FOLDER

from compactctl.clients.registry import ALL_FORMATS
from compactctl.history.pairs import find_orphans
from compactctl.model.message import Message

# Folders of the clients whose files are read: some are named otherwise than their format.
READ = {known.name for known in ALL_FORMATS}
# Sessions that others of the same client stand for when a change is tried.
_LONG = {
    "agent-code/long.json",
    "anthropic-messages/log.jsonl",
    "claude-code/branches.jsonl",
    "codex/long.jsonl",
    "copilot-cli/long.jsonl",
    "gemini-cli/document.json",
    "mini-swe-agent/messages.json",
    "openai-chat/document.json",
    "openai-chat/log.jsonl",
    "openai-responses/log.jsonl",
    "opencode/pruned.json",
    "pi/first-version.jsonl",
    "pi/long.jsonl",
    "spring-ai/rows.jsonl",
    "vscode-copilot-chat/export.json",
}
# Big enough for every stage to find something to do, small enough to be tried on every change.
_USUAL_BYTES = 100_000
# The screen and bookkeeping files that clients keep beside a history.
_NO_HISTORY = {"ui_messages.json", "task_metadata.json"}

T = TypeVar("T")

_held = TemporaryDirectory(prefix="compactctl-sessions-")
_WRITTEN = Path(_held.name)
write_sessions(_WRITTEN)


def _below(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and client_of(path) in READ and path.name not in _NO_HISTORY:
            yield path


def client_of(path: Path) -> str:
    return Path(name_of(path)).parts[0]


def name_of(path: Path) -> str:
    return str(path.relative_to(_WRITTEN if is_written(path) else FOLDER))


def is_written(path: Path) -> bool:
    return path.is_relative_to(_WRITTEN)


WRITTEN = list(_below(_WRITTEN))
FILES = sorted([*WRITTEN, *(_below(FOLDER) if FOLDER.is_dir() else ())], key=name_of)


def how_unusual(path: Path) -> float:
    """Return how far the size of a file is from the usual one, many times or few."""
    return abs(log(path.stat().st_size / _USUAL_BYTES))


def usual(count: int = 1) -> Iterator[Path]:
    """Yield so many files of each client, those whose sizes come nearest to the usual one."""
    for _, group in groupby(FILES, client_of):
        yield from sorted(group, key=how_unusual)[:count]


SMALLEST = tuple(
    min(group, key=lambda path: path.stat().st_size) for _, group in groupby(WRITTEN, client_of)
)
"""The smallest written session of each client."""
TRIED = FILES if LONG else [path for path in WRITTEN if name_of(path) not in _LONG]


def each_of(files: Sequence[Path]) -> pytest.MarkDecorator:
    """Parametrize a test over files as ``path``; a change is tried on the written ones."""
    return pytest.mark.parametrize(
        "path",
        [
            pytest.param(path, id=name_of(path), marks=() if path in TRIED else pytest.mark.long)
            for path in files
        ],
    )


each_file = each_of(FILES)


def written(name: str) -> Path:
    """Return the path of a written session, which begins with the name of its client."""
    return _WRITTEN / name


def chosen(ways: Sequence[T], key: str, count: int) -> Sequence[T]:
    """Return ``count`` of the ways, others for other keys; all with COMPACTCTL_LONG_TESTS=1."""
    if LONG or count >= len(ways):
        return ways
    return sorted(ways, key=lambda way: crc32(f"{key} {way}".encode()))[:count]


def orphaned(messages: tuple[Message, ...]) -> Counter[str]:
    """Count by kind: where a transcript has no call ids, those derived may change."""
    return Counter(orphan.kind for orphan in find_orphans(messages))
