"""The public functions of the optional package ctok, for one vocabulary."""

import importlib
from collections.abc import Collection

# A letter that composes with no accent, so that what stands beside it stays as it is.
LETTER = "q"
_FRAME = "⟨pad⟩"
_WORD_START = "⟨bow⟩"
_CAPITALS = "⟨caps⟩"
_BYTES = "prefix"
_LONGEST_TRIED = 10


class Engine:
    """Counts texts with ctok, exactly but slowly: some 0.2 MB in a second.

    Raises ImportError when ctok is not installed.
    """

    def __init__(self, version: str) -> None:
        self._ctok = importlib.import_module("ctok")
        self._version = version
        tokens = self._ctok.tokenize(LETTER, version)
        self._frame: int = tokens.count(_FRAME)
        self.letter_cost: int = len(tokens) - self._frame

    def count(self, text: str) -> int:
        """Count a text's tokens without the frame of its message."""
        return int(self._ctok.token_count(text, self._version)) - self._frame

    def normalized(self, text: str) -> str:
        """Return the text that is really counted."""
        return str(self._ctok.normalize(text, self._version))

    def pieces(self) -> Collection[str]:
        """Return the vocabulary in ctok's notation, without its parts of characters."""
        entries = self._ctok.pieces(self._version)
        return {piece for piece, witness in entries.items() if witness["kind"] != _BYTES}

    def is_letter(self, char: str) -> bool:
        """Tell whether a character of a normalized text forms words with letters beside it."""
        return self._is_one_word(LETTER + char + LETTER)

    def takes_contraction(self, char: str) -> bool:
        """Tell whether an apostrophe joins "s" to a word that ends with a character."""
        return self._is_one_word(LETTER + char + "'s")

    def capitals_from(self) -> int:
        """Return how long a word in capitals must be to be written small with a mark, or 0."""
        words = ("A" * length for length in range(1, _LONGEST_TRIED))
        marked = (w for w in words if self._stream(w).startswith(_CAPITALS))
        return len(next(marked, ""))

    def _is_one_word(self, text: str) -> bool:
        return self._stream(text).count(_WORD_START) == 1

    def _stream(self, text: str) -> str:
        return str(self._ctok.marked_stream(text, self._version))
