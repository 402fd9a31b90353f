"""Prose cut into sentences."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal

_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\[\"'(])|(?<=[!?])\s+|\n+")
_BULLET = re.compile(r"\s*(?:(?:[-*>#|+]+|\d{1,2}[.)])\s+)*")
# What starts a line that goes on with nothing before it: a bullet, a heading, a quotation, a row of
# a table, a fence, a tag, a comment, a key.
_OPENING = re.compile(r"\s*(?:[-*>#|+<]|\d{1,2}[.)]\s|```|~~~|//|[\w-]+:\s)")
_WHOLE = re.compile(r".*(?:[.!?:;|>]|```)[\"'*_)\]]*\s*$")
# Nobody wraps lines shorter or longer than this; the margin is ragged by as much of the width.
_WIDTHS = range(40, 201)
_RAGGED_PERCENT = 20


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text, without bullets and heading marks.

    A sentence that was wrapped at the end of a line is one, with a blank for the line end.
    """
    bare = map(without_marks, _END.split(unwrap(text)))
    return [sentence for sentence in bare if sentence]


def without_marks(line: str) -> str:
    """Return a line without the bullets and heading marks before it and the blanks around it."""
    return _BULLET.sub("", line, count=1).rstrip(" \t\r|")


def unwrap(text: str) -> str:
    """Return a text with those lines joined that a hard wrap had parted."""
    return "\n\n".join("\n".join(_lines(block)) for block in text.split("\n\n"))


def _lines(block: str) -> Iterator[str]:
    """Yield the lines of a paragraph, those joined that belong together."""
    lines = block.split("\n")
    width = max(map(len, lines))
    whole = lines[0]
    for before, line in pairwise(lines):
        if _goes_on(before, line, width):
            whole = f"{whole.rstrip()} {line.strip()}"
        else:
            yield whole
            whole = line
    yield whole


def _goes_on(before: str, line: str, width: int) -> bool:
    """Whether a line goes on with the sentence of the one before, which had no room for a word."""
    if width not in _WIDTHS or not before.strip() or before.lstrip().startswith("#"):
        return False
    if _WHOLE.match(before) or _OPENING.match(line):
        return False
    first = line.split(maxsplit=1)[:1]
    if not first or before.count("(") > before.count(")"):
        return bool(first)
    full = width * (100 - _RAGGED_PERCENT) // 100
    return len(before.rstrip()) + 1 + len(first[0]) > full


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


def find_quoted_words(text: str) -> tuple[Words, ...]:
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
