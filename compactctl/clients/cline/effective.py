"""The messages of a Roo Code task that the next request sends; Cline decides outside the file."""

from collections.abc import Container, Mapping, Sequence
from typing import Any

from compactctl.model.message import CallId, Message, Part, TextPart, ToolResultPart
from compactctl.records import Record, replace

_BOUNDARY = "the client's own summary: without it, what it replaced would be sent again"
_MARKER = "the client's own marker: without it, what it hides would be sent again"


class ClineRecord(Record, kw_only=False):
    """A record and the message read from it."""

    record: Mapping[str, Any]
    message: Message


def effective_messages(records: Sequence[ClineRecord]) -> tuple[Message, ...]:
    """Return the messages that the next request sends; those it depends on are unmovable.

    These are all messages from the newest summary on, and before them the first one if the summary
    is the assistant's. Messages that a tag hides are still included.
    """
    rewritten = {entry.message.tags.edit_id for entry in records} - {None}
    summaries = [
        index
        for index, entry in enumerate(records)
        if _is_summary(entry) and entry.message.tags.edit_parent not in rewritten
    ]
    start = max(summaries, default=0)
    summary = records[start : start + 1]
    first = records[:1] if summary and start and summary[0].message.role == "assistant" else []
    shown = [*first, *records[start:]]
    if len(shown) < len(records):
        bounds = {entry.message.id for entry in (*first, *summary)}
        shown = _without_orphaned_results([_with_lock(entry, _BOUNDARY, bounds) for entry in shown])
    hiding = {entry.message.tags.truncation_parent for entry in records} - {None}
    markers = {entry.message.id for entry in shown if entry.message.tags.truncation_id in hiding}
    return tuple(_with_lock(entry, _MARKER, markers).message for entry in shown)


def _is_summary(entry: ClineRecord) -> bool:
    return entry.record.get("isSummary") is True


def _with_lock(entry: ClineRecord, reason: str, ids: Container[str]) -> ClineRecord:
    if entry.message.id not in ids or entry.message.origin.is_synthetic:
        return entry
    return ClineRecord(entry.record, entry.message.as_unmovable(reason))


def _without_orphaned_results(shown: Sequence[ClineRecord]) -> list[ClineRecord]:
    """Leave out results whose call is not sent, and messages that contain nothing else."""
    calls = {call.call_id for entry in shown for call in entry.message.calls}
    entries = []
    for entry in shown:
        message = entry.message
        orphaned = [_is_orphaned(message, part, calls) for part in message.parts]
        if not orphaned or not all(orphaned):
            parts = tuple(
                TextPart(text="", path=part.path) if is_orphaned else part
                for part, is_orphaned in zip(message.parts, orphaned, strict=True)
            )
            entries.append(ClineRecord(entry.record, replace(message, parts=parts)))
    return entries


def _is_orphaned(message: Message, part: Part, calls: set[CallId]) -> bool:
    # The client leaves out result blocks only; results that are written as text stay.
    is_block = len(part.path) > len(message.record_path) + 1 and part.path[-1] == "content"
    return isinstance(part, ToolResultPart) and is_block and part.call_id not in calls
