"""The messages of an OpenCode session that the next request sends, in order."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from compactctl.clients.opencode.parts import NextRequest, cleared_at
from compactctl.clients.records.json_values import list_or_empty, object_or_empty, text_or_empty
from compactctl.clients.records.usage import find_newest_report, without_reports
from compactctl.model.message import JsonPath, MediaPart, Message, Part, TextPart, ToolResultPart
from compactctl.model.transcript import Cleared
from compactctl.records import Record, replace

_BOUNDARY = "the client's own compaction: without it, what it replaced would be sent again"
# An aborted answer with no other parts is not sent.
_EMPTY_PARTS = ("step-start", "reasoning")


class OpenCodeRecord(Record, kw_only=False):
    """A record with ``info`` and ``parts``; ``message`` is None if it has nothing to send."""

    record: Mapping[str, Any]
    message: Message | None

    @property
    def info(self) -> Mapping[str, Any]:
        """The record's ``info``."""
        return object_or_empty(self.record.get("info"))

    @property
    def parts(self) -> list[Any]:
        """The record's parts, sent or not."""
        return list_or_empty(self.record.get("parts"))


def by_time(records: Sequence[OpenCodeRecord]) -> list[OpenCodeRecord]:
    """Sort records by their creation, as the client does on import; the sort is stable.

    If a record has no time, all stay in file order. Ids do not help: their time wrapped on 14
    August 2026.
    """
    times = [object_or_empty(record.info.get("time")).get("created") for record in records]
    if not all(isinstance(time, int | float) for time in times):
        return list(records)
    return [record for _, record in sorted(zip(times, records, strict=True), key=itemgetter(0))]


def effective(
    records: Sequence[OpenCodeRecord], session: Mapping[str, Any], request: NextRequest
) -> tuple[tuple[Message, ...], Cleared | None]:
    """Return the messages that the next request sends; those it depends on are unmovable.

    Also return the newest usage if outputs were cleared since it was reported, else None.
    """
    records = _before_revert(records, object_or_empty(session.get("revert")))
    shown = _since_compaction(records, request)
    if request.is_of_kilo and any(_is_finished_summary(entry.info) for entry in shown):
        shown = [_without_media(entry) for entry in shown]
    candidates = (entry.message for entry in shown if not _is_dropped(entry))
    messages = tuple(message for message in candidates if message is not None)
    times = (cleared_at(object_or_empty(part)) for entry in shown for part in entry.parts)
    last_clearing = max(filter(None, times), default=0.0)
    report = find_newest_report(messages)
    sent = without_reports(
        messages, lambda m: m.timestamp is not None and m.timestamp <= last_clearing
    )
    if report is None or report.time is None or report.time > last_clearing:
        return sent, None
    return sent, Cleared(usage=report.usage, response_id=report.response_id)


def _before_revert(
    records: Sequence[OpenCodeRecord], revert: Mapping[str, Any]
) -> list[OpenCodeRecord]:
    """Return the records before the point to which the user reverted the session."""
    message_id, part_id = revert.get("messageID"), revert.get("partID")
    earlier: list[OpenCodeRecord] = []
    for entry in records:
        if message_id and entry.info.get("id") == message_id:
            return [*earlier, _cut_at_part(entry, part_id)] if part_id else earlier
        earlier.append(entry)
    return earlier


def _cut_at_part(entry: OpenCodeRecord, part_id: object) -> OpenCodeRecord:
    if entry.message is None:
        return entry
    ids = [object_or_empty(part).get("id") for part in entry.parts]
    head = entry.parts[: ids.index(part_id)] if part_id in ids else entry.parts
    depth = len(entry.message.record_path) + 1
    parts = tuple(part for part in entry.message.parts if _index(part.path, depth) < len(head))
    message = replace(entry.message, parts=parts) if parts else None
    return OpenCodeRecord({**entry.record, "parts": head}, message)


def _index(path: JsonPath, depth: int) -> int:
    """Return the index of the stored part that a part is of; ``depth`` is where it stands."""
    index = path[depth] if len(path) > depth else 0
    return index if isinstance(index, int) else 0


def _since_compaction(
    records: Sequence[OpenCodeRecord], request: NextRequest
) -> list[OpenCodeRecord]:
    """Return what is sent after compactions, as ``filterCompacted`` of client 1.18.33 does.

    file:  U1 A1 U2 A2 C S U3     compaction request C with the tail from U2, its summary S
    sent:  C S U2 A2 U3
    """
    start, locked = _find_start(records)
    order, moved = _order_from(records, start)
    locked |= moved
    tail = range(*sorted(moved)[:2]) if moved else range(0)
    # What was reported for the tail describes the context before the compaction.
    records = [_without_usage(entry) if i in tail else entry for i, entry in enumerate(records)]
    if request.is_of_kilo:
        order, rests_on = _sent_by_kilo(records, order)
        locked |= rests_on
    return [_with_lock(records[i]) if i in locked else records[i] for i in order]


def _find_start(records: Sequence[OpenCodeRecord]) -> tuple[int, set[int]]:
    """Return where the newest finished compaction lets the history start, and what that rests on.

    It is its request, or its tail; if that is missing, nothing is left out.
    """
    for request in range(len(records) - 1, -1, -1):
        compaction = _compaction(records[request])
        summary = _find_summary(records, request, is_finished=True) if compaction else None
        if compaction is None or summary is None:
            continue
        tail_id = compaction.get("tail_start_id") or records[request].info.get("id")
        tail = (i for i in range(request, -1, -1) if records[i].info.get("id") == tail_id)
        start = next(tail, None)
        rests_on = {request, summary} if start is None else {request, summary, start}
        return start or 0, rests_on if request else set()
    return 0, set()


def _order_from(records: Sequence[OpenCodeRecord], start: int) -> tuple[list[int], set[int]]:
    """Return the order in which records from ``start`` on are sent, and what it rests on.

    The newest compaction with a tail stands before it, even if its summary failed. Then the summary
    is not sent, and what is before the tail is not either.
    """
    end = len(records)
    tails = {i: _compaction(records[i]) or {} for i in range(start, end)}
    request = max(
        (i for i, compaction in tails.items() if "tail_start_id" in compaction), default=0
    )
    tail_id = tails.get(request, {}).get("tail_start_id")
    summary = _find_summary(records, request) if tail_id else None
    tail = next((i for i in range(start, request) if records[i].info.get("id") == tail_id), None)
    if summary is None or tail is None:
        return [*range(start, end)], set()
    order = [*range(request, summary + 1), *range(tail, request), *range(summary + 1, end)]
    return order, {request, summary, tail}


def _find_summary(
    records: Sequence[OpenCodeRecord], request: int, *, is_finished: bool = False
) -> int | None:
    """Return the index of the first summary that answers a compaction request, or None."""
    for index in range(request + 1, len(records)):
        info = records[index].info
        is_summary = _is_finished_summary(info) if is_finished else _is_summary(info)
        if is_summary and info.get("parentID") == records[request].info.get("id"):
            return index
    return None


def _is_summary(info: Mapping[str, Any]) -> bool:
    return info.get("role") == "assistant" and bool(info.get("summary"))


def _is_finished_summary(info: Mapping[str, Any]) -> bool:
    return _is_summary(info) and bool(info.get("finish")) and not info.get("error")


def _sent_by_kilo(
    records: Sequence[OpenCodeRecord], order: Sequence[int]
) -> tuple[list[int], set[int]]:
    """Return which records Kilo 7.7.9 sends of those in ``order``, and what that rests on.

    It leaves out prompts whose ids are greater than the newest one's, with their answers
    (``scope``), and what is before the prompt that the newest finished summary answers
    (``trimBeforeLastSummary``), even if that did not ask for it.
    """
    ids = [text_or_empty(record.info.get("id")) for record in records]
    prompts = [name for name, r in zip(ids, records, strict=True) if r.info.get("role") == "user"]
    hidden = {name for name in prompts if name > prompts[-1]}
    sent = [
        i
        for i in order
        if hidden.isdisjoint((ids[i], text_or_empty(records[i].info.get("parentID"))))
    ]
    summary = max((i for i in sent if _is_finished_summary(records[i].info)), default=None)
    if summary is None:
        return sent, set()
    parent_id = records[summary].info.get("parentID")
    start = next((place for place, i in enumerate(sent) if ids[i] == parent_id), 0)
    return sent[start:], {summary, sent[start]} if start else {summary}


def _without_media(entry: OpenCodeRecord) -> OpenCodeRecord:
    """Return a record without pictures and PDF documents, as Kilo sends it after a compaction.

    One that was attached to a prompt is named instead (``stripHistoricalMedia``).
    """
    if entry.message is None:
        return entry
    depth = len(entry.message.record_path) + 1
    parts: list[Part] = []
    for part in entry.message.parts:
        match part:
            case MediaPart() if _is_stripped(part):
                file = object_or_empty(entry.parts[_index(part.path, depth)])
                name = text_or_empty(file.get("filename")) or "file"
                text = f"[Attached {part.media_type}: {name}]"
                parts.append(TextPart(text=text, typed="", embedded=True, path=part.path))
            case ToolResultPart():
                media = tuple(medium for medium in part.media if not _is_stripped(medium))
                parts.append(replace(part, media=media))
            case _:
                parts.append(part)
    return OpenCodeRecord(entry.record, replace(entry.message, parts=tuple(parts)))


def _is_stripped(media: MediaPart) -> bool:
    return media.media_type.startswith("image/") or media.media_type == "application/pdf"


def _compaction(entry: OpenCodeRecord) -> Mapping[str, Any] | None:
    parts = map(object_or_empty, entry.parts) if entry.info.get("role") == "user" else ()
    return next((part for part in parts if part.get("type") == "compaction"), None)


def _with_lock(entry: OpenCodeRecord) -> OpenCodeRecord:
    message = entry.message.as_unmovable(_BOUNDARY) if entry.message else None
    return OpenCodeRecord(entry.record, message)


def _without_usage(entry: OpenCodeRecord) -> OpenCodeRecord:
    message = replace(entry.message, usage=None) if entry.message else None
    return OpenCodeRecord(entry.record, message)


def _is_dropped(entry: OpenCodeRecord) -> bool:
    """Return whether the client leaves out an answer because its request failed."""
    error = entry.info.get("error")
    if entry.info.get("role") != "assistant" or not error:
        return False
    kinds = {text_or_empty(object_or_empty(part).get("type")) for part in entry.parts}
    return object_or_empty(error).get("name") != "MessageAbortedError" or kinds <= set(_EMPTY_PARTS)
