"""Where a text may be cut: between words and names, never inside of them or of a character."""

import re
import unicodedata
from collections.abc import Callable
from functools import partial

from compactctl.summaries.extract.entities import MAX_CHARS

# What paths, names and addresses are made of, and words with an apostrophe; and their parts.
_NAME = re.compile(r"[\w./@~+'’-]")  # noqa: RUF001 - apostrophes as people write them
_PART = re.compile(r"[\w'’-]")  # noqa: RUF001
_JOINER = "\u200d"
_MODIFIERS = frozenset("\u200d\ufe0e\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
# No character of any language has more marks than this.
_MARKS = 16

_Goes = Callable[[int], bool]


def word_end(text: str, at: int) -> int:
    """Return the last place up to ``at`` to end a text at without cutting a word or a name.

    A path that is all there is, or too long to be a name, is cut between its parts; a longer word
    is data, and is cut at ``at``, or before the character that goes on there.
    """
    at = min(at, len(text))
    start = _edges(text, at, _NAME)[0] or _edges(text, at, _PART)[0]
    return _between_characters(text, at, -1) if start is None else start


def word_start(text: str, at: int) -> int:
    """Return the first place from ``at`` on to begin a text at, as ``word_end`` ends it."""
    at = max(at, 0)
    stop = _edges(text, at, _NAME)[1]
    if stop is None or stop == len(text):
        stop = _edges(text, at, _PART)[1]
    return _between_characters(text, at, 1) if stop is None else stop


def is_inside_character(text: str, at: int) -> bool:
    """Whether what a reader sees as one character goes on at index ``at``."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    return (
        before == _JOINER
        or after in _MODIFIERS
        or unicodedata.combining(after) > 0
        or (before, after) == ("\r", "\n")
        or ("\ud800" <= before < "\udc00" <= after <= "\udfff")
    )


def _edges(text: str, at: int, kind: re.Pattern[str]) -> tuple[int, int] | tuple[None, None]:
    """Return where the word that goes on at ``at`` starts and ends; None where it is too long."""
    goes = partial(_holds, text, kind)
    start, stop = _edge(goes, at, -1), _edge(goes, at, 1)
    return (start, stop) if stop - start <= MAX_CHARS else (None, None)


def _edge(goes: _Goes, at: int, step: int) -> int:
    """Return the nearest place in one direction where nothing goes on, or one that is too far."""
    edge = at
    while goes(edge) and abs(edge - at) <= MAX_CHARS:
        edge += step
    return edge


def _holds(text: str, kind: re.Pattern[str], at: int) -> bool:
    """Whether a word of this kind, an escape or a character goes on at ``at``."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    is_word = kind.match(before) is not None and kind.match(after) is not None
    is_address = "://" in text[max(0, at - 2) : at + 3]
    return is_word or is_address or before == "\\" or is_inside_character(text, at)


def _between_characters(text: str, at: int, step: int) -> int:
    places = range(at, at + step * _MARKS, step)
    return next((place for place in places if not is_inside_character(text, place)), at)
