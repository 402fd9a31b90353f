"""Records with which Claude Code marks that it compacted a session."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compactctl.formats.records.json_values import (
    integer_or_none,
    list_or_empty,
    object_or_empty,
    text_or_none,
)


@dataclass(frozen=True, slots=True)
class Boundary:
    """Where a compaction starts a new root, and which records it kept verbatim, if any.

    They follow ``anchor``: those in ``uuids``, in that order, else those from ``head`` to
    ``tail``. Clients from 2.1.79 on write the two ends, those from 2.1.197 on the list as well.
    """

    head: str | None = None
    anchor: str | None = None
    tail: str | None = None
    uuids: tuple[str, ...] = ()


def boundary_of(record: Mapping[str, Any]) -> Boundary | None:
    """Return what a record says as the boundary of a compaction, None when it is not one."""
    if record.get("type") != "system" or record.get("subtype") != "compact_boundary":
        return None
    metadata = object_or_empty(record.get("compactMetadata"))
    return _listed(object_or_empty(metadata.get("preservedMessages"))) or _segment(
        object_or_empty(metadata.get("preservedSegment"))
    )


def is_compaction(record: Mapping[str, Any]) -> bool:
    """Tell whether a record says that the client compacted the main conversation or cleared it."""
    marks = ("compact_boundary", "microcompact_boundary")
    return record.get("subtype") in marks and record.get("isSidechain") is not True


def _listed(kept: Mapping[str, Any]) -> Boundary | None:
    anchor, names = text_or_none(kept.get("anchorUuid")), _strings(kept.get("uuids"))
    if anchor is None or not names:
        return None
    return Boundary(names[0], anchor, names[-1], tuple(names))


def _segment(kept: Mapping[str, Any]) -> Boundary:
    head, anchor, tail = (
        text_or_none(kept.get(name)) for name in ("headUuid", "anchorUuid", "tailUuid")
    )
    return Boundary() if head is None or anchor is None else Boundary(head, anchor, tail)


def cleared_ids(record: Mapping[str, Any]) -> frozenset[str]:
    """Return the tool call ids and attachments from which a record takes their content."""
    meta = record.get("microcompactMetadata")
    if record.get("subtype") != "microcompact_boundary" or not isinstance(meta, Mapping):
        return frozenset()
    names = [*_strings(meta.get("compactedToolIds")), *_strings(meta.get("clearedAttachmentUUIDs"))]
    return frozenset(names)


def saved_by(record: Mapping[str, Any]) -> int | None:
    """Return how many tokens a record says were saved by that."""
    return integer_or_none(object_or_empty(record.get("microcompactMetadata")).get("tokensSaved"))


def _strings(value: object) -> list[str]:
    return [item for item in list_or_empty(value) if isinstance(item, str)]
