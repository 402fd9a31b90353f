"""Exact counts with the vocabularies of OpenAI's models."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from compactctl.tokens.counters.counter import Exactness
from compactctl.tokens.counters.vocabulary import load_encoding

if TYPE_CHECKING:
    from tiktoken import Encoding


# The engine aborts on 999,995 whitespace characters in a row and takes 46 bytes of memory per
# character; a slice stays below the first and bounds the second.
MIN_SLICE = 500_000
MAX_SLICE = 990_000

# In both vocabularies' patterns a piece with letters ends at the first ASCII character that is
# neither letter nor apostrophe, and no piece goes on from a newline to anything but whitespace or
# a slash. No pattern looks behind, so what follows such a place is split as if it stood alone.
_SEAM = re.compile(r"(?<=[A-Za-z])(?=[\x00-&(-@\[-`{-\x7f])|(?<=\n)(?=[^\s/])")


def split_at_seams(
    text: str, *, min_chars: int = MIN_SLICE, max_chars: int = MAX_SLICE
) -> Iterator[tuple[str, bool]]:
    """Cut ``text`` into slices of at most ``max_chars`` characters; a shorter text stays whole.

    Yields:
        A slice, and whether its end is a seam or the end of the text. Where it is neither, the
        counts of the slices can add up to a few tokens more or fewer than the count of the whole.
    """
    start = 0
    while len(text) - start > max_chars:
        seam = _SEAM.search(text, start + min_chars, start + max_chars)
        end = seam.start() if seam else start + max_chars
        yield text[start:end], seam is not None
        start = end
    yield text[start:], True


class BpeCounter:
    """Counts with a byte pair encoding: ``o200k_base``, ``cl100k_base`` or what ``load`` gives.

    The encoding is loaded by the first count that needs it, which raises IntegrityError when
    the file of one of ours is damaged. Counts are those of tiktoken; ``exactness`` falls to
    ``estimate`` for good once a text had to be cut where no cut is free, or had to be bounded by
    its bytes.
    """

    exactness: Exactness = "exact"
    engine = "tiktoken"

    def __init__(self, name: str, load: "Callable[[], Encoding] | None" = None) -> None:
        self.id = name
        self._load = load or partial(load_encoding, name)

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Count each text as plain text: names of special tokens have no meaning."""
        return [self._count(text) if text else 0 for text in texts]

    @cached_property
    def _encode(self) -> Callable[[str], Sequence[int]]:
        return self._load().encode_ordinary

    def _count(self, text: str) -> int:
        encode = self._encode
        total = 0
        for piece, seamless in split_at_seams(without_surrogates(text)):
            n_tokens, exact = count_or_bound(encode, piece)
            if not (exact and seamless):
                self.exactness = "estimate"
            total += n_tokens
        return total


def without_surrogates(text: str) -> str:
    """Join surrogate pairs and replace lone surrogates by U+FFFD, which is tiktoken's rule.

    What is not ASCII is copied: an engine leaves the UTF-8 that it counts with every such text.
    """
    if text.isascii():
        return text
    try:
        return text.encode().decode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def count_or_bound(encode: Callable[[str], Sequence[int]], text: str) -> tuple[int, bool]:
    """Return a text's tokens and True, or its UTF-8 bytes and False when the engine panics.

    No token is shorter than a byte, so the bytes are an upper bound.
    """
    try:
        return len(encode(text)), True
    except BaseException as error:
        # The engine's panic is not an Exception and its class cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        return len(text.encode()), False
