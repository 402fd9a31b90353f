"""Group and sort bare messages, decode JSON inside of rows, and follow chains of requests."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import is_not, itemgetter
from typing import Any

from compactctl.formats.records.containers import ContainedRecord
from compactctl.formats.records.envelope import (
    ANSWER_PATHS,
    INPUT_KEY,
    LIST_PATHS,
    MESSAGE_KEYS,
    REQUEST_PATHS,
    STREAM_PATHS,
    is_answer,
    is_message,
)
from compactctl.formats.records.json_values import parse_time
from compactctl.formats.records.order import judge_times
from compactctl.formats.records.streams import assemble_answer, is_gemini_stream
from compactctl.model.conversation_fields import (
    CONVERSATION_ID_FIELDS,
    TIME_FIELDS,
    conversation_id,
)
from compactctl.model.json_paths import json_in
from compactctl.model.message import JsonPath, Message
from compactctl.records import dataclass

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


def decode_embedded(value: Any) -> Any:  # noqa: ANN401 - JSON is any value
    """Replace texts of a row that contain a request or an answer as JSON by their values.

    Paths into the row stay valid. Returns the row itself if it has no such text. The texts of a
    message are never decoded.
    """
    if isinstance(value, list):
        if is_gemini_stream(value):
            return assemble_answer(value) or value
        items = [decode_embedded(v) if isinstance(v, Mapping) else v for v in value]
        return items if any(map(is_not, items, value)) else value
    is_row = isinstance(value, Mapping) and not is_message(value)
    return _decode_at(value, _PATH_TREE) if is_row else value


def _decode_at(value: Any, tree: Mapping[Any, Any]) -> Any:  # noqa: ANN401 - JSON is any value
    if isinstance(value, str):
        parsed = json_in(value) if value.lstrip()[:1] in ("{", "[", '"') else value
        value = parsed if _is_exchange(parsed) else value
    if _ANSWER in tree:
        value = assemble_answer(value) or value
    if not isinstance(value, Mapping):
        return value
    decoded = {name: _decode_at(value[name], tree[name]) for name in tree if name in value}
    return {**value, **decoded} if any(decoded[n] is not value[n] for n in decoded) else value


def _is_exchange(value: object) -> bool:
    """Whether a value is a request, an answer or a list of messages; models may answer any JSON."""
    objects = value if isinstance(value, list) else [value]
    return any(isinstance(v, Mapping) and _has_exchange(v) for v in objects)


def _has_exchange(value: Mapping[str, Any]) -> bool:
    lists = (*MESSAGE_KEYS, "choices", "candidates")
    return (
        is_message(value)
        or is_answer(value)
        or any(isinstance(json_in(value.get(name)), list) for name in lists)
        or any(isinstance(value.get(name), Mapping) for name in ("usage", "message"))
        or isinstance(json_in(value.get("body")), Mapping)
        or isinstance(value.get(INPUT_KEY), list | str)
    )


# Marks a path of an answer, which may be streamed.
_ANSWER = object()


def _path_tree(paths: Iterable[JsonPath]) -> Mapping[Any, Any]:
    root: dict[Any, Any] = {}
    for path in paths:
        node = root
        for name in path:
            node = node.setdefault(name, {})
        if path and path in (*ANSWER_PATHS, *STREAM_PATHS):
            node[_ANSWER] = True
    return root


_PATH_TREE = _path_tree(
    (
        *((*path, name) for path in REQUEST_PATHS for name in MESSAGE_KEYS),
        *LIST_PATHS,
        *ANSWER_PATHS,
        *STREAM_PATHS,
    )
)


@dataclass(frozen=True, slots=True)
class ChainLink:
    """The ids by which requests continue one another.

    Attributes:
        previous_response_id: the response that the request continues.
        conversation_id: the conversation, stored by the API, that the request is part of.
        response_id: the response to the request.
    """

    previous_response_id: str | None
    conversation_id: str | None
    response_id: str | None


@dataclass(frozen=True, slots=True)
class _Row:
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
