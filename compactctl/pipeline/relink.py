"""New parents for records whose parent is hidden, so that the chain stays whole."""

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from compactctl.model.transcript import Link


@dataclass(frozen=True, slots=True)
class Relinked:
    """New parent ids, by line for kept records and by id for written ones."""

    lines: Mapping[int, str | None]
    written: Mapping[str, str | None]


def relink(
    links: Sequence[Link], dropped: Collection[int], written: Sequence[tuple[int, str]]
) -> Relinked:
    """Re-point records whose parent stands on a dropped line.

    Args:
        links: the file's linked records, in file order.
        dropped: indices of lines that go away.
        written: (line it stands before, id) of each written record, in file order.

    Returns:
        The parents that change: the nearest surviving ancestor, or the newest written record
        between that ancestor and the child.
    """
    chain = _Chain(links, dropped, written)
    lines = {
        link.line: chain.parent_of(link.parent, link.line)
        for link in links
        if link.line not in dropped and chain.is_dropped(link.parent)
    }
    first = {link.line: link for link in reversed(links)}
    records = {
        name: chain.parent_of(first[line].parent if line in first else None, line, index)
        for index, (line, name) in enumerate(written)
    }
    return Relinked(lines=lines, written=records)


class _Chain:
    def __init__(
        self, links: Sequence[Link], dropped: Collection[int], written: Sequence[tuple[int, str]]
    ) -> None:
        self.by_id = {link.id: link for link in reversed(links)}
        self.dropped = dropped
        self.names = [name for _, name in written]
        self.positions = [line for line, _ in written]

    def is_dropped(self, name: str | None) -> bool:
        link = self.by_id.get(name) if name is not None else None
        return link is not None and link.line in self.dropped

    def parent_of(self, name: str | None, line: int, limit: int | None = None) -> str | None:
        """Return the parent for a record at ``line`` that used to follow ``name``."""
        ancestor, follower = self._survivor(name, line)
        newest = bisect_right(self.positions, line) if limit is None else limit
        if newest > 0 and self.positions[newest - 1] > self._start(ancestor, follower):
            return self.names[newest - 1]
        return ancestor

    def _start(self, ancestor: str | None, follower: int) -> int:
        """Return the line after which a written record continues the chain at ``ancestor``."""
        if ancestor is None:
            return -1
        # A parent that is not in the file is known by the record that follows it.
        return self.by_id[ancestor].line if ancestor in self.by_id else follower - 1

    def _survivor(self, name: str | None, line: int) -> tuple[str | None, int]:
        """Return the nearest ancestor that stays, and the line of the record that follows it."""
        seen: set[str] = set()
        while name is not None and self.is_dropped(name) and name not in seen:
            seen.add(name)
            name, line = self.by_id[name].parent, self.by_id[name].line
        return (None if name in seen else name), line
