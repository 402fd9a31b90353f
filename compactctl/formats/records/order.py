"""The order of a session's records: whether it is the client's, and how to find that again.

Log stores export the newest record first, or in no order at all. Ids tell which record each of them
follows, and times which of two branches is the newer one: put in order by both, 41 sessions of
Claude Code and seven of Copilot CLI read as they did before they were shuffled.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any

from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.json_values import text_or_empty, text_or_none
from compactctl.model.transcript import Link, RecordOrder

_IDS, _PARENTS = ("uuid", "id"), ("parentUuid", "parentId", "logicalParentUuid")

# Clients write the odd record before the one that it follows: 1 of 138 in one of 46 real sessions,
# none in the others. Times fall at 3 of 279 steps of one of 13 sessions of Codex.
_STRAY, _FEW = 0.2, 2
_REVERSED = 0.9


def judge_links(links: Sequence[Link]) -> RecordOrder:
    """Judge the order of records by those that each of them follows; "" where it is the usual."""
    lines: dict[str, int] = {}
    for link in links:
        lines.setdefault(link.id, link.line)
    steps = [
        lines[link.parent] > link.line
        for link in links
        if link.parent is not None and link.parent in lines
    ]
    return _order(sum(steps), len(steps))


def judge_times(times: Iterable[float | None]) -> RecordOrder:
    """Judge the same by when they were written; equal times say nothing."""
    known = [time for time in times if time is not None]
    steps = [later < earlier for earlier, later in pairwise(known) if later != earlier]
    return _order(sum(steps), len(steps))


def _order(reversed_steps: int, steps: int) -> RecordOrder:
    if reversed_steps < _FEW or reversed_steps <= _STRAY * steps:
        return ""
    return "newest first" if reversed_steps >= _REVERSED * steps else "shuffled"


def restore_order(lines: Sequence[Decoded], order: RecordOrder) -> list[Decoded]:
    """Return lines as the client wrote them, numbered anew: each behind the one that it follows.

    Of those that may come next the oldest does; of two of one time, the one that stands first.
    """
    if order == "newest first":
        return _numbered(reversed(lines))
    records = [_record(line) for line in lines]
    places: dict[str, int] = {}
    for place, record in enumerate(records):
        name = _first_text(record, _IDS)
        if name is not None:
            places.setdefault(name, place)
    parents = (places.get(_first_text(record, _PARENTS) or "") for record in records)
    behind: dict[int, list[int]] = defaultdict(list)
    waiting: list[tuple[str, int]] = []
    for place, parent in enumerate(parents):
        if parent is None or parent == place:
            waiting.append((_time(records[place]), place))
        else:
            behind[parent].append(place)
    heapify(waiting)
    found: list[int] = []
    while waiting:
        _, place = heappop(waiting)
        found.append(place)
        for following in behind[place]:
            heappush(waiting, (_time(records[following]), following))
    # Records that follow one another in a circle are of no session.
    lost = {*range(len(lines))}.difference(found)
    return _numbered(lines[place] for place in (*found, *sorted(lost)))


def _numbered(lines: Iterable[Decoded]) -> list[Decoded]:
    return [replace(line, index=index) for index, line in enumerate(lines)]


def _record(line: Decoded) -> Mapping[str, Any]:
    return next((value for value in line.values if isinstance(value, Mapping)), {})


def _first_text(record: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((text for name in names if (text := text_or_none(record.get(name)))), None)


def _time(record: Mapping[str, Any]) -> str:
    return text_or_empty(record.get("timestamp"))
