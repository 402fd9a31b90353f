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

    No piece goes on behind the end of a word or begins before the start of one, and each
    number of one to three digits is a piece while no piece mixes digits with anything else.
    Then digits are as good as one another, too.
    """
    if not all(_SEPARABLE.fullmatch(piece) for piece in pieces):
        return False
    return {piece for piece in pieces if _DIGIT.search(_ESCAPED.sub("", piece))} == _NUMBERS


_MARKS = {"⟨shift⟩": "^", "⟨caps⟩": "!", "⟨bow⟩": "<", "⟨eow⟩": ">"}
_MARK = re.compile("|".join(_MARKS))
_WORD_PIECE = re.compile(r"(?:⟨shift⟩)?(?:⟨bow⟩)?[A-Za-z]*(?:⟨eow⟩)?")


class WordTiles:
    """Counts the tokens of plain words of ASCII letters, each taken by itself."""

    def __init__(self, pieces: Collection[str]) -> None:
        words = (piece for piece in pieces if _WORD_PIECE.fullmatch(piece))
        self._pieces = {_MARK.sub(lambda mark: _MARKS[mark[0]], word) for word in words}
        self._longest = max(map(len, self._pieces), default=1)

    def count(self, word: str) -> int | None:
        """Count a word that begins with a small letter or has a capital only there, else None."""
        if not word.isascii():
            return None
        if word[0].islower():
            return self._fewest(f"<{word}>")
        return self._fewest(f"^<{word.lower()}>") if word[1:].islower() else None

    def _fewest(self, stream: str) -> int:
        """Return the least number of pieces and single characters that make up a word."""
        pieces, longest = self._pieces, self._longest
        fewest = [0]
        for end in range(1, len(stream) + 1):
            best = fewest[-1]
            for start in range(max(0, end - longest), end - 1):
                if fewest[start] < best and stream[start:end] in pieces:
                    best = fewest[start]
            fewest.append(best + 1)
        return fewest[-1]
