"""Exact counts with the vocabularies of OpenAI's models, without loading them whole."""

from collections.abc import Callable, Sequence
from functools import cache

from compactctl.tokens.counters.bounded_cache import BoundedCache
from compactctl.tokens.counters.counter import Exactness
from compactctl.tokens.counters.pieces import ascii_pattern, has_rare_character, unicode_pattern
from compactctl.tokens.counters.tiktoken_counter import MAX_SLICE, TiktokenCounter
from compactctl.tokens.counters.vocabulary import NO_RANK, VOCABULARIES, load_ranks

MIN_TIKTOKEN_CHARS = 3_000_000
"""Once a process has counted so many characters, tiktoken is worth its load of 0.3 seconds."""

# Merging n bytes takes about n * (n + 100) units of 10 ns. So many units take as long as loading
# tiktoken.
_MAX_MERGING = 30_000_000


class BpeCounter:
    """Counts with a byte pair encoding, ``o200k_base`` or ``cl100k_base``, as tiktoken does.

    Most pieces of texts repeat. Counting each piece once takes half as long again as tiktoken, but
    tiktoken takes 0.3 seconds to load. It is loaded where there is much text, for rare characters
    and for long pieces. The first count opens the vocabulary and raises IntegrityError if its file
    is damaged.
    """

    # Of all transcripts that this process has counted, and of those announced to it.
    counted_chars = 0
    expected_chars = 0

    def __init__(self, name: str, min_tiktoken_chars: int = MIN_TIKTOKEN_CHARS) -> None:
        self.id = name
        self._pattern = VOCABULARIES[name].pattern
        self._tiktoken = TiktokenCounter(name)
        self._min_tiktoken_chars = min_tiktoken_chars

    @property
    def exactness(self) -> Exactness:
        """``exact``, or ``estimate`` once tiktoken could not count something as a whole."""
        return self._tiktoken.exactness

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Count each text as plain text: names of special tokens have no meaning in it."""
        BpeCounter.counted_chars += sum(map(len, texts))
        n_chars = max(BpeCounter.counted_chars, BpeCounter.expected_chars)
        is_much = n_chars > self._min_tiktoken_chars
        if any(texts) and (is_much or piece_counts(self.id).is_costly):
            return self._tiktoken.count_many(texts)
        return [self._count(text) if text else 0 for text in texts]

    def _count(self, text: str) -> int:
        if text.isascii():
            pattern = ascii_pattern(self._pattern)
        elif has_rare_character(text):
            return self._tiktoken.count_many([text])[0]
        else:
            pattern = unicode_pattern(self._pattern)
        count = piece_counts(self.id).__getitem__
        if len(text) <= MAX_SLICE:
            return sum(map(count, pattern.findall(text)))
        # One at a time, as millions of pieces take much memory.
        pieces = (match[0] for match in pattern.finditer(text))
        return sum(
            count(piece) if len(piece) <= MAX_SLICE else self._tiktoken.count_many([piece])[0]
            for piece in pieces
        )


def expect_text(n_chars: int) -> None:
    """Announce that this process will count so many characters in all.

    If that is worth the load of tiktoken, it counts them from the first one on.
    """
    BpeCounter.expected_chars = n_chars


class PieceCounts(BoundedCache):
    """The tokens of pieces, counted once for all transcripts of a process."""

    def __init__(self, name: str) -> None:
        super().__init__(self._count)
        self._ranks = load_ranks(VOCABULARIES[name])
        self._tiktoken = TiktokenCounter(name)
        self._merging = 0

    @property
    def is_costly(self) -> bool:
        """Whether so much was merged that tiktoken is worth its load."""
        return self._merging > _MAX_MERGING

    def _count(self, piece: str) -> int:
        token = piece.encode()
        if self._ranks.get(token, NO_RANK) != NO_RANK:
            return 1
        self._merging += len(token) * (len(token) + 100)
        if self.is_costly:
            return self._tiktoken.count_many([piece])[0]
        return n_merged(token, self._ranks.get)


@cache
def piece_counts(name: str) -> PieceCounts:
    """Return the counts of a vocabulary's pieces, the same for all counters."""
    return PieceCounts(name)


def n_merged(piece: bytes, rank: Callable[[bytes, int], int]) -> int:
    """Count the tokens of a piece: of all neighbors, the pair of the lowest rank is merged first.

    ``rank`` takes bytes, and what to return if they are not a token. Of equal pairs the first
    counts:

        b"aaab" -> a a a b -> aa a b -> aa ab, if "aa" has a lower rank than "ab"
    """
    parts = [piece[at : at + 1] for at in range(len(piece))]
    ranks = [rank(piece[at : at + 2], NO_RANK) for at in range(len(piece) - 1)]
    while ranks and (lowest := min(ranks)) != NO_RANK:
        at = ranks.index(lowest)
        parts[at] = merged = parts[at] + parts.pop(at + 1)
        del ranks[at]
        if at:
            ranks[at - 1] = rank(parts[at - 1] + merged, NO_RANK)
        if at < len(ranks):
            ranks[at] = rank(merged + parts[at + 1], NO_RANK)
    return len(parts)
