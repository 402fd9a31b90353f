"""What the pieces of a Claude vocabulary, in ctok's notation, say about counting words."""

import re
from collections.abc import Collection

# Case marks and the start of a word open a piece, its end closes one; a character that the
# notation needs for itself is written as bytes.
_SEPARABLE = re.compile(r"(?:⟨shift⟩|⟨caps⟩)*(?:⟨bow⟩)?((?:[^⟨⟩]|⟨0x[0-9A-Fa-f]{2}⟩)*)(?:⟨eow⟩)?")
_ESCAPED = re.compile(r"⟨0x[0-9A-Fa-f]{2}⟩")
_DIGIT = re.compile("[0-9]")
_NUMBERS = {f"{number:0{width}}" for width in (1, 2, 3) for number in range(10**width)}


def are_separable(pieces: Collection[str]) -> bool:
    """Tell whether words, and what stands between them, can be counted apart.

    No piece goes on behind the end of a word or begins before the start of one; a newline and
    each number of one to three digits is a piece, and no piece mixes digits or newlines with
    anything else. Then digits are as good as one another, too.
    """
    if not all(_SEPARABLE.fullmatch(piece) for piece in pieces):
        return False
    if {piece for piece in pieces if _DIGIT.search(_ESCAPED.sub("", piece))} != _NUMBERS:
        return False
    return "\n" in pieces and not any(piece.strip("\n") for piece in pieces if "\n" in piece)


_MARKS = {"⟨shift⟩": "^", "⟨caps⟩": "!", "⟨bow⟩": "<", "⟨eow⟩": ">"}
_MARK = re.compile("|".join(_MARKS))
_WORD_PIECE = re.compile(r"(?:⟨shift⟩|⟨caps⟩)?(?:⟨bow⟩)?[A-Za-z]*(?:⟨eow⟩)?")


class WordTiles:
    """Counts the tokens of words of ASCII letters, each taken by itself.

    ``capitals_from`` is the length from which a word in capitals is written small with a mark;
    0 when there is none.
    """

    def __init__(self, pieces: Collection[str], capitals_from: int) -> None:
        words = (piece for piece in pieces if _WORD_PIECE.fullmatch(piece))
        self._pieces = {_MARK.sub(lambda mark: _MARKS[mark[0]], word) for word in words}
        self._longest = max(map(len, self._pieces), default=1)
        self._capitals_from = capitals_from

    def count(self, word: str) -> int:
        """Count a word; it is written small with a mark when its capitals follow a rule."""
        if word[0].isupper() and not any(map(str.isupper, word[1:])):
            return self._fewest(f"^<{word.lower()}>")
        if word.isupper() and 0 < self._capitals_from <= len(word):
            return self._fewest(f"!<{word.lower()}>")
        return self._fewest(f"<{word}>")

    def _fewest(self, stream: str) -> int:
        """Return the least number of pieces and single characters that make up a word."""
        pieces, longest = self._pieces, self._longest
        if stream in pieces:
            return 1
        fewest = [0]
        for end in range(1, len(stream) + 1):
            best = fewest[-1]
            for start in range(max(0, end - longest), end - 1):
                if fewest[start] < best and stream[start:end] in pieces:
                    best = fewest[start]
            fewest.append(best + 1)
        return fewest[-1]
