"""What a Claude Code session holds that the next request does not send: cut off, or on a branch."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, takewhile

from compactctl.clients.claude_code.beside import recover_beside
from compactctl.clients.claude_code.chain import (
    hanging_on,
    load_rows,
    newest_versions,
    row_before,
    rows_by_side,
)
from compactctl.clients.claude_code.leaf import branch_ends, said_at
from compactctl.clients.claude_code.rows import Entry, Row, Rows, towards_start
from compactctl.model.island import Island, IslandKind, island_of
from compactctl.model.message import Message


class RequestSizes:
    """The sizes of requests by the place of their rows, apart for each side.

    A compaction, after which requests are smaller, is one of unknown size.
    """

    def __init__(self, rows: Iterable[Row], messages: Mapping[str, Sequence[Message]]) -> None:
        self._places: defaultdict[object, list[int]] = defaultdict(list)
        self._sizes: defaultdict[object, list[int]] = defaultdict(list)
        for row in rows:
            usages = (message.usage for message in messages.get(row.uuid, ()))
            size = next((usage.context for usage in usages if usage), 0)
            if size > 0 or row.boundary is not None:
                self._places[row.side].append(row.place)
                self._sizes[row.side].append(max(size, 0))

    def continue_at(self, row: Row) -> bool:
        """Return whether a row follows what stands before it in the file.

        It does if the first request from it on was not smaller than the last one before it.
        """
        before, after = self._around(row)
        return 0 < before <= after

    def shrink_at(self, row: Row) -> bool:
        """Return whether requests are smaller from a row on, as after the context was cleared."""
        before, after = self._around(row)
        return 0 < after < before

    def _around(self, row: Row) -> tuple[int, int]:
        """Return the sizes of the last request before a row and of the first one from it on.

        0 is unknown.
        """
        sizes = self._sizes[row.side]
        index = bisect_left(self._places[row.side], row.place)
        before = sizes[index - 1] if index else 0
        return before, sizes[index] if index < len(sizes) else 0


def kind_of_cut(row: Row, sizes: RequestSizes, torn_uuids: Collection[str]) -> IslandKind:
    """Return why what stands before a row is not sent whose parent is missing, or damaged."""
    is_cleared = sizes.shrink_at(row) and row.parent not in torn_uuids
    return "context cleared" if is_cleared else "cut off"


def find_islands(
    entries: Sequence[Entry],
    sent: Collection[str],
    messages: Mapping[str, Sequence[Message]],
    torn_uuids: Collection[str],
) -> Iterator[Island]:
    """Yield the branches of a session that are not sent.

    ``sent`` are the rows of the next request, ``messages`` those of each row by uuid, and
    ``torn_uuids`` the rows that damage has lost.
    """
    rows = newest_versions(load_rows(entries))
    unsent = _unsent(rows, sent)
    cuts = _ends_before_cuts(rows, unsent)
    sizes = RequestSizes(rows.values(), messages)
    for end, branch in chain.from_iterable(map(_branches, _trees(unsent))):
        said = messages_of(branch, messages)
        if said:
            row = cuts.get(end.uuid)
            kind = "other branch" if row is None else kind_of_cut(row, sizes, torn_uuids)
            yield island_of(kind, said)


def messages_of(
    rows: Iterable[Row], messages: Mapping[str, Sequence[Message]]
) -> Sequence[Message]:
    """Return the messages of rows that compactctl has neither hidden nor written."""
    return [
        message
        for row in rows
        for message in messages.get(row.uuid, ())
        if not (message.tags.hidden_by or message.origin.is_synthetic)
    ]


def _unsent(rows: Rows, sent: Collection[str]) -> Rows:
    return {
        uuid: row
        for uuid, row in rows.items()
        if not (uuid in sent or row.is_sidechain or row.is_appended)
    }


def _ends_before_cuts(rows: Rows, unsent: Rows) -> Mapping[str, Row]:
    """Return the rows without their parent, each by the end of what was said before it."""
    sides = rows_by_side(rows.values())
    cuts: dict[str, Row] = {}
    for row in rows.values():
        if row.parent and row.parent not in rows and not row.is_sidechain:
            before = row_before(sides.get(row.side, ()), row)
            end = None if before is None else said_at(unsent, before.uuid)
            if end is not None:
                cuts[end] = row
    return cuts


def _trees(rows: Rows) -> Iterable[Rows]:
    """Return rows apart from those that no parent links them to."""
    roots: dict[str, str] = {}
    for uuid in rows:
        path = [*takewhile(lambda row: row.uuid not in roots, towards_start(rows, uuid))]
        if path:
            root = roots.get(path[-1].parent or "", path[-1].uuid)
            roots.update((row.uuid, root) for row in path)
    trees: defaultdict[str, dict[str, Row]] = defaultdict(dict)
    for uuid, row in rows.items():
        trees[roots[uuid]][uuid] = row
    return trees.values()


def _branches(rows: Rows) -> Iterator[tuple[Row, Sequence[Row]]]:
    """Yield the end of each branch and its rows, newest first, without what a newer one has."""
    seen: set[str] = set()
    ends = [rows[uuid] for uuid in branch_ends(rows)]
    for end in sorted(ends, key=lambda row: row.place, reverse=True):
        path = [*takewhile(lambda row: row.uuid not in seen, towards_start(rows, end.uuid))][::-1]
        if path:
            seen.update(row.uuid for row in path)
            yield end, (*recover_beside(rows, path, seen), *hanging_on(end, rows, seen))
