"""Which messages of a Roo Code task the next request sends; Cline keeps this outside the file."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from compactctl.model.message import CallId, Message, Part, TextPart, ToolResultPart

_BOUNDARY = "the client's own summary: without it, what it replaced would be sent again"
_MARKER = "the client's own marker: without it, what it hides would be sent again"


@dataclass(frozen=True, slots=True)
class ClineRecord:
    """A record, and the message that was read from it."""

    record: Mapping[str, Any]
    message: Message


def effective(records: Sequence[ClineRecord]) -> tuple[Message, ...]:
    """Return what the next request sends, with what must stay for that marked as anchored.

    That is everything from the newest summary on, and the first message too where the summary is
    the assistant's. Messages that a tag hides are still among them.
    """
    rewritten = {entry.message.tags.edit_id for entry in records} - {None}
    summaries = [
        at
        for at, entry in enumerate(records)
        if _is_summary(entry) and entry.message.tags.edit_parent not in rewritten
    ]
    start = max(summaries, default=0)
    summary = records[start : start + 1]
    first = records[:1] if summary and start and summary[0].message.role == "assistant" else []
    shown = [*first, *records[start:]]
    if len(shown) < len(records):
        bounds = {entry.message.id for entry in (*first, *summary)}
        shown = _without_orphaned_results([_anchored(entry, _BOUNDARY, bounds) for entry in shown])
    hiding = {entry.message.tags.truncation_parent for entry in records} - {None}
    markers = {entry.message.id for entry in shown if entry.message.tags.truncation_id in hiding}
    return tuple(_anchored(entry, _MARKER, markers).message for entry in shown)


def _is_summary(entry: ClineRecord) -> bool:
    return entry.record.get("isSummary") is True


def _anchored(entry: ClineRecord, reason: str, names: Container[str]) -> ClineRecord:
    if entry.message.id not in names or entry.message.origin.is_synthetic:
        return entry
    return ClineRecord(entry.record, entry.message.as_unmovable(reason))


def _without_orphaned_results(shown: Sequence[ClineRecord]) -> list[ClineRecord]:
    """Leave out the results whose call is gone, and the messages that held nothing else."""
    calls = {call.call_id for entry in shown for call in entry.message.calls}
    kept = []
    for entry in shown:
        lost = [_is_lost(entry.message, part, calls) for part in entry.message.parts]
        if not all(lost):
            parts = map(_emptied, entry.message.parts, lost)
            kept.append(ClineRecord(entry.record, replace(entry.message, parts=tuple(parts))))
    return kept


def _is_lost(message: Message, part: Part, calls: set[CallId]) -> bool:
    # Only results in blocks of their own are left out; those written as text are text.
    inside = len(part.path) > len(message.record_path) + 1 and part.path[-1] == "content"
    return isinstance(part, ToolResultPart) and inside and part.call_id not in calls


def _emptied(part: Part, lost: bool) -> Part:  # noqa: FBT001 - it is mapped over two sequences
    return TextPart(text="", path=part.path) if lost else part
