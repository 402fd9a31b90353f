"""Split a text into units that may be quoted without the others: sentences, lists, code blocks."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from compactctl.summaries.extract.rule_words import is_abbreviation, is_title
from compactctl.summaries.extract.sentences import is_continuation
from compactctl.summaries.extract.words import word_end

# Characters of a list up to which it is one unit; of a longer one, each item is. Longer code is not
# one unit with its introduction, and a longer sentence is data, which is also cut between words.
_MAX_UNIT = 1_600
# Data that is longer is also split where only a line ends, or lower case follows a period: a table
# or a log has no other ends. What somebody typed is whole up to ``_MAX_UNIT``.
_MAX_DATA = 400

_BULLET = re.compile(
    r"\s*(?:[-*+\u2022\u2023\u25e6\u25aa\u25cf\u25cb\u25a0\u2013\u2014]\s"
    r"|[(\uff08]?(?:\d{1,3}|[a-zA-Z])[)\uff09]\s|\d{1,3}\.\s|\d{1,3}[\u3001\uff0e]"
    # Scripts without blanks need none behind a number.
    r"|[(\uff08]?\d{1,3}[).](?=[\u3000-\uffdc])|\uff08\d{1,3}\uff09"
    r"|[\u2460-\u2473]|[\u4e00\u4e8c\u4e09\u56db\u4e94\u516d\u4e03\u516b\u4e5d\u5341]{1,3}\u3001"
    r"|\u30fb|[>|])"
)
_HEADING = re.compile(r"\s*#{1,6}\s")
_INTRODUCTION = re.compile(r"[:\uff1a][*_`\"')\u201d]*\s*$")
_TITLE_ITEM = re.compile(r"(\*\*|__)[:\uff1a]?\s*$")
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_NOT_BLANK = re.compile(r"\S")
_INDENTED = re.compile(r"\s{2,}|\t")

_ENDS = ".!?\u2026\u3002\uff01\uff1f\uff61\u0964\u061f\u06d4"
_NO_BLANK_AFTER = "\u3002\uff01\uff1f\uff61"
_CLOSERS = "\"'\u201d\u2019\u00bb)\\]}*_`\u300d\u300f\uff09\u3011"
_END = re.compile(rf"[{_ENDS}]+[{_CLOSERS}]*")
_LINE_END = re.compile(rf"[{_ENDS}:\uff1a;][{_CLOSERS}]*\s*$")
# In these, nothing ends a sentence.
_PROTECTED = re.compile(
    r"(?<!`)(`+)(?!`)(?:(?!\n\n).){1,1000}?(?<!`)\1(?!`)"
    '|"[^"\n]{1,300}"|\u201c[^\u201c\u201d]{1,300}\u201d|\u201e[^\u201e\u201c\u201d]{1,300}[\u201c\u201d]'
    "|\u00ab[^\u00ab\u00bb]{1,300}\u00bb|\u300c[^\u300c\u300d]{1,300}\u300d|\u300e[^\u300e\u300f]{1,300}\u300f"
    r"|\([^()]{1,300}\)|\uff08[^\uff08\uff09]{1,300}\uff09",
    re.DOTALL,
)


# The lines that a paragraph of code or of a log has at least, and how they begin or end.
_MIN_DATA_LINES = 4
_DATA_LINE = re.compile(
    r"^\s*(?:\[|[+-]?\d{2,4}[-:/.]\d\d|at |File \"|\$ )"
    r"|^\s*(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL)\b"
    r"|^(?:\s{4,}|\t)\S|[{}();\[\]=]\s*$|\S\t\S|^[^\s:]{1,40}:\d+[: ]"
)


class Unit(NamedTuple):
    """A unit of a text, as offsets into it.

    Attributes:
        start: its first character.
        end: the offset behind its last one.
        block: the number of its paragraph, list or code block.
        sentence_end: the end of the sentence before the list or code block that it introduces.
        kind: what the unit consists of; a sentence with the list that it introduces is a sentence.
        head: the index of the unit that introduces the list of which it is an item, else None.
    """

    start: int
    end: int
    block: int
    sentence_end: int
    kind: Literal["sentence", "list", "code"]
    head: int | None = None


_Kind = Literal["prose", "heading", "section", "list", "code"]
_UNIT_KINDS: Mapping[_Kind, Literal["sentence", "list", "code"]] = {
    "prose": "sentence",
    "heading": "sentence",
    "section": "sentence",
    "list": "list",
    "code": "code",
}


class _Chunk(NamedTuple):
    """Consecutive lines that belong together; a section is a small one below a title of rules."""

    kind: _Kind
    start: int
    end: int


def split_units(text: str) -> tuple[Unit, ...]:
    """Return the units of a text in order; only white space is between them.

    A line that ends in a colon is one unit with what it introduces: the other lines of its
    paragraph, or else the list, the code block or the paragraph that follows. A small section is
    one unit if its heading is a title of rules. A list longer than 1,600 characters is split into
    its items, the first of which has the introduction.
    """
    units: list[Unit] = []
    block = -1
    previous: _Chunk | None = None
    for chunk in _chunks(text):
        introduced = previous is not None and _introduces(text, previous, chunk)
        block += not introduced
        head = units.pop() if introduced else None
        index = len(units) if head else None
        for unit in _units_of(text, chunk, block, index, is_owned=_is_owner(previous, head)):
            units.append(_with_head(head, unit, previous, chunk))
            head = None
        previous = chunk
    return tuple(units)


def _with_head(head: Unit | None, unit: Unit, before: _Chunk | None, chunk: _Chunk) -> Unit:
    """Return a unit, as one with what introduces it; a heading is part of the sentence below it."""
    if head is None:
        return unit
    is_sentence = before is not None and before.kind == "heading" and chunk.kind == "prose"
    sentence_end = unit.sentence_end if is_sentence else head.sentence_end
    return head._replace(end=unit.end, sentence_end=sentence_end)


def _is_owner(chunk: _Chunk | None, head: Unit | None) -> bool:
    """Whether all of the next paragraph belongs to the last unit of a chunk, not a sentence."""
    return chunk is not None and head is not None and chunk.kind == "prose"


def _introduces(text: str, before: _Chunk, chunk: _Chunk) -> bool:
    """Whether a chunk belongs to the one before: its list, its code, or the text of its heading."""
    if chunk.kind in {"heading", "section"}:
        return before.kind == "heading"
    if before.kind == "heading":
        return True
    if before.kind != "prose":
        return False
    if chunk.kind == "code" and chunk.end - chunk.start > _MAX_UNIT:
        return False
    is_adjacent = "\n" not in text[before.end : chunk.start].removeprefix("\n")
    last_line = _last_line(text, before)
    if is_adjacent and chunk.kind != "prose":
        is_open = not _LINE_END.search(last_line)
        return is_open or _introduction_end(text, before.start, before.end) is not None
    return bool(_INTRODUCTION.search(last_line))


def _introduction_end(text: str, start: int, end: int) -> int | None:
    """Return where a line of a paragraph ends that introduces all lines from there on."""
    for first, last in _line_spans(text[start:end]):
        is_near = end - start - first <= _MAX_UNIT
        if is_near and _INTRODUCTION.search(text[start + first : start + last]):
            return start + last
    return None


def _units_of(
    text: str, chunk: _Chunk, block: int, head: int | None, *, is_owned: bool
) -> Iterator[Unit]:
    """Yield the units of a chunk; ``head`` is the index of the one that introduces it."""
    is_long = chunk.end - chunk.start > _MAX_UNIT
    if chunk.kind == "prose" and not (is_owned and not is_long):
        yield from _prose_units(text, chunk, block)
        return
    if chunk.kind == "list" and is_long:
        for number, (start, end) in enumerate(_items(text, chunk)):
            yield Unit(start, end, block, end, "list", head if number else None)
        return
    sentence_end = chunk.end
    if chunk.kind == "section":
        sentence_end = chunk.start + len(text[chunk.start : chunk.end].split("\n", 1)[0].rstrip())
    yield Unit(chunk.start, chunk.end, block, sentence_end, _UNIT_KINDS[chunk.kind])


def _prose_units(text: str, chunk: _Chunk, block: int) -> Iterator[Unit]:
    """Yield the sentences of a paragraph; what a line introduces is one unit with it."""
    introduction = _introduction_end(text, chunk.start, chunk.end)
    if introduction is None:
        for start, end in _sentences(text, chunk.start, chunk.end):
            yield Unit(start, end, block, end, "sentence")
        return
    *others, (start, end) = _sentences(text, chunk.start, introduction)
    for first, last in others:
        yield Unit(first, last, block, last, "sentence")
    yield Unit(start, chunk.end, block, end, "sentence")


def _chunks(text: str) -> Iterator[_Chunk]:
    """Yield the chunks of a text without blank lines around them."""
    section: list[_Chunk] = []
    for chunk in _plain_chunks(text):
        if section and not _is_in_section(text, section, chunk):
            yield from _joined(section)
            section = []
        if section or _is_rules_title(text, chunk):
            section.append(chunk)
        else:
            yield chunk
    yield from _joined(section)


def _is_in_section(text: str, section: Sequence[_Chunk], chunk: _Chunk) -> bool:
    level = _heading_level(text, chunk)
    if level and level <= _heading_level(text, section[0]):
        return False
    # Behind what is too long anyway, another title may begin.
    return section[-1].end - section[0].start <= _MAX_UNIT


def _joined(section: Sequence[_Chunk]) -> Iterator[_Chunk]:
    """Yield the chunks of a section, as one if it is small."""
    if len(section) > 1 and section[-1].end - section[0].start <= _MAX_UNIT:
        yield _Chunk("section", section[0].start, section[-1].end)
    else:
        yield from section


def _is_rules_title(text: str, chunk: _Chunk) -> bool:
    return chunk.kind == "heading" and is_title(text[chunk.start : chunk.end])


def _heading_level(text: str, chunk: _Chunk) -> int:
    """Return the number of marks before a heading, 0 for what is not a heading."""
    if chunk.kind != "heading":
        return 0
    line = text[chunk.start : chunk.end].lstrip()
    return len(line) - len(line.lstrip("#"))


def _plain_chunks(text: str) -> Iterator[_Chunk]:
    lines = list(_line_spans(text))
    fences = dict(_fences([text[start:end] for start, end in lines]))
    chunk: _Chunk | None = None
    row, item, is_separate = 0, 0, True
    while row < len(lines):
        start, end = lines[row]
        line = text[start:end]
        if not line.strip():
            is_separate, row = True, row + 1
            continue
        last_row = fences.get(row, row)
        end = lines[last_row][1]
        if row not in fences and _BULLET.match(line):
            item = start
        # Of what is longer than a unit, nothing but its indentation shows that it is an item.
        is_near = end - item <= _MAX_UNIT
        is_in_list = (
            chunk is not None
            and chunk.kind == "list"
            and _is_in_item(text, chunk, line, is_separate=is_separate, is_near=is_near)
        )
        kind = _line_kind(line, is_code=row in fences, is_in_list=is_in_list)
        is_new = chunk is None or kind != chunk.kind or kind in {"code", "heading"}
        if is_new or (is_separate and kind == "prose"):
            if chunk:
                yield chunk
            chunk = _Chunk(kind, start, end)
        elif chunk:
            chunk = chunk._replace(end=end)
        is_separate, row = False, last_row + 1
    if chunk:
        yield chunk


def _line_spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in text.split("\n"):
        yield start, start + len(line.rstrip())
        start += len(line) + 1


def _fences(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and last row of each code block; one without an end is prose."""
    opening: tuple[int, str] | None = None
    for row, line in enumerate(lines):
        match = _FENCE.match(line)
        if match and opening is None:
            opening = row, match[1]
        elif match and opening and line.strip() == match[1] and match[1].startswith(opening[1]):
            yield opening[0], row
            opening = None


def _line_kind(line: str, *, is_code: bool, is_in_list: bool) -> _Kind:
    if not is_code and _HEADING.match(line):
        return "heading"
    if is_in_list or (not is_code and _BULLET.match(line)):
        return "list"
    return "code" if is_code else "prose"


def _is_in_item(text: str, chunk: _Chunk, line: str, *, is_separate: bool, is_near: bool) -> bool:
    """Whether a line or code block below an item belongs to it.

    It does if it is indented, or no blank line is between, or the item is nothing but a title.
    """
    if _INDENTED.match(line):
        return is_near or not _FENCE.match(line)
    last_line = _last_line(text, chunk)
    is_title_item = bool(_BULLET.match(last_line) and _TITLE_ITEM.search(last_line))
    return is_near and (not is_separate or is_title_item)


def _last_line(text: str, chunk: _Chunk) -> str:
    return text[max(chunk.start, text.rfind("\n", chunk.start, chunk.end) + 1) : chunk.end]


def _items(text: str, chunk: _Chunk) -> Iterator[tuple[int, int]]:
    """Yield the items of a list, each with the more indented lines below it."""
    lines = [
        (chunk.start + start, chunk.start + end)
        for start, end in _line_spans(text[chunk.start : chunk.end])
    ]
    code = {
        row
        for first, last in _fences([text[start:end] for start, end in lines])
        for row in range(first, last + 1)
    }
    indents = [len(text[start:end]) - len(text[start:end].lstrip()) for start, end in lines]
    starts = [
        row
        for row, (start, end) in enumerate(lines)
        if row == 0
        or (row not in code and indents[row] <= indents[0] and _BULLET.match(text[start:end]))
    ]
    for row, after in pairwise([*starts, len(lines)]):
        last = max(n for n in range(row, after) if n == row or lines[n][1] > lines[n][0])
        yield lines[row][0], lines[last][1]


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a paragraph."""
    paragraph = text[start:end]
    is_pasted = is_data(paragraph)
    for first, last in _spans(paragraph, _sentence_ends(paragraph)):
        if last - first <= (_MAX_DATA if is_pasted else _MAX_UNIT):
            yield start + first, start + last
            continue
        sentence = paragraph[first:last]
        for inner_first, inner_last in _spans(sentence, _soft_ends(sentence)):
            offset = start + first
            yield from _cut_data(text, offset + inner_first, offset + inner_last)


def _cut_data(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a sentence, in pieces of ``_MAX_UNIT`` characters if it is longer."""
    while end - start > _MAX_UNIT:
        cut = start + word_end(text[start : start + 2 * _MAX_UNIT], _MAX_UNIT)
        yield start, start + len(text[start:cut].rstrip())
        rest = _NOT_BLANK.search(text, cut, end)
        start = rest.start() if rest else end
    if start < end:
        yield start, end


def _spans(text: str, ends: Sequence[int]) -> Iterator[tuple[int, int]]:
    for first, last in pairwise([0, *ends, len(text)]):
        part = text[first:last]
        if part.strip():
            indent = 0 if first == 0 else len(part) - len(part.lstrip())
            yield first + indent, first + len(part.rstrip())


def _sentence_ends(text: str) -> list[int]:
    protected = _protected(text)
    return [
        match.end()
        for match in _END.finditer(text)
        if not _is_inside(match.end(), protected) and _ends_sentence(text, match)
    ]


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    mark = match[0].rstrip("\"'\u201d\u2019\u00bb)]}*_`\u300d\u300f\uff09\u3011")
    following = _NOT_BLANK.search(text, match.end())
    if following and following.start() == match.end():
        # Behind a quotation without a blank, the sentence goes on.
        return mark[-1] in _NO_BLANK_AFTER and mark == match[0]
    if mark.endswith(("..", "\u2026")):
        return False
    first = following[0] if following else ""
    if mark[-1] in "!?":
        # An operator, or the end of what is not a whole sentence.
        before = text[match.start() - 1 : match.start()]
        return not (first.islower() or before.isspace())
    if mark[-1] != ".":
        return True
    return not (first.islower() or first.isdigit() or _is_abbreviated(text, match.start()))


def _is_abbreviated(text: str, end: int) -> bool:
    words = text[max(0, end - 24) : end].split()
    return bool(words) and not text[end - 1].isspace() and is_abbreviation(words[-1])


def is_data(paragraph: str) -> bool:
    """Whether most lines of a paragraph look like code or a log."""
    lines = [line for line in paragraph.split("\n") if line.strip()]
    data_lines = sum(_DATA_LINE.search(line) is not None for line in lines)
    return len(lines) >= _MIN_DATA_LINES and data_lines * 2 >= len(lines)


def _soft_ends(text: str) -> list[int]:
    """Return where a long sentence may be split: at periods, and at lines that are not wrapped."""
    protected = _protected(text)
    ends = [
        match.end()
        for match in re.finditer(r"[.;](?=\s)", text)
        if not _is_abbreviated(text, match.start())
    ]
    lines = text.split("\n")
    width, offset = max(map(len, lines)), 0
    for line, following in pairwise(lines):
        offset += len(line) + 1
        if _DATA_LINE.search(following) or not is_continuation(line, following, width):
            ends.append(offset)
    return [end for end in sorted(set(ends)) if not _is_inside(end, protected)]


def _protected(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _PROTECTED.finditer(text)]


def _is_inside(offset: int, spans: Sequence[tuple[int, int]]) -> bool:
    index = bisect_right(spans, (offset, -1)) - 1
    return index >= 0 and spans[index][0] < offset < spans[index][1]
