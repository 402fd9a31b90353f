"""The messages of the rows that the next request of Claude Code is made of."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from compactctl.clients.claude_code.chain import Join, RowChain
from compactctl.clients.claude_code.cuts import HistoryCut, find_cuts
from compactctl.clients.claude_code.damage import DamagedRecord
from compactctl.clients.claude_code.rows import Row, Rows
from compactctl.clients.records.usage import without_reports
from compactctl.model.message import Message
from compactctl.model.transcript import SessionLines
from compactctl.records import Record, field, replace

_PRESERVED_REASON = "the client kept it verbatim at its own compaction"
_RETRACTING_REASON = "messages that it retracts would be sent again"
_STRIPPED_REASON = "the client counts from it which reasoning it has removed"
_ANCHOR_REASON = "messages that the client kept verbatim hang below it"


class SentChain(Record):
    """The rows that the next request would send, by uuid, and their messages.

    Attributes:
        messages: the effective history, in the order it would be sent.
        parents: the parent of every row of the file; progress records in between are skipped.
        path: the rows from the newest one back to where the conversation begins.
        included: those and the rows sent beside them.
        rows: all of these, in the order they are sent.
        joined: the parent that the client gives a row whose own is missing; None for none.
        warnings: where a parent is missing, in words.
        cuts: where history of the file is cut off, newest first.
    """

    messages: tuple[Message, ...]
    parents: Mapping[str, str | None]
    path: tuple[str, ...] = ()
    included: frozenset[str] = frozenset()
    rows: tuple[Row, ...] = ()
    joined: Mapping[str, str | None] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    cuts: Sequence[HistoryCut] = ()

    @property
    def order(self) -> tuple[str, ...]:
        """The uuids of all rows, in the order they are sent."""
        return tuple([row.uuid for row in self.rows])


class RowMessages(Record):
    """The messages that were read from rows.

    Attributes:
        by_uuid: the messages of each row; several if an inline compaction hid an older version.
        unlinked: messages of records that are not rows.
        unmovable: why a row must stay in its place, by uuid.
    """

    by_uuid: Mapping[str, Sequence[Message]]
    unlinked: Sequence[Message]
    unmovable: Mapping[str, str]


def sent_rows(
    chain: RowChain, messages: RowMessages, damaged: Sequence[DamagedRecord]
) -> SentChain:
    """Return the rows of a chain with their messages, as far as the client sends them.

    ``damaged`` are the records on damaged lines.
    """
    parents = {uuid: row.parent for uuid, row in chain.all_rows.items()}
    if not chain.order:
        return SentChain(
            messages=tuple(messages.unlinked), parents=parents, warnings=_empty_warnings(chain)
        )
    order = _with_inserted(chain, _inserted(chain, messages))
    ordered = _with_reports_that_hold(_in_order(order, messages), chain)
    unmovable = {
        **messages.unmovable,
        **dict.fromkeys(_anchors(chain), _ANCHOR_REASON),
        **{row.uuid: _RETRACTING_REASON for row in order if row.retracted},
        **dict.fromkeys(_stripped_from(order), _STRIPPED_REASON),
    }
    return SentChain(
        messages=_with_locks(ordered, messages, unmovable),
        parents=parents,
        path=chain.path,
        included=frozenset([row.uuid for row in order]),
        rows=tuple(order),
        joined={
            join.row.uuid: None if join.parent is None else join.parent.uuid for join in chain.joins
        },
        warnings=tuple(map(_join_warning, chain.joins)),
        cuts=find_cuts(chain, damaged),
    )


def unrelated_sessions(
    rows: Rows, said: Collection[str], lines: Mapping[str, tuple[int, int]]
) -> tuple[SessionLines, ...]:
    """Return the line ranges of unrelated sessions in one file; () if all are related.

    A session that was resumed under another id continues the one before it. So may one with a
    parent that is not in the file: then the result is () too.

    Args:
        rows: all rows of the file.
        said: the rows that have messages.
        lines: the first and the last line with each session id. Lines without an id between two
            sessions belong to the later one: the client writes some before the first prompt.
    """
    main = [row.session for row in rows.values() if row.uuid in said and not row.is_sidechain]
    names = dict.fromkeys(name for name in main if name)
    if len(names) <= 1:
        return ()
    groups = {name: name for name in names}
    for row in rows.values():
        for parent in (row.parent, row.logical_parent):
            if parent is None or row.session not in groups:
                continue
            if parent not in rows:
                return ()
            before = rows[parent].session
            if before in groups and groups[before] != groups[row.session]:
                old, new = groups[row.session], groups[before]
                groups = {name: new if g == old else g for name, g in groups.items()}
    ranges: list[SessionLines] = []
    for group in dict.fromkeys(groups.values()):
        members = [lines[name] for name in groups if groups[name] == group and name in lines]
        start = ranges[-1].last + 1 if ranges else 0
        first, last = min(members)[0], max(last for _, last in members)
        ranges.append(SessionLines(group or "", min(first, start), last))
    return tuple(ranges) if len(ranges) > 1 else ()


def _inserted(chain: RowChain, messages: RowMessages) -> list[Row]:
    """Return the rows that compactctl put between others, and that the client does not send."""
    sent = {row.uuid for row in chain.order}
    return [
        chain.rows[uuid]
        for uuid, row_messages in messages.by_uuid.items()
        if any(message.origin.is_synthetic for message in row_messages)
        and uuid not in sent
        and uuid in chain.rows
        and not chain.rows[uuid].is_appended
    ]


def _with_inserted(chain: RowChain, inserted: Sequence[Row]) -> Sequence[Row]:
    """Return the rows of a chain with those that stand between them as the inline layout has them.

    Hidden rows stay in that layout, and what replaces one has its parent and nothing after it:

        A <- B (hidden) <- C        the summary S has the parent A, and belongs between B and C
        A <- S
    """
    if not inserted:
        return chain.order
    indices = {row.uuid: index for index, row in enumerate(chain.order)}
    parents = {row.parent for row in chain.order}
    before: dict[int, list[Row]] = defaultdict(list)
    for row in inserted:
        if row.parent is None or row.parent in indices or row.parent in parents:
            index = indices.get(row.parent or "", -1) + 1
            while index < len(chain.order) and chain.order[index].place < row.place:
                index += 1
            before[index].append(row)
            indices[row.uuid] = index - 1
    end = len(chain.order)
    placed = (item for i, row in enumerate(chain.order) for item in (*before[i], row))
    return (*placed, *before[end])


def _in_order(rows: Sequence[Row], messages: RowMessages) -> tuple[Message, ...]:
    start = max((row.place for row in rows if row.boundary is not None), default=0)
    return tuple(
        # Usage reported for a preserved message describes the context before the compaction.
        message
        if row.place >= start
        else replace(message.as_unmovable(_PRESERVED_REASON), usage=None)
        for row in rows
        for message in messages.by_uuid.get(row.uuid, ())
    )


def _with_reports_that_hold(messages: tuple[Message, ...], chain: RowChain) -> tuple[Message, ...]:
    """Leave out the usage of requests that held more or less than what is sent now.

    That is history of the file which is cut off, or results that clients up to 2.1.22 had cleared
    (``microcompact_boundary``) and newer ones send whole.
    """
    clearings = [row.line for row in chain.order if row.subtype == "microcompact_boundary"]
    if clearings:
        messages = without_reports(messages, lambda message: message.line > clearings[0])
    is_cut = any(
        join.parent is None
        and any(row.is_said and row.place < join.row.place for row in chain.all_rows.values())
        for join in chain.joins
    )
    return without_reports(messages, lambda _: True) if is_cut else messages


def _empty_warnings(chain: RowChain) -> tuple[str, ...]:
    if chain.is_rewound:
        return ("the user rewound to before the first message; the next request starts empty",)
    if chain.all_rows:
        return ("no message begins or ends a conversation; the client refuses to resume it",)
    return ()


def _join_warning(join: Join) -> str:
    state = "comes after it" if join.is_circle else "is not in the file"
    fault = f"line {join.row.line + 1}: its parent {(join.row.parent or '')[:8]} {state}"
    if join.parent is None:
        return f"{fault}; earlier history is not sent when the session is resumed"
    return f"{fault}; the client joins it to line {join.parent.line + 1}"


def _stripped_from(rows: Sequence[Row]) -> list[str]:
    """Return the rows of the responses from which on reasoning was removed."""
    names = {row.strip.response for row in rows if row.strip is not None} - {None}
    return [row.uuid for row in rows if row.response in names]


def _anchors(chain: RowChain) -> tuple[str, ...]:
    """Return the row below which the path's compaction kept messages, if it kept any."""
    boundary = chain.rows[chain.path[-1]].boundary
    return () if boundary is None or boundary.anchor is None else (boundary.anchor,)


def _with_locks(
    sent: tuple[Message, ...], messages: RowMessages, unmovable: Mapping[str, str]
) -> tuple[Message, ...]:
    reasons = {
        message.id: reason
        for uuid, reason in unmovable.items()
        for message in messages.by_uuid.get(uuid, ())
    }
    if not reasons:
        return sent
    return tuple(
        message.as_unmovable(reasons[message.id]) if message.id in reasons else message
        for message in sent
    )
