"""Truncate a text to a size: never inside a word, and never above the size."""

import re
from collections.abc import Callable, Iterator
from typing import Literal

from compactctl.asks import ADDS_TEXT, MAY, OUTPUT, PROTECTED, ask
from compactctl.model.bounds import Share
from compactctl.records import Record
from compactctl.summaries.extract.words import word_end, word_start

Direction = Literal["head", "tail", "both"]
CountText = Callable[[str], int]

# From NeuroLink; Copilot Chat writes "[Tool response was too long and was truncated.]".
NOTICE = "[Output truncated from {original} bytes to {kept} bytes]"
# From Copilot Chat: two fifths of what is kept are from the beginning.
HEAD_RATIO = 0.4
# How many characters to give up in order to cut between two lines.
_LINE_REACH = 200
_SENTENCE_END = re.compile(r"[.!?][\"')\]]*(?=\s)|[。！？]|(?=\n)")  # noqa: RUF001 - marks of Chinese and Japanese


class OutputLimits(Record):
    """The size limits of a text, in bytes of UTF-8, lines and tokens; 0 means no limit."""

    max_bytes: int = 0
    max_lines: int = 0
    max_tokens: int = 0

    def exceeded_limit(self, text: str, count: CountText) -> str:
        """Return the first limit that a text exceeds, for users to read; "" if it is within all."""
        if self.max_bytes and byte_length(text) > self.max_bytes:
            return f"{self.max_bytes:,} bytes"
        if self.max_lines and line_count(text) > self.max_lines:
            return f"{self.max_lines:,} lines"
        if self.max_tokens and count(text) > self.max_tokens:
            return f"{self.max_tokens:,} tokens"
        return ""


class TruncationStyle(Record):
    """Which part of a text to keep, and how to mark the gap.

    ``pointer`` is a line after the notice that says where the whole text is; "" for none.
    """

    direction: Direction = ask("both", "Keep the beginning, the end, or both.", PROTECTED, MAY)
    head_ratio: Share = ask(
        HEAD_RATIO, 'With "both", share of the beginning.', PROTECTED, MAY, metavar="SHARE"
    )
    notice: str = ask(
        NOTICE,
        "Text in place of the omitted part; {original}, {kept} and {omitted} are bytes.",
        OUTPUT,
        ADDS_TEXT,
        flag="--marker",
        metavar="TEXT",
    )
    pointer: str = ""

    def format_notice(self, original: int, n_bytes: int) -> str:
        """Return the notice for a cut from ``original`` to ``n_bytes`` bytes."""
        sizes = {"original": original, "kept": n_bytes, "omitted": original - n_bytes}
        notice = re.sub(r"\{(original|kept|omitted)\}", lambda m: str(sizes[m[1]]), self.notice)
        return "\n".join(filter(None, (notice, self.pointer)))


class TruncatedOutput(Record):
    """A text within its limits, including the notice; ``original_size`` is in bytes."""

    content: str
    truncated: bool
    original_size: int


def truncate(
    text: str, limits: OutputLimits, style: TruncationStyle, count: CountText = len
) -> TruncatedOutput:
    """Truncate a text to ``limits``; it never gets larger, even with the notice.

    A text within the limits stays as it is. If not even the notice fits, return the beginning of
    the notice.
    """
    size = byte_length(text)
    if not limits.exceeded_limit(text, count):
        return TruncatedOutput(content=text, truncated=False, original_size=size)

    def fits(candidate: str) -> bool:
        return byte_length(candidate) <= size and not limits.exceeded_limit(candidate, count)

    max_chars = min(len(text), limits.max_bytes or len(text))
    content = _find_largest(lambda n_chars: _keep_ends(text, n_chars, size, style), max_chars, fits)
    if content is None:
        notice = style.format_notice(size, 0)
        content = _find_largest(
            lambda n_chars: notice[: word_end(notice, n_chars)], len(notice), fits
        )
    return TruncatedOutput(content=content or "", truncated=True, original_size=size)


def shorten(text: str, max_tokens: int, count: CountText, mark: str) -> str:
    """Return as much of a text's beginning as fits in ``max_tokens`` together with ``mark``.

    It ends with a sentence, or else with a word, if one ends in its second half. Return "" if not
    even the mark fits.
    """

    def fits(candidate: str) -> bool:
        return count(candidate) <= max_tokens

    longest = _find_largest(lambda n_chars: text[:n_chars] + mark, len(text), fits)
    if longest is None:
        return ""
    n_chars = len(longest) - len(mark)
    return next(filter(fits, _endings(text, n_chars, mark)), "")


def byte_length(text: str) -> int:
    """Return the size of a text in UTF-8; an escaped invalid byte (surrogateescape) counts as 1."""
    try:
        return len(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return len(text.encode("utf-8", "surrogatepass"))


def line_count(text: str) -> int:
    """Count lines; a final line break does not start another one."""
    return text.count("\n") + bool(text and not text.endswith("\n"))


def _find_largest(
    build: Callable[[int], str], high: int, fits: Callable[[str], bool]
) -> str | None:
    """Return the largest text that fits, built from 0 to ``high`` characters by binary search.

    None if not even the text built from 0 characters fits.
    """
    largest, low = None, 0
    while low <= high:
        middle = (low + high) // 2
        candidate = build(middle)
        if fits(candidate):
            largest, low = candidate, middle + 1
        else:
            high = middle - 1
    return largest


def _keep_ends(text: str, n_chars: int, size: int, style: TruncationStyle) -> str:
    """Return both ends of a text, ``n_chars`` characters or a few less, around the notice."""
    head_share = {"head": 1.0, "tail": 0.0, "both": style.head_ratio}[style.direction]
    # Round half up, as the reference systems do; Python's round() would not.
    head_chars = int(n_chars * head_share + 0.5)
    head = text[: _line_end(text, head_chars)]
    tail = text[_line_start(text, len(text) - (n_chars - head_chars)) :]
    notice = style.format_notice(size, byte_length(head) + byte_length(tail))
    return "\n".join(filter(None, (head, notice, tail)))


def _line_end(text: str, pos: int) -> int:
    """Return the end of the last whole line before ``pos`` if it is near, else of the last word."""
    if text[pos : pos + 1] in {"\n", ""}:
        return pos
    line_break = text.rfind("\n", max(0, pos - _LINE_REACH), pos)
    return word_end(text, pos) if line_break < 0 else line_break


def _line_start(text: str, pos: int) -> int:
    """Return the start of the first whole line from ``pos`` if it is near, else of a word."""
    if pos == 0 or text[pos - 1] == "\n":
        return pos
    line_break = text.find("\n", pos, pos + _LINE_REACH)
    return word_start(text, pos) if line_break < 0 else line_break + 1


def _endings(text: str, n_chars: int, mark: str) -> Iterator[str]:
    half = n_chars // 2
    ends = [match.end() for match in _SENTENCE_END.finditer(text[: n_chars + 1], half)]
    if ends:
        yield f"{text[: ends[-1]].rstrip()} {mark}"
    spaces = [match.start() for match in re.finditer(r"\s", text[half : n_chars + 1])]
    if spaces:
        yield text[: half + spaces[-1]].rstrip() + mark
    yield text[: word_end(text, n_chars)] + mark
    yield mark
