"""Records that mark a compaction by Claude Code."""

from collections.abc import Mapping
from typing import Any

from compactctl.clients.records.json_values import (
    list_or_empty,
    object_or_empty,
    text_or_none,
)
from compactctl.records import Record


class Boundary(Record, kw_only=False):
    """The new root that a compaction starts, and the records it preserved verbatim, if any.

    Attributes:
        head: the first preserved record.
        anchor: the record that they follow, usually the summary.
        tail: the last preserved record.
        uuids: all of them in order (since 2.1.197), none included. If None, they are the chain
            from ``head`` to ``tail``, which clients write since 2.1.79.
    """

    head: str | None = None
    anchor: str | None = None
    tail: str | None = None
    uuids: tuple[str, ...] | None = None

    @property
    def preserves(self) -> bool:
        """Whether it says that it preserved records."""
        return self != Boundary()


def boundary_of(record: Mapping[str, Any]) -> Boundary | None:
    """Return the boundary that a record marks, or None if it marks none."""
    if record.get("type") != "system" or record.get("subtype") != "compact_boundary":
        return None
    metadata = object_or_empty(record.get("compactMetadata"))
    listed = object_or_empty(metadata.get("preservedMessages"))
    if isinstance(listed.get("uuids"), list):
        uuids = tuple(_strings(listed.get("uuids")))
        return Boundary(anchor=text_or_none(listed.get("anchorUuid")), uuids=uuids)
    segment = object_or_empty(metadata.get("preservedSegment"))
    head, anchor, tail = (
        text_or_none(segment.get(name)) for name in ("headUuid", "anchorUuid", "tailUuid")
    )
    return Boundary(head, anchor, tail)


def is_compaction(record: Mapping[str, Any]) -> bool:
    """Return whether the client compacted the main conversation here."""
    return record.get("subtype") == "compact_boundary" and record.get("isSidechain") is not True


def _strings(value: object) -> list[str]:
    return [item for item in list_or_empty(value) if isinstance(item, str)]
