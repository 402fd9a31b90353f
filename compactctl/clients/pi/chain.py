"""The entries of a pi session that the next request would send, in order.

Entries form a tree by ``parentId``. The path from the newest one to its root is effective, and of
several with one id the last counts (observed with client 1.6.0). Entries of version 1 have no ids
and follow one another. A compaction's summary replaces what is older than the first entry it keeps.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from itertools import pairwise
from typing import Any

from msgspec import Struct

from compactctl.model.island import IslandKind
from compactctl.model.message import Message
from compactctl.model.tags import is_appended
from compactctl.records import field, replace

_LEAF_REASON = (
    "the client takes the newest entry for the end, and another branch would then have it"
)
_KEPT_REASON = "the client's own compaction keeps the conversation from here on"
_DUPLICATE_REASON = "the file holds an earlier entry of it, which would count again"


class _PiNode(Struct):
    """An entry as the last line with its id has it; ``line`` is that of the first."""

    line: int
    parent: str | None
    type: str
    first_kept: str | int | None
    is_appended: bool = False
    messages: list[Message] = field(default_factory=list)

    @property
    def is_inserted(self) -> bool:
        """Whether compactctl put the entry between others, which need not follow it."""
        return (
            not self.is_appended
            and bool(self.messages)
            and all(message.origin.is_synthetic for message in self.messages)
        )


class PiChain:
    """Add entries in file order, then call ``effective``, which also sets the attributes.

    Attributes:
        bridged: the entry that another one follows, where a damaged line has lost its parent.
        path: the entries from the newest one back to a root.
        included: the same as a set.
        context: the entries of the path that count, in the order sent.
    """

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.bridged: dict[str, str] = {}
        self._nodes: dict[str, _PiNode] = {}
        self._newest: str | None = None
        # The names of all records in file order, as version 1 numbers them; None for the header.
        self._records: list[str | None] = []
        # Reasons by name.
        self._unmovable: dict[str, str] = {}
        # The names and lines of the nodes, and the damaged lines, in file order.
        self._names: list[str] = []
        self._lines: list[int] = []
        self._damaged_lines: list[int] = []
        self._first_sent: int | None = None
        self._bridge_warnings: dict[str, str] = {}
        self.path: tuple[str, ...] = ()
        self.included: frozenset[str] = frozenset()
        self.context: tuple[str, ...] = ()

    def add_damage(self, line: int) -> None:
        """Note a damaged line; an entry may have been lost with it."""
        self._damaged_lines.append(line)

    def add_header(self) -> None:
        """Add a session header, which is not an entry but is numbered like one."""
        self._records.append(None)

    def mark_unmovable(self, name: str, reason: str) -> None:
        """Forbid removing the entry ``name``."""
        self._unmovable[name] = reason

    def add(self, entry: Mapping[str, Any], line: int) -> str:
        """Add an entry; return its name, for ``add_message``."""
        name, parent = entry.get("id"), entry.get("parentId")
        if not isinstance(name, str) or not name:
            name, parent = f"entry {len(self._records)}", next(reversed(self._nodes), None)
        self._records.append(name)
        earlier = self._nodes.get(name)
        if earlier is None:
            self._names.append(name)
            self._lines.append(line)
        node = self._nodes[name] = _PiNode(
            line=earlier.line if earlier else line,
            parent=parent if isinstance(parent, str) else None,
            type=str(entry.get("type")),
            first_kept=_kept_from(entry),
            is_appended=is_appended(entry),
        )
        self._newest = name
        if earlier is not None:
            # A message that an inline compaction tagged as hidden stays beside its rewritten entry.
            node.messages = [message for message in earlier.messages if message.tags.hidden_by]
            if not node.messages:
                self.mark_unmovable(name, _DUPLICATE_REASON)
        return name

    def add_message(self, name: str, message: Message) -> None:
        """Add the message of the entry ``name``."""
        node = self._nodes[name]
        node.messages.append(message)
        if self._first_sent is None:
            self._first_sent = node.line

    def effective(self) -> tuple[Message, ...]:
        """Return the effective history in the order it would be sent."""
        path = self._path_from(self._newest, ())
        self.path, self.included = tuple(path), frozenset(path)
        if len(path) < len(self._nodes):
            self.mark_unmovable(path[0], _LEAF_REASON)
        compaction = next((n for n in path if self._nodes[n].type == "compaction"), None)
        if compaction is None:
            self._warn(path)
            self.context = tuple(reversed(path))
            return tuple(self._messages(self._with_inserted(path)))
        index = path.index(compaction)
        newer, older = path[:index], path[index + 1 :]
        first_kept = self._first_kept(self._nodes[compaction], older)
        tail = older[: older.index(first_kept) + 1] if first_kept else []
        self._warn([*newer, compaction, *tail][:-1])
        self.context = (compaction, *reversed(tail), *reversed(newer))
        return (
            *self._nodes[compaction].messages,
            # Usage reported for these describes the context before the compaction, which has a
            # system message of its own.
            *(
                replace(message, usage=None)
                for message in self._messages(self._with_inserted(tail))
                if message.role != "system"
            ),
            *self._messages(self._with_inserted(newer)),
        )

    def branches(self) -> Iterator[tuple[IslandKind, list[Message]]]:
        """Yield the messages of each branch beside the path, without what a newer one has."""
        seen, kinds = set(self.included), dict(self._ends())
        for name in reversed(self._nodes):
            path = self._path_from(name, seen)
            seen.update(path)
            messages = [m for entry in reversed(path) for m in self._nodes[entry].messages]
            yield kinds.get(name, "other branch"), messages

    def _ends(self) -> Iterator[tuple[str, IslandKind]]:
        """Yield the entries that end what was cleared, or what was cut off by a lost parent."""
        for (before, _), (name, node) in pairwise(self._nodes.items()):
            if node.type == "reset_boundary":
                yield node.parent or before, "context cleared"
            elif node.parent is not None and self._parent_of(name, node) is None:
                yield before, "cut off"

    def _path_from(self, name: str | None, seen: Collection[str]) -> list[str]:
        """Return an entry and all that it follows, back to a root, a reset or one that was seen."""
        path: dict[str, None] = {}
        while name is not None and name not in path and name not in seen:
            path[name] = None
            node = self._nodes[name]
            name = None if node.type == "reset_boundary" else self._parent_of(name, node)
        return list(path)

    def _parent_of(self, name: str, node: _PiNode) -> str | None:
        """Return the entry that another one follows; bridge one lost with a damaged line."""
        if node.parent is None or node.parent in self._nodes:
            return node.parent
        bridge = self._before_gap(node.line)
        where = f"line {node.line + 1}:"
        if bridge is not None:
            self.bridged[name] = bridge
            self._bridge_warnings[name] = (
                f"{where} parent lost in a damaged line; attached to line "
                f"{self._nodes[bridge].line + 1}"
            )
        elif self._first_sent is not None and self._first_sent < node.line:
            self._bridge_warnings[name] = (
                f"{where} its parent {node.parent[:8]} is not in the file; earlier history is "
                "missing"
            )
        return bridge

    def _before_gap(self, line: int) -> str | None:
        """Return the newest entry before the last damaged line before ``line``."""
        gap = bisect_left(self._damaged_lines, line) - 1
        n_before = bisect_left(self._lines, self._damaged_lines[gap]) if gap >= 0 else 0
        return self._names[n_before - 1] if n_before > 0 else None

    def _warn(self, names: list[str]) -> None:
        self.warnings += [
            self._bridge_warnings[name] for name in reversed(names) if name in self._bridge_warnings
        ]

    def _first_kept(self, compaction: _PiNode, older: list[str]) -> str | None:
        """Return the first entry that a compaction kept, or None if it kept none of ``older``."""
        first = compaction.first_kept
        if isinstance(first, int):
            name = self._records[first] if 0 <= first < len(self._records) else None
            return name if name in older else None
        if first not in older:
            return None
        # Without this entry, the client would keep nothing at all.
        self.mark_unmovable(first, _KEPT_REASON)
        return first

    def _with_inserted(self, names: list[str]) -> list[str]:
        """Reverse ``names``, which are newest first, and add the inserted entries between them.

        An inserted entry may be a side branch: the entry after it in the file still follows its
        own parent.

            file:  A, S (inserted), B     parents A <- S and A <- B     path A <- B     sent: A S B
        """
        inserted = self._inserted_before(set(names))
        return [
            sent for name in reversed(names) for sent in (*reversed(inserted.get(name, [])), name)
        ]

    def _inserted_before(self, names: set[str]) -> dict[str, list[str]]:
        """Return the inserted entries directly before each of some entries, nearest first."""
        followed = {node.parent for node in self._nodes.values()}
        inserted: dict[str, list[str]] = {}
        following: str | None = None
        for name in reversed(self._nodes):
            if name in names:
                following = name
            elif following is not None and self._nodes[name].is_inserted and name not in followed:
                inserted.setdefault(following, []).append(name)
            else:
                following = None
        return inserted

    def _messages(self, names: list[str]) -> list[Message]:
        return [
            message.as_unmovable(self._unmovable[name]) if name in self._unmovable else message
            for name in names
            if self._nodes[name].type != "compaction"
            for message in self._nodes[name].messages
        ]


def _kept_from(entry: Mapping[str, Any]) -> str | int | None:
    """Return the id of the first entry that a compaction kept; in version 1, its index."""
    for value in (entry.get("firstKeptEntryId"), entry.get("firstKeptEntryIndex")):
        if isinstance(value, str | int) and not isinstance(value, bool):
            return value
    return None
