"""Which entries of a pi session the next request would send, and in which order.

Entries form a tree by ``parentId``; the path from the newest one to its root is effective. Entries
of version 1 have no ids and follow one another. A compaction puts its summary in place of what is
older than the first entry it kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from compactctl.model.message import Message

_KEPT = "the client's own compaction keeps the conversation from here on"


@dataclass(slots=True)
class _Node:
    line: int
    parent: str | None
    type: str
    first_kept: str | int | None
    messages: list[Message] = field(default_factory=list)

    @property
    def written(self) -> bool:
        return bool(self.messages) and all(message.synthetic for message in self.messages)


class Chain:
    """Takes in entries in file order, then tells the effective history."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._nodes: dict[str, _Node] = {}
        # Every record in file order, as version 1 numbers them; None is the header.
        self._records: list[str | None] = []
        self._held: dict[str, str] = {}
        self._gaps: list[int] = []

    def gap(self, line: int) -> None:
        """Take in that a line is not understood; an entry may have been lost with it."""
        self._gaps.append(line)

    def header(self) -> None:
        """Take in a session header, which is no entry but is numbered like one."""
        self._records.append(None)

    def hold(self, name: str, why: str) -> None:
        """Keep the entry ``name`` where it is."""
        self._held[name] = why

    def add(self, entry: Mapping[str, Any], line: int, message: Message | None) -> None:
        """Take in an entry, and the message it stands for if it is one that is sent."""
        name, parent = entry.get("id"), entry.get("parentId")
        if not isinstance(name, str) or not name:
            name, parent = f"entry {len(self._records)}", next(reversed(self._nodes), None)
        self._records.append(name)
        if name not in self._nodes:
            self._nodes[name] = _Node(
                line=line,
                parent=parent if isinstance(parent, str) else None,
                type=str(entry.get("type")),
                first_kept=_first_kept(entry),
            )
        if message is not None:
            self._nodes[name].messages.append(message)

    def effective(self) -> tuple[Message, ...]:
        """Return the effective history in the order it would be sent."""
        path = self._path()
        compactions = [name for name in path if self._nodes[name].type == "compaction"]
        if not compactions:
            return tuple(self._messages(path))
        at = path.index(compactions[-1])
        kept = [replace(message, usage=None) for message in self._messages(path[:at])]
        after = self._messages(path[at + 1 :])
        return (*self._nodes[path[at]].messages, *kept, *after)

    def _path(self) -> list[str]:
        """Return what the newest entry follows, from the first entry that is still sent on."""
        path: dict[str, None] = {}
        at = next(reversed(self._nodes), None)
        start: str | None = None
        compacted = False
        while at is not None and at not in path:
            path[at] = None
            node = self._nodes[at]
            if node.type == "compaction" and not compacted:
                compacted, start = True, self._kept_from(node)
            if at == start or node.type == "reset_boundary" or (compacted and start is None):
                break
            at = self._before(at, path)
        return self._with_written(path)

    def _kept_from(self, compaction: _Node) -> str | None:
        """Return the first entry that a compaction kept, None when it kept none."""
        first = compaction.first_kept
        if isinstance(first, int):
            return self._records[first] if 0 <= first < len(self._records) else None
        if first not in self._nodes:
            return None
        # Were this entry gone, the client would keep nothing at all.
        self.hold(first, _KEPT)
        return first

    def _before(self, name: str, path: Mapping[str, None]) -> str | None:
        """Return what an entry follows; what a damaged line took away is bridged."""
        node = self._nodes[name]
        if node.parent is None or node.parent in self._nodes:
            return node.parent
        earlier = [other for other in self._nodes.values() if other.line < node.line]
        if not any(other.messages for other in earlier):
            return None
        bridge = self._before_gap(node.line)
        if bridge is not None and bridge not in path:
            self.warnings.append(
                f"line {node.line + 1}: its parent was lost with a damaged line; "
                f"it is taken to follow line {self._nodes[bridge].line + 1}"
            )
            return bridge
        self.warnings.append(
            f"line {node.line + 1}: its parent {node.parent[:8]} is not in the file; "
            "what stands before it is not part of the conversation"
        )
        return None

    def _before_gap(self, line: int) -> str | None:
        """Return the newest entry before the newest damaged line before ``line``."""
        gap = max((at for at in self._gaps if at < line), default=-1)
        return next((n for n in reversed(self._nodes) if self._nodes[n].line < gap), None)

    def _with_written(self, path: Mapping[str, None]) -> list[str]:
        """Return a path in file order, with each written record that stands before one of it.

        Such a record leads nowhere when what it stands before still follows its own parent.
        """
        included: list[str] = []
        follows = False
        for name in reversed(self._nodes):
            if name in path or (follows and self._nodes[name].written):
                included.append(name)
                follows = True
            else:
                follows = False
        return included[::-1]

    def _messages(self, names: list[str]) -> list[Message]:
        return [
            replace(message, anchored=self._held[name]) if name in self._held else message
            for name in names
            if self._nodes[name].type != "compaction"
            for message in self._nodes[name].messages
        ]


def _first_kept(entry: Mapping[str, Any]) -> str | int | None:
    """Return the name of the first entry a compaction kept, in version 1 its number."""
    for value in (entry.get("firstKeptEntryId"), entry.get("firstKeptEntryIndex")):
        if isinstance(value, str | int) and not isinstance(value, bool):
            return value
    return None
