"""Find where a text may be cut: between words and names, never inside one or in a character."""

import re
import unicodedata
from collections.abc import Callable
from functools import partial

# Longer words are encoded data.
MAX_CHARS = 200
# Characters of paths, names, addresses and words with an apostrophe; and those of their parts.
_NAME = re.compile(r"[\w./@~+'’-]")  # noqa: RUF001 - apostrophes as people write them
_PART = re.compile(r"[\w'’-]")  # noqa: RUF001
_JOINER = "\u200d"
_MODIFIERS = frozenset("\u200d\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
# No character of any language has more combining marks than this.
_MAX_MARKS = 16


def word_end(text: str, pos: int) -> int:
    """Return the last offset up to ``pos`` that cuts no word or name: ``text[:offset]`` is whole.

    A path that starts the text, or is too long to be a name, is cut between its parts. A longer
    word is data, and is cut at ``pos``, or before the character there.

        word_end("see src/app/main.py", 12)  ->  4      word_end("src/app/main.py", 10)  ->  8
    """
    pos = min(pos, len(text))
    start = _edges(text, pos, _NAME)[0] or _edges(text, pos, _PART)[0]
    return _between_characters(text, pos, -1) if start is None else start


def word_start(text: str, pos: int) -> int:
    """Return the first offset from ``pos`` on that cuts no word or name, as ``word_end`` does."""
    pos = max(pos, 0)
    stop = _edges(text, pos, _NAME)[1]
    if stop is None or stop == len(text):
        stop = _edges(text, pos, _PART)[1]
    return _between_characters(text, pos, 1) if stop is None else stop


def is_inside_character(text: str, pos: int) -> bool:
    """Whether offset ``pos`` is inside what a reader sees as one character."""
    if not 0 < pos < len(text):
        return False
    before, after = text[pos - 1], text[pos]
    return (
        before == _JOINER
        or after in _MODIFIERS
        or unicodedata.combining(after) > 0
        or (before, after) == ("\r", "\n")
        or ("\ud800" <= before < "\udc00" <= after <= "\udfff")
    )


def _edges(text: str, pos: int, kind: re.Pattern[str]) -> tuple[int, int] | tuple[None, None]:
    """Return the span of the word around ``pos``, empty between words; None if it is too long."""
    is_inside = partial(_is_inside, text, kind)
    start, stop = _edge(is_inside, pos, -1), _edge(is_inside, pos, 1)
    return (start, stop) if stop - start <= MAX_CHARS else (None, None)


def _edge(is_inside: Callable[[int], bool], pos: int, step: int) -> int:
    """Return the nearest offset in one direction that is not inside a word, or one too far away."""
    edge = pos
    while is_inside(edge) and abs(edge - pos) <= MAX_CHARS:
        edge += step
    return edge


def _is_inside(text: str, kind: re.Pattern[str], pos: int) -> bool:
    """Whether ``pos`` is inside a word of this kind, an escape or a character."""
    if not 0 < pos < len(text):
        return False
    before, after = text[pos - 1], text[pos]
    is_word = kind.match(before) is not None and kind.match(after) is not None
    is_address = "://" in text[max(0, pos - 2) : pos + 3]
    return is_word or is_address or before == "\\" or is_inside_character(text, pos)


def _between_characters(text: str, pos: int, step: int) -> int:
    offsets = range(pos, pos + step * _MAX_MARKS, step)
    return next((offset for offset in offsets if not is_inside_character(text, offset)), pos)
