"""Which entries of a pi session the next request would send, and in which order.

Entries form a tree by ``parentId``; the path from the newest one to its root is effective, and of
several with one id the last counts (found with client 0.73.1). Entries of version 1 have no ids and
follow one another. A compaction puts its summary in place of what is older than the first entry it
kept.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from compactctl.model.message import Message
from compactctl.model.tags import is_appended

_LEAF = "the client takes the newest entry for the end, and another branch would then have it"
_KEPT = "the client's own compaction keeps the conversation from here on"
_AGAIN = "the file holds an earlier entry of it, which would count again"


@dataclass(slots=True)
class _PiNode:
    """What the last entry with an id says; ``line`` is that of the first."""

    line: int
    parent: str | None
    type: str
    first_kept: str | int | None
    appended: bool = False
    messages: list[Message] = field(default_factory=list)

    @property
    def is_inserted(self) -> bool:
        """Whether compactctl put the entry between others, which may not follow it."""
        return (
            not self.appended
            and bool(self.messages)
            and all(message.origin.is_synthetic for message in self.messages)
        )


class PiChain:
    """Takes in entries in file order, then tells the effective history.

    ``bridged`` then tells which entry follows which where a damaged line took its parent, ``path``
    the entries from the newest one back to a root, which are all that are ``included``.
    """

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.bridged: dict[str, str] = {}
        self._nodes: dict[str, _PiNode] = {}
        self._newest: str | None = None
        # Every record in file order, as version 1 numbers them; None is the header.
        self._records: list[str | None] = []
        self._held: dict[str, str] = {}
        # Names and lines of the nodes, and damaged lines, all in file order.
        self._names: list[str] = []
        self._lines: list[int] = []
        self._gaps: list[int] = []
        self._first_sent: int | None = None
        self._bridge_warnings: dict[str, str] = {}
        self.path: tuple[str, ...] = ()
        self.included: frozenset[str] = frozenset()

    def add_damage(self, line: int) -> None:
        """Take in that a line is not understood; an entry may have been lost with it."""
        self._gaps.append(line)

    def add_header(self) -> None:
        """Take in a session header, which is not an entry but is numbered like one."""
        self._records.append(None)

    def mark_unmovable(self, name: str, why: str) -> None:
        """Keep the entry ``name`` where it is."""
        self._held[name] = why

    def add(self, entry: Mapping[str, Any], line: int) -> str:
        """Take in an entry; return the name under which its message is to be added."""
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
            appended=is_appended(entry),
        )
        self._newest = name
        if earlier is not None:
            # What an inline compaction has tagged as hidden stands beside what was made of it.
            node.messages = [message for message in earlier.messages if message.tags.hidden_by]
            if not node.messages:
                self.mark_unmovable(name, _AGAIN)
        return name

    def add_message(self, name: str, message: Message) -> None:
        """Take in what the entry ``name`` puts into the context."""
        node = self._nodes[name]
        node.messages.append(message)
        if self._first_sent is None:
            self._first_sent = node.line

    def effective(self) -> tuple[Message, ...]:
        """Return the effective history in the order it would be sent."""
        back = self._path_to_root()
        self.path, self.included = tuple(back), frozenset(back)
        if len(back) < len(self._nodes):
            self.mark_unmovable(back[0], _LEAF)
        compaction = next((n for n in back if self._nodes[n].type == "compaction"), None)
        if compaction is None:
            self._warn(back)
            return tuple(self._messages(self._with_inserted(back)))
        at = back.index(compaction)
        start = self._first_kept(self._nodes[compaction], back[at + 1 :])
        after, kept = back[:at], back[at + 1 : back.index(start) + 1] if start else []
        self._warn([*after, compaction, *kept][:-1])
        # What was reported for these describes a context that the compaction ended.
        older = [replace(m, usage=None) for m in self._messages(self._with_inserted(kept))]
        newer = self._messages(self._with_inserted(after))
        return (*self._nodes[compaction].messages, *older, *newer)

    def _path_to_root(self) -> list[str]:
        """Return the newest entry and all it follows, back to a root or a reset."""
        way: dict[str, None] = {}
        at = self._newest
        while at is not None and at not in way:
            way[at] = None
            node = self._nodes[at]
            at = None if node.type == "reset_boundary" else self._parent_of(at, node)
        return list(way)

    def _parent_of(self, name: str, node: _PiNode) -> str | None:
        """Return what an entry follows; what a damaged line took away is bridged."""
        if node.parent is None or node.parent in self._nodes:
            return node.parent
        bridge = self._before_gap(node.line)
        where = f"line {node.line + 1}: its parent"
        if bridge is not None:
            self.bridged[name] = bridge
            if node.parent in self._held:
                self.mark_unmovable(bridge, self._held[node.parent])
            follows = f"it is taken to follow line {self._nodes[bridge].line + 1}"
            self._bridge_warnings[name] = f"{where} was lost with a damaged line; {follows}"
        elif self._first_sent is not None and self._first_sent < node.line:
            dropped = "what stands before it is not part of the conversation"
            self._bridge_warnings[name] = f"{where} {node.parent[:8]} is not in the file; {dropped}"
        return bridge

    def _before_gap(self, line: int) -> str | None:
        """Return the newest entry before the newest damaged line before ``line``."""
        gap = bisect_left(self._gaps, line) - 1
        place = bisect_left(self._lines, self._gaps[gap]) if gap >= 0 else 0
        return self._names[place - 1] if place > 0 else None

    def _warn(self, names: list[str]) -> None:
        self.warnings += [
            self._bridge_warnings[name] for name in reversed(names) if name in self._bridge_warnings
        ]

    def _first_kept(self, compaction: _PiNode, older: list[str]) -> str | None:
        """Return which of the ``older`` entries a compaction kept first, None when it kept none."""
        first = compaction.first_kept
        if isinstance(first, int):
            name = self._records[first] if 0 <= first < len(self._records) else None
            return name if name in older else None
        if first not in older:
            return None
        # Were this entry gone, the client would keep nothing at all.
        self.mark_unmovable(first, _KEPT)
        return first

    def _with_inserted(self, names: list[str]) -> list[str]:
        """Return entries, the newest first, as they follow one another, with the written between.

        A written record stands before one of them and leads nowhere when what it stands before
        still follows its own parent.
        """
        aside = self._inserted_before(set(names))
        return [each for name in reversed(names) for each in (*reversed(aside.get(name, [])), name)]

    def _inserted_before(self, wanted: set[str]) -> dict[str, list[str]]:
        """Return the written records that stand before entries, the nearest first."""
        followed = {node.parent for node in self._nodes.values()}
        found: dict[str, list[str]] = {}
        before: str | None = None
        for name in reversed(self._nodes):
            if name in wanted:
                before = name
            elif before is not None and self._nodes[name].is_inserted and name not in followed:
                found.setdefault(before, []).append(name)
            else:
                before = None
        return found

    def _messages(self, names: list[str]) -> list[Message]:
        return [
            message.as_unmovable(self._held[name]) if name in self._held else message
            for name in names
            if self._nodes[name].type != "compaction"
            for message in self._nodes[name].messages
        ]


def _kept_from(entry: Mapping[str, Any]) -> str | int | None:
    """Return the name of the first entry a compaction kept, in version 1 its number."""
    for value in (entry.get("firstKeptEntryId"), entry.get("firstKeptEntryIndex")):
        if isinstance(value, str | int) and not isinstance(value, bool):
            return value
    return None
