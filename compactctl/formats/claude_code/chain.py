"""Which records of a Claude Code session the next request would send, and in which order.

Records form a tree by ``parentUuid``. The path from the newest record to its root is effective,
and with it what parallel tool calls hung beside the path: results of calls on it, records of the
same response, and attachments of those.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from compactctl.formats.claude_code.marks import Boundary, boundary_of, cleared_by
from compactctl.model.message import CallId, FilePart, Message, Part, ToolResultPart

# What the client sends in place of results and attachments it has microcompacted.
CLEARED = "[Old tool result content cleared]"
_LEAF_TYPES = frozenset({"user", "assistant", "attachment", "system"})


@dataclass(slots=True)
class _ClaudeNode:
    line: int
    parent: str | None
    type: str
    sidechain: bool
    boundary: Boundary | None = None
    cleared: frozenset[str] = frozenset()
    messages: list[Message] = field(default_factory=list)

    @property
    def is_written(self) -> bool:
        """Whether compactctl wrote the record."""
        return any(message.synthetic for message in self.messages)


class ClaudeChain:
    """Takes in records in file order, then tells the effective history.

    ``resumed`` then tells which record follows which where the parent it names is not in the file.
    """

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._nodes: dict[str, _ClaudeNode] = {}
        self._loose: list[Message] = []
        self._held: dict[str, str] = {}
        self._gaps: list[int] = []
        self._repeated: set[str] = set()
        self.resumed: dict[str, str] = {}

    def gap(self, line: int) -> None:
        """Take in that a line is not understood; a record may have been lost with it."""
        self._gaps.append(line)

    def hold(self, uuid: str, why: str) -> None:
        """Keep the record ``uuid`` where it is: the one that follows it cannot be re-linked."""
        self._held[uuid] = why

    def add(self, record: Mapping[str, Any], line: int) -> None:
        """Take in a record that has a uuid."""
        uuid = record["uuid"]
        if uuid in self._nodes:
            return
        parent = record.get("parentUuid")
        node = self._nodes[uuid] = _ClaudeNode(
            line=line,
            parent=parent if isinstance(parent, str) else None,
            type=record["type"],
            sidechain=record.get("isSidechain") is True,
        )
        if "subtype" in record:
            node.boundary, node.cleared = boundary_of(record), cleared_by(record)

    def message(self, message: Message, uuid: str) -> None:
        """Take in the message of the record ``uuid``, or of one without a uuid."""
        node = self._nodes.get(uuid)
        if node is None:
            self._loose.append(message)
        elif node.messages and not (message.tags.parents or _stands_for(message, node.messages)):
            # A client keeps one record for each uuid; an inline compaction tags what it hides.
            self._repeated.add(uuid)
        else:
            node.messages.append(message)

    def effective(self) -> tuple[Message, ...]:
        """Return the effective history in the order it would be sent."""
        leaf = self._leaf()
        if leaf is None:
            return tuple(self._loose)
        included = self._with_side_records(self._path(leaf))
        ordered = _clear(self._ordered(included), self._cleared_ids(included))
        return tuple(self._kept(ordered, included))

    def _kept(self, messages: tuple[Message, ...], included: dict[str, None]) -> Iterator[Message]:
        """Yield the messages, with the reasons why some must stay."""
        held = {m.id: why for u, why in self._held.items() for m in self._included(u, included)}
        fixed = {m.id for u in self._repeated for m in self._included(u, included)}
        for message in messages:
            if message.id in fixed:
                yield replace(message, fixed="the file holds it more than once")
            elif message.id in held:
                yield replace(message, anchored=held[message.id])
            else:
                yield message

    def _included(self, uuid: str, included: dict[str, None]) -> list[Message]:
        return self._nodes[uuid].messages if uuid in included else []

    def _leaf(self) -> str | None:
        ends = [uuid for uuid, node in self._nodes.items() if _may_end(node)]
        main = [uuid for uuid in ends if not self._nodes[uuid].sidechain]
        # A subagent's own file holds nothing but sidechain records.
        chosen = main if any(self._nodes[uuid].messages for uuid in main) else ends
        return chosen[-1] if chosen else None

    def _path(self, leaf: str) -> dict[str, None]:
        path: dict[str, None] = {}
        at: str | None = leaf
        heads = self._preserved_heads()
        while at is not None and at not in path and at in self._nodes:
            path[at] = None
            node = self._nodes[at]
            if node.boundary is not None:
                break
            at = self._next(at, node.parent, heads, path)
        boundary = self._nodes[next(reversed(path))].boundary if path else None
        if boundary is None or boundary.anchor is None:
            return path
        for anchor in (*heads.values(), boundary.anchor):
            self.hold(anchor, "messages that the client kept verbatim hang below it")
        return {**path, **self._beside(path, boundary)}

    def _beside(self, path: dict[str, None], newest: Boundary) -> dict[str, None]:
        """Return what a compaction kept verbatim when the path does not lead through it."""
        if newest.tail is None or newest.tail in path:
            return {}
        kept: dict[str, None] = {}
        at: str | None = newest.tail
        while at is not None and at in self._nodes and at not in kept:
            kept[at] = None
            if at == newest.head:
                return kept
            at = self._nodes[at].parent
        return {}

    def _next(
        self, at: str, parent: str | None, heads: dict[str, str], path: dict[str, None]
    ) -> str | None:
        anchor = heads.get(at)
        if anchor is not None and anchor not in path:
            return anchor
        if parent is None or parent in self._nodes:
            return parent
        found = self._resume(at, parent, path)
        if found is not None:
            self.resumed[at] = found
            if parent in self._held:
                self.hold(found, self._held[parent])
        return found

    def _resume(self, at: str, parent: str, path: dict[str, None]) -> str | None:
        """Find where the chain goes on when a parent is not in the file."""
        line = self._nodes[at].line
        anchors = [
            node.boundary.anchor
            for node in self._nodes.values()
            if node.boundary and node.boundary.anchor and node.line < line
        ]
        if anchors and anchors[-1] in self._nodes and anchors[-1] not in path:
            return anchors[-1]
        bridge = self._before_gap(line)
        if bridge is not None and bridge not in path:
            self.warnings.append(
                f"line {line + 1}: its parent was lost with a damaged line; "
                f"it is taken to follow line {self._nodes[bridge].line + 1}"
            )
            return bridge
        self.warnings.append(
            f"line {line + 1}: its parent {parent[:8]} is not in the file; "
            "what stands before it is not part of the conversation"
        )
        return None

    def _before_gap(self, line: int) -> str | None:
        """Return the newest record before the newest damaged line before ``line``."""
        gap = max((at for at in self._gaps if at < line), default=-1)
        main = [u for u, n in self._nodes.items() if n.line < gap and not n.sidechain]
        return main[-1] if main else None

    def _preserved_heads(self) -> dict[str, str]:
        """Return head -> anchor of the newest boundary that kept messages verbatim."""
        boundaries = [n.boundary for n in self._nodes.values() if n.boundary and not n.sidechain]
        if not boundaries or boundaries[-1].head is None or boundaries[-1].anchor is None:
            return {}
        return {boundaries[-1].head: boundaries[-1].anchor}

    def _with_side_records(self, path: dict[str, None]) -> dict[str, None]:
        included = dict(path)
        start = self._start(path)
        messages = [message for uuid in path for message in self._nodes[uuid].messages]
        responses = {m.response_id for m in messages if m.response_id}
        calls = {call.call_id for m in messages for call in m.calls}
        side = {u: n for u, n in self._nodes.items() if u not in included and n.line >= start}
        for uuid, node in side.items():
            if _answers(node, calls) or any(m.response_id in responses for m in node.messages):
                included[uuid] = None
                calls |= {call.call_id for m in node.messages for call in m.calls}
        return self._with_attachments(included, side)

    def _with_attachments(
        self, included: dict[str, None], side: dict[str, _ClaudeNode]
    ) -> dict[str, None]:
        """Add attachments and written records that hang on what is included, and lead nowhere."""
        included = dict(included)
        elsewhere = self._leading_elsewhere(included)
        sidechain = all(self._nodes[uuid].sidechain for uuid in included)
        # A written record names the parent of what it stands for, wherever that is.
        parents = {self._nodes[uuid].parent for uuid in included}
        for uuid, node in side.items():
            hangs_on = node.parent is None or node.parent in included
            hangs_on = hangs_on or (node.is_written and node.parent in parents)
            kind = node.type == "attachment" or node.is_written
            if hangs_on and kind and node.sidechain == sidechain and uuid not in elsewhere:
                included[uuid] = None
        return included

    def _leading_elsewhere(self, included: dict[str, None]) -> set[str]:
        """Return the records that a message on an abandoned branch follows."""
        found: set[str] = set()
        for uuid, node in self._nodes.items():
            if uuid in included or node.type not in ("user", "assistant") or node.is_written:
                continue
            at = node.parent
            while at in self._nodes and at not in included and at not in found:
                found.add(at)
                at = self._nodes[at].parent
        return found

    def _start(self, path: dict[str, None]) -> int:
        boundary = [self._nodes[uuid].line for uuid in path if self._nodes[uuid].boundary]
        return boundary[0] if boundary else 0

    def _ordered(self, included: dict[str, None]) -> tuple[Message, ...]:
        nodes = sorted((self._nodes[uuid] for uuid in included), key=lambda node: node.line)
        start = max((node.line for node in nodes if node.boundary), default=0)
        kept = [m for node in nodes if node.line < start for m in node.messages]
        after = [m for node in nodes if node.line >= start for m in node.messages]
        why = "the client kept it verbatim at its own compaction"
        kept = [replace(message, anchored=why) for message in kept]
        anchors = {node.boundary.anchor for node in nodes if node.boundary}
        cut = 1 if after and after[0].id in anchors else 0
        return (*after[:cut], *kept, *after[cut:])

    def _cleared_ids(self, included: dict[str, None]) -> dict[str, int]:
        """Return cleared tool call ids with the line from which on they are cleared."""
        nodes = [self._nodes[uuid] for uuid in included]
        return {name: node.line for node in nodes for name in node.cleared}


def _may_end(node: _ClaudeNode) -> bool:
    """Tell whether a conversation can end here; a notice that follows nothing is not an end."""
    alone = node.parent is None and not node.messages and node.boundary is None
    return node.type in _LEAF_TYPES and not alone


def _stands_for(message: Message, earlier: list[Message]) -> bool:
    """Tell whether a message was rewritten from an earlier one that has its uuid."""
    name = message.tags.edit_id
    return name is not None and any(name == each.tags.edit_parent for each in earlier)


def _answers(node: _ClaudeNode, calls: set[CallId]) -> bool:
    return any(result.call_id in calls for message in node.messages for result in message.results)


def _clear(messages: tuple[Message, ...], cleared: dict[str, int]) -> tuple[Message, ...]:
    if not cleared:
        return messages
    return tuple(
        replace(m, parts=tuple(_cleared_part(part, m, cleared) for part in m.parts))
        for m in messages
    )


def _cleared_part(part: Part, message: Message, cleared: dict[str, int]) -> Part:
    if isinstance(part, FilePart) and cleared.get(message.id, -1) > message.line:
        return replace(part, text=CLEARED)
    if isinstance(part, ToolResultPart) and cleared.get(part.call_id, -1) > message.line:
        return replace(part, text=CLEARED, media=(), cleared=True)
    return part
