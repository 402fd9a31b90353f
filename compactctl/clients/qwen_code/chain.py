"""Which records of a session Qwen Code goes on with, and what they come to.

Each step is named as the client's function (0.24.4): ``validateTranscriptRecord``,
``selectTranscriptLeaf``, ``walkTranscriptUuidChain``, ``aggregateTranscriptRecordFragments`` and
``SessionApiHistoryAccumulator``.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from compactctl.clients.qwen_code.record_kinds import (
    COMMAND,
    COMPRESSION,
    NOT_SPOKEN,
    OUTSIDE,
    RECORDS,
)
from compactctl.clients.records.json_values import (
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.history.omissions import omitted
from compactctl.model.message import Message
from compactctl.records import Record, replace


class QwenRow(Record):
    """A record that the client accepts.

    Attributes:
        line: the index of its line.
        messages: what it says, or what a compaction put in the place of all before it.
        replaces: whether it is such a compaction.
        typed: what the user typed, if that is all of its message.
        command: the command that the client answered by itself, so that the prompt right before it
            is not sent.
    """

    line: int
    uuid: str
    parent: str | None
    type: str
    subtype: str | None = None
    messages: tuple[Message, ...] = ()
    replaces: bool = False
    typed: str | None = None
    command: str | None = None

    @property
    def is_outside(self) -> bool:
        """Whether it stands outside of the conversation."""
        return self.type == "system" and self.subtype in OUTSIDE


class QwenChain(Record):
    """The rows from the first to the newest, each with the others of its uuid.

    ``gap`` is the row whose parent is missing, with which the history begins; None for none.
    """

    rows: tuple[QwenRow, ...] = ()
    gap: QwenRow | None = None


def read_row(record: Mapping[str, Any], line: int) -> QwenRow | None:
    """Return the row of a record, without its messages; None if the client skips it."""
    uuid, parent = record.get("uuid"), record.get("parentUuid")
    kind = text_or_empty(record.get("type"))
    if not all(text_or_none(record.get(name)) for name in ("uuid", "sessionId")):
        return None
    if not isinstance(parent, str | None) or "parentUuid" not in record or kind not in RECORDS:
        return None
    subtype = text_or_none(record.get("subtype"))
    return QwenRow(
        line=line,
        uuid=str(uuid),
        parent=parent,
        type=kind,
        subtype=subtype,
        replaces=compressed_history(record) is not None,
        typed=_typed(record) if kind == "user" and subtype is None else None,
        command=_command(record) if subtype == COMMAND else None,
    )


def compressed_history(record: Mapping[str, Any]) -> Sequence[Any] | None:
    """Return what a compaction put in the place of all before it; None for other records."""
    if record.get("type") != "system" or record.get("subtype") != COMPRESSION:
        return None
    history = object_or_empty(record.get("systemPayload")).get("compressedHistory")
    if isinstance(history, list):
        return history
    # With another value there is no content that the client accepts.
    return [None] if history else None


def _typed(record: Mapping[str, Any]) -> str | None:
    parts = list_or_empty(object_or_empty(record.get("message")).get("parts"))
    part = object_or_empty(parts[0]) if len(parts) == 1 else {}
    return text_or_none(part.get("text")) if part.keys() == {"text"} else None


def _command(record: Mapping[str, Any]) -> str | None:
    """Return the command of a record that shows nothing but an answer by the client."""
    payload = object_or_empty(record.get("systemPayload"))
    items = list_or_empty(payload.get("outputHistoryItems"))
    is_answered = items and all(object_or_empty(i).get("type") == "assistant" for i in items)
    if payload.get("phase") != "result" or payload.get("sentToModel") is True or not is_answered:
        return None
    return text_or_none(payload.get("rawCommand"))


def walk_chain(rows: Sequence[QwenRow]) -> QwenChain:
    """Return the newest row and all that it follows; what is missing ends the history."""
    by_uuid: dict[str, list[QwenRow]] = {}
    for row in rows:
        if not row.is_outside:
            by_uuid.setdefault(row.uuid, []).append(row)
    path: dict[str, None] = {}
    uuid = next((row.uuid for row in reversed(rows) if not row.is_outside), None)
    while uuid in by_uuid and uuid not in path:
        path[uuid] = None
        uuid = by_uuid[uuid][0].parent or None
    first = by_uuid[next(reversed(path))][0] if path else None
    return QwenChain(
        rows=tuple(row for name in reversed(path) for row in by_uuid[name]),
        gap=first if uuid is not None and uuid not in path else None,
    )


def api_history(chain: QwenChain) -> tuple[Message, ...]:
    """Return the history that the rows of a chain come to, with what is not sent of it."""
    history: list[Message] = []
    # The newest message that may be the prompt of a command, and its place.
    prompt, place = None, 0
    for row in chain.rows:
        if row.replaces:
            history, prompt = list(row.messages), None
        elif row.subtype == COMMAND:
            if prompt is not None and prompt == row.command:
                history[place] = _unsent(history[place], "prompt", "that the client answered")
            prompt = None
        elif row.subtype == NOT_SPOKEN:
            history += (_unsent(message, "message", "that was spoken") for message in row.messages)
        elif row.messages:
            prompt, place = row.typed, len(history)
            history += row.messages
    return tuple(history)


def _unsent(message: Message, noun: str, detail: str) -> Message:
    return replace(message, parts=tuple(omitted(part, noun, detail) for part in message.parts))
