"""Sessions of earlier versions of pi, upgraded as the client does when it loads one.

Version 1 has no ids: entries follow one another, and a compaction keeps entries from an index on.
Version 2 has another role for the messages of extensions (observed with client 0.73.1).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from compactctl.clients.records.decode import decode, is_wrapped
from compactctl.clients.records.json_values import integer_or_none, object_or_empty
from compactctl.pipeline.record_splice import with_fields, without_fields
from compactctl.pipeline.spans import find_spans, splice

CURRENT_VERSION = 3
_FIRST_WITH_IDS = 2
_INDEX = "firstKeptEntryIndex"
_OLD_ROLE, _ROLE = "hookMessage", "custom"


LineUpgrade = Callable[[int, bytes], bytes]
"""Upgrades a line, given its index from 0."""


def version_of(header: object) -> int:
    """Return the version of a session by its first record; the current one if it is not one."""
    record = object_or_empty(header)
    if record.get("type") != "session":
        return CURRENT_VERSION
    return integer_or_none(record.get("version")) or 1


def line_upgrade(lines: Iterable[bytes], version: int, first_id: int) -> LineUpgrade:
    """Return what upgrades the lines of a session of an earlier version.

    New ids are counted from the last 32 bits of ``first_id`` on. Damaged lines, which the
    client skips, and the first line are returned unchanged.
    """
    has_ids = version >= _FIRST_WITH_IDS
    entries = [] if has_ids else [index for index, line in enumerate(lines) if _record(line)]
    parents = dict(zip(entries[1:], entries[:-1], strict=True))

    def name(index: int | None) -> str | None:
        return None if index is None else f"{first_id + index & 0xFFFFFFFF:08x}"

    def upgrade(index: int, line: bytes) -> bytes:
        record = _record(line)
        if not index or record is None:
            return line
        text = _with_current_role(line.decode(), record)
        if has_ids:
            return text.encode()
        parent = parents.get(index, index - 1)
        fields = {"id": name(index), "parentId": name(parent or None)}
        kept_index = integer_or_none(record.get(_INDEX))
        if kept_index is not None:
            text = without_fields(text, (_INDEX,))
        if kept_index and kept_index < len(entries):
            fields["firstKeptEntryId"] = name(entries[kept_index])
        return with_fields(text, fields).encode()

    return upgrade


def _record(line: bytes) -> Mapping[str, Any] | None:
    """Return the record of a line, None if it is not one alone."""
    values, damage = decode(line)
    record = object_or_empty(values[0]) if len(values) == 1 and damage is None else {}
    return record if isinstance(record.get("type"), str) and not is_wrapped(line) else None


def _with_current_role(text: str, record: Mapping[str, Any]) -> str:
    if object_or_empty(record.get("message")).get("role") != _OLD_ROLE:
        return text
    span = find_spans(text, [("message", "role")])["message", "role"]
    return splice(text, {span: f'"{_ROLE}"'})
