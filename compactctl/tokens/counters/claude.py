"""Count Claude's tokens as the optional package ctok reconstructs them, but faster."""

import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from compactctl.errors import UsageError
from compactctl.extras import install_command
from compactctl.tokens.counters.bounded_cache import BoundedCache
from compactctl.tokens.counters.counter import Exactness

# A piece begins with case marks and the start of a word, and ends with the end of one. Characters
# that the notation uses itself are written as bytes.
_SEPARABLE = re.compile(r"(?:⟨shift⟩|⟨caps⟩)*(?:⟨bow⟩)?((?:[^⟨⟩]|⟨0x[0-9A-Fa-f]{2}⟩)*)(?:⟨eow⟩)?")
_ESCAPED = re.compile(r"⟨0x[0-9A-Fa-f]{2}⟩")
_DIGIT = re.compile("[0-9]")
_NUMBERS = {f"{number:0{width}}" for width in (1, 2, 3) for number in range(10**width)}


def can_count_separately(pieces: Collection[str]) -> bool:
    """Return whether words and the gaps between them can be counted separately.

    They can if no piece crosses the start or the end of a word, a newline and each number of one to
    three digits is a piece, and no piece mixes digits or newlines with anything else. Then all
    digits also count alike.
    """
    if not all(_SEPARABLE.fullmatch(piece) for piece in pieces):
        return False
    if {piece for piece in pieces if _DIGIT.search(_ESCAPED.sub("", piece))} != _NUMBERS:
        return False
    return "\n" in pieces and not any(piece.strip("\n") for piece in pieces if "\n" in piece)


_MARKS = {"⟨shift⟩": "^", "⟨caps⟩": "!", "⟨bow⟩": "<", "⟨eow⟩": ">"}
_MARK = re.compile("|".join(_MARKS))
_WORD_PIECE = re.compile(r"(?:⟨shift⟩|⟨caps⟩)?(?:⟨bow⟩)?[A-Za-z]*(?:⟨eow⟩)?")


class WordCounter:
    """Counts the tokens of single words of ASCII letters.

    ``min_capitals_length`` is how long a word in capitals must be to be encoded in lower case after
    a mark; 0 if none is.
    """

    def __init__(self, pieces: Collection[str], min_capitals_length: int) -> None:
        words = (piece for piece in pieces if _WORD_PIECE.fullmatch(piece))
        self._pieces = {_MARK.sub(lambda mark: _MARKS[mark[0]], word) for word in words}
        self._max_length = max(map(len, self._pieces), default=1)
        self._capitals_from = min_capitals_length

    def count(self, word: str) -> int:
        """Count a word: ``^<then>`` for "Then", ``!<then>`` for "THEN", ``<tHEn>`` for "tHEn"."""
        if word[0].isupper() and not any(map(str.isupper, word[1:])):
            return self._fewest(f"^<{word.lower()}>")
        if word.isupper() and 0 < self._capitals_from <= len(word):
            return self._fewest(f"!<{word.lower()}>")
        return self._fewest(f"<{word}>")

    def _fewest(self, stream: str) -> int:
        """Return the smallest number of pieces and single characters that make up a word."""
        pieces, max_length = self._pieces, self._max_length
        if stream in pieces:
            return 1
        # counts[n] is that of the first n characters.
        counts = [0]
        for end in range(1, len(stream) + 1):
            best = counts[-1]
            for start in range(max(0, end - max_length), end - 1):
                if counts[start] < best and stream[start:end] in pieces:
                    best = counts[start]
            counts.append(best + 1)
        return counts[-1]


# A letter that composes with no accent, so that its neighbors stay as they are.
LETTER = "q"
_FRAME = "⟨pad⟩"
_WORD_START = "⟨bow⟩"
_CAPITALS = "⟨caps⟩"
_BYTES = "prefix"
_MAX_TRIED = 10


class CtokEngine:
    """Counts texts with ctok, exactly but slowly: about 0.2 MB per second.

    Raises ImportError if ctok is not installed.
    """

    def __init__(self, version: str) -> None:
        self._ctok = importlib.import_module("ctok")
        self._version = version
        tokens = self._ctok.tokenize(LETTER, version)
        self._frame: int = tokens.count(_FRAME)
        self.letter_cost: int = len(tokens) - self._frame

    def count(self, text: str) -> int:
        """Count the tokens of a text without the frame of a message."""
        return int(self._ctok.token_count(text, self._version)) - self._frame

    def normalized(self, text: str) -> str:
        """Return the text that ctok really counts."""
        return str(self._ctok.normalize(text, self._version))

    def pieces(self) -> Collection[str]:
        """Return the vocabulary in ctok's notation, without pieces that are parts of characters."""
        entries = self._ctok.pieces(self._version)
        return {piece for piece, witness in entries.items() if witness["kind"] != _BYTES}

    def is_letter(self, char: str) -> bool:
        """Return whether a character of a normalized text is part of a word beside letters."""
        return self._is_one_word(LETTER + char + LETTER)

    def takes_contraction(self, char: str) -> bool:
        """Return whether an apostrophe joins "s" to a word that ends with this character."""
        return self._is_one_word(LETTER + char + "'s")

    def min_capitals_length(self) -> int:
        """Return how long a word in capitals must be to be encoded in lower case, 0 for never."""
        words = ("A" * length for length in range(1, _MAX_TRIED))
        marked = (w for w in words if self._stream(w).startswith(_CAPITALS))
        return len(next(marked, ""))

    def _is_one_word(self, text: str) -> bool:
        return self._stream(text).count(_WORD_START) == 1

    def _stream(self, text: str) -> str:
        return str(self._ctok.marked_stream(text, self._version))


class Splitter:
    """Splits texts into words and gaps; asks the engine once per character whether it is a letter.

    "Don't stop, now" -> ["Don", "'t", " ", "stop", ", ", "now"]
    """

    def __init__(self, engine: CtokEngine) -> None:
        self._engine = engine
        self._seen = set(map(chr, range(128)))
        self._letters = {char for char in self._seen if char.isalpha()}
        self._without_contraction: set[str] = set()
        self._find = self._pattern()

    def __call__(self, text: str) -> list[str]:
        """Return the segments in order, which join to the text; [] if it cannot be split.

        That is so if it has a letter that, unlike the others, takes no contraction.
        """
        if not text.isascii():
            chars = set(text)
            self._learn(chars - self._seen)
            if not self._without_contraction.isdisjoint(chars):
                return []
        return self._find(text)

    def is_letter(self, char: str) -> bool:
        """Return whether a character of a text that was split before is a letter."""
        return char in self._letters

    def _learn(self, chars: set[str]) -> None:
        letters = set(filter(self._engine.is_letter, chars))
        self._seen |= chars
        self._without_contraction |= {
            char for char in letters if not self._engine.takes_contraction(char)
        }
        if letters:
            self._letters |= letters
            self._find = self._pattern()

    def _pattern(self) -> Callable[[str], list[str]]:
        letter = "".join(sorted(self._letters))
        joined = f"(?:(?<=')[{letter}]{{1,2}}(?![{letter}]))?"
        return re.compile(f"[{letter}]+|[^{letter}]+{joined}").findall


# Normalization does not change these characters.
_PLAIN = re.compile(r"[\t -~]*")
_PLAIN_LINES = re.compile(r"[\t\n -~]*")
# No piece mixes digits or newlines with anything else.
_DIGITS_OR_NEWLINES = re.compile(r"(0+|\n+)")
_SAME_DIGITS = bytes.maketrans(b"0123456789", b"0000000000")


class SegmentCounter:
    """Counts exactly as an engine does, but asks it only once for each distinct segment.

    A segment is a word, or the gap between two words. An apostrophe can join the word after it, so
    a short word there belongs to the gap. A word counts the same everywhere, and so does a gap
    between any two words; the first and the last gap depend on the frame of the message. The engine
    itself counts the rare text that is not the sum of its segments.
    """

    def __init__(self, engine: CtokEngine, words: WordCounter) -> None:
        self._engine = engine
        self._words = words
        self._split = Splitter(engine)
        self._inner = BoundedCache(self._inner_cost)
        self._parts = BoundedCache(self._part_cost)
        self._first = BoundedCache(self._first_cost)
        self._last = BoundedCache(self._last_cost)

    def count(self, text: str) -> int:
        """Count the tokens of a text without the frame of a message."""
        plain = self._plain(text)
        # The frame absorbs a leading space, but not one that only normalization adds.
        if not plain or (plain[0] == " ") != (text[0] == " "):
            return self._engine.count(text)
        segments = self._split(_with_same_digits(plain))
        if len(segments) < 2:  # noqa: PLR2004 - a first and a last one
            return self._engine.count(text)
        inner = sum(map(self._inner.__getitem__, segments[1:-1]))
        return self._first[segments[0]] + inner + self._last[segments[-1]]

    def _plain(self, text: str) -> str | None:
        """Return the normalized text; None if normalizing a line twice changes it again."""
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
        r"""Add up a gap's runs of digits and newlines, and the parts beside and between them.

        The cost of a part depends on its neighbors, so one character of each run beside it is
        counted with it and subtracted:

            " (0000)\n" = "0000" + "\n" + (" (0" - 1) + ("0)\n" - 2)
        """
        parts = ["", *_DIGITS_OR_NEWLINES.split(gap), ""]
        cost = sum(self._parts[run] for run in parts[2:-1:2])
        for run_before, part, run_after in zip(parts[::2], parts[1::2], parts[2::2], strict=False):
            if part:
                before, after = run_before[:1], run_after[:1]
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
    """Replace all digits by 0, which counts the same and makes fewer segments distinct."""
    return text.encode().translate(_SAME_DIGITS).decode()


# The version of Claude with which ctok counts a vocabulary. That of Claude 3 was in use up to 4.6.
VERSIONS: Mapping[str, str] = MappingProxyType({"claude-3": "3.0", "claude-4.7": "4.7"})

# The oldest version that ctok supports.
_OLDEST_PYTHON = (3, 12)

# Texts whose count depends on how words, contractions, spaces and digits meet. If a later ctok
# disagrees with the sum of segments on one of them, its own engine counts everything.
_PROBES = (
    "it's DON'T we'll o'clock x'y 's",
    "  Foo fooBar FOO_BAR HTTPServer ABC a A AB ",
    " (a) [b]! c , d\n\n\te 'f' \"g\"\n",
    "x=12345; 2026-11-21T09:30:00Z 7 8\n1",
    "é ÉCOLE → 日本 语 «ёж» a\u0301b ½ x\n\n",
)


class ClaudeCounter:
    """Counts the tokens of each text as the only one of a message, without the message's frame.

    ``ctok`` reproduces the counts that Anthropic's API returned for thousands of texts, but not the
    tokens. ``claude-3`` is for Claude 3 to 4.6, ``claude-4.7`` for later models. Counting raises
    ImportError without ``ctok``.
    """

    exactness: Exactness = "reconstructed"

    def __init__(self, name: str) -> None:
        self.id = name

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Count each text; an empty one has no tokens."""
        return [load_reconstruction(self.id)(text) if text else 0 for text in texts]


def claude_is_installed() -> bool:
    """Return whether the optional package ctok is installed, without loading it."""
    return importlib.util.find_spec("ctok") is not None


def claude_counter(name: str) -> ClaudeCounter:
    """Return a counter by its name in ``VERSIONS``. Raises UsageError without ctok."""
    if not claude_is_installed():
        raise UsageError(f"the counter {name} needs the package ctok; {_install_hint()}")
    return ClaudeCounter(name)


def _install_hint() -> str:
    if sys.version_info < _OLDEST_PYTHON:
        oldest, this = (".".join(map(str, v[:2])) for v in (_OLDEST_PYTHON, sys.version_info))
        return f"that needs Python {oldest} or later, and compactctl runs on {this} here"
    return f"type: {install_command('ctok>=1.3')}"


@cache
def load_reconstruction(name: str) -> Callable[[str], int]:
    """Load the function that counts a text; takes about a second and 100 MB, once per process."""
    engine = CtokEngine(VERSIONS[name])
    pieces = engine.pieces()
    if not can_count_separately(pieces):
        return engine.count
    count = SegmentCounter(engine, WordCounter(pieces, engine.min_capitals_length())).count
    is_right = all(count(probe) == engine.count(probe) for probe in _PROBES)
    return count if is_right else engine.count
