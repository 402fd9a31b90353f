"""What is left of records on damaged lines, which the client does not read."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.clients.claude_code.rows import is_row
from compactctl.clients.records.decode import Decoded, complete_value, is_cut_off, parse_value
from compactctl.clients.records.json_values import object_or_empty, text_or_none
from compactctl.records import Record

_BOUNDARY = b"compact_boundary"
# What completes an object that lost its start: before a field, within its name, before its value
# and within that. A name that lost its start may be another one.
_HEADS = (b"{", b'{"torn ', b'{"torn"', b'{"torn":', b'{"torn":"')
# The rest of a number or a word such as true, up to the next field.
_REST = re.compile(rb"[\w.+-]*\s*,\s*")


class DamagedRecord(Record):
    """What is left of a record on a damaged line.

    Attributes:
        line: the index of the line.
        uuid: its own uuid, not one that it holds; None if that is unreadable.
        parent: its parent; None if it has none.
        has_parent: whether what it says of its parent is readable.
        is_boundary: it may mark a compaction.
    """

    line: int
    uuid: str | None = None
    parent: str | None = None
    has_parent: bool = False
    is_boundary: bool = False

    @property
    def starts_anew(self) -> bool:
        """Whether nothing before it is sent: it marks a compaction, or begins a conversation."""
        return self.is_boundary or (self.has_parent and self.parent is None)


def damaged_records(damaged: Decoded) -> Iterator[DamagedRecord]:
    """Yield the records on a damaged line."""
    for value in damaged.values:
        if isinstance(value, Mapping) and is_row(value):
            is_boundary = value.get("subtype") == _BOUNDARY.decode()
            yield _record(damaged.index, value, is_boundary=is_boundary)
    for piece in damaged.lost:
        yield _record(damaged.index, _fields(piece), is_boundary=_BOUNDARY in piece)


def _record(line: int, fields: Mapping[str, Any], *, is_boundary: bool) -> DamagedRecord:
    return DamagedRecord(
        line=line,
        uuid=fields["uuid"] if is_row(fields) else None,
        parent=text_or_none(fields.get("parentUuid")),
        has_parent="parentUuid" in fields,
        is_boundary=is_boundary,
    )


def _fields(piece: bytes) -> Mapping[str, Any]:
    """Return the fields of a record that lost its end or its start; none if that is not certain."""
    if is_cut_off(piece):
        return object_or_empty(complete_value(piece))
    rest = _REST.sub(b"", piece, count=1) if _REST.match(piece) else piece
    for text in (*(head + piece for head in _HEADS), b"{" + rest):
        try:
            return object_or_empty(parse_value(text))
        except ValueError:
            continue
    return {}
