"""Splitting normalized texts into what Claude's vocabularies count apart."""

import re
from collections.abc import Callable

from compactctl.tokens.counters.claude_engine import Engine


class Splitter:
    """Splits texts into words and gaps; learns which characters are letters as it meets them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._seen = set(map(chr, range(128)))
        self._letters = {char for char in self._seen if char.isalpha()}
        self._odd: set[str] = set()
        self._find = self._pattern()

    def __call__(self, text: str) -> list[str]:
        """Return the segments in order, which add up to the text; none when it is not so made.

        That is a text with a letter which, other than the rest, does not take a contraction.
        """
        if not text.isascii():
            chars = set(text)
            self._learn(chars - self._seen)
            if not self._odd.isdisjoint(chars):
                return []
        return self._find(text)

    def is_letter(self, char: str) -> bool:
        """Tell whether a character that was seen before is a letter."""
        return char in self._letters

    def _learn(self, chars: set[str]) -> None:
        letters = set(filter(self._engine.is_letter, chars))
        self._seen |= chars
        self._odd |= {char for char in letters if not self._engine.takes_contraction(char)}
        if letters:
            self._letters |= letters
            self._find = self._pattern()

    def _pattern(self) -> Callable[[str], list[str]]:
        letter = "".join(sorted(self._letters))
        joined = f"(?:(?<=')[{letter}]{{1,2}}(?![{letter}]))?"
        return re.compile(f"[{letter}]+|[^{letter}]+{joined}").findall
