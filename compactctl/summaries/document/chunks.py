"""How a long history is divided into chunks that are summarized one by one, as in Codebuddy."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Literal

from compactctl.history.pairs import cut_points
from compactctl.model.exact import exact
from compactctl.model.message import Message

Formula = Literal["doc", "code"]

# Codebuddy's constants, in tokens: its estimates are taken for a fifth too low.
SAFETY = Fraction(6, 5)
LARGEST_CHUNK = 12_000
# Kept for the prompt around a chunk.
PROMPT_TOKENS = 4_096
# An average message of a larger share of the window makes chunks smaller: by twice its share, and
# by no more than a quarter of the window.
LARGE_MESSAGE = Fraction(1, 10)
LARGEST_DROP = Fraction(1, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRule:
    """How large a chunk may be: by Codebuddy's documentation (``doc``) or by its code.

    ``ratio`` is a share of the window; with ``code`` it falls down to ``min_ratio`` where messages
    are large.
    """

    formula: Formula = "doc"
    ratio: float = 0.4
    min_ratio: float = 0.15

    def tokens(self, window: int, average: Fraction) -> int:
        """Return the tokens a chunk may have; ``average`` are those of a message. At least 1."""
        if self.formula == "doc":
            return max(1, min(int(window * exact(self.ratio)), LARGEST_CHUNK))
        room = int(window * self._ratio_for(average * SAFETY / max(1, window)))
        return max(room - PROMPT_TOKENS, LARGEST_CHUNK - PROMPT_TOKENS)

    def _ratio_for(self, share: Fraction) -> Fraction:
        if share <= LARGE_MESSAGE:
            return exact(self.ratio)
        return max(exact(self.min_ratio), exact(self.ratio) - min(2 * share, LARGEST_DROP))


def chunk_ranges(
    messages: Sequence[Message], sizes: Sequence[int], limit: int
) -> tuple[range, ...]:
    """Divide messages into ranges of at most ``limit`` tokens, each as full as it can be.

    A call and its result are never parted; where they alone are larger they make a range of
    their own. ``sizes`` are the messages' tokens.
    """
    bounds, filled = [0], 0
    for start, end in pairwise(cut_points(messages)):
        size = sum(sizes[start:end])
        if start > bounds[-1] and filled + size > limit:
            bounds.append(start)
            filled = 0
        filled += size
    return tuple(range(start, end) for start, end in pairwise([*bounds, len(messages)]))
