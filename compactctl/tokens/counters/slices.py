"""Cutting huge texts where counting the slices apart gives the count of the whole."""

import re
from collections.abc import Iterator

# The engine aborts on 999,995 whitespace characters in a row and takes 46 bytes of memory per
# character; a slice stays below the first and bounds the second.
SHORTEST = 500_000
LONGEST = 990_000

# In both vocabularies' patterns a piece with letters ends at the first ASCII character that is
# neither letter nor apostrophe, and no piece goes on from a newline to anything but whitespace or
# a slash. No pattern looks behind, so what follows such a place is split as if it stood alone.
_SEAM = re.compile(r"(?<=[A-Za-z])(?=[\x00-&(-@\[-`{-\x7f])|(?<=\n)(?=[^\s/])")


def slices(
    text: str, *, shortest: int = SHORTEST, longest: int = LONGEST
) -> Iterator[tuple[str, bool]]:
    """Cut ``text`` into slices of at most ``longest`` characters; a shorter text stays whole.

    Yields:
        A slice, and whether its end is a seam or the end of the text. Where it is neither, the
        counts of the slices can add up to a few tokens more or fewer than the count of the whole.
    """
    start = 0
    while len(text) - start > longest:
        seam = _SEAM.search(text, start + shortest, start + longest)
        end = seam.start() if seam else start + longest
        yield text[start:end], seam is not None
        start = end
    yield text[start:], True
