"""The words of people in a text that stands for earlier messages, as it quotes them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal

SpokenKind = Literal["request", "answer", "instruction"]
"""The kinds of passages that hold the words of people."""

REQUESTS = "Requests of the user:"
SET_RULES = "Rules the user set:"
INSTRUCTIONS = "Instructions of the operator:"
ANSWERS = "Answers of the user:"
USER, OPERATOR = "user", "operator"
BULLET, INDENT = "- ", "  "
"""How a summary begins an item, and each further line of it."""
COURSE, NAMES = "## Course", "## Also named"
"""Between these headings stands what a digest quotes."""

_LABELS: Mapping[str, SpokenKind] = {
    REQUESTS: "request",
    SET_RULES: "request",
    INSTRUCTIONS: "instruction",
    ANSWERS: "answer",
}
_ITEM = re.compile(rf"{BULLET}(?:\[[LM]\d+\] )?(.*)")
_HEADING = re.compile(r"\[[LM]\d+\] (.+)")

Words = tuple[SpokenKind, str]


def quoted_words(text: str) -> tuple[Words, ...]:
    """Return the words of people that a summary or digest by compactctl quotes, in order.

    A summary tells apart the rules of requests that it does not quote; they come as requests
    behind the first one.
    """
    lines = text.split("\n")
    if COURSE in lines:
        return tuple(_of_digest(lines[lines.index(COURSE) + 1 :]))
    found = tuple(_of_summary(lines))
    requests = [(_LABELS[label], words) for label, words in found if label == REQUESTS]
    rules = [(_LABELS[label], words) for label, words in found if label == SET_RULES]
    others = [(_LABELS[label], words) for label, words in found if label in {ANSWERS, INSTRUCTIONS}]
    return (*others, *requests[:1], *rules, *requests[1:])


def _of_digest(lines: Sequence[str]) -> Iterator[Words]:
    """Yield what stands below each heading of a person, up to the next heading."""
    starts = [n for n, line in enumerate(lines) if _HEADING.fullmatch(line)]
    starts += [n for n, line in enumerate(lines) if line == NAMES]
    for start, end in pairwise([*sorted(starts), len(lines)]):
        heading = _HEADING.fullmatch(lines[start])
        kind = _speaker(heading[1]) if heading else None
        if kind:
            yield kind, "\n".join(lines[start + 1 : end])


def _speaker(title: str) -> SpokenKind | None:
    if title in {USER, OPERATOR}:
        return "request" if title == USER else "instruction"
    return "answer" if title.startswith(f"{USER}, to ") else None


def _of_summary(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each item below a label of words, with the label."""
    label = ""
    item: list[str] = []
    for line in (*lines, ""):
        found = _ITEM.fullmatch(line)
        if item and not line.startswith(INDENT):
            yield label, "\n".join(item)
            item = []
        if line in _LABELS:
            label = line
        elif found and label:
            item = [found[1]]
        elif item:
            item.append(line.removeprefix(INDENT))
        elif not found:
            label = ""
