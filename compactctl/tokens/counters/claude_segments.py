"""Claude counts from the counts of words and of what stands between them."""

import re
from collections.abc import Callable

from compactctl.tokens.counters.claude_engine import LETTER, Engine
from compactctl.tokens.counters.claude_pieces import WordTiles
from compactctl.tokens.counters.claude_splitter import Splitter

# Normalization leaves these characters alone.
_PLAIN = re.compile(r"[\t -~]*")
_PLAIN_LINES = re.compile(r"[\t\n -~]*")
# No piece goes on from a digit or a newline to anything else, or from anything to them.
_APART = re.compile(r"(0+|\n+)")
_SAME_DIGITS = bytes.maketrans(b"0123456789", b"0000000000")


class BoundedCache(dict[str, int]):
    """Remembers what a function gave for a segment, up to a bound of memory."""

    # Of 30 MB of real transcripts 220,000 segments are distinct, of 10 characters on average.
    LARGEST = 500_000
    LONGEST_KEY = 1_000

    def __init__(self, cost: Callable[[str], int]) -> None:
        super().__init__()
        self._cost = cost

    def __missing__(self, segment: str) -> int:
        """Ask for a segment's cost; forget everything once there is too much."""
        cost = self._cost(segment)
        if len(self) >= self.LARGEST:
            self.clear()
        if len(segment) <= self.LONGEST_KEY:
            self[segment] = cost
        return cost


class SegmentCounter:
    """Counts as an engine does, asking it for each distinct segment of text only once.

    A segment is a word, or a gap: all that stands between two words. An apostrophe can join the
    word behind it, so a short word there is part of the gap. Words count the same anywhere and
    gaps between any two words; the first and the last gap depend on the message around them.
    Every text is counted exactly as by the engine, which counts the rare text itself that is not
    made of its segments.
    """

    def __init__(self, engine: Engine, words: WordTiles) -> None:
        self._engine = engine
        self._words = words
        self._split = Splitter(engine)
        self._inner = BoundedCache(self._inner_cost)
        self._parts = BoundedCache(self._part_cost)
        self._first = BoundedCache(self._first_cost)
        self._last = BoundedCache(self._last_cost)

    def count(self, text: str) -> int:
        """Count a text's tokens without the frame of its message."""
        plain = self._plain(text)
        # A space that only normalization puts first is not the one a message's frame takes in.
        if not plain or (plain[0] == " ") != (text[0] == " "):
            return self._engine.count(text)
        segments = self._split(_with_same_digits(plain))
        if len(segments) < 2:  # noqa: PLR2004 - a first and a last one
            return self._engine.count(text)
        inner = sum(map(self._inner.__getitem__, segments[1:-1]))
        return self._first[segments[0]] + inner + self._last[segments[-1]]

    def _plain(self, text: str) -> str | None:
        """Return the normalized text; None when normalizing its parts would change them again."""
        if _PLAIN_LINES.fullmatch(text):
            return text
        lines = []
        for line in text.split("\n"):
            plain = line if _PLAIN.fullmatch(line) else self._engine.normalized(line)
            if plain != line and self._engine.normalized(plain) != plain:
                return None
            lines.append(plain)
        return "\n".join(lines)

    def _inner_cost(self, segment: str) -> int:
        engine = self._engine
        if self._split.is_letter(segment[0]):
            return self._words.count(segment) if segment.isascii() else engine.count(segment)
        if self._split.is_letter(segment[-1]):
            return engine.count(LETTER + segment) - engine.letter_cost
        return self._gap_cost(segment)

    def _gap_cost(self, gap: str) -> int:
        """Add up a gap's runs of digits and of newlines, and the parts beside and between them.

        What a part costs depends on its neighbours, so one character of each is counted with it.
        """
        parts = ["", *_APART.split(gap), ""]
        cost = sum(self._parts[run] for run in parts[2:-1:2])
        for left, part, right in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
            if part:
                before, after = left[:1], right[:1]
                cost += self._parts[before + part + after] - len(before + after)
        return cost

    def _part_cost(self, part: str) -> int:
        engine = self._engine
        return engine.count(LETTER + part + LETTER) - 2 * engine.letter_cost

    def _first_cost(self, segment: str) -> int:
        if self._split.is_letter(segment[0]):
            return self._inner[segment]
        if self._split.is_letter(segment[-1]):
            return self._engine.count(segment)
        return self._engine.count(segment + LETTER) - self._engine.letter_cost

    def _last_cost(self, segment: str) -> int:
        if self._split.is_letter(segment[-1]):
            return self._inner[segment]
        return self._engine.count(LETTER + segment) - self._engine.letter_cost


def _with_same_digits(text: str) -> str:
    """Make all digits alike, so that fewer segments are distinct."""
    return text.encode().translate(_SAME_DIGITS).decode()
