"""Records with which Claude Code marks that it compacted a session."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compactctl.formats.records.json_values import list_or_empty, object_or_empty


@dataclass(frozen=True, slots=True)
class Boundary:
    """Where a compaction starts a new root, and which records it kept verbatim, if any.

    They are those from ``head`` to ``tail``, and follow ``anchor``.
    """

    head: str | None = None
    anchor: str | None = None
    tail: str | None = None


def boundary_of(record: Mapping[str, Any]) -> Boundary | None:
    """Return what a record says as the boundary of a compaction, None when it is none."""
    if record.get("type") != "system" or record.get("subtype") != "compact_boundary":
        return None
    kept = object_or_empty(object_or_empty(record.get("compactMetadata")).get("preservedSegment"))
    head, anchor, tail = (kept.get(name) for name in ("headUuid", "anchorUuid", "tailUuid"))
    if isinstance(head, str) and isinstance(anchor, str):
        return Boundary(head, anchor, tail if isinstance(tail, str) else None)
    return Boundary()


def cleared_by(record: Mapping[str, Any]) -> frozenset[str]:
    """Return the tool call ids and attachments from which a record takes their content."""
    meta = record.get("microcompactMetadata")
    if record.get("subtype") != "microcompact_boundary" or not isinstance(meta, Mapping):
        return frozenset()
    names = [*_strings(meta.get("compactedToolIds")), *_strings(meta.get("clearedAttachmentUUIDs"))]
    return frozenset(names)


def _strings(value: object) -> list[str]:
    return [item for item in list_or_empty(value) if isinstance(item, str)]
