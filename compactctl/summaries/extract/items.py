"""Items: the single points a summary may hold, each with what it is worth."""

import re
from dataclasses import dataclass

from compactctl.summaries.extract.words import word_end, word_start

OMISSION = " […] "
_SPACE = re.compile(r"\s+")
# Between words, and between values of data without blanks.
_BREAK = re.compile(r"\s+|(?<=[,;])")
# Of a clipped text, two thirds come from its start, where people say what they want.
_HEAD_THIRDS = 2
# Model calls after which half of an item's bonus for freshness is gone.
_HALF_LIFE = 8

# Topics: what templates may have a section for where NeuroLink's nine sections have none.
RULES, DECISIONS, OPERATIONS = "rules", "decisions", "operations"


@dataclass(frozen=True, slots=True)
class ItemValue:
    """How much a kind of item is worth: always ``base``, and up to ``fresh`` more when new.

    Worths are multiples of the demand for an entity that is needed. They were set so that a
    summary answers questions about the state of the work: what was asked, which files changed,
    what failed, which commands run, what is left.
    """

    base: float
    fresh: float = 0.0

    def at(self, age: int) -> float:
        """Return the worth at an age in model calls."""
        return self.base + self.fresh * _HALF_LIFE / (_HALF_LIFE + age)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryItem:
    """One point of a summary.

    Attributes:
        section: number of the section it belongs to among NeuroLink's nine, from 1.
        topic: what it is about, where other templates have a section for that; "" for nothing.
        label: line under which it stands with others of its sort; "" for none.
        text: what is written, without a bullet.
        value: what it is worth, in demands for an entity that is needed.
        position: items under one label are written in this order.
    """

    section: int
    topic: str = ""
    label: str = ""
    text: str
    value: float
    position: int


def clip_middle(text: str, limit: int) -> str:
    """Shorten a text to about ``limit`` characters by leaving out its middle.

    It is cut between words or values, so that no name or path is halved; a single word stays whole
    unless it is too long to be one.
    """
    text = text.strip()
    if len(text) <= limit:
        return text
    head = _head(text, limit * _HEAD_THIRDS // 3, limit)
    rest = limit - limit * _HEAD_THIRDS // 3
    found = _BREAK.search(text, len(text) - rest - 1)
    if head or found:
        return head.rstrip() + OMISSION + (text[found.end() :] if found else "").lstrip()
    head, tail = text[: word_end(text, limit - rest)], text[word_start(text, len(text) - rest) :]
    return head + OMISSION + tail if head or tail else text


def _head(text: str, start: int, most: int) -> str:
    """Return the words within the first ``start`` characters, at least one of up to ``most``."""
    ends = [found.start() for found in _BREAK.finditer(text, 0, start + 1)]
    if not ends:
        first = _BREAK.search(text, start, most + 1)
        ends = [first.start() if first else 0]
    return text[: ends[-1]]


def one_line(text: str, limit: int) -> str:
    """Write a text on one line of about ``limit`` characters."""
    # Far more than the limit is cut off first, so that long texts cost no more than short ones.
    return clip_middle(_SPACE.sub(" ", clip_middle(text, 4 * limit)), limit)
