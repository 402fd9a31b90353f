"""Items: the single points a summary may hold, each with a value; and shortening their texts."""

import re

from compactctl.records import Record
from compactctl.summaries.extract.words import word_end, word_start

OMISSION = " […] "
_SPACE = re.compile(r"\s+")
# Between words, and between values of data without blanks.
_BREAK = re.compile(r"\s+|(?<=[,;])")
# Two thirds of a clipped text come from its start, where users say what they want.
_HEAD_THIRDS = 2
# Model calls after which an item's bonus for freshness has halved.
_HALF_LIFE = 8

# Topics that have a section of their own in some templates, but not among NeuroLink's nine.
RULES, DECISIONS, OPERATIONS = "rules", "decisions", "operations"

# The labels of items. An earlier summary that lists items is read back by them.
ERRORS, COMMANDS, FINDINGS = "Errors:", "Commands, newest outcome:", "Decisions and findings:"
FILES, REPLIES, NEWEST_CALLS = "Files:", "Newest replies:", "Newest tool calls:"
SAID, KEY_LINES, NAMES = "Said by the agent:", "Key lines, verbatim:", "Identifiers in use:"
TASK_LIST, PLAN, OLD_PLAN = "Current plan, the task list", "Current plan, agreed", "Agreed before"
PROPOSED_PLAN, REJECTED_PLAN = "Proposed plan, not agreed", "Rejected plan"
EARLIER = "Earlier summary"
POINTS = (ERRORS, COMMANDS, FINDINGS, PLAN, OLD_PLAN, PROPOSED_PLAN, REJECTED_PLAN, EARLIER)
"""The labels, or their starts, of points that stay what they are in a later summary."""


class ItemValue(Record, kw_only=False):
    """The value of a kind of item: ``base``, and up to ``fresh`` more if it is new.

    The unit is ``mean_top_demand``. Values were set so that a summary answers questions about the
    state of the work: what was asked, which files changed, what failed, which commands ran, what
    remains to be done.
    """

    base: float
    fresh: float = 0.0

    def at(self, age: int) -> float:
        """Return the value at an age in model calls."""
        return self.base + self.fresh * _HALF_LIFE / (_HALF_LIFE + age)


class SummaryItem(Record):
    """One point of a summary.

    Attributes:
        section: number of its section among NeuroLink's nine, from 1.
        topic: its topic, if other templates have a section for that; "" for none.
        label: the line above items of its kind; "" for none.
        ref: the message that it is from; "" if it is from several, or from none.
        text: its text, without a bullet.
        value: in units of ``mean_top_demand``; the best items are chosen.
        position: items under one label are written in this order.
    """

    section: int
    topic: str = ""
    label: str = ""
    ref: str = ""
    text: str
    value: float
    position: int


def clip_middle(text: str, limit: int) -> str:
    """Shorten a text to about ``limit`` characters by leaving out its middle.

    It is cut between words or values, so that no name or path is halved; a single word stays whole
    unless it is too long to be one.

        clip_middle("one two three four five six", 18)  ->  "one two […] six"
    """
    text = text.strip()
    if len(text) <= limit:
        return text
    head_limit = limit * _HEAD_THIRDS // 3
    tail_limit = limit - head_limit
    head = _head(text, head_limit, limit)
    tail_break = _BREAK.search(text, len(text) - tail_limit - 1)
    if head or tail_break:
        tail = text[tail_break.end() :] if tail_break else ""
        return head.rstrip() + OMISSION + tail.lstrip()
    head, tail = (
        text[: word_end(text, head_limit)],
        text[word_start(text, len(text) - tail_limit) :],
    )
    return head + OMISSION + tail if head or tail else text


def _head(text: str, limit: int, max_word: int) -> str:
    """Return the words in the first ``limit`` characters, or one of up to ``max_word``, or ""."""
    ends = [match.start() for match in _BREAK.finditer(text, 0, limit + 1)]
    if not ends:
        first = _BREAK.search(text, limit, max_word + 1)
        ends = [first.start() if first else 0]
    return text[: ends[-1]]


def clip_to_line(text: str, limit: int) -> str:
    """Write a text on one line of about ``limit`` characters."""
    # Clip generously first, so that collapsing blanks takes no longer for huge texts.
    return clip_middle(_SPACE.sub(" ", clip_middle(text, 4 * limit)), limit)
