r"""The lines of a passage that may be quoted, and the pieces of them, each with its place.

What is printed of a text is a slice of one of its lines. So marks follow from offsets, and no piece
has to be looked up in the text that it comes from.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from operator import itemgetter

from compactctl.history.read_calls import OLD_TEXTS, normal_path
from compactctl.model.own_texts import GAP, read_lines
from compactctl.records import Record
from compactctl.summaries.digest.facts import title
from compactctl.summaries.extract.line_marks import without_line_marks
from compactctl.summaries.extract.passages import Passage, ToolPair
from compactctl.summaries.extract.words import word_end
from compactctl.tokens.memory import Once, call

# A line of up to 260 characters is one piece. A piece of a longer one ends at a blank, else at the
# end of a value in data, or of a name, else after 260 characters.
PIECE_CHARS = 260
_PIECE = re.compile(
    r".{1,260}(?:\s|$)|\S{1,260}[,;}\])]|\S{1,260}(?<!\\)(?![\w./@~+-])|[\w./@~+-]+|\S{1,260}"
)
# In a line of JSON, a record without records in it is one piece.
_JSON_PIECE = re.compile(rf"[^}}]{{0,60}}?\{{[^{{}}]{{1,400}}\}}[\]}},]*|{_PIECE.pattern}")
# A longer line is data; the rest of it is ignored.
_MAX_LINE_CHARS = 6_000
# Shorter lines are braces and the like; they are quoted only for a fact.
MIN_LINE_CHARS = 6
# Starts a hunk of a diff or patch.
_HUNK_MARK = "@@"
# So many lines with so many characters are shown between lines that are chosen.
_MAX_FILLED_LINES, _MAX_FILLED_CHARS = 4, 120


class QuotableLine(Record, kw_only=False):
    """A line that may be quoted.

    Attributes:
        text: the line as it is quoted.
        label_chars: how many characters at its start are the name of a call's argument.
        source: of a call, the index of its string among those in the arguments.
        row: its index among the lines of that string, or of the passage.
    """

    text: str
    label_chars: int = 0
    source: int = 0
    row: int = 0


class PieceSpan(Record, kw_only=False, order=True):
    """A piece of a line.

    Attributes:
        start: its first character in the line.
        end: the one behind its last.
        rows: of a change in a diff, how many whole lines it is, the first from start to end.
        removed: how many lines behind it, in the same text, later edits have removed from the file.
    """

    start: int = 0
    end: int = 0
    rows: int = 1
    removed: int = 0


class Piece(Record, kw_only=False):
    """A piece of a line, and its text: as it is quoted, and without blanks around it."""

    row: int
    span: PieceSpan
    text: str
    bare: str


class QuotableText:
    """The lines of a passage, and the pieces of them, the last line first."""

    def __init__(self, lines: Iterable[QuotableLine]) -> None:
        self.lines = tuple(lines)

    @cached_property
    def texts(self) -> Sequence[str]:
        """The texts of the lines."""
        return [line.text for line in self.lines]

    @cached_property
    def pieces(self) -> Sequence[Piece]:
        """The pieces of the lines in the order of ``pieces_of``."""
        places = ((at, span, span_text(self.lines, at, span)) for at, span in pieces_of(self.lines))
        return [Piece(row, span, text, text.strip()) for row, span, text in places]


def quotable_text(passage: Passage, once: Once = call) -> QuotableText:
    """Return the text of a passage; of a call, without strings that are replaced or in its heading.

    The lines of a listing are without their numbers.
    """
    pair = passage.pair
    if passage.kind != "call" or pair is None:
        return once(_text_of, plain_text(passage, once))
    left_out = replaced_sources(pair) | sources_in_heading(passage, once)
    return once(_text_of_call, pair.texts, left_out)


def _text_of(text: str) -> QuotableText:
    return QuotableText(_lines_of(text))


def _text_of_call(texts: tuple[tuple[str, str], ...], left_out: frozenset[int]) -> QuotableText:
    return QuotableText(
        line
        for source, (name, text) in enumerate(texts)
        if source not in left_out
        for line in _lines_of(text, f"{name}: " if name else "", source)
    )


def plain_text(passage: Passage, once: Once = call) -> str:
    """Return the text of a passage that is not a call, without the numbers of a listing."""
    return once(without_line_marks, passage.text) if passage.kind == "result" else passage.text


def replaced_sources(pair: ToolPair) -> frozenset[int]:
    """Return which strings in a call's arguments hold what it has replaced in a file."""
    if not pair.is_done:
        return frozenset()
    return frozenset(source for source, (name, _) in enumerate(pair.texts) if name in OLD_TEXTS)


def sources_in_heading(passage: Passage, once: Once = call) -> frozenset[int]:
    """Return which strings in a call's arguments its heading shows, or the file that they name."""
    pair = passage.pair
    if pair is None:
        return frozenset()
    files = (*pair.changes, pair.reads or "")
    return once(_sources_shown, pair.texts, title(passage, once), files)


def _sources_shown(
    texts: tuple[tuple[str, str], ...], shown: str, files: tuple[str, ...]
) -> frozenset[int]:
    return frozenset(
        source for source, (_, text) in enumerate(texts) if text in shown or _is_path(text, files)
    )


def _is_path(text: str, files: Iterable[str]) -> bool:
    r"""Whether a text is a path, perhaps absolute or with ``\``, of a file in the heading."""
    if "\n" in text:
        return False
    path = f"/{normal_path(text)}"
    return any(file and path.endswith(f"/{file.removeprefix('/')}") for file in files)


def _lines_of(text: str, label: str = "", source: int = 0) -> Iterator[QuotableLine]:
    for row, line in enumerate(read_lines(text)):
        name = "" if row else label
        yield QuotableLine(name + line, len(name), source, row)


def pieces_of(lines: Sequence[QuotableLine]) -> Iterator[tuple[int, PieceSpan]]:
    """Yield the pieces of lines, each with the index of its line; the last line first.

    The pieces of a line leave nothing out between them, and their last one reaches its end unless
    the line is data. Both sides of a change in a diff are one piece, so that neither is quoted
    without the other.
    """
    changes = _find_changes([line.text for line in lines])
    rows = iter(reversed(range(len(lines))))
    for row in rows:
        first = changes.get(row, row)
        if first < row:
            yield first, PieceSpan(0, len(lines[first].text), row - first + 1)
            for _ in range(first, row):
                next(rows)
        else:
            yield from ((row, span) for span in _split(lines[row]))


def _split(line: QuotableLine) -> Iterator[PieceSpan]:
    text, label = line.text, line.label_chars
    if 0 < len(text) - label <= PIECE_CHARS:
        yield PieceSpan(0, len(text))
        return
    end = len(text)
    if end - label > _MAX_LINE_CHARS:
        end = label + word_end(text[label:], _MAX_LINE_CHARS)
    pattern = _JSON_PIECE if text.startswith(("{", "["), label) else _PIECE
    start = 0
    for match in pattern.finditer(text[:end], label):
        yield PieceSpan(start, match.end())
        start = match.end()


def span_text(lines: Sequence[QuotableLine], row: int, span: PieceSpan) -> str:
    """Return the text of a piece."""
    if span.rows > 1:
        return "\n".join(line.text for line in lines[row : row + span.rows])
    return lines[row].text[span.start : span.end]


def _find_changes(lines: Sequence[str]) -> Mapping[int, int]:
    """Return the first row of each change in a diff that has two sides, by its last row.

    @@ -1,2 +1,2 @@
    -old                row 1
    +new                row 2: {2: 1}
    """
    if not any(line.startswith(_HUNK_MARK) for line in lines):
        return {}
    changes: dict[int, int] = {}
    for is_change, group in groupby(enumerate(lines), key=lambda row: _is_changed(row[1])):
        rows = list(group)
        if is_change and len({line[0] for _, line in rows}) > 1:
            changes[rows[-1][0]] = rows[0][0]
    return changes


def _is_changed(line: str) -> bool:
    return line.startswith(("-", "+")) and not line.startswith(("--- ", "+++ "))


def shown_lines(
    lines: Sequence[str], pieces: Iterable[tuple[int, PieceSpan]], *, with_ends: bool
) -> Iterator[str | None]:
    """Yield the lines of a text of which pieces are chosen, and None for the lines between them.

    Lines before the first piece and behind the last one count as omitted only ``with_ends``.
    """
    after, removed = 0, 0
    for row, group in groupby(sorted(set(pieces)), key=itemgetter(0)):
        if row < after:
            continue
        spans = [span for _, span in group]
        if after:
            is_shown = is_small_gap(lines[after:row]) and spans[0].removed == removed
            yield from lines[after:row] if is_shown else (None,)
        elif with_ends:
            yield from _end(lines[:row])
        after, removed = row + max(span.rows for span in spans), spans[-1].removed
        if after > row + 1:
            yield from lines[row:after]
        else:
            yield join_pieces(lines[row], spans)
    if with_ends:
        yield from _end(lines[after:])


def is_small_gap(lines: Sequence[str]) -> bool:
    """Whether lines between chosen ones are shown all the same, if no edit has removed them.

    A mark in their place would save little, and whoever reads it has to ask what is missing.
    """
    chars = sum(len(line.strip()) for line in lines)
    return len(lines) <= _MAX_FILLED_LINES and chars <= _MAX_FILLED_CHARS


def _end(lines: Sequence[str]) -> Sequence[str | None]:
    """Return what replaces the lines before or behind the chosen ones: a mark, unless too short."""
    is_short = all(len(line.strip()) < MIN_LINE_CHARS for line in lines)
    return lines if is_short and len(lines) <= _MAX_FILLED_LINES else (None,)


def join_pieces(line: str, spans: Iterable[PieceSpan]) -> str:
    """Return pieces of a line, which are in order, with marks where others are omitted.

    join_pieces("a b c", [PieceSpan(2, 4)])  ->  "… b …"
    """
    text, position = "", 0
    for span in spans:
        start, end = span.start, span.end
        omitted = line[position:start]
        text = f"{text.rstrip()} {GAP} ".lstrip() if omitted.strip() else text + omitted
        text += line[start:end]
        position = end
    omitted = line[position:]
    return f"{text.rstrip()} {GAP}" if omitted.strip() else text + omitted
