"""Compute new parents for records whose parent is removed, so that the chain stays whole."""

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence

from compactctl.model.message import JsonPath
from compactctl.model.transcript import Link, Pointer
from compactctl.records import Record, field


class InsertedRecord(Record):
    """The id of an inserted record, the line it goes before, and that of the next shown record."""

    id: str
    before_line: int
    next_shown_line: int | None = None


class NewParents(Record, kw_only=False):
    """New parent ids; None makes a record the root.

    Attributes:
        by_line: for records of the old file.
        by_inserted_id: for inserted records.
        pointers: new targets for lines that only name a record, by line.
    """

    by_line: Mapping[int, str | None]
    by_inserted_id: Mapping[str, str | None]
    pointers: Mapping[int, str] = field(default_factory=dict)

    def values_on(
        self, line: int, parent_path: JsonPath | None, pointer_paths: Mapping[int, JsonPath]
    ) -> dict[JsonPath, str | None]:
        """Return the values to set on a line of the old file, by path; often none."""
        values: dict[JsonPath, str | None] = {}
        if line in self.by_line and parent_path is not None:
            values[parent_path] = self.by_line[line]
        if line in self.pointers:
            values[pointer_paths[line]] = self.pointers[line]
        return values


def relink(
    links: Sequence[Link],
    dropped_lines: Collection[int],
    inserted: Sequence[InsertedRecord],
    frozen_lines: Collection[int] = (),
    pointers: Sequence[Pointer] = (),
) -> NewParents:
    """Give records a new parent when theirs is removed, and link inserted records into the chain.

    Chain A <- B <- C <- D; B and C are dropped, summary S is inserted before B:
        without S:  A <- D           by_line={3: "A"}
        with S:     A <- S <- D      by_line={3: "S"}, by_inserted_id={"S": "A"}

    Args:
        links: the file's linked records, in file order.
        dropped_lines: indices of lines that are removed.
        inserted: the inserted records, in file order.
        frozen_lines: indices of lines that cannot be changed; their records keep their parents.
            An inferred parent of any other record is written, since a client may infer another one
            from the new file.
        pointers: lines that name a record; they get the parent that a record there would get.

    Returns:
        The parents that change. The new parent is the nearest surviving ancestor, or the newest
        inserted record between that ancestor and the child.
    """
    chain = _Chain(links, dropped_lines, inserted)
    for child in links:
        can_change = child.line not in dropped_lines and child.line not in frozen_lines
        if can_change and (child.is_inferred or chain.is_dropped(child.parent)):
            chain.by_line[child.line] = chain.parent_of(child.parent, child.line)
    links_by_line = {link.line: link for link in reversed(links)}
    for index, record in enumerate(inserted):
        link = links_by_line.get(record.before_line)
        parent = None if link is None else link.parent
        chain.by_inserted_id[record.id] = chain.parent_of(parent, record.before_line, index)
    for record in inserted:
        if record.next_shown_line in links_by_line:
            chain.reroute_through(record, links_by_line[record.next_shown_line], frozen_lines)
    targets = {
        p.line: chain.parent_of(p.target, p.line) for p in pointers if chain.is_dropped(p.target)
    }
    return NewParents(
        by_line=chain.by_line,
        by_inserted_id=chain.by_inserted_id,
        pointers={line: target for line, target in targets.items() if target is not None},
    )


class _Chain:
    """The records by id, and the new parents computed so far."""

    def __init__(
        self,
        links: Sequence[Link],
        dropped_lines: Collection[int],
        inserted: Sequence[InsertedRecord],
    ) -> None:
        self.by_id = {link.id: link for link in reversed(links)}
        self.dropped_lines = dropped_lines
        self.inserted_ids = [record.id for record in inserted]
        self.inserted_before = [record.before_line for record in inserted]
        self.by_line: dict[int, str | None] = {}
        self.by_inserted_id: dict[str, str | None] = {}

    def is_dropped(self, record_id: str | None) -> bool:
        """Whether a record is removed; False for one that is not in the file."""
        link = self.by_id.get(record_id) if record_id is not None else None
        return link is not None and link.line in self.dropped_lines

    def parent_of(
        self, record_id: str | None, line: int, n_inserted: int | None = None
    ) -> str | None:
        """Return the new parent of a record at ``line`` whose parent was ``record_id``.

        Only the first ``n_inserted`` inserted records are considered, None for all up to ``line``.
        """
        ancestor, child_line = self._surviving_ancestor(record_id, line)
        newest = bisect_right(self.inserted_before, line) if n_inserted is None else n_inserted
        start = self._line_of_ancestor(ancestor, child_line)
        if newest > 0 and self.inserted_before[newest - 1] > start:
            return self.inserted_ids[newest - 1]
        return ancestor

    def reroute_through(
        self, record: InsertedRecord, following: Link, frozen_lines: Collection[int]
    ) -> None:
        """Route the path through an inserted record that would otherwise be a side branch.

        A <- B <- C and B <- R (a parallel tool result). Dropping R puts S beside C, and a client
        that walks C, B, A never sends S. So re-parent C:  A <- B <- S <- C.  Frozen lines stay.
        If C does not follow what S does, which is itself beside the path, S goes right before C.
        """
        ancestor = self.by_inserted_id[record.id]
        child: str | None = following.id
        seen: set[str | None] = set()
        while child not in seen and child != record.id:
            seen.add(child)
            parent = self._current_parent(child)
            if parent == ancestor:
                self._set_parent(child, record.id, frozen_lines)
                return
            if parent not in self.by_inserted_id and parent not in self.by_id:
                self.by_inserted_id[record.id] = self._current_parent(following.id)
                self._set_parent(following.id, record.id, frozen_lines)
                return
            child = parent

    def _current_parent(self, record_id: str | None) -> str | None:
        if record_id in self.by_inserted_id:
            return self.by_inserted_id[record_id]
        link = self.by_id.get(record_id or "")
        return None if link is None else self.by_line.get(link.line, link.parent)

    def _set_parent(
        self, record_id: str | None, parent: str, frozen_lines: Collection[int]
    ) -> None:
        if record_id in self.by_inserted_id:
            self.by_inserted_id[record_id] = parent
        elif record_id in self.by_id and self.by_id[record_id].line not in frozen_lines:
            self.by_line[self.by_id[record_id].line] = parent

    def _line_of_ancestor(self, ancestor: str | None, child_line: int) -> int:
        """Return the line after which an inserted record can follow ``ancestor``."""
        if ancestor is None:
            return -1
        link = self.by_id.get(ancestor)
        # A parent that is not in the file counts as standing right before its child.
        return child_line - 1 if link is None else link.line

    def _surviving_ancestor(self, record_id: str | None, child_line: int) -> tuple[str | None, int]:
        """Return the nearest ancestor that stays (None for the root), and the line of its child."""
        seen: set[str] = set()
        while record_id is not None and self.is_dropped(record_id) and record_id not in seen:
            seen.add(record_id)
            link = self.by_id[record_id]
            record_id, child_line = link.parent, link.line
        return (None if record_id in seen else record_id), child_line
