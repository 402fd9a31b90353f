"""Which row the conversation of a Claude Code session ends with.

Names in parentheses are those of client 2.1.332. Client 2.1.197 knows no notes that are explicit.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice, takewhile

from compactctl.clients.claude_code.rows import (
    Entry,
    ResumePoint,
    Row,
    Rows,
    continues_response,
    response_before,
    towards_start,
)
from compactctl.records import Record, replace

# How many rows the client looks at between a row and the nearest one before it that is said.
_MAX_BETWEEN = 64


class Checkpoint(Record):
    """Where the client's own notes say that it goes on (``processEntry``).

    Attributes:
        leaf: the row that the newest note names, if nothing was compacted since.
        is_explicit: the user went there, and nothing was added since.
        was_explicit: the user went there once.
        is_empty: the user rewound to the start, and nothing was added since.
        names_leaf: any note of the file names a row, or none.
        cut: rows beside what is said that were rewound (``wsn``).
    """

    leaf: str | None = None
    is_explicit: bool = False
    was_explicit: bool = False
    is_empty: bool = False
    names_leaf: bool = False
    cut: frozenset[str] = frozenset()


def newest_checkpoint(entries: Iterable[Entry]) -> Checkpoint:
    """Return where the client goes on according to its notes; ``entries`` in file order."""
    checkpoint = Checkpoint()
    rows: dict[str, Row] = {}
    for entry in entries:
        if isinstance(entry, ResumePoint):
            checkpoint = _after_note(checkpoint, entry, rows)
        elif entry.is_readable and entry.type != "progress":
            rows[entry.uuid] = entry
            checkpoint = _after_row(checkpoint, entry, rows)
    return checkpoint


def _after_note(checkpoint: Checkpoint, note: ResumePoint, rows: Rows) -> Checkpoint:
    cut = _cut_by(note, checkpoint.cut, rows)
    names_leaf = checkpoint.names_leaf or note.names_leaf
    if note.leaf is not None:
        is_same = note.leaf == checkpoint.leaf
        return Checkpoint(
            leaf=note.leaf,
            is_explicit=note.is_explicit or (is_same and checkpoint.is_explicit),
            was_explicit=note.is_explicit or (is_same and checkpoint.was_explicit),
            names_leaf=names_leaf,
            cut=cut,
        )
    if note.names_leaf and note.is_explicit:
        return Checkpoint(is_empty=True, names_leaf=names_leaf, cut=cut)
    return replace(checkpoint, names_leaf=names_leaf, cut=cut)


def _after_row(checkpoint: Checkpoint, row: Row, rows: Rows) -> Checkpoint:
    if row.boundary is not None:
        return Checkpoint(names_leaf=checkpoint.names_leaf)
    if row.is_sidechain or row.is_snapshot:
        return checkpoint
    if checkpoint.is_explicit or checkpoint.is_empty or checkpoint.cut:
        cut = checkpoint.cut.difference(_hung_on(row, rows))
        return replace(checkpoint, is_explicit=False, is_empty=False, cut=cut)
    return checkpoint


def _cut_by(note: ResumePoint, cut: frozenset[str], rows: Rows) -> frozenset[str]:
    if not note.is_explicit:
        return cut
    if not note.is_rewound or note.cut is None:
        return frozenset()
    first = rows.get(note.cut)
    if first is None:
        return cut
    remaining = cut.difference(_hung_on(first, rows))
    return remaining if first.is_said else remaining | {first.uuid}


def _hung_on(row: Row, rows: Rows) -> Iterator[str]:
    """Return the rows between a row and the nearest one before it that is said."""
    between = takewhile(lambda earlier: not earlier.is_said, towards_start(rows, row.parent))
    return (earlier.uuid for earlier in islice(between, _MAX_BETWEEN))


def choose_leaf(
    loaded: Sequence[Row], rows: Rows, checkpoint: Checkpoint, *, has_preserved: bool
) -> Row | None:
    """Return the row that the conversation ends with; None if it is empty (``finish``, ``F2``).

    ``loaded`` are all rows in file order, older versions included; ``rows`` those that remain.
    """
    if checkpoint.is_empty:
        return None
    ends = _ends(loaded, rows, checkpoint, has_preserved=has_preserved)
    if ends:
        return _latest(row for uuid, row in rows.items() if uuid in ends)
    main = [row for row in rows.values() if not row.is_sidechain]
    return _latest(row for row in main if not row.is_snapshot) or _latest(main)


def _ends(
    loaded: Sequence[Row], rows: Rows, checkpoint: Checkpoint, *, has_preserved: bool
) -> Collection[str]:
    main = [row for row in loaded if not row.is_sidechain and not row.is_snapshot]
    last = main[-1].uuid if main else None
    since_last = takewhile(lambda row: row.uuid != last, reversed(loaded))
    ends_on_snapshot = any(row.is_snapshot for row in since_last)
    named = checkpoint.leaf if checkpoint.leaf in rows else None
    is_pinned = checkpoint.is_explicit and named is not None and not rows[named].is_sidechain
    if not has_preserved or is_pinned:
        leaf = named
        if _is_passed(rows, last, named, checkpoint, direct=True):
            leaf = last
        if leaf is None and not has_preserved and not ends_on_snapshot:
            leaf = last if checkpoint.names_leaf else _newest_after(rows, main)
        end = said_at(rows, leaf)
        if end is not None:
            return {end}
    ends = branch_ends(rows)
    if len(ends) <= 1:
        return ends
    is_open = named in ends and not _is_passed(rows, last, named, checkpoint, direct=False)
    chosen = named if is_open else None if ends_on_snapshot else last
    end = said_at(rows, chosen)
    return ends if end is None else {end}


def _latest(rows: Iterable[Row]) -> Row | None:
    """Return the row with the latest time, of equal ones the first; the last one without times."""
    latest, latest_time = None, float("-inf")
    for row in rows:
        time = row.time
        time = float("-inf") if time is None else time
        if time > latest_time or latest_time == float("-inf"):
            latest, latest_time = row, time
    return latest


def said_at(rows: Rows, uuid: str | None) -> str | None:
    """Return the nearest row that is said, from a row on towards the start; None if none is."""
    return next((row.uuid for row in towards_start(rows, uuid) if row.is_said), None)


def branch_ends(rows: Rows) -> set[str]:
    """Return where branches end that nothing that is said goes on from (``Yrn``)."""
    parents = {row.parent for row in rows.values()}
    said_parents = {row.parent for row in rows.values() if row.is_said}
    ends = {said_at(rows, uuid) for uuid in rows if uuid not in parents}
    return {end for end in ends if end is not None and end not in said_parents}


def _newest_after(rows: Rows, main: Sequence[Row]) -> str | None:
    """Return the last row, or what follows it if another row has a later time (``Ma``)."""
    if not main:
        return None
    last = main[-1]
    newest = max(main, key=lambda row: row.stamp)
    if newest.stamp == "" or newest.uuid == last.uuid or last.uuid not in rows:
        return last.uuid
    after = {last.uuid: True}
    leaf, stamp = last.uuid, ""
    for row in rows.values():
        is_later = not row.is_sidechain and row.uuid != last.uuid and row.stamp >= stamp
        if is_later and _follows(row, rows, after):
            leaf, stamp = row.uuid, row.stamp
    return leaf


def _follows(row: Row, rows: Rows, follows_by_uuid: dict[str, bool]) -> bool:
    """Return whether a row follows one that the mapping says True of; note it on the way."""
    between: list[str] = []
    uuid: str | None = row.uuid
    while uuid is not None and uuid in rows and uuid not in follows_by_uuid:
        between.append(uuid)
        follows_by_uuid[uuid] = False
        uuid = rows[uuid].parent
    follows = follows_by_uuid.get(uuid or "", False)
    follows_by_uuid.update(dict.fromkeys(between, follows))
    return follows


def _is_passed(
    rows: Rows, last: str | None, named: str | None, checkpoint: Checkpoint, *, direct: bool
) -> bool:
    """Return whether the conversation has gone on from the row that a note names (``Kin``).

    It has if the last row follows it (``direct``), or another call of the same response.
    """
    if checkpoint.is_explicit or named is None or last not in rows or last == named:
        return False
    ancestors = list(towards_start(rows, last))
    if direct and any(row.uuid == named for row in ancestors):
        return True
    return not checkpoint.was_explicit and _follows_another_call(rows, ancestors, rows[named])


def _follows_another_call(rows: Rows, ancestors: Sequence[Row], named: Row) -> bool:
    """Return whether a path leads through a call that was made together with one at ``named``.

    A1 <- R1 (named)           the note was written after the first of two results:
    A2 <- R2 <- N (last)       A1 and A2 are one response, so the conversation is the one of N
    """
    call, answered, is_attached = _call_at(rows, named)
    if call is None:
        return False
    response = call.response if call.calls else None
    same = {row.uuid for row in response_before(rows, call)} if response else set()
    is_after_sibling = False
    previous: Row | None = None
    for row in ancestors:
        if response:
            if is_after_sibling and row.uuid == call.uuid:
                return True
            if row.uuid != call.uuid and row.response == response and row.calls:
                if row.uuid in same:
                    return True
                is_after_sibling = True
            elif not continues_response(row, response):
                is_after_sibling = False
        if row.uuid == call.uuid and previous is not None and set(answered) & set(call.calls):
            others = set(previous.results) & set(call.calls)
            if others and (len(call.calls) > 1 if is_attached else others - set(answered)):
                return True
        previous = row
    return False


def _call_at(rows: Rows, named: Row) -> tuple[Row | None, tuple[str, ...], bool]:
    """Return the call that a note was written at, which of its calls, and if by an attachment."""
    beside: Row | None = None
    row: Row | None = named
    for row in towards_start(rows, named.uuid):
        if not row.is_beside:
            break
        beside = row
    else:
        row = None
    if row is not None and row.results:
        return rows.get(row.parent or ""), row.results, False
    if beside is None:
        return row, (), False
    if row is None or row.response is None or beside.tool_use is None:
        return None, (), False
    members = (row, *response_before(rows, row))
    call = next((member for member in members if beside.tool_use in member.calls), None)
    return call, (beside.tool_use,) if call is not None else (), call is not None
