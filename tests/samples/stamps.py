"""Ids, moments and sizes that are the same on every run."""

import hashlib
import json
import re
import uuid
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
PIECE = re.compile(r"[A-Z]?[a-z]{1,9}|[A-Z]{1,3}|\d{1,3}|[^\sA-Za-z\d]{1,3}|\n| {3,}")
# Pieces per o200k token over the project's files, and Claude tokens per o200k token, also of text
# whose lines are numbered.
PIECES_PER_TOKEN = 1.054
CLAUDE_RATIO, CLAUDE_NUMBERED = 1.24, 1.12
NUMBERED = re.compile(r" *\d+[→\t]")


class Ids:
    """Identifiers derived from a seed and a running number, never drawn."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._count = 0

    def _next(self) -> str:
        self._count += 1
        return f"{self._seed}/{self._count}"

    def uuid(self) -> str:
        """The next uuid."""
        return str(uuid.uuid5(uuid.NAMESPACE_URL, self._next()))

    def token(self, prefix: str, length: int = 24) -> str:
        """The next opaque id, such as ``toolu_01…``."""
        digest = hashlib.sha256(self._next().encode()).digest()
        return prefix + "".join(ALPHABET[byte % len(ALPHABET)] for byte in digest)[:length]


class Clock:
    """A clock that moves only when it is told to."""

    def __init__(self, start: str, rng: Random) -> None:
        self.now = datetime.fromisoformat(start).astimezone(UTC)
        self._rng = rng

    def tick(self, low: float = 0.2, high: float = 9.0) -> str:
        """Let some seconds pass and return the new moment."""
        self.now += timedelta(milliseconds=int(self._rng.uniform(low, high) * 1000))
        return self.stamp()

    def wait(self, minutes: float) -> None:
        """Let a person think."""
        self.now += timedelta(minutes=minutes)

    def stamp(self) -> str:
        """Now, as clients written in JavaScript print it."""
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def tokens(text: str) -> int:
    """About how many o200k tokens a text has."""
    return round(len(PIECE.findall(text)) / PIECES_PER_TOKEN)


def claude_tokens(text: str) -> int:
    """About how many tokens of the recorded Claude model a text has."""
    return round(tokens(text) * (CLAUDE_NUMBERED if NUMBERED.match(text) else CLAUDE_RATIO))


def opaque(rng: Random, n_bytes: int) -> str:
    """Text that looks like a signature or an encrypted payload; it encodes nothing."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    return "".join(letters[rng.getrandbits(6)] for _ in range(n_bytes)) + "=="


def compact(record: dict[str, Any]) -> str:
    """One JSON line as JavaScript and Rust clients write it, without the newline."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def jsonl(records: list[dict[str, Any]]) -> bytes:
    """Records as a file of lines."""
    return "".join(compact(record) + "\n" for record in records).encode()
