"""Which bare messages belong together, and in which order they were sent."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any, TypeVar

from compactctl.formats.records.timestamps import seconds
from compactctl.model.row_fields import TIMES, conversation_id

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
    times = (seconds(record[name]) for name in TIMES if name in record)
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
