"""The records of a Claude Code session that the next request would send, in order.

Records form a tree by ``parentUuid``. Of several with one uuid the last counts, at the position
that its parent gives it. The path from the newest record to its root is effective, and so is what
parallel tool calls left beside it: other records of a response on the path, results that follow any
record of that response, and their attachments. Observed in what clients 2.0.76 to 2.1.330 send.

A ``progress`` record is never part of the chain. While reading, the client notes which record it
follows, and gives that parent to whatever follows it on a later line. Records read before stay as
they are, so appending a progress record again with another parent changes nothing.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any

from msgspec import Struct

from compactctl.clients.claude_code.boundaries import (
    Boundary,
    boundary_of,
    cleared_ids,
    tokens_saved,
)
from compactctl.clients.records.json_values import text_or_none
from compactctl.clients.records.usage import find_newest_report, without_reports
from compactctl.model.message import FilePart, Message, Part, ToolResultPart
from compactctl.model.tags import is_appended
from compactctl.model.transcript import Cleared, SessionLines
from compactctl.records import Record, field, replace

# The client sends this in place of results and attachments that it has microcompacted.
CLEARED = "[Old tool result content cleared]"
LEAF_TYPES = frozenset({"user", "assistant", "attachment", "system"})
_PRESERVED_REASON = "the client kept it verbatim at its own compaction"


class _ClaudeNode(Struct):
    """A record as the last line with its uuid has it.

    ``line`` is that of the first line with the uuid. ``place`` and ``newest_place`` number the
    records of the file; a damaged line can hold several.
    """

    line: int
    place: int
    newest_place: int
    parent: str | None
    type: str
    is_sidechain: bool
    session: str | None = None
    time: str = ""
    is_appended: bool = False
    boundary: Boundary | None = None
    cleared: frozenset[str] = frozenset()
    saved: int | None = None
    messages: list[Message] = field(default_factory=list)

    @property
    def is_inserted(self) -> bool:
        """Whether compactctl put the record between others, which need not follow it."""
        if self.is_appended:
            return False
        return any(message.origin.is_synthetic for message in self.messages)


class SentChain(Record):
    """The records that the next request would send, by uuid, and their messages.

    Attributes:
        messages: the effective history, in the order it would be sent.
        path: the records from the newest one back to where the conversation begins.
        included: those and the records sent beside them.
        order: all of these, in the order they are sent.
        parents: the parent of every record of the file; progress records in between are skipped.
        bridged: the record that another one follows, where its own parent is not in the file.
        warnings: where a parent is missing, in words.
        cleared: the usage that was reported before tool results were cleared, if none was since.
    """

    messages: tuple[Message, ...]
    parents: Mapping[str, str | None]
    path: tuple[str, ...] = ()
    included: frozenset[str] = frozenset()
    order: tuple[str, ...] = ()
    bridged: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    cleared: Cleared | None = None


class _Bridge(Record):
    """What a record continues with if its parent is not in the file, None for nothing."""

    parent: str | None
    warning: str = ""


class _Path(Record):
    """Records from the newest one back, and how those were joined whose parent is missing."""

    records: dict[str, None]
    bridges: Mapping[str, _Bridge]


class ClaudeChain:
    """Add records in file order; ``sent`` returns those that the next request would send."""

    def __init__(self) -> None:
        self._nodes: dict[str, _ClaudeNode] = {}
        self._n_records = 0
        # The record that a progress record follows, skipping other progress records.
        self._progress_parents: dict[str, str | None] = {}
        self._unlinked: list[Message] = []
        # Reasons by uuid.
        self._unmovable: dict[str, str] = {}
        self._damaged_lines: list[int] = []
        self._resume_point = ""
        # What came before a compaction, which itself starts a new root.
        self._logical_parents: dict[str, str] = {}

    def add_damage(self, line: int) -> None:
        """Note a damaged line; a record may have been lost with it."""
        self._damaged_lines.append(line)

    def mark_unmovable(self, uuid: str, reason: str) -> None:
        """Forbid removing the record ``uuid``."""
        self._unmovable[uuid] = reason

    def add(self, record: Mapping[str, Any], line: int) -> None:
        """Add a record that has a uuid; it replaces an earlier record with the same one."""
        uuid, parent = record["uuid"], text_or_none(record.get("parentUuid"))
        if parent is not None:
            parent = self._progress_parents.get(parent, parent)
        if record["type"] == "progress":
            self._progress_parents[uuid] = parent
            return
        earlier = self._nodes.get(uuid)
        place = self._n_records
        self._n_records += 1
        node = self._nodes[uuid] = _ClaudeNode(
            line=earlier.line if earlier else line,
            place=earlier.place if earlier else place,
            newest_place=place,
            parent=parent,
            type=record["type"],
            is_sidechain=record.get("isSidechain") is True,
            session=text_or_none(record.get("sessionId")),
            time=text_or_none(record.get("timestamp")) or "",
            is_appended=is_appended(record),
        )
        if "subtype" in record:
            node.boundary, node.cleared = boundary_of(record), cleared_ids(record)
            logical = text_or_none(record.get("logicalParentUuid"))
            if logical is not None:
                self._logical_parents[uuid] = logical
            # A compaction resets the point from which the client resumes.
            self._resume_point = "" if node.boundary else self._resume_point
            node.saved = tokens_saved(record) if node.cleared else None
        if earlier is None:
            return
        # A message that an inline compaction tagged as hidden stays beside its rewritten record.
        node.messages = [message for message in earlier.messages if message.tags.hidden_by]
        if not node.messages:
            self.mark_unmovable(
                uuid, "the file holds an earlier record of it, which would count again"
            )

    def set_resume_point(self, uuid: str) -> None:
        """Set the record from which the client resumes, instead of the newest one."""
        self._resume_point = uuid

    def add_message(self, message: Message, uuid: str) -> None:
        """Add the message read from the record ``uuid``; "" for a record without one."""
        node = self._nodes.get(uuid)
        (self._unlinked if node is None else node.messages).append(message)

    def rename_responses(self, new_ids: Mapping[str, str]) -> None:
        """Set the response ids of messages; ``new_ids`` by message id."""
        for node in self._nodes.values() if new_ids else ():
            node.messages = [
                replace(m, response_id=new_ids[m.id]) if m.id in new_ids else m
                for m in node.messages
            ]

    def sent(self) -> SentChain:
        """Return the records that would be sent, and their messages."""
        parents = {uuid: node.parent for uuid, node in self._nodes.items()}
        anchor, preserved = self._preserved()
        moved = self._splice(anchor, preserved) if preserved else {}
        leaf = self._leaf(moved)
        if leaf is None:
            return SentChain(messages=tuple(self._unlinked), parents=parents)
        # If nothing followed the compaction, the last preserved record is the end.
        path = self._path(preserved[-1] if preserved and leaf == anchor else leaf, moved)
        included, positions = self._with_side_records(path.records)
        runs = self._file_runs(path.records)
        ranks = {uuid: self._rank(uuid, runs, positions, moved) for uuid in included}
        order = tuple(sorted(included, key=ranks.__getitem__))
        messages = self._in_order(order)
        unmovable = {**self._unmovable, **self._anchor_of(path.records)}
        return SentChain(
            messages=self._with_locks(
                _clear(messages, self._cleared_ids(included)), unmovable, included
            ),
            parents=parents,
            path=tuple(path.records),
            included=frozenset(included),
            order=order,
            bridged={
                uuid: bridge.parent
                for uuid, bridge in path.bridges.items()
                if bridge.parent is not None
            },
            warnings=tuple(bridge.warning for bridge in path.bridges.values() if bridge.warning),
            cleared=self._before_clearing(messages, included),
        )

    def sessions(self, lines: Mapping[str, tuple[int, int]]) -> tuple[SessionLines, ...]:
        """Return the line ranges of unrelated sessions in one file; () if all are related.

        A session that was resumed under another id continues the one before it. So may one with a
        parent that is not in the file: then the result is () too.

        Args:
            lines: the first and the last line with each session id. Lines without an id between two
                sessions belong to the later one: the client writes some before the first prompt.
        """
        main = [n for n in self._nodes.values() if n.messages and not n.is_sidechain and n.session]
        names = dict.fromkeys(node.session for node in main if node.session)
        if len(names) <= 1:
            return ()
        groups = {name: name for name in names}
        for uuid, node in self._nodes.items():
            for parent in (node.parent, self._logical_parents.get(uuid)):
                if parent is None or node.session not in groups:
                    continue
                if parent not in self._nodes:
                    return ()
                before = self._nodes[parent].session
                if before in groups and groups[before] != groups[node.session]:
                    old, new = groups[node.session], groups[before]
                    groups = {name: new if g == old else g for name, g in groups.items()}
        ranges: list[SessionLines] = []
        for group in dict.fromkeys(groups.values()):
            members = [lines[name] for name in groups if groups[name] == group and name in lines]
            start = ranges[-1].last + 1 if ranges else 0
            first, last = min(members)[0], max(last for _, last in members)
            ranges.append(SessionLines(group or "", min(first, start), last))
        return tuple(ranges) if len(ranges) > 1 else ()

    def _before_clearing(
        self, messages: tuple[Message, ...], included: dict[str, None]
    ) -> Cleared | None:
        """Return the newest report if results were cleared since, and the tokens that saved."""
        report = find_newest_report(messages)
        clearing = [node for uuid in included if (node := self._nodes[uuid]).cleared]
        savings = [node.saved for node in clearing if report and node.line > report.line]
        if report is None or not savings:
            return None
        recorded = [tokens for tokens in savings if tokens is not None]
        return Cleared(
            usage=report.usage,
            response_id=report.response_id,
            saved=sum(recorded) if len(recorded) == len(savings) else None,
        )

    def _with_locks(
        self,
        messages: tuple[Message, ...],
        unmovable: Mapping[str, str],
        included: dict[str, None],
    ) -> tuple[Message, ...]:
        reasons = {
            message.id: reason
            for uuid, reason in unmovable.items()
            if uuid in included
            for message in self._nodes[uuid].messages
        }
        if not reasons:
            return messages
        return tuple(
            message.as_unmovable(reasons[message.id]) if message.id in reasons else message
            for message in messages
        )

    def _leaf(self, moved: Mapping[str, str | None]) -> str | None:
        ends = [uuid for uuid, node in self._nodes.items() if _can_be_leaf(node)]
        main = [uuid for uuid in ends if not self._nodes[uuid].is_sidechain]
        # A subagent's own file holds nothing but sidechain records.
        candidates = main if any(self._nodes[uuid].messages for uuid in main) else ends
        newest = max(candidates, key=lambda uuid: self._nodes[uuid].newest_place, default=None)
        resume_node = self._nodes.get(self._resume_point)
        if newest is None or resume_node is None or resume_node.is_sidechain:
            return newest
        return newest if self._resume_point in self._ancestry(newest, moved) else self._resume_point

    def _ancestry(self, uuid: str, moved: Mapping[str, str | None]) -> set[str]:
        """Return a record and all that it follows, beyond any compaction."""
        ancestry: set[str] = set()
        current: str | None = uuid
        while current is not None and current in self._nodes and current not in ancestry:
            ancestry.add(current)
            current = moved.get(current) or self._nodes[current].parent
        return ancestry

    def _path(self, leaf: str, moved: Mapping[str, str | None]) -> _Path:
        """Return the records from ``leaf`` back to the root or the newest boundary before it.

        ``moved`` are the parents that a compaction which preserved messages gives to records.
        """
        path: dict[str, None] = {}
        bridges: dict[str, _Bridge] = {}
        current: str | None = leaf
        while current is not None and current not in path and current in self._nodes:
            path[current] = None
            node = self._nodes[current]
            if node.boundary is not None:
                break
            parent = moved.get(current)
            if not parent:
                parent = node.parent
                if parent is not None and parent not in self._nodes:
                    bridges[current] = self._bridge_missing_parent(node, path)
                    parent = bridges[current].parent
            current = parent
        return _Path(records=path, bridges=bridges)

    def _anchor_of(self, path: dict[str, None]) -> dict[str, str]:
        """Return the record below which the path's compaction kept messages, and a reason."""
        boundary = self._nodes[next(reversed(path))].boundary if path else None
        if boundary is None or boundary.anchor is None:
            return {}
        return {boundary.anchor: "messages that the client kept verbatim hang below it"}

    def _preserved(self) -> tuple[str | None, list[str]]:
        """Return the newest compaction's anchor and the records it preserved, oldest first."""
        boundaries = [n.boundary for n in self._nodes.values() if n.boundary and not n.is_sidechain]
        newest = boundaries[-1] if boundaries else Boundary()
        if newest.uuids:
            return newest.anchor, [u for u in dict.fromkeys(newest.uuids) if u in self._nodes]
        preserved: dict[str, None] = {}
        uuid = newest.tail
        while uuid is not None and uuid in self._nodes and uuid not in preserved:
            preserved[uuid] = None
            if uuid == newest.head:
                return newest.anchor, list(reversed(preserved))
            uuid = self._nodes[uuid].parent
        return newest.anchor, []

    def _splice(self, anchor: str | None, preserved: list[str]) -> dict[str, str | None]:
        """Return new parents that put the messages a compaction preserved right after its summary.

        file:  K1 <- K2 (preserved) … boundary, summary S, then N with parentUuid S
        sent:  S <- K1 <- K2 <- N           {"K1": "S", "K2": "K1", "N": "K2"}
        """
        followers = (uuid for uuid, node in self._nodes.items() if node.parent == anchor)
        # A preserved record may itself follow the anchor: its position among the preserved counts.
        return {
            **dict.fromkeys(followers, preserved[-1]),
            **dict(zip(preserved, (anchor, *preserved[:-1]), strict=True)),
        }

    def _bridge_missing_parent(self, node: _ClaudeNode, path: dict[str, None]) -> _Bridge:
        """Return the record to continue with when a parent is not in the file."""
        line = node.line
        n_before = bisect_left(self._anchors, line, key=itemgetter(0))
        anchor = self._anchors[n_before - 1][1] if n_before else None
        if anchor in self._nodes and anchor not in path:
            return _Bridge(parent=anchor)
        before = self._before_gap(line)
        if before is not None and before not in path:
            return _Bridge(
                parent=before,
                warning=f"line {line + 1}: parent lost in a damaged line; attached to line "
                f"{self._nodes[before].line + 1}",
            )
        return _Bridge(
            parent=None,
            warning=f"line {line + 1}: its parent {(node.parent or '')[:8]} is not in the file; "
            "earlier history is missing",
        )

    def _before_gap(self, line: int) -> str | None:
        """Return the newest record before the last damaged line before ``line``."""
        gap = bisect_left(self._damaged_lines, line) - 1
        if gap < 0:
            return None
        n_before = bisect_left(self._main, self._damaged_lines[gap], key=itemgetter(0))
        return self._main[n_before - 1][1] if n_before else None

    @cached_property
    def _main(self) -> Sequence[tuple[int, str]]:
        """The records outside of subagents and their lines, in file order."""
        return [(node.line, u) for u, node in self._nodes.items() if not node.is_sidechain]

    @cached_property
    def _anchors(self) -> Sequence[tuple[int, str]]:
        """The anchors of compactions and the lines of these, in file order."""
        boundaries = ((node.line, node.boundary) for node in self._nodes.values() if node.boundary)
        return [(line, boundary.anchor) for line, boundary in boundaries if boundary.anchor]

    def _with_side_records(
        self, path: dict[str, None]
    ) -> tuple[dict[str, None], Mapping[str, tuple[str, int]]]:
        """Return the path plus the records that parallel tool calls left beside it.

            U <- A1 <- A2 <- R2 <- N      path; A1 and A2 are one response with two calls
                  `- R1                   result of the call in A1: not on the path, but sent

        They are sent after the response's last record on the path: its other records, then the
        results, both by time. Returned is also, for each of them, that record and its rank.
        """
        included = dict(path)
        responses, results = self._by_response()
        ends = {
            message.response_id: uuid
            for uuid in reversed(path)
            for message in self._nodes[uuid].messages
            if message.response_id
        }
        positions: dict[str, tuple[str, int]] = {}
        for response, end in ends.items():
            group = responses[response]
            answers = [uuid for member in group for uuid in results.get(member, ())]
            all_records = (*sorted(group, key=self._time), *sorted(answers, key=self._time))
            aside = [uuid for uuid in all_records if uuid not in included]
            positions.update({uuid: (end, rank) for rank, uuid in enumerate(aside, 1)})
            included.update(dict.fromkeys(aside))
        start = self._boundary_place(path)
        side = {u: n for u, n in self._nodes.items() if u not in included and n.place >= start}
        return self._with_attachments(included, side), positions

    def _time(self, uuid: str) -> str:
        return self._nodes[uuid].time

    def _by_response(self) -> tuple[Mapping[str, list[str]], Mapping[str, list[str]]]:
        """Return the records of each response, and the tool results by the record they follow."""
        responses: dict[str, list[str]] = defaultdict(list)
        results: dict[str, list[str]] = defaultdict(list)
        for uuid, node in self._nodes.items():
            for message in node.messages:
                if message.response_id and responses[message.response_id][-1:] != [uuid]:
                    responses[message.response_id].append(uuid)
            if node.parent is not None and any(message.results for message in node.messages):
                results[node.parent].append(uuid)
        return responses, results

    def _with_attachments(
        self, included: dict[str, None], side: dict[str, _ClaudeNode]
    ) -> dict[str, None]:
        """Add attachments and inserted records that follow an included record and lead nowhere."""
        candidates = {u: n for u, n in side.items() if n.type == "attachment" or n.is_inserted}
        if not candidates:
            return included
        included = dict(included)
        elsewhere = self._on_other_branches(included)
        is_sidechain = all(self._nodes[uuid].is_sidechain for uuid in included)
        # An inserted record has the parent of the record that it replaces.
        parents = {self._nodes[uuid].parent for uuid in included}
        for uuid, node in candidates.items():
            is_linked = node.parent is None or node.parent in included
            is_linked = is_linked or (node.is_inserted and node.parent in parents)
            is_on_same_chain = node.is_sidechain == is_sidechain and uuid not in elsewhere
            if is_linked and is_on_same_chain:
                included[uuid] = None
        return included

    def _on_other_branches(self, included: dict[str, None]) -> set[str]:
        """Return the records that lead to a message on an abandoned branch."""
        followed: set[str] = set()
        for uuid, node in self._nodes.items():
            if uuid in included or node.type not in ("user", "assistant") or node.is_inserted:
                continue
            parent = node.parent
            while parent in self._nodes and parent not in included and parent not in followed:
                followed.add(parent)
                parent = self._nodes[parent].parent
        return followed

    def _boundary_place(self, path: dict[str, None]) -> int:
        places = (self._nodes[uuid].place for uuid in path if self._nodes[uuid].boundary)
        return next(places, 0)

    def _in_order(self, order: Iterable[str]) -> tuple[Message, ...]:
        """Return the messages of these records."""
        nodes = [self._nodes[uuid] for uuid in order]
        start = max((node.place for node in nodes if node.boundary), default=0)
        return tuple(
            # Usage reported for a preserved message describes the context before the compaction.
            message
            if node.place >= start
            else replace(message.as_unmovable(_PRESERVED_REASON), usage=None)
            for node in nodes
            for message in node.messages
        )

    def _rank(
        self,
        uuid: str,
        runs: Mapping[str, int],
        positions: Mapping[str, tuple[str, int]],
        moved: Mapping[str, str | None],
    ) -> tuple[int, int, int]:
        """Return the sort key of a record: its run, its place, its rank after a path record."""
        if uuid in runs:
            return runs[uuid], self._nodes[uuid].place, 0
        end, rank = positions.get(uuid, (uuid, 0))
        return self._file_run_of(end, runs, moved), self._nodes[end].place, rank

    def _file_runs(self, path: dict[str, None]) -> dict[str, int]:
        """Number the runs of a path within which its records are in file order.

        Path on lines 4, 5, 2, 3, 6: lines 4 and 5 are run 0; 2, 3 and 6 are run 1. A preserved
        record is on an earlier line than the summary that it follows.
        """
        runs: dict[str, int] = {}
        run, place = 0, -1
        for uuid in reversed(path):
            node = self._nodes[uuid]
            run += node.place < place
            runs[uuid], place = run, node.place
        return runs

    def _file_run_of(
        self, uuid: str, runs: Mapping[str, int], moved: Mapping[str, str | None]
    ) -> int:
        """Return the run of a record, or of the nearest record of the path that it follows."""
        seen: set[str] = set()
        current: str | None = uuid
        while current is not None and current in self._nodes and current not in seen:
            if current in runs:
                return runs[current]
            seen.add(current)
            current = moved.get(current) or self._nodes[current].parent
        return max(runs.values(), default=0)

    def _cleared_ids(self, included: dict[str, None]) -> dict[str, int]:
        """Return the lines on which tool calls and attachments were cleared, by id."""
        nodes = [self._nodes[uuid] for uuid in included]
        return {name: node.line for node in nodes for name in node.cleared}


def _can_be_leaf(node: _ClaudeNode) -> bool:
    """Return whether a conversation can end here; a notice without a parent does not count."""
    is_empty = node.type == "system" or not node.messages
    is_lone_notice = node.parent is None and node.boundary is None and is_empty
    return node.type in LEAF_TYPES and not is_lone_notice


def _clear(messages: tuple[Message, ...], cleared: dict[str, int]) -> tuple[Message, ...]:
    """Replace cleared content by the placeholder, and drop the usage reported before that."""
    if not cleared:
        return messages
    newest = max(cleared.values())
    cleared_messages = (
        replace(
            message, parts=tuple(_cleared_part(part, message, cleared) for part in message.parts)
        )
        for message in messages
    )
    return without_reports(cleared_messages, lambda message: message.line < newest)


def _cleared_part(part: Part, message: Message, cleared: dict[str, int]) -> Part:
    if isinstance(part, FilePart) and cleared.get(message.id, -1) > message.line:
        return replace(part, text=CLEARED)
    if isinstance(part, ToolResultPart) and cleared.get(part.call_id, -1) > message.line:
        return replace(part, text=CLEARED, media=(), cleared=True)
    return part
