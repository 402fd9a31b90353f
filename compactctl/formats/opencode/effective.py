"""Which messages of an OpenCode session the next request sends, and in which order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

from compactctl.formats.opencode.parts import cleared_at, message_parts
from compactctl.formats.records.json_values import list_or_empty, object_or_empty
from compactctl.formats.records.usage import newest_report, without_reports
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
    said: Sequence[OpenCodeRecord], session: Mapping[str, Any]
) -> tuple[tuple[Message, ...], Cleared | None]:
    """Return what the next request sends, with what must stay for that marked as anchored.

    With it comes what was reported before outputs were cleared, where nothing was since.
    """
    shown = _since_compaction(_not_undone(said, object_or_empty(session.get("revert"))))
    kept = (one.message for one in shown if not _is_dropped(one))
    messages = tuple(message for message in kept if message is not None and message.parts)
    times = (cleared_at(object_or_empty(part)) for one in shown for part in one.parts)
    newest = max(filter(None, times), default=0.0)
    found = newest_report(messages)
    is_cleared = found is not None and found.time is not None and found.time <= newest
    cleared = Cleared(usage=found.usage, response_id=found.response_id) if found else None
    sent = without_reports(messages, lambda m: m.timestamp is not None and m.timestamp <= newest)
    return sent, cleared if is_cleared else None


def _not_undone(said: Sequence[OpenCodeRecord], revert: Mapping[str, Any]) -> list[OpenCodeRecord]:
    """Return what stands before the point that a person went back to."""
    message_id, part_id = revert.get("messageID"), revert.get("partID")
    kept: list[OpenCodeRecord] = []
    for one in said:
        if message_id and one.info.get("id") == message_id:
            return [*kept, _cut(one, part_id)] if part_id else kept
        kept.append(one)
    return kept


def _cut(one: OpenCodeRecord, part_id: object) -> OpenCodeRecord:
    if one.message is None:
        return one
    names = [object_or_empty(part).get("id") for part in one.parts]
    kept = one.parts[: names.index(part_id)] if part_id in names else one.parts
    parts = message_parts(kept, (*one.message.record_path, "parts"))
    # The parts that are left are a head of all parts, so that their places stay the same.
    return OpenCodeRecord({**one.record, "parts": kept}, replace(one.message, parts=parts))


def _since_compaction(said: list[OpenCodeRecord]) -> list[OpenCodeRecord]:
    """Return the newest finished compaction, its summary, the tail it kept, and what followed."""
    found = _newest_compaction(said)
    if found is None:
        return said
    start, end = found
    tail = _tail_start(said, start)
    first = start if tail is None else tail
    if first == 0 and tail is None:
        return said
    anchored = {start, end, first}
    marked = [_anchored(one) if index in anchored else one for index, one in enumerate(said)]
    return marked[start : end + 1] + marked[first:start] + marked[end + 1 :]


def _newest_compaction(said: Sequence[OpenCodeRecord]) -> tuple[int, int] | None:
    """Return the places of the newest compaction with a finished summary, and of the summary."""
    for end in range(len(said) - 1, -1, -1):
        info = said[end].info
        finished = info.get("summary") is True and info.get("finish") and not info.get("error")
        if info.get("role") == "assistant" and finished:
            start = _place_of(said[:end], info.get("parentID"))
            if start is not None:
                return start, end
    return None


def _place_of(said: Sequence[OpenCodeRecord], name: object) -> int | None:
    places = (i for i in range(len(said) - 1, -1, -1) if said[i].info.get("id") == name)
    return next((i for i in places if _compaction(said[i])), None)


def _tail_start(said: Sequence[OpenCodeRecord], start: int) -> int | None:
    name = (_compaction(said[start]) or {}).get("tail_start_id")
    return next((i for i in range(start) if name and said[i].info.get("id") == name), None)


def _compaction(one: OpenCodeRecord) -> Mapping[str, Any] | None:
    parts = map(object_or_empty, one.parts) if one.info.get("role") == "user" else ()
    return next((part for part in parts if part.get("type") == "compaction"), None)


def _anchored(one: OpenCodeRecord) -> OpenCodeRecord:
    message = one.message
    return OpenCodeRecord(
        one.record,
        None if message is None else message.as_unmovable(_BOUNDARY),
    )


def _is_dropped(one: OpenCodeRecord) -> bool:
    """Tell whether the client leaves out an answer because its request failed."""
    error = one.info.get("error")
    if one.info.get("role") != "assistant" or not error:
        return False
    kinds = {object_or_empty(part).get("type") for part in one.parts}
    return object_or_empty(error).get("name") != "MessageAbortedError" or kinds <= set(_EMPTY)
