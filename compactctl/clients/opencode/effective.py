"""The messages of an OpenCode session that the next request sends, in order."""

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from compactctl.clients.opencode.parts import cleared_at
from compactctl.clients.records.json_values import list_or_empty, object_or_empty
from compactctl.clients.records.usage import find_newest_report, without_reports
from compactctl.model.message import JsonPath, Message
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
    records: Sequence[OpenCodeRecord], session: Mapping[str, Any]
) -> tuple[tuple[Message, ...], Cleared | None]:
    """Return the messages that the next request sends; those it depends on are unmovable.

    Also return the newest usage if outputs were cleared since it was reported, else None.
    """
    shown = _since_compaction(_before_revert(records, object_or_empty(session.get("revert"))))
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


def _since_compaction(records: list[OpenCodeRecord]) -> list[OpenCodeRecord]:
    """Return the newest finished compaction, its summary, the tail it keeps, and what follows.

    file:  U1 A1 U2 A2 C S U3     compaction request C with the tail from U2, its summary S
    sent:  C S U2 A2 U3
    """
    compaction = _newest_compaction(records)
    if compaction is None:
        return records
    request, summary = compaction
    tail = _tail_start(records, request)
    first = request if tail is None else tail
    if first == 0 and tail is None:
        return records
    locked_indices = {request, summary, first}
    locked = [
        _with_lock(entry) if index in locked_indices else entry
        for index, entry in enumerate(records)
    ]
    return locked[request : summary + 1] + locked[first:request] + locked[summary + 1 :]


def _newest_compaction(records: Sequence[OpenCodeRecord]) -> tuple[int, int] | None:
    """Return the indices of the newest compaction request with a finished summary, and of that."""
    for summary in range(len(records) - 1, -1, -1):
        info = records[summary].info
        is_finished = info.get("summary") is True and info.get("finish") and not info.get("error")
        if info.get("role") == "assistant" and is_finished:
            request = _find_request(records[:summary], info.get("parentID"))
            if request is not None:
                return request, summary
    return None


def _find_request(records: Sequence[OpenCodeRecord], record_id: object) -> int | None:
    indices = (i for i in range(len(records) - 1, -1, -1) if records[i].info.get("id") == record_id)
    return next((i for i in indices if _compaction(records[i])), None)


def _tail_start(records: Sequence[OpenCodeRecord], start: int) -> int | None:
    tail_id = (_compaction(records[start]) or {}).get("tail_start_id")
    return next((i for i in range(start) if tail_id and records[i].info.get("id") == tail_id), None)


def _compaction(entry: OpenCodeRecord) -> Mapping[str, Any] | None:
    parts = map(object_or_empty, entry.parts) if entry.info.get("role") == "user" else ()
    return next((part for part in parts if part.get("type") == "compaction"), None)


def _with_lock(entry: OpenCodeRecord) -> OpenCodeRecord:
    message = entry.message.as_unmovable(_BOUNDARY) if entry.message else None
    return OpenCodeRecord(entry.record, message)


def _is_dropped(entry: OpenCodeRecord) -> bool:
    """Return whether the client leaves out an answer because its request failed."""
    error = entry.info.get("error")
    if entry.info.get("role") != "assistant" or not error:
        return False
    kinds = {object_or_empty(part).get("type") for part in entry.parts}
    return object_or_empty(error).get("name") != "MessageAbortedError" or kinds <= set(_EMPTY_PARTS)
