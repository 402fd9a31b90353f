"""Split prose into sentences."""

import re
from collections.abc import Iterator
from itertools import pairwise

_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\[\"'(])|(?<=[!?])\s+|\n+")
_BULLET = re.compile(r"\s*(?:(?:[-*>#|+]+|\d{1,2}[.)])\s+)*")
# The start of a line that does not continue the one before: a bullet, a heading, a quotation, a
# table row, a fence, a tag, a comment, a key.
_OPENING = re.compile(r"\s*(?:[-*>#|+<]|\d{1,2}[.)]\s|```|~~~|//|[\w-]+:\s)")
_WHOLE = re.compile(r".*(?:[.!?:;|>]|```)[\"'*_)\]]*\s*$")
# Text is not wrapped at other widths; lines may be shorter than the widest one by this much.
_WIDTHS = range(40, 201)
_RAGGED_PERCENT = 20


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text, without bullets and heading marks.

    A hard-wrapped sentence is joined, with a blank for the line end.
    """
    lines = map(without_marks, _END.split(unwrap(text)))
    return [line for line in lines if line]


def without_marks(line: str) -> str:
    """Remove the bullets and heading marks before a line, and the blanks around it."""
    return _BULLET.sub("", line, count=1).rstrip(" \t\r|")


def unwrap(text: str) -> str:
    """Join the lines of hard-wrapped paragraphs."""
    return "\n\n".join("\n".join(_joined_lines(block)) for block in text.split("\n\n"))


def _joined_lines(block: str) -> Iterator[str]:
    """Yield the lines of a paragraph, each with the lines that continue it."""
    lines = block.split("\n")
    width = max(map(len, lines))
    joined = lines[0]
    for before, line in pairwise(lines):
        if is_continuation(before, line, width):
            joined = f"{joined.rstrip()} {line.strip()}"
        else:
            yield joined
            joined = line
    yield joined


def is_continuation(before: str, line: str, width: int) -> bool:
    """Whether a line continues the one before, which had no room for its first word."""
    if width not in _WIDTHS or not before.strip() or before.lstrip().startswith("#"):
        return False
    if _WHOLE.match(before) or _OPENING.match(line):
        return False
    first_word = line.split(maxsplit=1)[:1]
    if not first_word or before.count("(") > before.count(")"):
        return bool(first_word)
    min_width = width * (100 - _RAGGED_PERCENT) // 100
    return len(before.rstrip()) + 1 + len(first_word[0]) > min_width
