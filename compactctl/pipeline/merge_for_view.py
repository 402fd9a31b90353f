"""Interleave archived lines with those that replaced them, as ``view --archived`` shows them."""

from collections.abc import Sequence

from compactctl.model.operation import ArchivedLine
from compactctl.pipeline.record_splice import with_added_fields
from compactctl.pipeline.spans import find_record, splice
from compactctl.records import Record, replace


class DisplayedLine(Record, kw_only=False):
    """A line to display.

    Attributes:
        lines: the lines of the newest state that has this line.
        index: its index among them.
        state_index: the index of that state; 0 is the oldest.
        hidden_by: the group that hides the line, None when it is visible.
        stage: the stage that made this group.
        tags: what to add to the line's record.
    """

    lines: Sequence[bytes]
    index: int
    state_index: int = 0
    hidden_by: str | None = None
    stage: str | None = None
    tags: tuple[tuple[str, str], ...] = ()

    @property
    def data(self) -> bytes:
        """The tagged line; computed on access, so that a long view holds no copies."""
        raw = self.lines[self.index]
        return tag_line(raw, dict(self.tags)) if self.tags else raw


LineStack = tuple[DisplayedLine, ...]


def interleave(
    states: Sequence[tuple[Sequence[ArchivedLine], Sequence[bytes]]],
) -> tuple[DisplayedLine, ...]:
    """Return all lines of the newest state, each after the archived lines that it replaces.

    ``states`` holds, oldest first, the rows of each operation in effect and the lines of the file
    after it; the newest includes lines appended since.
    """
    rows, _ = states[0]
    oldest = tuple(row.raw for row in rows)
    stacks: list[LineStack] = [(DisplayedLine(oldest, index),) for index in range(len(oldest))]
    for state_index, (rows, after) in enumerate(states, 1):
        lines = [DisplayedLine(after, index, state_index) for index in range(len(after))]
        stacks = _add_state(stacks, rows, lines)
    return tuple(line for stack in stacks for line in stack)


def _add_state(
    stacks: Sequence[LineStack], rows: Sequence[ArchivedLine], after: Sequence[DisplayedLine]
) -> list[LineStack]:
    archived_before: dict[int, list[DisplayedLine]] = {}
    pending: list[DisplayedLine] = []
    for stack, row in zip(stacks, rows, strict=False):
        *earlier, line = stack
        pending += earlier
        if row.group is not None:
            pending.append(_with_tags(line, row))
        if row.after_line is not None:
            archived_before[row.after_line], pending = pending, []
    result = [(*archived_before.get(index, ()), displayed) for index, displayed in enumerate(after)]
    return [*result[:-1], (*pending, *result[-1])] if pending and result else result


def _with_tags(line: DisplayedLine, row: ArchivedLine) -> DisplayedLine:
    fields = {
        "condenseParent": row.condense_parent,
        "truncationParent": row.truncation_parent,
        "editParent": row.edit_parent if row.fate == "replaced" else None,
    }
    tags = tuple((name, value) for name, value in fields.items() if value)
    return replace(line, tags=line.tags + tags, hidden_by=row.group, stage=row.stage)


def tag_line(raw: bytes, fields: dict[str, str]) -> bytes:
    """Add fields before the closing brace of a line's record; a line without one stays as it is."""
    try:
        text = raw.decode()
        location = find_record(text)
    except (ValueError, StopIteration, RecursionError):
        return raw
    record = location.cut(text)
    if not record.endswith("}"):
        return raw
    return splice(text, {location.span: with_added_fields(record, fields, location.depth)}).encode()
