"""Cuts a text down to a size, never inside a word and never above the size."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from compactctl.summaries.extract.words import word_end, word_start

Direction = Literal["head", "tail", "both"]
CountText = Callable[[str], int]

# NeuroLink's notice; that of Copilot Chat is "[Tool response was too long and was truncated.]".
NOTICE = "[Output truncated from {original} bytes to {kept} bytes]"
# Copilot Chat keeps two fifths of what it keeps from the beginning.
HEAD_RATIO = 0.4
# So many characters are given up for an end between two lines.
_LINE_REACH = 200
_SENTENCE_END = re.compile(r"[.!?][\"')\]]*(?=\s)|[。！？]|(?=\n)")  # noqa: RUF001 - marks of Chinese and Japanese


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputLimits:
    """How large a text may be; 0 means no limit. Bytes are those of UTF-8."""

    max_bytes: int = 0
    max_lines: int = 0
    max_tokens: int = 0

    def exceeded(self, text: str, count: CountText) -> str:
        """Name the first limit that a text is over, in a user's words; "" when it is within."""
        if self.max_bytes and byte_length(text) > self.max_bytes:
            return f"{self.max_bytes:,} bytes"
        if self.max_lines and line_count(text) > self.max_lines:
            return f"{self.max_lines:,} lines"
        if self.max_tokens and count(text) > self.max_tokens:
            return f"{self.max_tokens:,} tokens"
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncationStyle:
    """Which part of a text stays, and what says that the rest is gone.

    Attributes:
        direction: "head" keeps the beginning, "tail" the end, "both" some of each.
        head_ratio: with "both", the beginning's share of what is kept (0 to 1).
        notice: stands where something is missing, on a line of its own; ``{original}``,
            ``{kept}`` and ``{omitted}`` are sizes in bytes.
        pointer: where the whole text is, on a line behind the notice; "" for nowhere else.
    """

    direction: Direction = "both"
    head_ratio: float = HEAD_RATIO
    notice: str = NOTICE
    pointer: str = ""

    def notice_of(self, original: int, kept: int) -> str:
        """Return the notice for ``kept`` out of ``original`` bytes."""
        sizes = {"original": original, "kept": kept, "omitted": original - kept}
        notice = re.sub(r"\{(original|kept|omitted)\}", lambda m: str(sizes[m[1]]), self.notice)
        return "\n".join(filter(None, (notice, self.pointer)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncatedOutput:
    """A text within its limits, notice included; ``original_size`` is in bytes."""

    content: str
    truncated: bool
    original_size: int


def truncate(
    text: str, limits: OutputLimits, cutting: TruncationStyle, count: CountText = len
) -> TruncatedOutput:
    """Return a text that is within ``limits`` and no larger than it was.

    A text within the limits stays as it is. Where not even the notice has room, as much of the
    notice is left as fits.
    """
    size = byte_length(text)
    if not limits.exceeded(text, count):
        return TruncatedOutput(content=text, truncated=False, original_size=size)

    def fits(candidate: str) -> bool:
        return byte_length(candidate) <= size and not limits.exceeded(candidate, count)

    most = min(len(text), limits.max_bytes or len(text))
    content = _largest(lambda kept: _joined(text, kept, size, cutting), most, fits)
    if content is None:
        notice = cutting.notice_of(size, 0)
        content = _largest(lambda kept: notice[: word_end(notice, kept)], len(notice), fits)
    return TruncatedOutput(content=content or "", truncated=True, original_size=size)


def shorten(text: str, max_tokens: int, count: CountText, mark: str) -> str:
    """Return as much of a text's beginning as fits in ``max_tokens`` with ``mark`` behind it.

    It ends with a sentence, or else with a word, where one ends in its second half. "" when not
    even the mark fits.
    """

    def fits(candidate: str) -> bool:
        return count(candidate) <= max_tokens

    longest = _largest(lambda kept: text[:kept] + mark, len(text), fits)
    if longest is None:
        return ""
    kept = len(longest) - len(mark)
    return next(filter(fits, _endings(text, kept, mark)), "")


def byte_length(text: str) -> int:
    """Return the size of a text in UTF-8; bytes that are none are known by their escapes."""
    try:
        return len(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return len(text.encode("utf-8", "surrogatepass"))


def line_count(text: str) -> int:
    """Count lines; a line break at the end starts no further one."""
    return text.count("\n") + bool(text and not text.endswith("\n"))


def _largest(build: Callable[[int], str], most: int, fits: Callable[[str], bool]) -> str | None:
    """Return the largest text found to fit, as ``build`` makes it from 0 to ``most`` characters."""
    found, least = None, 0
    while least <= most:
        middle = (least + most) // 2
        candidate = build(middle)
        if fits(candidate):
            found, least = candidate, middle + 1
        else:
            most = middle - 1
    return found


def _joined(text: str, kept: int, size: int, cutting: TruncationStyle) -> str:
    """Return the ends of a text, ``kept`` characters or a little less, with the notice."""
    share = {"head": 1.0, "tail": 0.0, "both": cutting.head_ratio}[cutting.direction]
    # Half goes up, as in the reference systems.
    end = int(kept * share + 0.5)
    head = text[: _line_end(text, end)]
    tail = text[_line_start(text, len(text) - (kept - end)) :]
    notice = cutting.notice_of(size, byte_length(head) + byte_length(tail))
    return "\n".join(filter(None, (head, notice, tail)))


def _line_end(text: str, at: int) -> int:
    """Return where the last whole line before ``at`` ends, if that is near, else the last word."""
    if text[at : at + 1] in {"\n", ""}:
        return at
    found = text.rfind("\n", max(0, at - _LINE_REACH), at)
    return word_end(text, at) if found < 0 else found


def _line_start(text: str, at: int) -> int:
    """Return where the first whole line from ``at`` starts, if that is near, else a word."""
    if at == 0 or text[at - 1] == "\n":
        return at
    found = text.find("\n", at, at + _LINE_REACH)
    return word_start(text, at) if found < 0 else found + 1


def _endings(text: str, kept: int, mark: str) -> Iterator[str]:
    half = kept // 2
    ends = [match.end() for match in _SENTENCE_END.finditer(text[: kept + 1], half)]
    if ends:
        yield f"{text[: ends[-1]].rstrip()} {mark}"
    spaces = [match.start() for match in re.finditer(r"\s", text[half : kept + 1])]
    if spaces:
        yield text[: half + spaces[-1]].rstrip() + mark
    yield text[: word_end(text, kept)] + mark
    yield mark
