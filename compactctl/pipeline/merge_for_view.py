"""Puts archived lines back beside the lines that replaced them, for reading."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compactctl.model.operation import ArchivedLine
from compactctl.pipeline.record_splice import with_appended
from compactctl.pipeline.spans import record_span


@dataclass(frozen=True, slots=True)
class Shown:
    """A line to be shown; ``hidden_by`` is the group that hides it, None when it is visible.

    ``state`` is the place of the newest state that it stands in among those that were put
    together, and ``row`` its own place there.
    """

    data: bytes
    hidden_by: str | None = None
    stage: str | None = None
    state: int = 0
    row: int = 0


Cell = tuple[Shown, ...]


def interleave(
    states: Sequence[tuple[Sequence[ArchivedLine], Sequence[bytes]]],
) -> tuple[Shown, ...]:
    """Return all lines of the newest state, each after the archived lines it stands for.

    ``states`` are, oldest first, the rows of each operation in effect and the lines of the state
    it led to, the newest with what was appended since.
    """
    rows, _ = states[0]
    cells: list[Cell] = [(Shown(row.raw, row=place),) for place, row in enumerate(rows)]
    for number, (rows, after) in enumerate(states, 1):
        own = [Shown(line, state=number, row=place) for place, line in enumerate(after)]
        cells = _advance(cells, rows, own)
    return tuple(line for cell in cells for line in cell)


def _advance(
    cells: Sequence[Cell], rows: Sequence[ArchivedLine], after: Sequence[Shown]
) -> list[Cell]:
    placed: dict[int, list[Shown]] = {}
    waiting: list[Shown] = []
    for cell, row in zip(cells, rows, strict=False):
        *earlier, own = cell
        waiting += earlier
        if row.group is not None:
            waiting.append(_tagged(own, row))
        if row.after_line is not None:
            placed[row.after_line], waiting = waiting, []
    result = [(*placed.get(place, ()), line) for place, line in enumerate(after)]
    return [*result[:-1], (*waiting, *result[-1])] if waiting and result else result


def _tagged(line: Shown, row: ArchivedLine) -> Shown:
    fields = {
        "condenseParent": row.condense_parent,
        "truncationParent": row.truncation_parent,
        "editParent": row.edit_parent if row.fate == "replaced" else None,
    }
    data = tag_line(line.data, {name: value for name, value in fields.items() if value})
    return replace(line, data=data, hidden_by=row.group, stage=row.stage)


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
