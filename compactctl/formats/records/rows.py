"""Which bare messages belong together, and in which order they were sent."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter
from typing import Any, TypeVar

from compactctl.formats.records.envelope import (
    ANSWER_PATHS,
    INPUT_KEY,
    LIST_PATHS,
    MESSAGE_KEYS,
    REQUEST_PATHS,
)
from compactctl.formats.records.json_values import parse_time
from compactctl.model.conversation_fields import TIME_FIELDS, conversation_id
from compactctl.model.json_paths import json_in
from compactctl.model.message import JsonPath, Message

_Item = TypeVar("_Item")

# The year 2000: smaller numbers count messages, or tell how long one took.
_EARLIEST = 946_684_800.0

# Falls for each rise that show an order: in a shuffled log there are as many of both.
_NEWEST_FIRST = 3


def grouped(items: Iterable[_Item], value_of: Callable[[_Item], object]) -> list[list[_Item]]:
    """Return the items of each conversation in turn, by the id that their values have for it.

    Values without an id are one conversation.
    """
    groups: dict[object, list[_Item]] = {}
    for item in items:
        value = value_of(item)
        name = conversation_id(value) if isinstance(value, Mapping) else None
        groups.setdefault(name, []).append(item)
    return [*groups.values()]


def sent_at(record: Mapping[str, Any]) -> float | None:
    """Return when a message was sent, in seconds since 1970; None where it does not say."""
    times = (parse_time(record[name]) for name in TIME_FIELDS if name in record)
    return next((time for time in times if time is not None and time > _EARLIEST), None)


def in_time_order(
    items: Sequence[_Item], value_of: Callable[[_Item], object]
) -> list[_Item] | None:
    """Return the items in the order of their times, None where they stand in that order.

    One without a time stays before the one that follows it. Where nearly all times fall, the
    newest came first, and so it was among those of one time.
    """
    units = _units(items, value_of)
    times = [time for time, _ in units]
    falls = sum(after < before for before, after in pairwise(times))
    if not falls or len(times) * 2 < len(items):
        return None
    rises = sum(before < after for before, after in pairwise(times))
    if falls > _NEWEST_FIRST * rises:
        units = units[::-1]
    return [item for _, unit in sorted(units, key=itemgetter(0)) for item in unit]


def _units(
    items: Sequence[_Item], value_of: Callable[[_Item], object]
) -> list[tuple[float, list[_Item]]]:
    """Return each item that has a time, behind those before it that have none."""
    units: list[tuple[float, list[_Item]]] = []
    waiting: list[_Item] = []
    for item in items:
        value = value_of(item)
        time = sent_at(value) if isinstance(value, Mapping) else None
        waiting.append(item)
        if time is not None:
            units.append((time, waiting))
            waiting = []
    if waiting and units:
        units[-1][1].extend(waiting)
    return units


# What shows that JSON is a request, an answer, or what holds one: a text that a model answered may
# be JSON as well.
_HOLDERS = frozenset({*MESSAGE_KEYS, INPUT_KEY, "body", "choices", "candidates", "usage", "role"})


def opened(row: Any) -> Any:  # noqa: ANN401 - JSON is any value
    """Return a row with the JSON in place of texts that hold a request or an answer.

    Every path leads to the same value as before; the row itself where it has no such text.
    """
    if isinstance(row, list):
        items = [_opened(item, _NAMES) if isinstance(item, Mapping) else item for item in row]
        return items if any(map(_differ, items, row)) else row
    return _opened(row, _NAMES) if isinstance(row, Mapping) else row


def _opened(value: Any, names: Mapping[Any, Any]) -> Any:  # noqa: ANN401 - JSON is any value
    if isinstance(value, str):
        inner = json_in(value) if value.lstrip()[:1] in ("{", "[", '"') else value
        value = inner if _holds(inner) else value
    if not isinstance(value, Mapping):
        return value
    inside = {name: _opened(value[name], names[name]) for name in names if name in value}
    return {**value, **inside} if any(_differ(inside[n], value[n]) for n in inside) else value


def _differ(new: object, old: object) -> bool:
    return new is not old


def _holds(value: object) -> bool:
    if isinstance(value, list):
        return any(isinstance(item, Mapping) and not _HOLDERS.isdisjoint(item) for item in value)
    return isinstance(value, Mapping) and not _HOLDERS.isdisjoint(value)


def _tree(paths: Iterable[JsonPath]) -> Mapping[Any, Any]:
    root: dict[Any, Any] = {}
    for path in paths:
        node = root
        for name in path:
            node = node.setdefault(name, {})
    return root


_NAMES = _tree(
    (
        *((*path, name) for path in REQUEST_PATHS for name in MESSAGE_KEYS),
        *LIST_PATHS,
        *ANSWER_PATHS,
    )
)


@dataclass(frozen=True, slots=True)
class ChainLink:
    """What a request goes on from: a response, or all of a conversation, by its id.

    ``name`` is the id of the response to it.
    """

    follows: str | None
    part_of: str | None
    name: str | None


@dataclass(frozen=True, slots=True)
class _Row:
    """A logged request in its conversation, after the one it goes on from.

    The ranges are those of its messages: what is sent before all others, and these with the answer.
    """

    conversation: int
    before: "_Row | None"
    opening: range
    rest: range

    def path(self) -> Iterator["_Row"]:
        """Yield it and all that it goes on from, the newest first."""
        row: _Row | None = self
        while row is not None:
            yield row
            row = row.before


class Chains:
    """Takes in logged requests in file order, then tells what the next ones would send."""

    def __init__(self) -> None:
        self._rows: list[_Row] = []
        self._named: dict[str, _Row] = {}

    def conversation(self, link: ChainLink) -> int | None:
        """Return the number of the conversation that a request goes on with; None for a new one."""
        before = self._before(link)
        return None if before is None else before.conversation

    def add(self, link: ChainLink, conversation: int, opening: range, rest: range) -> None:
        """Take in a request, with the places of its messages."""
        row = _Row(conversation, self._before(link), opening, rest)
        self._rows.append(row)
        for name in filter(None, (link.name, link.part_of)):
            self._named[name] = row

    def sent(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return what the next request of each conversation sends, its instructions first.

        Those of older requests are not sent again, nor is what another request left aside.
        """
        if not self._rows:
            return messages
        newest = {row.conversation: row for row in self._rows}.values()
        opening = [place for row in newest for place in row.opening]
        path = {place for row in newest for each in row.path() for place in each.rest}
        chained = {place for row in self._rows for place in (*row.opening, *row.rest)}
        rest = (place for place in range(len(messages)) if place in path or place not in chained)
        return tuple(messages[place] for place in (*opening, *rest))

    def _before(self, link: ChainLink) -> _Row | None:
        return self._named.get(link.follows or link.part_of or "")
