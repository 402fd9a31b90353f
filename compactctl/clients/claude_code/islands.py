"""What a Claude Code session holds that the next request does not send: cut off, or on a branch."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, takewhile

from compactctl.clients.claude_code.beside import recover_beside
from compactctl.clients.claude_code.chain import hanging_on, load_rows, newest_versions
from compactctl.clients.claude_code.cuts import CutFinder, CutJudge, HistoryCut
from compactctl.clients.claude_code.damage import DamagedRecord
from compactctl.clients.claude_code.leaf import branch_ends, said_at
from compactctl.clients.claude_code.rows import Entry, Row, Rows, towards_start
from compactctl.clients.claude_code.sent import SentChain
from compactctl.model.island import Island, IslandKind, island_of
from compactctl.model.message import Message


def find_islands(
    entries: Sequence[Entry],
    sent: SentChain,
    messages: Mapping[str, Sequence[Message]],
    damaged: Sequence[DamagedRecord],
) -> Iterator[Island]:
    """Yield the branches of a session that are not sent.

    ``messages`` are those of each row by uuid, and ``damaged`` the records on damaged lines.
    """
    rows = newest_versions(load_rows(entries))
    unsent = _unsent(rows, {*sent.included, *sent.path})
    judge = CutJudge(rows, messages)
    kinds: dict[str, IslandKind] = {}
    for cut in (*_cuts_before(unsent, CutFinder(rows, damaged), rows), *sent.cuts):
        end = said_at(unsent, cut.before.uuid)
        if end is not None:
            kinds[end] = judge.verdict(cut).kind
    for branch in chain.from_iterable(map(_branches, _trees(unsent))):
        said = messages_of(branch, messages)
        if said:
            ends = (kinds[row.uuid] for row in reversed(branch) if row.uuid in kinds)
            yield island_of(next(ends, "other branch"), said)


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


def _cuts_before(unsent: Rows, finder: CutFinder, rows: Rows) -> Iterator[HistoryCut]:
    """Yield the cuts before rows that are not sent, each with the newest path from it on."""
    for path in _paths(unsent, set()):
        if path[0].parent and path[0].parent not in rows:
            cut = finder.cut_at(path, {row.uuid for row in path})
            if cut is not None:
                yield cut


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


def _branches(rows: Rows) -> Iterator[Sequence[Row]]:
    """Yield the rows of each branch, newest first, without what a newer one has."""
    seen: set[str] = set()
    for path in _paths(rows, seen):
        yield *recover_beside(rows, path, seen), *hanging_on(path[-1], rows, seen)


def _paths(rows: Rows, seen: set[str]) -> Iterator[Sequence[Row]]:
    """Yield the path to each end of a branch, newest first, without what was seen; and add it."""
    ends = [rows[uuid] for uuid in branch_ends(rows)]
    for end in sorted(ends, key=lambda row: row.place, reverse=True):
        path = [*takewhile(lambda row: row.uuid not in seen, towards_start(rows, end.uuid))][::-1]
        if path:
            seen.update(row.uuid for row in path)
            yield path
