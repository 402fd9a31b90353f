"""Exact counts by tiktoken."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

from compactctl.tokens.counters.counter import Exactness
from compactctl.tokens.counters.vocabulary import load_encoding

if TYPE_CHECKING:
    from tiktoken import Encoding


# tiktoken aborts on 999,995 whitespace characters in a row and takes 46 bytes of memory per
# character: slices stay below that limit and bound the memory.
MIN_SLICE = 500_000
MAX_SLICE = 990_000

# In the patterns of both vocabularies a piece with letters ends at the first ASCII character that
# is neither letter nor apostrophe, and after a newline only whitespace or a slash continues a
# piece. No pattern looks behind, so the text after a seam is split as if it were alone:
#     "foo(bar)\nbaz" counts as "foo" + "(bar" + ")\n" + "baz"
LINE_SEAM = r"(?<=\n)(?=[^\s/])"
"""Matches the start of most lines: the counts of what is before and behind it add up."""
_SEAM = re.compile(rf"(?<=[A-Za-z])(?=[\x00-&(-@\[-`{{-\x7f])|{LINE_SEAM}")


def split_at_seams(
    text: str, *, min_chars: int = MIN_SLICE, max_chars: int = MAX_SLICE
) -> Iterator[tuple[str, bool]]:
    """Cut ``text`` into slices of at most ``max_chars`` characters; a shorter text stays whole.

    Yields:
        A slice, and whether it ends at a seam or at the end of the text. If it does not, the counts
        of the slices may differ by a few tokens from the count of the whole text.
    """
    start = 0
    while len(text) - start > max_chars:
        seam = _SEAM.search(text, start + min_chars, start + max_chars)
        end = seam.start() if seam else start + max_chars
        yield text[start:end], seam is not None
        start = end
    yield text[start:], True


class TiktokenCounter:
    """Counts with a byte pair encoding: ``o200k_base``, ``cl100k_base`` or that of ``load``.

    The first count that needs the encoding loads it and raises IntegrityError if its file is
    damaged. Counts are those of tiktoken. ``exactness`` becomes ``estimate`` once a text was cut
    outside a seam or estimated by its bytes.
    """

    exactness: Exactness = "exact"

    def __init__(self, name: str, load: "Callable[[], Encoding] | None" = None) -> None:
        self.id = name
        self._load = load or partial(load_encoding, name)

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Count each text as plain text: names of special tokens have no meaning in it."""
        return [self._count(text) if text else 0 for text in texts]

    @cached_property
    def _encode(self) -> Callable[[str], Sequence[int]]:
        return self._load().encode_ordinary

    def _count(self, text: str) -> int:
        encode = self._encode
        total = 0
        for text_slice, ends_at_seam in split_at_seams(without_surrogates(text)):
            n_tokens, is_exact = count_or_bound(encode, text_slice)
            if not (is_exact and ends_at_seam):
                self.exactness = "estimate"
            total += n_tokens
        return total


def without_surrogates(text: str) -> str:
    """Join surrogate pairs and replace lone surrogates by U+FFFD, as tiktoken does.

    Returns a copy unless the text is ASCII: CPython caches the UTF-8 of a text that an engine reads
    in the text itself, which would stay in memory with the transcript.
    """
    if text.isascii():
        return text
    try:
        return text.encode().decode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def count_or_bound(encode: Callable[[str], Sequence[int]], text: str) -> tuple[int, bool]:
    """Return the number of tokens and True, or of UTF-8 bytes and False if it panics.

    No token is shorter than a byte, so the bytes are an upper bound.
    """
    try:
        return len(encode(text)), True
    except BaseException as error:
        # A panic is not an Exception, and its class cannot be imported.
        if type(error).__name__ != "PanicException":
            raise
        return len(text.encode()), False
