"""Puts archived lines back beside the lines that replaced them, for reading."""

from collections.abc import Sequence
from dataclasses import dataclass

from compactctl.model.operation import ArchivedLine
from compactctl.pipeline.records import with_appended
from compactctl.pipeline.spans import record_span


@dataclass(frozen=True, slots=True)
class Shown:
    """A line to be shown; ``hidden_by`` is the group that hides it, None when it is visible."""

    data: bytes
    hidden_by: str | None = None
    stage: str | None = None


Cell = tuple[Shown, ...]


def interleave(
    states: Sequence[tuple[Sequence[ArchivedLine], Sequence[bytes]]],
) -> tuple[Shown, ...]:
    """Return all lines of the newest state, each after the archived lines it stands for.

    ``states`` are, oldest first, the rows of each operation in effect and the lines of the state
    it led to, the newest with what was appended since.
    """
    rows, _ = states[0]
    cells: list[Cell] = [(Shown(row.raw),) for row in rows]
    for rows, after in states:
        cells = _advance(cells, rows, after)
    return tuple(line for cell in cells for line in cell)


def _advance(
    cells: Sequence[Cell], rows: Sequence[ArchivedLine], after: Sequence[bytes]
) -> list[Cell]:
    placed: dict[int, list[Shown]] = {}
    waiting: list[Shown] = []
    for cell, row in zip(cells, rows, strict=False):
        *earlier, own = cell
        waiting += earlier
        if row.group is not None:
            waiting.append(_tagged(own.data, row))
        if row.after_line is not None:
            placed[row.after_line], waiting = waiting, []
    result = [(*placed.get(place, ()), Shown(line)) for place, line in enumerate(after)]
    return [*result[:-1], (*waiting, *result[-1])] if waiting and result else result


def _tagged(raw: bytes, row: ArchivedLine) -> Shown:
    fields = {
        "condenseParent": row.condense_parent,
        "truncationParent": row.truncation_parent,
        "editParent": row.edit_parent if row.fate == "replaced" else None,
    }
    data = tag_line(raw, {name: value for name, value in fields.items() if value})
    return Shown(data, row.group, row.stage)


def tag_line(raw: bytes, fields: dict[str, str]) -> bytes:
    """Return a line with tags before the record's closing brace; untouched when it has none."""
    try:
        text = raw.decode()
        start, end = record_span(text)
    except (ValueError, StopIteration, RecursionError):
        return raw
    if text[start:end][-1:] != "}":
        return raw
    return (text[:start] + with_appended(text[start:end], fields) + text[end:]).encode()
