"""What a test asks of the command line, and what it gets."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from excerpts import excerpt

SAMPLES = Path(__file__).resolve().parents[2] / "sample_transcripts"
LARGEST = "claude-code-session"

# Commands that answer a client until it leaves, in its own protocol, and come to no result.
SERVERS = {"mcp"}

# The exit codes of what is not the program's own fault.
DOCUMENTED = frozenset(range(9))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The document that it printed."""
        return json.loads(self.out)


class Ask(Protocol):
    """Runs a command line in this process, with bytes as standard input."""

    def __call__(self, *arguments: str | Path, stdin: bytes = b"") -> Outcome:
        """Return what the command came to."""


class Sample(Protocol):
    """Copies a bundled transcript into the test's own folder."""

    def __call__(self, name: str) -> Path:
        """Return the copy."""


def first_turns(folder: Path) -> Path:
    """Write the first four turns of the largest sample, a quarter of it, into a folder."""
    path = folder / f"{LARGEST}.jsonl"
    path.write_bytes(excerpt(LARGEST, 182))
    return path


def archives(transcript: Path) -> list[Path]:
    """Return the archives beside a transcript, oldest first."""
    return sorted(Path(f"{transcript}.archive").glob("*.parquet"))
