"""Split prose into sentences, and find the user's words in summaries by compactctl."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from compactctl.history.references import WRITTEN

_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\[\"'(])|(?<=[!?])\s+|\n+")
_BULLET = re.compile(r"\s*(?:(?:[-*>#|+]+|\d{1,2}[.)])\s+)*")
# The start of a line that does not continue the one before: a bullet, a heading, a quotation, a
# table row, a fence, a tag, a comment, a key.
_OPENING = re.compile(r"\s*(?:[-*>#|+<]|\d{1,2}[.)]\s|```|~~~|//|[\w-]+:\s)")
_WHOLE = re.compile(r".*(?:[.!?:;|>]|```)[\"'*_)\]]*\s*$")
# Text is not wrapped at other widths; lines may be shorter than the widest one by this much.
_WIDTHS = range(40, 201)
_RAGGED_PERCENT = 20

SpokenKind = Literal["request", "answer", "instruction"]
"""The kinds of passages that hold words of the user or the operator."""

REQUESTS = "Requests of the user:"
SET_RULES = "Rules the user set:"
INSTRUCTIONS = "Instructions of the operator:"
ANSWERS = "Answers of the user:"
USER, OPERATOR = "user", "operator"
BULLET, INDENT = "- ", "  "
"""What a summary puts before an item, and before each further line of it."""
COURSE, NAMES = "## Course", "## Also named"
"""The headings of a digest between which it quotes messages."""

_LABELS: Mapping[str, SpokenKind] = {
    REQUESTS: "request",
    SET_RULES: "request",
    INSTRUCTIONS: "instruction",
    ANSWERS: "answer",
}
_ITEM = re.compile(rf"{BULLET}(?:{WRITTEN} )?(.*)")
_HEADING = re.compile(rf"{WRITTEN} (.+)")

# A line of somebody's words that looks like one of a digest, and the same line as digests write it.
_IMITATION = re.compile(rf"^(?=\\*(?:{WRITTEN} |## ))", re.MULTILINE)
_MARKED = re.compile(rf"^\\(?=\\*(?:{WRITTEN} |## ))", re.MULTILINE)

Words = tuple[SpokenKind, str]


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


def mark_imitations(text: str) -> str:
    r"""Put a backslash before each line that could pass for a heading of a digest.

    [L3] user  ->  \[L3] user
    """
    return _IMITATION.sub(r"\\", text)


def find_quoted_words(text: str) -> tuple[Words, ...]:
    """Return the user's and the operator's words that a summary or digest by compactctl quotes.

    A summary lists rules from requests that it does not quote. They are returned as requests after
    the first one, so that they are neither the first nor the newest.
    """
    lines = text.split("\n")
    if COURSE in lines:
        return tuple(_words_in_digest(lines[lines.index(COURSE) + 1 :]))
    items = tuple(_words_in_summary(lines))
    requests = [(_LABELS[label], words) for label, words in items if label == REQUESTS]
    rules = [(_LABELS[label], words) for label, words in items if label == SET_RULES]
    others = [(_LABELS[label], words) for label, words in items if label in {ANSWERS, INSTRUCTIONS}]
    return (*others, *requests[:1], *rules, *requests[1:])


def _words_in_digest(lines: Sequence[str]) -> Iterator[Words]:
    """Yield the text below each heading of a speaker, up to the next heading."""
    starts = [n for n, line in enumerate(lines) if _HEADING.fullmatch(line)]
    starts += [n for n, line in enumerate(lines) if line == NAMES]
    for start, end in pairwise([*sorted(starts), len(lines)]):
        heading = _HEADING.fullmatch(lines[start])
        kind = _speaker(heading[1]) if heading else None
        if kind:
            yield kind, _MARKED.sub("", "\n".join(lines[start + 1 : end]))


def _speaker(title: str) -> SpokenKind | None:
    if title in {USER, OPERATOR}:
        return "request" if title == USER else "instruction"
    return "answer" if title.startswith(f"{USER}, to ") else None


def _words_in_summary(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each item below one of ``_LABELS``, with the label."""
    label = ""
    item: list[str] = []
    for line in (*lines, ""):
        bullet = _ITEM.fullmatch(line)
        if item and not line.startswith(INDENT):
            yield label, "\n".join(item)
            item = []
        if line in _LABELS:
            label = line
        elif bullet and label:
            item = [bullet[1]]
        elif item:
            item.append(line.removeprefix(INDENT))
        elif not bullet:
            label = ""
