"""Rows of a Claude Code session: the records that it links, as far as the client looks at them.

The client (2.1.332, ``Hfn``) loads records of four types that have a uuid, in file order. Of
several with one uuid the last counts, in the place of the first.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compactctl.clients.claude_code.boundaries import Boundary, boundary_of
from compactctl.clients.claude_code.request import (
    ResultCut,
    ThinkingStrip,
    cut_of,
    is_virtual,
    strip_of,
)
from compactctl.clients.records.json_values import (
    list_or_empty,
    object_or_empty,
    parse_time,
    text_or_empty,
    text_or_none,
)
from compactctl.model.tags import is_appended
from compactctl.records import Record, replace

ROW_TYPES = frozenset({"user", "assistant", "attachment", "system"})
"""The types of records that are rows of a session (``S0``)."""
_PROGRESS = "progress"


class Row(Record):
    """A record of a session with a uuid.

    Attributes:
        line: the index of the first line with the uuid.
        place: the number of the first record with it; a damaged line can hold several.
        side: the value of ``isSidechain``; True in what a subagent said.
        stamp: the time as it is written.
        response: the id of the response that an assistant row is of.
        calls, results: the ids of tool calls in an assistant row, and of results in a user row.
        caller: the row of the call whose result this is, if it says so; else None.
        tool_use: the call that an attachment belongs to.
        is_meta: the client wrote it for the model.
        is_virtual: it is shown and never sent.
        is_readable: it has content, without which the client drops the row (``Xsn``).
        is_appended: compactctl appended it.
        logical_parent: what came before a compaction, which itself has no parent.
        retracted: the rows that this one retracts.
        cut, strip: what it states of results and of reasoning before it.
    """

    uuid: str
    line: int
    place: int
    parent: str | None
    type: str
    subtype: str = ""
    side: object = None
    agent: str | None = None
    session: str | None = None
    stamp: str = ""
    response: str | None = None
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    caller: str | None = None
    tool_use: str | None = None
    is_meta: bool = False
    is_virtual: bool = False
    is_readable: bool = True
    is_appended: bool = False
    boundary: Boundary | None = None
    logical_parent: str | None = None
    retracted: tuple[str, ...] = ()
    cut: ResultCut | None = None
    strip: ThinkingStrip | None = None

    @property
    def is_sidechain(self) -> bool:
        """Whether a subagent said it."""
        return self.side is True

    @property
    def is_said(self) -> bool:
        """Whether it is of the user or the model; everything else hangs beside the conversation."""
        return self.type in ("user", "assistant")

    @property
    def is_snapshot(self) -> bool:
        """Whether it notes the state of files (``fH``)."""
        return self.type == "system" and self.subtype == "file_snapshot"

    @property
    def is_beside(self) -> bool:
        """Whether it hangs beside what is said: notices, attachments, virtual calls and results."""
        if self.type == "system":
            return self.boundary is None
        if self.type == "attachment" or (self.type == "user" and self.is_meta and not self.results):
            return True
        return self.is_virtual and bool(self.calls or self.results)

    @property
    def time(self) -> float | None:
        """The time in seconds since 1970; None if it is not a time."""
        return parse_time(self.stamp) if self.stamp else None


Rows = Mapping[str, Row]
"""The rows of a session by uuid, each in the place of the first record with it."""
Children = Mapping[str, Sequence[Row]]
"""The rows that follow each row, in file order."""


class ResumePoint(Record):
    """A ``last-prompt`` record: where the client goes on.

    Attributes:
        leaf: the row that it names; None for the start of an empty conversation.
        names_leaf: whether it says anything of a row, None included.
        is_explicit: the user went to this point, so it counts although it is not the newest.
        is_rewound: the user rewound what followed.
        cut: the first row that was rewound.
    """

    leaf: str | None
    names_leaf: bool
    is_explicit: bool
    is_rewound: bool
    cut: str | None


Entry = Row | ResumePoint


def is_row(record: Mapping[str, Any]) -> bool:
    """Return whether a record is linked to others, or stood between them while they were read."""
    uuid = record.get("uuid")
    return record.get("type") in (*ROW_TYPES, _PROGRESS) and isinstance(uuid, str) and uuid != ""


def read_row(record: Mapping[str, Any], line: int, place: int) -> Row:
    """Return a record for which ``is_row`` holds as a row; progress records as well."""
    kind = record["type"]
    message = object_or_empty(record.get("message"))
    blocks = [object_or_empty(block) for block in list_or_empty(message.get("content"))]
    row = Row(
        uuid=record["uuid"],
        line=line,
        place=place,
        parent=text_or_none(record.get("parentUuid")),
        type=kind,
        side=record.get("isSidechain"),
        agent=text_or_none(record.get("agentId")),
        session=text_or_none(record.get("sessionId")),
        stamp=text_or_empty(record.get("timestamp")),
        response=text_or_none(message.get("id")) if kind == "assistant" else None,
        calls=_ids(blocks, "tool_use", "id") if kind == "assistant" else (),
        results=_ids(blocks, "tool_result", "tool_use_id") if kind == "user" else (),
        caller=text_or_none(record.get("sourceToolAssistantUUID")),
        tool_use=text_or_none(object_or_empty(record.get("attachment")).get("toolUseID")),
        is_meta=record.get("isMeta") is True,
        is_virtual=is_virtual(record),
        is_readable=_is_readable(kind, record),
        is_appended=is_appended(record),
        retracted=_texts(record.get("retractedMessageUuids")) if _may_retract(record) else (),
    )
    if "subtype" in record:
        return _with_subtype(row, record)
    if kind == "attachment":
        return replace(row, cut=cut_of(record), strip=strip_of(record))
    return row


def read_resume_point(record: Mapping[str, Any]) -> ResumePoint:
    """Return what a ``last-prompt`` record says."""
    return ResumePoint(
        leaf=text_or_none(record.get("leafUuid")) or None,
        names_leaf="leafUuid" in record,
        is_explicit=record.get("explicit") is True,
        is_rewound=record.get("rewound") is True,
        cut=text_or_none(record.get("cutUuid")),
    )


def response_before(rows: Rows, row: Row) -> list[Row]:
    """Return the rows before one that belong to its response or hang beside it (``Yst``)."""
    members: list[Row] = []
    for earlier in towards_start(rows, row.parent):
        if not continues_response(earlier, row.response) or earlier.uuid == row.uuid:
            break
        members.append(earlier)
    return members


def continues_response(row: Row, response: str | None) -> bool:
    """Return whether a row does not end what belongs to a response (``WMe``)."""
    if row.type == "assistant":
        return response is not None and row.response == response
    if row.type == "user":
        return row.is_meta or bool(row.results)
    return row.boundary is None


def children_of(rows: Rows) -> Children:
    """Return the rows that follow each row."""
    children: dict[str, list[Row]] = defaultdict(list)
    for row in rows.values():
        if row.parent:
            children[row.parent].append(row)
    return children


def towards_start(rows: Rows, uuid: str | None) -> Iterator[Row]:
    """Yield a row, its parent, and so on."""
    seen: set[str] = set()
    while uuid is not None and uuid in rows and uuid not in seen:
        seen.add(uuid)
        yield rows[uuid]
        uuid = rows[uuid].parent


def _with_subtype(row: Row, record: Mapping[str, Any]) -> Row:
    return replace(
        row,
        subtype=text_or_empty(record.get("subtype")),
        boundary=boundary_of(record),
        logical_parent=text_or_none(record.get("logicalParentUuid")),
    )


def _may_retract(record: Mapping[str, Any]) -> bool:
    kind = record["type"]
    if kind == "system":
        return record.get("subtype") == "model_refusal_fallback"
    return kind in ("user", "assistant")


def _is_readable(kind: str, record: Mapping[str, Any]) -> bool:
    if kind not in ("user", "assistant"):
        return True
    content = object_or_empty(record.get("message")).get("content")
    if isinstance(content, str):
        return kind == "user" or content.strip() != ""
    return isinstance(content, list) and (
        content == [] or any(text_or_none(object_or_empty(block).get("type")) for block in content)
    )


def _ids(blocks: Sequence[Mapping[str, Any]], kind: str, key: str) -> tuple[str, ...]:
    return _texts([block.get(key) for block in blocks if block.get("type") == kind])


def _texts(value: object) -> tuple[str, ...]:
    return tuple([item for item in list_or_empty(value) if isinstance(item, str)])
