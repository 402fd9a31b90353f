"""The format of Spring AI Session: events as lines, as an array, or in a document."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compactctl.formats.format import Format
from compactctl.formats.records.chat_log import ChatLogReader, sample_messages
from compactctl.formats.records.decode import Decoded
from compactctl.formats.spring_ai.events import (
    ROLES,
    TYPE,
    SpringConversation,
    branch_of,
    column,
    is_archived,
    is_event,
    is_row,
)
from compactctl.formats.spring_ai.items import ARGUMENTS, RESPONSE
from compactctl.model.message import (
    MediaPart,
    Message,
    MessageId,
    Part,
    Role,
    Synthetic,
)
from compactctl.model.transcript import Transcript
from compactctl.pipeline.writer import Beside

_MEMBERS = "events"
_TYPES: Mapping[Role, str] = {role: kind for kind, role in ROLES.items()}
_SOURCE = "compactctl"


class SpringAi(Format):
    """Reads and writes events of Spring AI Session, in the form that the file has."""

    name = "spring-ai"
    title = "Spring AI Session events"
    reads_arrays = True
    writes_pairs = True

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognise events that name their session and a type of message."""
        events = sample_messages(records, _MEMBERS)
        return bool(events) and sum(map(is_event, events)) * 2 >= len(events)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return _EventReader(self.name, SpringConversation, _MEMBERS).read(lines)

    def new_record(self, message: Synthetic, beside: Beside) -> Mapping[str, Any]:
        """Build a synthetic event in the form of its neighbour, a row or an event record."""
        build = _row if is_row(beside.like) else _event
        return build(message, self.new_id(message), beside.like)

    def new_content(self, part: Part, current: object, text: str) -> object:
        """Return a text, or an attachment that holds one; see ``Format.new_content``."""
        return {"mimeType": "text/plain", "data": text} if isinstance(part, MediaPart) else text


class _EventReader(ChatLogReader):
    """Leaves out what is archived, and what belongs to subagents in a session of the main agent."""

    is_open = False

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 - those of any reader
        super().__init__(*arguments)
        self._archived: set[MessageId] = set()
        self._branched: set[MessageId] = set()

    def taken(self, message: Message, record: Mapping[str, Any]) -> None:
        """Take note of archived events and of those on a branch."""
        session = record.get(column(record, "sessionId"))
        self.gather.session(session if isinstance(session, str) else None, message.line)
        if is_archived(record):
            self._archived.add(message.id)
        if branch_of(record):
            self._branched.add(message.id)

    def sent(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return the active events of the main agent, or of a subagent that is alone in a file."""
        active = [message for message in messages if message.id not in self._archived]
        main = [message for message in active if message.id not in self._branched]
        return tuple(main or active)


def _row(message: Synthetic, name: str, like: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata: Mapping[str, Any] = {"compactionSource": _SOURCE}
    is_text = isinstance(like.get("metadata"), str)
    listed = _calls(message) or _responses(message)
    return {
        **_copied(like),
        "id": name,
        column(like, TYPE): _TYPES[message.role],
        column(like, "messageContent"): None if _responses(message) else message.text,
        column(like, "messageData"): json.dumps(listed) if listed else None,
        "synthetic": True,
        "archived": False,
        "branch": like.get("branch"),
        "metadata": json.dumps(metadata) if is_text else metadata,
    }


def _event(message: Synthetic, name: str, like: Mapping[str, Any]) -> Mapping[str, Any]:
    said: dict[str, Any] = {TYPE: _TYPES[message.role], "metadata": {}}
    if _responses(message):
        said["responses"] = _responses(message)
    else:
        said["text"] = message.text
    if _calls(message):
        said["toolCalls"] = _calls(message)
    return {
        **_copied(like),
        "id": name,
        "message": said,
        "metadata": {"synthetic": True, "compactionSource": _SOURCE},
        "branch": like.get("branch"),
        "archived": False,
    }


def _copied(like: Mapping[str, Any]) -> dict[str, Any]:
    names = (column(like, "sessionId"), "timestamp")
    return {name: like[name] for name in names if name in like}


def _calls(message: Synthetic) -> list[Mapping[str, Any]]:
    if message.kind != "call":
        return []
    call = {"id": message.call_id, "type": "function", "name": message.tool}
    return [{**call, ARGUMENTS: "{}"}]


def _responses(message: Synthetic) -> list[Mapping[str, Any]]:
    if message.kind != "result":
        return []
    return [{"id": message.call_id, "name": message.tool, RESPONSE: message.text}]
