"""Which messages of an OpenCode session the next request sends, and in which order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from compactctl.formats.opencode.parts import cleared_at, message_parts
from compactctl.formats.records.json_values import list_or_empty, object_or_empty
from compactctl.formats.records.usage import find_newest_report, without_reports
from compactctl.model.message import Message
from compactctl.model.transcript import Cleared

_BOUNDARY = "the client's own compaction: without it, what it replaced would be sent again"
# Parts beside which an aborted answer holds nothing worth sending.
_EMPTY = ("step-start", "reasoning")


@dataclass(frozen=True, slots=True)
class OpenCodeRecord:
    """A record with ``info`` and ``parts``; ``message`` is None where it holds nothing to send."""

    record: Mapping[str, Any]
    message: Message | None

    @property
    def info(self) -> Mapping[str, Any]:
        """The record's facts."""
        return object_or_empty(self.record.get("info"))

    @property
    def parts(self) -> list[Any]:
        """The record's parts, sent or not."""
        return list_or_empty(self.record.get("parts"))


def by_time(records: Sequence[OpenCodeRecord]) -> list[OpenCodeRecord]:
    """Return records in the order of their creation, as the client sorts what it imports.

    Records of one time stay as they stand, and so do all where one of them has no time: not even
    ids tell then, whose time wrapped on 14 August 2026.
    """
    times = [object_or_empty(record.info.get("time")).get("created") for record in records]
    if not all(isinstance(time, int | float) for time in times):
        return list(records)
    return [record for _, record in sorted(zip(times, records, strict=True), key=itemgetter(0))]


def effective(
    records: Sequence[OpenCodeRecord], session: Mapping[str, Any]
) -> tuple[tuple[Message, ...], Cleared | None]:
    """Return what the next request sends, with what must stay for that marked as anchored.

    With it comes what was reported before outputs were cleared, where nothing was since.
    """
    shown = _since_compaction(_before_revert(records, object_or_empty(session.get("revert"))))
    kept = (entry.message for entry in shown if not _is_dropped(entry))
    messages = tuple(message for message in kept if message is not None and message.parts)
    times = (cleared_at(object_or_empty(part)) for entry in shown for part in entry.parts)
    newest = max(filter(None, times), default=0.0)
    found = find_newest_report(messages)
    is_cleared = found is not None and found.time is not None and found.time <= newest
    cleared = Cleared(usage=found.usage, response_id=found.response_id) if found else None
    sent = without_reports(messages, lambda m: m.timestamp is not None and m.timestamp <= newest)
    return sent, cleared if is_cleared else None


def _before_revert(
    records: Sequence[OpenCodeRecord], revert: Mapping[str, Any]
) -> list[OpenCodeRecord]:
    """Return what stands before the point that a person went back to."""
    message_id, part_id = revert.get("messageID"), revert.get("partID")
    kept: list[OpenCodeRecord] = []
    for entry in records:
        if message_id and entry.info.get("id") == message_id:
            return [*kept, _cut(entry, part_id)] if part_id else kept
        kept.append(entry)
    return kept


def _cut(entry: OpenCodeRecord, part_id: object) -> OpenCodeRecord:
    if entry.message is None:
        return entry
    names = [object_or_empty(part).get("id") for part in entry.parts]
    kept = entry.parts[: names.index(part_id)] if part_id in names else entry.parts
    parts = message_parts(kept, (*entry.message.record_path, "parts"))
    # The parts that are left are a head of all parts, so that their places stay the same.
    return OpenCodeRecord({**entry.record, "parts": kept}, replace(entry.message, parts=parts))


def _since_compaction(records: list[OpenCodeRecord]) -> list[OpenCodeRecord]:
    """Return the newest finished compaction, its summary, the tail it kept, and what followed."""
    found = _newest_compaction(records)
    if found is None:
        return records
    start, end = found
    tail = _tail_start(records, start)
    first = start if tail is None else tail
    if first == 0 and tail is None:
        return records
    anchored = {start, end, first}
    marked = [
        _anchored(entry) if index in anchored else entry for index, entry in enumerate(records)
    ]
    return marked[start : end + 1] + marked[first:start] + marked[end + 1 :]


def _newest_compaction(records: Sequence[OpenCodeRecord]) -> tuple[int, int] | None:
    """Return the places of the newest compaction with a finished summary, and of the summary."""
    for end in range(len(records) - 1, -1, -1):
        info = records[end].info
        finished = info.get("summary") is True and info.get("finish") and not info.get("error")
        if info.get("role") == "assistant" and finished:
            start = _place_of(records[:end], info.get("parentID"))
            if start is not None:
                return start, end
    return None


def _place_of(records: Sequence[OpenCodeRecord], name: object) -> int | None:
    places = (i for i in range(len(records) - 1, -1, -1) if records[i].info.get("id") == name)
    return next((i for i in places if _compaction(records[i])), None)


def _tail_start(records: Sequence[OpenCodeRecord], start: int) -> int | None:
    name = (_compaction(records[start]) or {}).get("tail_start_id")
    return next((i for i in range(start) if name and records[i].info.get("id") == name), None)


def _compaction(entry: OpenCodeRecord) -> Mapping[str, Any] | None:
    parts = map(object_or_empty, entry.parts) if entry.info.get("role") == "user" else ()
    return next((part for part in parts if part.get("type") == "compaction"), None)


def _anchored(entry: OpenCodeRecord) -> OpenCodeRecord:
    message = entry.message
    return OpenCodeRecord(
        entry.record,
        None if message is None else message.as_unmovable(_BOUNDARY),
    )


def _is_dropped(entry: OpenCodeRecord) -> bool:
    """Tell whether the client leaves out an answer because its request failed."""
    error = entry.info.get("error")
    if entry.info.get("role") != "assistant" or not error:
        return False
    kinds = {object_or_empty(part).get("type") for part in entry.parts}
    return object_or_empty(error).get("name") != "MessageAbortedError" or kinds <= set(_EMPTY)
