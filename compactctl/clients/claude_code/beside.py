"""What Claude Code sends beside the path of a session: parallel calls, results, attachments.

    U <- A1 <- A2 <- R2 <- N      A1 and A2 are one response with two calls; N is the leaf
          `- R1                   the result of A1 is beside the path, and sent between A2 and R2

Names in parentheses are those of client 2.1.332. Client 2.1.197 finds results by their parents
only, and sends what is beside a response behind its last row: other rows, then results, by time.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from compactctl.clients.claude_code.rows import Row, Rows, children_of, continues_response
from compactctl.records import Record


class _Answers(Record):
    """Tool results beside the path, by the row of the call.

    Attributes:
        responses: the rows of each response.
        by_parent: results by the row that they follow.
        by_call: results that follow another row, by the row of their call.
        callers: the row of each call; None if several responses have calls with its id.
    """

    responses: Mapping[str, Sequence[Row]]
    by_parent: Mapping[str, Sequence[Row]]
    by_call: Mapping[str, Sequence[Row]]
    callers: Mapping[str, Row | None]


def _find_answers(rows: Rows) -> _Answers:
    """Return which results belong to which calls (``RRr``)."""
    responses: dict[str, list[Row]] = defaultdict(list)
    results: list[Row] = []
    for row in rows.values():
        if row.response:
            responses[row.response].append(row)
        elif row.results:
            results.append(row)
    callers = _callers(responses)
    return _Answers(
        responses=responses,
        by_parent=recover_by_parent(results),
        by_call=recover_by_call_id(rows, results, callers),
        callers=callers,
    )


def _callers(responses: Mapping[str, Sequence[Row]]) -> Mapping[str, Row | None]:
    callers: dict[str, Row | None] = {}
    for members in responses.values():
        for row in members:
            for call in row.calls:
                other = callers.get(call, row)
                is_same = other is not None and other.response == row.response
                callers[call] = row if is_same else None
    return callers


def recover_by_parent(results: Iterable[Row]) -> Mapping[str, Sequence[Row]]:
    """Return results by the row that they follow."""
    by_parent: dict[str, list[Row]] = defaultdict(list)
    for row in results:
        if row.parent:
            by_parent[row.parent].append(row)
    return by_parent


def recover_by_call_id(
    rows: Rows, results: Iterable[Row], callers: Mapping[str, Row | None]
) -> Mapping[str, Sequence[Row]]:
    """Return results that follow another row than their call, by the row of the call.

    They say themselves which row that is, or only one response has a call with their id. Client
    2.1.197 does not look for them.
    """
    by_call: dict[str, list[Row]] = defaultdict(list)
    for row in results:
        parent = rows.get(row.parent or "")
        if set(row.results) <= set(parent.calls if parent is not None else ()):
            continue
        named = [rows.get(row.caller or ""), *map(callers.get, row.results)]
        for call in dict.fromkeys(item.uuid for item in named if item is not None):
            is_same_side = rows[call].is_sidechain == row.is_sidechain
            if call != row.parent and is_same_side and rows[call].agent == row.agent:
                by_call[call].append(row)
    return by_call


class _Recovered(Record):
    """Rows to put behind the row ``start`` of the path, and between those before ``end``.

    Attributes:
        rows: each with its rank in the file.
        behind: rows that go right behind one of the path.
    """

    start: int
    end: int
    rows: list[tuple[float, int, Row]]
    behind: dict[str, list[Row]]


def recover_beside(rows: Rows, path: Sequence[Row], seen: set[str]) -> list[Row]:
    """Return the path with what stands beside it: parallel calls, their results, attachments.

    What is added is also added to ``seen``.
    """
    if not any(row.response for row in path):
        return list(path)
    finder = _Finder(rows, path, seen)
    groups = [group for group in map(finder.group_of, finder.responses_on_path()) if group]
    return _interleaved(path, _merged(groups), finder.places)


class _Finder:
    """Finds what stands beside each response of a path."""

    def __init__(self, rows: Rows, path: Sequence[Row], seen: set[str]) -> None:
        self.rows, self.path, self.seen = rows, path, seen
        self.answers = _find_answers(rows)
        self.places = {uuid: place for place, uuid in enumerate(rows)}
        self.index_on_path = {row.uuid: index for index, row in enumerate(path)}
        self.children = children_of(rows)
        self.answered = {call for row in path for call in row.results}
        # Results that are found by their call count as standing behind its response.
        self.ranks: dict[str, float] = {}

    def responses_on_path(self) -> list[Row]:
        """Return the first row on the path of each response."""
        first: dict[str, Row] = {}
        for row in self.path:
            if row.response:
                first.setdefault(row.response, row)
        return list(first.values())

    def group_of(self, row: Row) -> _Recovered | None:
        """Return what is recovered beside the response of a row; None for nothing."""
        members = self.answers.responses.get(row.response or "", (row,))
        added = [member for member in members if member.uuid not in self.seen]
        added += self._results_of(members)
        self.seen.update(member.uuid for member in added)
        start = self.index_on_path[row.uuid]
        end = self._end_of(start, members)
        behind: dict[str, list[Row]] = {}
        if any(member.calls for member in members):
            added += self._tails_of(members)
            for beside in self.path[start + 1 : end]:
                tails = self._tails(beside) if beside.is_beside else []
                if tails:
                    behind[beside.uuid] = tails
        if not added and not behind:
            return None
        ranked = sorted((self._rank(item), self.places[item.uuid], item) for item in added)
        return _Recovered(start=start, end=end, rows=ranked, behind=behind)

    def _results_of(self, members: Sequence[Row]) -> list[Row]:
        names = {member.uuid for member in members}
        near: dict[str, Row] = {}
        far: dict[str, Row] = {}
        for member in members:
            for result in self._answers_to(member):
                if result.uuid not in self.seen:
                    (near if result.parent in names else far)[result.uuid] = result
        answered = self.answered | {call for result in near.values() for call in result.results}
        behind = max(self.places[name] for name in names) + 0.5
        accepted = list(near.values())
        for result in sorted(far.values(), key=lambda row: self.places[row.uuid]):
            if any(self._is_open(call, answered, names) for call in result.results):
                answered.update(result.results)
                self.ranks[result.uuid] = max(self.places[result.uuid], behind)
                accepted.append(result)
        return accepted

    def _is_open(self, call: str, answered: Collection[str], names: Collection[str]) -> bool:
        caller = self.answers.callers.get(call)
        return call not in answered and caller is not None and caller.uuid in names

    def _answers_to(self, row: Row) -> Iterator[Row]:
        yield from self.answers.by_parent.get(row.uuid, ())
        yield from self.answers.by_call.get(row.uuid, ())

    def _end_of(self, start: int, members: Sequence[Row]) -> int:
        indices = [self.index_on_path.get(member.uuid, start) for member in members]
        end = max((start, *indices)) + 1
        response = members[0].response
        while end < len(self.path) and continues_response(self.path[end], response):
            end += 1
        return end

    def _tails_of(self, members: Sequence[Row]) -> list[Row]:
        """Return what hangs on a response and on its results, and leads nowhere."""
        results = {
            result.uuid: result
            for member in members
            for result in self._answers_to(member)
            if result.uuid in self.seen
        }
        tails: list[Row] = []
        for row in {member.uuid: member for member in (*members, *results.values())}.values():
            for tail in self._tails(row):
                if row.uuid in self.ranks:
                    self.ranks[tail.uuid] = max(self.places[tail.uuid], self.ranks[row.uuid])
                tails.append(tail)
        return tails

    def _tails(self, row: Row) -> list[Row]:
        tails: list[Row] = []
        for child in self.children.get(row.uuid, ()):
            tail = self._tail_from(child, row)
            self.seen.update(item.uuid for item in tail)
            tails += tail
        return tails

    def _tail_from(self, child: Row, row: Row) -> list[Row]:
        """Return a row beside what is said and those after it; none if these lead on (``nMe``)."""
        tail: list[Row] = []
        following: Row | None = child
        while following is not None:
            is_same_side = following.side == row.side
            if following.uuid in self.seen or not (following.is_beside and is_same_side):
                return []
            tail.append(following)
            more = self.children.get(following.uuid, ())
            more = [item for item in more if item.uuid not in self.seen]
            if len(more) > 1 or len(tail) > len(self.rows):
                return []
            following = more[0] if more else None
        return tail

    def _rank(self, row: Row) -> float:
        return self.ranks.get(row.uuid, self.places[row.uuid])


def _merged(groups: Sequence[_Recovered]) -> list[_Recovered]:
    """Return groups in the order of the path; those that overlap are one."""
    merged: list[_Recovered] = []
    for group in sorted(groups, key=lambda group: group.start):
        if not merged or group.start >= merged[-1].end:
            merged.append(group)
            continue
        last = merged[-1]
        behind = dict(last.behind)
        for uuid, tails in group.behind.items():
            behind[uuid] = [*behind.get(uuid, ()), *tails]
        merged[-1] = _Recovered(
            start=last.start,
            end=max(last.end, group.end),
            rows=sorted([*last.rows, *group.rows]),
            behind=behind,
        )
    return merged


def _interleaved(
    path: Sequence[Row], groups: Iterable[_Recovered], places: Mapping[str, int]
) -> list[Row]:
    """Return the path with recovered rows in the order of the file, within each group's bounds."""
    rows: list[Row] = []
    start = 0
    for group in groups:
        rows += path[start : group.start + 1]
        waiting = group.rows[::-1]
        for row in path[group.start + 1 : group.end]:
            while waiting and waiting[-1][0] < places[row.uuid]:
                rows.append(waiting.pop()[2])
            rows += [row, *group.behind.get(row.uuid, ())]
        rows += [row for _, _, row in reversed(waiting)]
        start = group.end
    return [*rows, *path[start:]]
