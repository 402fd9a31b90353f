"""Puts archived lines back beside the lines that replaced them, for reading."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compactctl.model.operation import ArchivedLine
from compactctl.pipeline.record_splice import with_added_fields
from compactctl.pipeline.spans import record_place, splice


@dataclass(frozen=True, slots=True)
class DisplayedLine:
    """A line to be shown; ``hidden_by`` is the group that hides it, None when it is visible.

    ``index`` is its place among the lines of its state; ``state_index`` is the place of that state,
    the newest that it stands in, among those that were put together. ``tags`` are added to its
    record.
    """

    lines: Sequence[bytes]
    index: int
    state_index: int = 0
    hidden_by: str | None = None
    stage: str | None = None
    tags: tuple[tuple[str, str], ...] = ()

    @property
    def data(self) -> bytes:
        """The line, read where it stands, so that a view of many holds none of them."""
        raw = self.lines[self.index]
        return tag_line(raw, dict(self.tags)) if self.tags else raw


LineStack = tuple[DisplayedLine, ...]


def interleave(
    states: Sequence[tuple[Sequence[ArchivedLine], Sequence[bytes]]],
) -> tuple[DisplayedLine, ...]:
    """Return all lines of the newest state, each after the archived lines it stands for.

    ``states`` are, oldest first, the rows of each operation in effect and the lines of the state
    it led to, the newest with what was appended since.
    """
    rows, _ = states[0]
    first = tuple(row.raw for row in rows)
    cells: list[LineStack] = [(DisplayedLine(first, place),) for place in range(len(first))]
    for number, (rows, after) in enumerate(states, 1):
        own = [DisplayedLine(after, place, number) for place in range(len(after))]
        cells = _advance(cells, rows, own)
    return tuple(line for cell in cells for line in cell)


def _advance(
    cells: Sequence[LineStack], rows: Sequence[ArchivedLine], after: Sequence[DisplayedLine]
) -> list[LineStack]:
    placed: dict[int, list[DisplayedLine]] = {}
    waiting: list[DisplayedLine] = []
    for cell, row in zip(cells, rows, strict=False):
        *earlier, own = cell
        waiting += earlier
        if row.group is not None:
            waiting.append(_tagged(own, row))
        if row.after_line is not None:
            placed[row.after_line], waiting = waiting, []
    result = [(*placed.get(place, ()), line) for place, line in enumerate(after)]
    return [*result[:-1], (*waiting, *result[-1])] if waiting and result else result


def _tagged(line: DisplayedLine, row: ArchivedLine) -> DisplayedLine:
    fields = {
        "condenseParent": row.condense_parent,
        "truncationParent": row.truncation_parent,
        "editParent": row.edit_parent if row.fate == "replaced" else None,
    }
    tags = tuple((name, value) for name, value in fields.items() if value)
    return replace(line, tags=line.tags + tags, hidden_by=row.group, stage=row.stage)


def tag_line(raw: bytes, fields: dict[str, str]) -> bytes:
    """Return a line with tags before the record's closing brace; untouched when it has none."""
    try:
        text = raw.decode()
        place = record_place(text)
    except (ValueError, StopIteration, RecursionError):
        return raw
    record = place.cut(text)
    if not record.endswith("}"):
        return raw
    return splice(text, {place.span: with_added_fields(record, fields, place.depth)}).encode()
