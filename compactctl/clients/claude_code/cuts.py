"""Where history of a Claude Code session is cut off: what stood before, and how that is known.

The client sends nothing before a row whose parent is not in the file.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Literal

from compactctl.clients.claude_code.beside import recover_beside
from compactctl.clients.claude_code.chain import Join, RowChain, RowTimes, walk
from compactctl.clients.claude_code.damage import DamagedRecord
from compactctl.clients.claude_code.rows import Row, Rows, towards_start
from compactctl.model.island import IslandKind
from compactctl.model.message import Message
from compactctl.records import Record, replace

CutLink = Literal["recorded", "possible", "refuted"]
"""What damaged lines say of a row and the one before it: the one followed the other; nothing; or it
cannot be, or cannot be known."""


class HistoryCut(Record, kw_only=False):
    """A row whose parent is missing, so that nothing before it is sent; and the row before it.

    ``after`` is the path from the row on. ``rows`` would be sent again if the one followed the
    other, back to the next cut.
    """

    row: Row
    before: Row
    link: CutLink
    after: Sequence[Row]
    rows: tuple[Row, ...] = ()


class CutVerdict(Record, kw_only=False):
    """Whether a row followed the one before it, and why what stands there is not sent."""

    is_proven: bool
    kind: IslandKind


class CutFinder:
    """Finds what stood before a row whose parent is missing, among rows and damaged records."""

    def __init__(self, rows: Rows, damaged: Sequence[DamagedRecord]) -> None:
        self._rows = rows
        self._sides = _rows_by_side(rows.values())
        self._damaged = damaged
        self._lost = {record.uuid: record for record in damaged if record.uuid is not None}

    def cut_at(self, path: Sequence[Row], seen: Collection[str]) -> HistoryCut | None:
        """Return the cut before the first row of a path; None if nothing stands before it.

        ``seen`` are the rows that follow it, that path included: it cannot follow one of them.
        """
        row = path[0]
        before = _row_before(self._sides.get(row.is_sidechain, ()), row, seen)
        parent = self._recorded_parent(row, before)
        if parent is not None and _may_follow(row, parent) and parent.uuid not in seen:
            return HistoryCut(row, parent, "recorded", path)
        if before is None:
            return None
        is_refuted = row.parent in self._lost or any(
            record.starts_anew for record in self._between(before, row)
        )
        return HistoryCut(row, before, "refuted" if is_refuted else "possible", path)

    def _recorded_parent(self, row: Row, before: Row | None) -> Row | None:
        """Return the nearest row that damaged records link a row to.

        One with an unreadable parent follows ``before``, the row before the cut, if it alone
        stands between the two.
        """
        uuid = row.parent
        passed: set[str] = set()
        while uuid is not None and uuid not in self._rows:
            record = self._lost.get(uuid)
            if record is None or uuid in passed or record.starts_anew or record.line >= row.line:
                return None
            if not record.has_parent:
                is_alone = before is not None and [*self._between(before, row)] == [record]
                return before if is_alone else None
            passed.add(uuid)
            uuid = record.parent
        return None if uuid is None else self._rows[uuid]

    def _between(self, before: Row, row: Row) -> Sequence[DamagedRecord]:
        start, end = (
            bisect_left(self._damaged, line, key=lambda record: record.line)
            for line in (before.line, row.line)
        )
        return self._damaged[start:end]


def find_cuts(chain: RowChain, damaged: Sequence[DamagedRecord]) -> Sequence[HistoryCut]:
    """Return where history of the file is cut off, newest first.

    The search continues from the row before each cut.
    """
    if not _is_cut(chain.joins):
        return ()
    finder, times = CutFinder(chain.rows, damaged), RowTimes(chain.rows.values())
    seen = set(chain.path)
    path: Sequence[Row] = [chain.rows[uuid] for uuid in reversed(chain.path)]
    joins = chain.joins
    cuts: list[HistoryCut] = []
    paths: list[Sequence[Row]] = []
    while _is_cut(joins):
        cut = finder.cut_at(path, seen)
        if cut is None:
            break
        path, joins = walk(chain.rows, cut.before, times)
        if not seen.isdisjoint([row.uuid for row in path]):
            break
        seen.update([row.uuid for row in path])
        cuts.append(cut)
        paths.append(path)
    rows = _split(chain, paths)
    return [replace(cut, rows=rows[number]) for number, cut in enumerate(cuts)]


class _Request(Record, kw_only=False):
    """A request that a model answered, and its size in tokens."""

    model: str
    size: int


class CutJudge:
    """Judges whether what follows a cut followed what stands before it.

    It did if a damaged record says so, or if the next request was not smaller than the last one
    before it. One that is smaller was sent after the context was cleared. Requests to two models,
    or with a compaction in between, cannot be compared.
    """

    def __init__(self, rows: Rows, messages: Mapping[str, Sequence[Message]]) -> None:
        """Judge cuts between rows, with the messages of each by uuid."""
        self._rows = rows
        self._messages = messages
        # By row: itself, or the newest answer or compaction that it follows.
        self._turns: dict[str, Row | None] = {}

    def verdict(self, cut: HistoryCut) -> CutVerdict:
        """Return whether the row followed the one before it, and why that is not sent."""
        if cut.link == "recorded":
            return CutVerdict(is_proven=True, kind="cut off")
        before = self._request(self._turn_before(cut.before))
        after = self._request(next(filter(self._is_turn, cut.after), None))
        if before is None or after is None or before.model != after.model:
            return CutVerdict(is_proven=False, kind="cut off")
        if after.size < before.size:
            return CutVerdict(is_proven=False, kind="context cleared")
        return CutVerdict(is_proven=cut.link == "possible", kind="cut off")

    def _turn_before(self, row: Row) -> Row | None:
        path = takewhile(
            lambda earlier: earlier.uuid not in self._turns, towards_start(self._rows, row.uuid)
        )
        for earlier in reversed([*path]):
            turn = earlier if self._is_turn(earlier) else self._turns.get(earlier.parent or "")
            self._turns[earlier.uuid] = turn
        return self._turns.get(row.uuid)

    def _is_turn(self, row: Row) -> bool:
        is_answer = row.type == "assistant" and bool(self._messages.get(row.uuid))
        return is_answer or self._is_compaction(row)

    def _is_compaction(self, row: Row) -> bool:
        said = self._messages.get(row.uuid, ())
        return row.boundary is not None or any(message.origin.is_summary for message in said)

    def _request(self, turn: Row | None) -> _Request | None:
        """Return the request that was answered; None if it is unknown."""
        if turn is None or self._is_compaction(turn):
            return None
        answer = self._messages[turn.uuid][-1]
        if answer.model is None or answer.usage is None or answer.usage.context <= 0:
            return None
        return _Request(answer.model, answer.usage.context)


def _is_cut(joins: Sequence[Join]) -> bool:
    return bool(joins) and joins[-1].parent is None and not joins[-1].is_circle


def _split(chain: RowChain, paths: Sequence[Sequence[Row]]) -> Sequence[tuple[Row, ...]]:
    """Return the rows of each path, newest first, with what would be sent beside them."""
    numbers = {row.uuid: number for number, path in enumerate(paths) for row in path}
    seen = {*numbers, *(row.uuid for row in chain.order)}
    path = [row for path in reversed(paths) for row in path]
    rows: list[list[Row]] = [[] for _ in paths]
    number = len(paths) - 1
    for row in recover_beside(chain.rows, path, seen):
        number = numbers.get(row.uuid, number)
        rows[number].append(row)
    return [*map(tuple, rows)]


def _rows_by_side(rows: Iterable[Row]) -> Mapping[bool, Sequence[Row]]:
    """Return the rows of each side in file order, from the first one on that was said."""
    sides: dict[bool, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.place):
        if row.is_said or row.is_sidechain in sides:
            sides.setdefault(row.is_sidechain, []).append(row)
    return sides


def _row_before(rows: Sequence[Row], row: Row, seen: Collection[str]) -> Row | None:
    """Return the newest of the rows before another that was not seen; None if there is none."""
    index = bisect_left(rows, row.place, key=lambda earlier: earlier.place)
    while index and rows[index - 1].uuid in seen:
        index -= 1
    return rows[index - 1] if index else None


def _may_follow(row: Row, parent: Row) -> bool:
    return parent.place < row.place and parent.is_sidechain == row.is_sidechain
