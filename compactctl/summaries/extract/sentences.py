"""Prose cut into sentences."""

import re
from collections.abc import Iterator
from itertools import pairwise

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
    bare = map(without_marks, _END.split(unwrapped(text)))
    return [sentence for sentence in bare if sentence]


def without_marks(line: str) -> str:
    """Return a line without the bullets and heading marks before it and the blanks around it."""
    return _BULLET.sub("", line, count=1).rstrip(" \t\r|")


def unwrapped(text: str) -> str:
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
