"""Group and sort bare messages, and follow chains of requests."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any

from compactctl.clients.records.containers import ContainedRecord
from compactctl.clients.records.envelope import is_message
from compactctl.clients.records.json_values import parse_time
from compactctl.clients.records.order import judge_times
from compactctl.model.conversation_fields import (
    CONVERSATION_ID_FIELDS,
    TIME_FIELDS,
    conversation_id,
)
from compactctl.model.message import Message
from compactctl.records import Record

# The year 2000: smaller numbers are counters or durations.
_MIN_TIME = 946_684_800.0


def group_by_conversation(records: Sequence[ContainedRecord]) -> list[list[ContainedRecord]]:
    """Group the records of a log by the first kind of conversation id that all messages have.

    They are one group if only some have it: a tool may log the id of its own sandbox. So they are
    if a group had no message of a user: the ids are of speakers. A record without an id belongs to
    the conversation of the record before it.
    """
    for field in CONVERSATION_ID_FIELDS:
        names = [conversation_id(record.record, field) for record in records]
        if any(name is not None for name in names) and not any(
            name is None and is_message(record.record)
            for name, record in zip(names, records, strict=True)
        ):
            break
    else:
        return [[*records]]
    groups: dict[object, list[ContainedRecord]] = {}
    current = next(name for name in names if name is not None)
    for name, record in zip(names, records, strict=True):
        current = current if name is None else name
        groups.setdefault(current, []).append(record)
    have_users = [any(r.record.get("role") == "user" for r in group) for group in groups.values()]
    is_of_speakers = any(have_users) and not all(have_users)
    return [[*records]] if is_of_speakers else [*groups.values()]


def sent_time(record: Mapping[str, Any]) -> float | None:
    """Return when a message was sent, in seconds since 1970, or None."""
    times = (parse_time(record[name]) for name in TIME_FIELDS if name in record)
    return next((time for time in times if time is not None and time > _MIN_TIME), None)


def sort_by_time(records: Sequence[ContainedRecord]) -> list[ContainedRecord] | None:
    """Sort records by time; None if most have no time, or they are in the order of their writer.

    A few times that decrease are clocks that differ. A record without a time stays before its
    successor. If nearly all times decrease, the log is newest first, so records with the same time
    are reversed as well.
    """
    runs = _timed_runs(records)
    order = judge_times(time for time, _ in runs)
    if not order or len(runs) * 2 < len(records):
        return None
    if order == "newest first":
        runs = runs[::-1]
    by_time = [record for _, run in sorted(runs, key=itemgetter(0)) for record in run]
    # Speakers with clocks of their own take turns in the file, and not by their times.
    return by_time if _count_repeats(by_time) <= _count_repeats(records) else None


def _count_repeats(records: Sequence[ContainedRecord]) -> int:
    """Return how many messages follow one of the same role."""
    roles = [record.record.get("role") for record in records]
    return sum(first == second for first, second in pairwise(roles))


def _timed_runs(records: Sequence[ContainedRecord]) -> list[tuple[float, list[ContainedRecord]]]:
    """Split records into runs that end with a record with a time; return the times and runs."""
    runs: list[tuple[float, list[ContainedRecord]]] = []
    run: list[ContainedRecord] = []
    for record in records:
        time = sent_time(record.record)
        run.append(record)
        if time is not None:
            runs.append((time, run))
            run = []
    if run and runs:
        runs[-1][1].extend(run)
    return runs


class ChainLink(Record, kw_only=False):
    """The ids by which requests continue one another.

    Attributes:
        previous_response_id: the response that the request continues.
        conversation_id: the conversation, stored by the API, that the request is part of.
        response_id: the response to the request.
    """

    previous_response_id: str | None
    conversation_id: str | None
    response_id: str | None


class _Row(Record, kw_only=False):
    """A logged request, linked to the one that it continues.

    ``preamble`` and ``dialog`` are ranges of message indices: system prompt and tools, and all
    other messages with the answer.
    """

    conversation: int
    previous: "_Row | None"
    preamble: range
    dialog: range

    def lineage(self) -> Iterator["_Row"]:
        """Yield this row and all rows that it continues, newest first."""
        row: _Row | None = self
        while row is not None:
            yield row
            row = row.previous


class Chains:
    """Collect logged requests in file order, then compute what the next request would send.

        request    follows    preamble, dialog
        r1                    0, 1-2
        r2         r1         3, 4-5
        r3         r1         6, 7-8

    The next request after r3 sends 6, 1-2, 7-8: the newest preamble, and the dialog of r1 and r3.
    """

    def __init__(self) -> None:
        self._rows: list[_Row] = []
        self._newest_by_id: dict[str, _Row] = {}

    def conversation_of(self, link: ChainLink) -> int | None:
        """Return the number of the conversation that a request continues; None for a new one."""
        previous = self._previous(link)
        return None if previous is None else previous.conversation

    def add(self, link: ChainLink, conversation: int, preamble: range, dialog: range) -> None:
        """Add a request with the index ranges of its messages."""
        row = _Row(conversation, self._previous(link), preamble, dialog)
        self._rows.append(row)
        for name in filter(None, (link.response_id, link.conversation_id)):
            self._newest_by_id[name] = row

    def effective(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return what the next request of each conversation sends, preambles first.

        Older preambles, and messages of requests that were not continued, are not sent.
        """
        if not self._rows:
            return messages
        newest = {row.conversation: row for row in self._rows}.values()
        preamble = [index for row in newest for index in row.preamble]
        sent = {index for row in newest for ancestor in row.lineage() for index in ancestor.dialog}
        chained = {index for row in self._rows for index in (*row.preamble, *row.dialog)}
        dialog = (index for index in range(len(messages)) if index in sent or index not in chained)
        return tuple(messages[index] for index in (*preamble, *dialog))

    def _previous(self, link: ChainLink) -> _Row | None:
        return self._newest_by_id.get(link.previous_response_id or link.conversation_id or "")
