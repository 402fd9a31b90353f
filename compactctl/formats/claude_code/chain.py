"""Which records of a Claude Code session the next request would send, and in which order.

Records form a tree by ``parentUuid``. Of several with one uuid the last counts, at the place that
its parent gives it. The path from the newest record to its root is effective, and with it what
parallel tool calls hung beside the path: other records of a response on it, results that follow any
record of that response, and attachments of those. Found with clients 2.0.76 to 2.1.330 by what they
send.

A ``progress`` record is never part of the chain. As the client reads the file it notes which record
a progress record follows, and gives that parent to what follows the progress record on a later
line. What it has read before stays as it is, so a progress record that is appended once more with
another parent changes nothing.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from compactctl.formats.claude_code.boundaries import Boundary, boundary_of, cleared_ids, saved_by
from compactctl.formats.records.json_values import text_or_none
from compactctl.formats.records.usage import newest_report, without_reports
from compactctl.model.message import FilePart, Message, Part, ToolResultPart
from compactctl.model.tags import is_appended
from compactctl.model.transcript import Cleared, SessionLines

# What the client sends in place of results and attachments it has microcompacted.
CLEARED = "[Old tool result content cleared]"
_LEAF_TYPES = frozenset({"user", "assistant", "attachment", "system"})
_KEPT = "the client kept it verbatim at its own compaction"


@dataclass(slots=True)
class _ClaudeNode:
    """What the last record with a uuid says; ``line`` is that of the first, ``newest`` its own."""

    line: int
    newest: int
    parent: str | None
    type: str
    sidechain: bool
    session: str | None = None
    time: str = ""
    appended: bool = False
    boundary: Boundary | None = None
    cleared: frozenset[str] = frozenset()
    saved: int | None = None
    messages: list[Message] = field(default_factory=list)

    @property
    def is_inserted(self) -> bool:
        """Whether compactctl put the record between others, which may not follow it."""
        return not self.appended and any(message.origin.is_synthetic for message in self.messages)


class ClaudeChain:
    """Takes in records in file order, then tells the effective history.

    ``bridged`` then tells which record follows which where the parent it names is not in the file,
    ``path`` the records from the newest one back to where the conversation begins, ``included``
    those and what hangs beside them. ``parents`` tells which record each of the chain follows, past
    any ``progress`` record between them.
    ``cleared`` is what was reported before content was cleared.
    """

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self._nodes: dict[str, _ClaudeNode] = {}
        # Which record a progress record follows, past those before it.
        self._bridges: dict[str, str | None] = {}
        self._unlinked: list[Message] = []
        self._held: dict[str, str] = {}
        self._gaps: list[int] = []
        self._resume_point = ""
        # Which record follows which where a compaction kept some behind its anchor.
        self._spliced: dict[str, str | None] = {}
        # Behind which record of the path what belongs to its response stands, and at which place.
        self._beside: dict[str, tuple[str, int]] = {}
        # What stands before a compaction, which starts a new root.
        self._logical: dict[str, str] = {}
        self.bridged: dict[str, str] = {}
        self.path: tuple[str, ...] = ()
        self.included: frozenset[str] = frozenset()
        self.cleared: Cleared | None = None

    def add_damage(self, line: int) -> None:
        """Take in that a line is not understood; a record may have been lost with it."""
        self._gaps.append(line)

    def mark_unmovable(self, uuid: str, why: str) -> None:
        """Keep the record ``uuid`` where it is: the one that follows it cannot be re-linked."""
        self._held[uuid] = why

    def add(self, record: Mapping[str, Any], line: int) -> None:
        """Take in a record that has a uuid; it stands for an earlier one that has the same."""
        uuid, parent = record["uuid"], text_or_none(record.get("parentUuid"))
        if parent is not None:
            parent = self._bridges.get(parent, parent)
        if record["type"] == "progress":
            self._bridges[uuid] = parent
            return
        earlier = self._nodes.get(uuid)
        node = self._nodes[uuid] = _ClaudeNode(
            line=earlier.line if earlier else line,
            newest=line,
            parent=parent,
            type=record["type"],
            sidechain=record.get("isSidechain") is True,
            session=text_or_none(record.get("sessionId")),
            time=text_or_none(record.get("timestamp")) or "",
            appended=is_appended(record),
        )
        if "subtype" in record:
            node.boundary, node.cleared = boundary_of(record), cleared_ids(record)
            logical = text_or_none(record.get("logicalParentUuid"))
            if logical is not None:
                self._logical[uuid] = logical
            # Where to go on is forgotten with a compaction.
            self._resume_point = "" if node.boundary else self._resume_point
            node.saved = saved_by(record) if node.cleared else None
        if earlier is None:
            return
        # What an inline compaction has tagged as hidden stands beside what was made of it.
        node.messages = [message for message in earlier.messages if message.tags.hidden_by]
        if not node.messages:
            self.mark_unmovable(
                uuid, "the file holds an earlier record of it, which would count again"
            )

    @property
    def parents(self) -> Mapping[str, str | None]:
        """Return which record each one follows."""
        return {uuid: node.parent for uuid, node in self._nodes.items()}

    def set_resume_point(self, uuid: str) -> None:
        """Take in that the client names ``uuid`` as the record to go on from."""
        self._resume_point = uuid

    def add_message(self, message: Message, uuid: str) -> None:
        """Take in the message of the record ``uuid``, or of one without a uuid."""
        node = self._nodes.get(uuid)
        (self._unlinked if node is None else node.messages).append(message)

    def rename(self, responses: Mapping[str, str]) -> None:
        """Give messages, by their ids, other ids of responses."""
        for node in self._nodes.values() if responses else ():
            node.messages = [
                replace(m, response_id=responses[m.id]) if m.id in responses else m
                for m in node.messages
            ]

    def effective(self) -> tuple[Message, ...]:
        """Return the effective history in the order it would be sent."""
        anchor, kept = self._preserved()
        self._spliced = self._splice(anchor, kept) if kept else {}
        leaf = self._leaf()
        if leaf is None:
            return tuple(self._unlinked)
        # With nothing said since the compaction, what it kept is the end.
        path = self._path(kept[-1] if kept and leaf == anchor else leaf)
        included = self._with_side_records(path)
        self.path, self.included = tuple(path), frozenset(included)
        sent = _without_lone_thoughts(self._ordered(path, included))
        self.cleared = self._before_clearing(sent, included)
        return tuple(self._kept(_clear(sent, self._cleared_ids(included)), included))

    def sessions(self, lines: Mapping[str, tuple[int, int]]) -> tuple[SessionLines, ...]:
        """Return where sessions stand that do not follow from one another; () for one.

        ``lines`` are the first and the last line with each id. What stands between two sessions
        without an id is of the later one, as what a client notes before the first prompt.

        A session that was resumed under another id follows from the one before, and so may one of
        which a parent is not in the file.
        """
        main = [n for n in self._nodes.values() if n.messages and not n.sidechain and n.session]
        names = dict.fromkeys(node.session for node in main if node.session)
        if len(names) <= 1:
            return ()
        group = {name: name for name in names}
        for uuid, node in self._nodes.items():
            for parent in (node.parent, self._logical.get(uuid)):
                if parent is None or node.session not in group:
                    continue
                if parent not in self._nodes:
                    return ()
                before = self._nodes[parent].session
                if before in group and group[before] != group[node.session]:
                    old, new = group[node.session], group[before]
                    group = {name: new if each == old else each for name, each in group.items()}
        found: list[SessionLines] = []
        for name in dict.fromkeys(group.values()):
            at = [lines[each] for each in group if group[each] == name and each in lines]
            start = found[-1].last + 1 if found else 0
            first, last = min(at)[0], max(last for _, last in at)
            found.append(SessionLines(name or "", min(first, start), last))
        return tuple(found) if len(found) > 1 else ()

    def _before_clearing(
        self, messages: tuple[Message, ...], included: dict[str, None]
    ) -> Cleared | None:
        """Return the newest report, where content was cleared since, and what that saved."""
        found = newest_report(messages)
        clearing = [node for uuid in included if (node := self._nodes[uuid]).cleared]
        since = [node.saved for node in clearing if found and node.line > found.line]
        if found is None or not since:
            return None
        saved = [tokens for tokens in since if tokens is not None]
        return Cleared(
            usage=found.usage,
            response_id=found.response_id,
            saved=sum(saved) if len(saved) == len(since) else None,
        )

    def _kept(self, messages: tuple[Message, ...], included: dict[str, None]) -> Iterator[Message]:
        """Yield the messages, with the reasons why some must stay."""
        held = {m.id: why for u, why in self._held.items() for m in self._included(u, included)}
        for message in messages:
            why = held.get(message.id)
            yield message if why is None else message.as_unmovable(why)

    def _included(self, uuid: str, included: dict[str, None]) -> list[Message]:
        return self._nodes[uuid].messages if uuid in included else []

    def _leaf(self) -> str | None:
        ends = [uuid for uuid, node in self._nodes.items() if _can_be_leaf(node)]
        main = [uuid for uuid in ends if not self._nodes[uuid].sidechain]
        # A subagent's own file holds nothing but sidechain records.
        chosen = main if any(self._nodes[uuid].messages for uuid in main) else ends
        newest = max(chosen, key=lambda uuid: self._nodes[uuid].newest, default=None)
        pointed = self._nodes.get(self._resume_point)
        if newest is None or pointed is None or pointed.sidechain:
            return newest
        return newest if self._resume_point in self._before(newest) else self._resume_point

    def _before(self, uuid: str) -> set[str]:
        """Return a record and those that it follows, wherever the conversation begins."""
        before: set[str] = set()
        at: str | None = uuid
        while at is not None and at in self._nodes and at not in before:
            before.add(at)
            at = self._spliced.get(at) or self._nodes[at].parent
        return before

    def _path(self, leaf: str) -> dict[str, None]:
        """Return the records from ``leaf`` to the root or boundary that it goes back to."""
        path: dict[str, None] = {}
        at: str | None = leaf
        while at is not None and at not in path and at in self._nodes:
            path[at] = None
            node = self._nodes[at]
            if node.boundary is not None:
                break
            at = self._spliced.get(at) or self._parent_of(at, node.parent, path)
        boundary = self._nodes[next(reversed(path))].boundary if path else None
        if boundary is not None and boundary.anchor is not None:
            self.mark_unmovable(
                boundary.anchor, "messages that the client kept verbatim hang below it"
            )
        return path

    def _preserved(self) -> tuple[str | None, list[str]]:
        """Return what the newest compaction kept, oldest first, and the anchor that it follows."""
        boundaries = [n.boundary for n in self._nodes.values() if n.boundary and not n.sidechain]
        newest = boundaries[-1] if boundaries else Boundary()
        if newest.uuids:
            return newest.anchor, [u for u in dict.fromkeys(newest.uuids) if u in self._nodes]
        kept: dict[str, None] = {}
        at = newest.tail
        while at is not None and at in self._nodes and at not in kept:
            kept[at] = None
            if at == newest.head:
                return newest.anchor, list(reversed(kept))
            at = self._nodes[at].parent
        return newest.anchor, []

    def _splice(self, anchor: str | None, kept: list[str]) -> dict[str, str | None]:
        """Put what was kept behind the anchor; what followed the anchor follows the last of it."""
        beside = (uuid for uuid, node in self._nodes.items() if node.parent == anchor)
        # Those that were kept may have followed the anchor themselves: their own place counts.
        return {
            **dict.fromkeys(beside, kept[-1]),
            **dict(zip(kept, (anchor, *kept[:-1]), strict=True)),
        }

    def _parent_of(self, at: str, parent: str | None, path: dict[str, None]) -> str | None:
        if parent is None or parent in self._nodes:
            return parent
        found = self._bridge_missing_parent(at, parent, path)
        if found is not None:
            self.bridged[at] = found
            if parent in self._held:
                self.mark_unmovable(found, self._held[parent])
        return found

    def _bridge_missing_parent(self, at: str, parent: str, path: dict[str, None]) -> str | None:
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

    def _with_side_records(self, path: dict[str, None]) -> dict[str, None]:
        """Add what parallel calls hung beside the path, which the client collects so.

        Each response of which a record is on the path comes with its other records, and with the
        results that follow any of them. They stand behind its last record on the path: records,
        then results, both by time.
        """
        included = dict(path)
        responses, results = self._by_response()
        ends = {
            message.response_id: uuid
            for uuid in reversed(path)
            for message in self._nodes[uuid].messages
            if message.response_id
        }
        self._beside = {}
        for response, end in ends.items():
            group = responses[response]
            answers = [uuid for member in group for uuid in results.get(member, ())]
            after = (*sorted(group, key=self._time), *sorted(answers, key=self._time))
            aside = [uuid for uuid in after if uuid not in included]
            self._beside.update({uuid: (end, place) for place, uuid in enumerate(aside, 1)})
            included.update(dict.fromkeys(aside))
        start = self._boundary_line(path)
        side = {u: n for u, n in self._nodes.items() if u not in included and n.line >= start}
        return self._with_attachments(included, side)

    def _time(self, uuid: str) -> str:
        return self._nodes[uuid].time

    def _by_response(self) -> tuple[Mapping[str, list[str]], Mapping[str, list[str]]]:
        """Return the records of each response, and the tool results that follow each record."""
        responses: dict[str, list[str]] = defaultdict(list)
        results: dict[str, list[str]] = defaultdict(list)
        for uuid, node in self._nodes.items():
            for response in {m.response_id for m in node.messages if m.response_id}:
                responses[response].append(uuid)
            if node.parent is not None and any(message.results for message in node.messages):
                results[node.parent].append(uuid)
        return responses, results

    def _with_attachments(
        self, included: dict[str, None], side: dict[str, _ClaudeNode]
    ) -> dict[str, None]:
        """Add attachments and written records that hang on what is included, and lead nowhere."""
        included = dict(included)
        elsewhere = self._on_other_branches(included)
        sidechain = all(self._nodes[uuid].sidechain for uuid in included)
        # A written record names the parent of what it stands for, wherever that is.
        parents = {self._nodes[uuid].parent for uuid in included}
        for uuid, node in side.items():
            hangs_on = node.parent is None or node.parent in included
            hangs_on = hangs_on or (node.is_inserted and node.parent in parents)
            kind = node.type == "attachment" or node.is_inserted
            if hangs_on and kind and node.sidechain == sidechain and uuid not in elsewhere:
                included[uuid] = None
        return included

    def _on_other_branches(self, included: dict[str, None]) -> set[str]:
        """Return the records that a message on an abandoned branch follows."""
        found: set[str] = set()
        for uuid, node in self._nodes.items():
            if uuid in included or node.type not in ("user", "assistant") or node.is_inserted:
                continue
            at = node.parent
            while at in self._nodes and at not in included and at not in found:
                found.add(at)
                at = self._nodes[at].parent
        return found

    def _boundary_line(self, path: dict[str, None]) -> int:
        boundary = [self._nodes[uuid].line for uuid in path if self._nodes[uuid].boundary]
        return boundary[0] if boundary else 0

    def _ordered(self, path: dict[str, None], included: dict[str, None]) -> tuple[Message, ...]:
        """Return the messages in the order of the path, and what hangs beside it in file order."""
        stretches = self._file_runs(path)
        placed = [(self._order_of(uuid, stretches), self._nodes[uuid]) for uuid in included]
        placed.sort(key=lambda each: each[0])
        start = max((node.line for _, node in placed if node.boundary), default=0)
        return tuple(
            # What was reported for what was kept describes a context that the compaction ended.
            message if node.line >= start else replace(message.as_unmovable(_KEPT), usage=None)
            for _, node in placed
            for message in node.messages
        )

    def _order_of(self, uuid: str, stretches: dict[str, int]) -> tuple[int, int, int]:
        """Return where a record stands: its stretch, its line, its place behind another record."""
        end, place = self._beside.get(uuid, (uuid, 0))
        return self._file_run_of(end, stretches), self._nodes[end].line, place

    def _file_runs(self, path: dict[str, None]) -> dict[str, int]:
        """Number the stretches of a path whose records stand in the file as they follow."""
        found: dict[str, int] = {}
        number, line = 0, -1
        for uuid in reversed(path):
            node = self._nodes[uuid]
            number += node.line < line
            found[uuid], line = number, node.line
        return found

    def _file_run_of(self, uuid: str, stretches: dict[str, int]) -> int:
        """Return the stretch of the path that a record is on, or hangs on."""
        seen: set[str] = set()
        at: str | None = uuid
        while at is not None and at in self._nodes and at not in seen:
            if at in stretches:
                return stretches[at]
            seen.add(at)
            at = self._spliced.get(at) or self._nodes[at].parent
        return max(stretches.values(), default=0)

    def _cleared_ids(self, included: dict[str, None]) -> dict[str, int]:
        """Return cleared tool call ids with the line from which on they are cleared."""
        nodes = [self._nodes[uuid] for uuid in included]
        return {name: node.line for node in nodes for name in node.cleared}


def _can_be_leaf(node: _ClaudeNode) -> bool:
    """Tell whether a conversation can end here; a notice that follows nothing is not an end."""
    says_nothing = node.type == "system" or not node.messages
    alone = node.parent is None and node.boundary is None and says_nothing
    return node.type in _LEAF_TYPES and not alone


def _without_lone_thoughts(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Leave out the reasoning of a response that was interrupted before it said anything."""
    complete = {message.response_id for message in messages if not message.is_thought}
    return tuple(m for m in messages if not m.is_thought or m.response_id in complete)


def _clear(messages: tuple[Message, ...], cleared: dict[str, int]) -> tuple[Message, ...]:
    """Put placeholders for what was cleared; what was reported before held it still."""
    if not cleared:
        return messages
    newest = max(cleared.values())
    emptied = (
        replace(
            message, parts=tuple(_cleared_part(part, message, cleared) for part in message.parts)
        )
        for message in messages
    )
    return without_reports(emptied, lambda message: message.line < newest)


def _cleared_part(part: Part, message: Message, cleared: dict[str, int]) -> Part:
    if isinstance(part, FilePart) and cleared.get(message.id, -1) > message.line:
        return replace(part, text=CLEARED)
    if isinstance(part, ToolResultPart) and cleared.get(part.call_id, -1) > message.line:
        return replace(part, text=CLEARED, media=(), cleared=True)
    return part
