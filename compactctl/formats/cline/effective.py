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


def effective(said: Sequence[ClineRecord]) -> tuple[Message, ...]:
    """Return what the next request sends, with what must stay for that marked as anchored.

    That is everything from the newest summary on, and the first message too where the summary is
    the assistant's. Messages that a tag hides are still among them.
    """
    rewritten = {one.message.tags.edit_id for one in said} - {None}
    summaries = [
        at
        for at, one in enumerate(said)
        if _is_summary(one) and one.message.tags.edit_parent not in rewritten
    ]
    start = max(summaries, default=0)
    summary = said[start : start + 1]
    first = said[:1] if summary and start and summary[0].message.role == "assistant" else []
    shown = [*first, *said[start:]]
    if len(shown) < len(said):
        bounds = {one.message.id for one in (*first, *summary)}
        shown = _without_lost_results([_anchored(one, _BOUNDARY, bounds) for one in shown])
    hiding = {one.message.tags.truncation_parent for one in said} - {None}
    markers = {one.message.id for one in shown if one.message.tags.truncation_id in hiding}
    return tuple(_anchored(one, _MARKER, markers).message for one in shown)


def _is_summary(one: ClineRecord) -> bool:
    return one.record.get("isSummary") is True


def _anchored(one: ClineRecord, reason: str, names: Container[str]) -> ClineRecord:
    if one.message.id not in names or one.message.origin.is_synthetic:
        return one
    return ClineRecord(one.record, one.message.as_unmovable(reason))


def _without_lost_results(shown: Sequence[ClineRecord]) -> list[ClineRecord]:
    """Leave out the results whose call is gone, and the messages that held nothing else."""
    calls = {call.call_id for one in shown for call in one.message.calls}
    kept = []
    for one in shown:
        lost = [_is_lost(one.message, part, calls) for part in one.message.parts]
        if not all(lost):
            parts = map(_emptied, one.message.parts, lost)
            kept.append(ClineRecord(one.record, replace(one.message, parts=tuple(parts))))
    return kept


def _is_lost(message: Message, part: Part, calls: set[CallId]) -> bool:
    # Only results in blocks of their own are left out; those written as text are text.
    inside = len(part.path) > len(message.record_path) + 1 and part.path[-1] == "content"
    return isinstance(part, ToolResultPart) and inside and part.call_id not in calls


def _emptied(part: Part, lost: bool) -> Part:  # noqa: FBT001 - it is mapped over two sequences
    return TextPart(text="", path=part.path) if lost else part
