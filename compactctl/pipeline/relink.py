"""New parents for records whose parent is hidden, so that the chain stays whole."""

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from compactctl.model.transcript import Link, Pointer


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertedRecord:
    """A written record: its id, the line it stands before, and that of the next shown record."""

    id: str
    before_line: int
    next_shown_line: int | None = None


@dataclass(frozen=True, slots=True)
class NewParents:
    """New parent ids, by line for kept records and by id for written ones.

    ``pointers`` are the new targets of lines that name a record, by line.
    """

    by_line: Mapping[int, str | None]
    by_inserted_id: Mapping[str, str | None]
    pointers: Mapping[int, str] = field(default_factory=dict)


def relink(
    links: Sequence[Link],
    dropped: Collection[int],
    written: Sequence[InsertedRecord],
    frozen: Collection[int] = (),
    pointers: Sequence[Pointer] = (),
) -> NewParents:
    """Re-point records whose parent stands on a dropped line, and what follows written records.

    Args:
        links: the file's linked records, in file order.
        dropped: indices of lines that go away.
        written: the written records, in file order.
        frozen: indices of lines that cannot be changed; none of them follows a dropped one.
        pointers: what names a record without being one; it names what a record there would follow.

    Returns:
        The parents that change: the nearest surviving ancestor, or the newest written record
        between that ancestor and the child. The path from the record after a written one leads
        through it, where no frozen line is in between.
    """
    chain = _Chain(links, dropped, written)
    for link in links:
        if link.line not in dropped and chain.is_dropped(link.parent):
            chain.lines[link.line] = chain.parent_of(link.parent, link.line)
    first = {link.line: link for link in reversed(links)}
    for index, record in enumerate(written):
        parent = first[record.before_line].parent if record.before_line in first else None
        chain.written[record.id] = chain.parent_of(parent, record.before_line, index)
    for record in written:
        if record.next_shown_line in first:
            chain.reroute_through(record, first[record.next_shown_line], frozen)
    named = {
        p.line: chain.parent_of(p.target, p.line) for p in pointers if chain.is_dropped(p.target)
    }
    return NewParents(
        by_line=chain.lines,
        by_inserted_id=chain.written,
        pointers={line: name for line, name in named.items() if name is not None},
    )


class _Chain:
    """The records by id, and the new parents so far."""

    def __init__(
        self, links: Sequence[Link], dropped: Collection[int], written: Sequence[InsertedRecord]
    ) -> None:
        self.by_id = {link.id: link for link in reversed(links)}
        self.dropped = dropped
        self.names = [record.id for record in written]
        self.positions = [record.before_line for record in written]
        self.lines: dict[int, str | None] = {}
        self.written: dict[str, str | None] = {}

    def is_dropped(self, name: str | None) -> bool:
        """Tell whether a record goes away."""
        link = self.by_id.get(name) if name is not None else None
        return link is not None and link.line in self.dropped

    def parent_of(self, name: str | None, line: int, limit: int | None = None) -> str | None:
        """Return the parent for a record at ``line`` that used to follow ``name``.

        ``limit`` is how many of the written records come into question.
        """
        ancestor, follower = self._surviving_ancestor(name, line)
        newest = bisect_right(self.positions, line) if limit is None else limit
        if newest > 0 and self.positions[newest - 1] > self._line_of_ancestor(ancestor, follower):
            return self.names[newest - 1]
        return ancestor

    def reroute_through(
        self, record: InsertedRecord, following: Link, frozen: Collection[int]
    ) -> None:
        """Put a written record on the path from ``following``, if it only hangs beside it.

        It does when all it stands for hung beside the path. What follows its parent on the path
        follows the written record then; where the path does not reach that parent, as it ends at
        one that is not in the file, the written record becomes the first on it.
        """
        end = self.written[record.id]
        at: str | None = following.id
        seen: set[str | None] = set()
        while at not in seen and at != record.id:
            seen.add(at)
            parent = self._current_parent(at)
            if parent == end:
                self._set_parent(at, record.id, frozen)
                return
            if parent not in self.written and parent not in self.by_id:
                self.written[record.id] = parent
                self._set_parent(at, record.id, frozen)
                return
            at = parent

    def _current_parent(self, name: str | None) -> str | None:
        if name in self.written:
            return self.written[name]
        link = self.by_id.get(name or "")
        return None if link is None else self.lines.get(link.line, link.parent)

    def _set_parent(self, name: str | None, parent: str, frozen: Collection[int]) -> None:
        if name in self.written:
            self.written[name] = parent
        elif name in self.by_id and self.by_id[name].line not in frozen:
            self.lines[self.by_id[name].line] = parent

    def _line_of_ancestor(self, ancestor: str | None, follower: int) -> int:
        """Return the line after which a written record continues the chain at ``ancestor``."""
        if ancestor is None:
            return -1
        link = self.by_id.get(ancestor)
        # A parent that is not in the file is known by the record that follows it.
        return follower - 1 if link is None else link.line

    def _surviving_ancestor(self, name: str | None, line: int) -> tuple[str | None, int]:
        """Return the nearest ancestor that stays, and the line of the record that follows it."""
        seen: set[str] = set()
        while name is not None and self.is_dropped(name) and name not in seen:
            seen.add(name)
            link = self.by_id[name]
            name, line = link.parent, link.line
        return (None if name in seen else name), line
