"""Which rows of a Claude Code session the next request is made of, step by step as the client does.

Each step is a function. Its docstring names the function of client 2.1.332 in parentheses, as it is
called in the bundle. Client 2.1.197 takes the same steps, except where a docstring says otherwise.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from compactctl.clients.claude_code.beside import recover_beside
from compactctl.clients.claude_code.boundaries import Boundary
from compactctl.clients.claude_code.leaf import choose_leaf, newest_checkpoint
from compactctl.clients.claude_code.rows import Entry, Row, Rows, children_of, towards_start
from compactctl.records import Record, replace

# In bytes (``HSe``).
_MAX_FULLY_READ = 5 * 2**20
# How long before a row the row may be written that it is joined to, in seconds (``eTr``).
_MAX_GAP = 5.0
# The part of a row's uuid that the rows share which the client makes of it (``Av``).
_NAMED = 24


class Join(Record, kw_only=False):
    """How a row goes on whose parent is not in the file, or leads back to it (``is_circle``).

    ``parent`` is the row that it is joined to; None where the history before it is cut off.
    """

    row: Row
    parent: Row | None
    is_circle: bool


class RowChain(Record):
    """The rows that the next request is made of.

    Attributes:
        all_rows: the newest version of each row of the file, with the parents of the file.
        rows: those that the client keeps after its newest compaction, with the parents that it
            gives them.
        order: the rows that it sends, in that order.
        path: the uuids from the newest row back to where the conversation begins.
        joins: where a parent is missing.
        is_rewound: the user rewound to the start, so nothing of it is sent.
    """

    all_rows: Rows
    rows: Rows
    order: tuple[Row, ...] = ()
    path: tuple[str, ...] = ()
    joins: tuple[Join, ...] = ()
    is_rewound: bool = False


def build_chain(entries: Sequence[Entry], n_bytes: int = 0) -> RowChain:
    """Return the rows that the next request is made of.

    ``entries`` are in file order; ``n_bytes`` is the size of the file.
    """
    entries = skip_head(entries, n_bytes)
    loaded = load_rows(entries)
    all_rows = newest_versions(loaded)
    preserved = newest_preserved(all_rows)
    rows = all_rows
    if preserved is not None:
        rows = drop_before_boundary(relink_preserved(all_rows, preserved), preserved)
    checkpoint = newest_checkpoint(entries)
    has_preserved = preserved is not None and bool(preserved.uuids)
    leaf = choose_leaf(loaded, rows, checkpoint, has_preserved=has_preserved)
    if leaf is None:
        return RowChain(all_rows=all_rows, rows=rows, is_rewound=checkpoint.is_empty)
    path, joins = walk(rows, leaf)
    seen = {row.uuid for row in path} | checkpoint.cut
    order = recover_beside(rows, path, seen)
    return RowChain(
        all_rows=all_rows,
        rows=rows,
        order=drop_retracted((*order, *hanging_on(leaf, rows, seen))),
        path=tuple([row.uuid for row in reversed(path)]),
        joins=joins,
    )


def is_read_whole(n_bytes: int) -> bool:
    """Return whether the client reads all of a file of that size in bytes.

    4.95 MB were read whole, 5.35 MB were not (clients 2.0.76 to 2.1.332).
    """
    return n_bytes <= _MAX_FULLY_READ


def skip_head(entries: Sequence[Entry], n_bytes: int) -> Sequence[Entry]:
    """Skip what stands before the newest compaction of a large file (``zMe``).

    One that preserved rows hides nothing before it.
    """
    if is_read_whole(n_bytes):
        return entries
    for index in reversed(range(len(entries))):
        entry = entries[index]
        if isinstance(entry, Row) and entry.boundary is not None and not entry.boundary.preserves:
            return entries[index:]
    return entries


def load_rows(entries: Iterable[Entry]) -> Sequence[Row]:
    """Return the rows that the client links, older versions included."""
    rows = [entry for entry in entries if isinstance(entry, Row)]
    return drop_unreadable(skip_progress(rows))


def skip_progress(rows: Iterable[Row]) -> list[Row]:
    """Leave progress rows out, and give their parent to what follows them (``processEntry``).

    A row that is read before the progress row that it names keeps its parent.
    """
    parents: dict[str, str | None] = {}
    remaining: list[Row] = []
    for row in rows:
        parent = row.parent
        if parents and parent in parents:
            parent = parents[parent]
        if row.type == "progress":
            parents[row.uuid] = parent
        else:
            remaining.append(row if parent == row.parent else replace(row, parent=parent))
    return remaining


def drop_unreadable(rows: Sequence[Row]) -> Sequence[Row]:
    """Leave out rows without content; what follows one hangs on its parent (``Ysn``)."""
    if all(row.is_readable for row in rows):
        return rows
    remaining = [row for row in rows if row.is_readable]
    uuids = {row.uuid for row in remaining}
    parents = {row.uuid: row.parent for row in rows if row.uuid not in uuids}
    return [replace(row, parent=_first_outside(row.parent, parents)) for row in remaining]


def _first_outside(uuid: str | None, parents: Mapping[str, str | None]) -> str | None:
    seen: set[str] = set()
    while uuid is not None and uuid in parents:
        if uuid in seen:
            return None
        seen.add(uuid)
        uuid = parents[uuid]
    return uuid


def newest_versions(rows: Iterable[Row]) -> Rows:
    """Return the last row of each uuid, in the place of the first (``Map.set``)."""
    newest: dict[str, Row] = {}
    for row in rows:
        first = newest.get(row.uuid)
        newest[row.uuid] = (
            row if first is None else replace(row, line=first.line, place=first.place)
        )
    return newest


class Preserved(Record, kw_only=False):
    """What a compaction preserved: the rows, oldest first, and the row that they follow.

    ``start`` is the place of the newest boundary, before which all other rows are dropped.
    """

    start: int
    anchor: str | None = None
    uuids: tuple[str, ...] = ()


def newest_preserved(rows: Rows) -> Preserved | None:
    """Return what the newest compaction preserved (``kRr``, ``wRr``).

    None if no compaction ever preserved anything, or if rows that the newest one preserved are
    missing: then nothing is moved or dropped.
    """
    marks = [row for row in rows.values() if row.boundary is not None]
    if not any(row.boundary.preserves for row in marks if row.boundary is not None):
        return None
    boundary, start = marks[-1].boundary, marks[-1].place
    if boundary is None or not boundary.preserves:
        return Preserved(start)
    uuids = _segment(boundary, rows) if boundary.uuids is None else boundary.uuids
    if uuids is None or any(uuid not in rows for uuid in uuids):
        return None
    return Preserved(start, boundary.anchor, tuple(dict.fromkeys(uuids)))


def _segment(boundary: Boundary, rows: Rows) -> tuple[str, ...] | None:
    """Return the rows from the head to the tail that a boundary names; None if they are apart."""
    segment: list[str] = []
    for row in towards_start(rows, boundary.tail):
        segment.append(row.uuid)
        if row.uuid == boundary.head:
            return tuple(reversed(segment))
    return None


def relink_preserved(rows: Rows, preserved: Preserved) -> Rows:
    """Put preserved rows right after the summary, and what follows it after them (``kRr``).

    file:  K1 <- K2 (preserved) … boundary, summary S, then N with parentUuid S
    sent:  S <- K1 <- K2 <- N           {"K1": "S", "K2": "K1", "N": "K2"}
    """
    if not preserved.uuids:
        return rows
    first, last = preserved.uuids[0], preserved.uuids[-1]
    parents = dict(zip(preserved.uuids, (preserved.anchor, *preserved.uuids), strict=False))
    moved = {uuid: replace(rows[uuid], parent=parent) for uuid, parent in parents.items()}
    relinked = {**rows, **moved}
    for uuid, row in relinked.items():
        if row.parent == preserved.anchor and uuid != first:
            relinked[uuid] = replace(row, parent=last)
    return relinked


def drop_before_boundary(rows: Rows, preserved: Preserved) -> Rows:
    """Drop the rows before the newest boundary but for those that it preserved (``kRr``).

    What is said after it and follows a dropped row hangs on the last preserved one.
    """
    earlier = {uuid for uuid, row in rows.items() if row.place < preserved.start}
    dropped = earlier.difference(preserved.uuids)
    remaining = {uuid: row for uuid, row in rows.items() if uuid not in dropped}
    for uuid, row in remaining.items() if preserved.uuids else ():
        if row.is_said and row.parent in dropped:
            remaining[uuid] = replace(row, parent=preserved.uuids[-1])
    return remaining


def walk(
    rows: Rows, leaf: Row, times: "RowTimes | None" = None
) -> tuple[list[Row], tuple[Join, ...]]:
    """Return the rows from the first one to the leaf, and where a parent was missing (``j1n``).

    ``times`` are those of an earlier walk, whose rows are not met again.
    """
    seen: set[str] = set()
    path: list[Row] = []
    joins: list[Join] = []
    row: Row | None = leaf
    while row is not None:
        seen.add(row.uuid)
        path.append(row)
        parent = rows.get(row.parent) if row.parent else None
        is_circle = parent is not None and parent.uuid in seen
        if row.parent and (parent is None or is_circle):
            times = RowTimes(rows.values()) if times is None else times
            parent = bridge_by_time(times, row, seen)
            joins.append(Join(row, parent, is_circle))
        row = parent
    return path[::-1], tuple(joins)


class RowTimes:
    """Rows by time, apart for each side; of equal times the first row is the newest."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows: dict[object, list[Row]] = defaultdict(list)
        for row in rows:
            if not row.is_snapshot and row.time is not None:
                self.rows[row.side].append(row)
        self.times: dict[object, list[float]] = {}
        self.before: dict[object, list[int]] = {}
        for side, members in self.rows.items():
            members.sort(key=lambda row: (_time_of(row), -row.place))
            self.times[side] = [_time_of(row) for row in members]
            self.before[side] = list(range(-1, len(members) - 1))


def _time_of(row: Row) -> float:
    return row.time or 0.0


def bridge_by_time(times: RowTimes, row: Row, seen: Collection[str]) -> Row | None:
    """Return the row that one with a missing parent is joined to (``Vrn``; also in 2.1.197).

    It is the newest one on the same side that is at most five seconds older, from an abandoned
    branch as well; None if there is none.
    """
    members, before = times.rows.get(row.side), times.before.get(row.side)
    time = row.time
    if time is None or members is None or before is None:
        return None
    index = bisect_right(times.times[row.side], time) - 1
    passed: list[int] = []
    while index >= 0 and members[index].uuid in seen:
        passed.append(index)
        index = before[index]
    for earlier in passed:
        before[earlier] = index
    if index < 0 or time - _time_of(members[index]) > _MAX_GAP:
        return None
    return members[index]


def hanging_on(leaf: Row, rows: Rows, seen: Collection[str]) -> list[Row]:
    """Return what hangs beside the last row, each row before what follows it (``bRr``).

    Client 2.1.197 sorts all of them by time.
    """
    children = children_of(rows)
    hanging: dict[str, Row] = {}
    waiting = [leaf]
    while waiting:
        row = waiting.pop()
        if row.uuid in hanging:
            continue
        if row is not leaf:
            hanging[row.uuid] = row
        followers = sorted(children.get(row.uuid, ()), key=lambda child: child.stamp)
        waiting += [
            child for child in reversed(followers) if not child.is_said and child.uuid not in seen
        ]
    return list(hanging.values())


def drop_retracted(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Leave out what was retracted, as by another model's refusal (``mUn``).

    A name of a row may stand for all rows that the client later made of it.
    """
    retracted = {uuid[:_NAMED] for row in rows for uuid in row.retracted}
    if not retracted:
        return tuple(rows)
    return tuple(
        [row for row in rows if row.type == "system" or row.uuid[:_NAMED] not in retracted]
    )
