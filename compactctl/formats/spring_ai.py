"""The format of Spring AI Session: events as lines, as an array, or in a document."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compactctl.formats.content.media import media_from_base64, media_from_url
from compactctl.formats.content.unknown_block import text_and_media
from compactctl.formats.format import Format
from compactctl.formats.records.chat_log import ChatLogReader, ConversationParser, sample_messages
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.json_values import (
    json_text,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.formats.records.message_draft import MessageDraft, text_parts
from compactctl.model.json_paths import json_in
from compactctl.model.message import (
    CallId,
    JsonPath,
    MediaPart,
    Message,
    MessageId,
    Part,
    Role,
    Synthetic,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.transcript import Transcript
from compactctl.pipeline.writer import InsertionContext

ARGUMENTS = "arguments"
RESPONSE = "responseData"


@dataclass(frozen=True, slots=True)
class _Item:
    """A call or a response, and where it stands."""

    value: Mapping[str, Any]
    at: JsonPath

    @property
    def call_id(self) -> CallId:
        return CallId(text_or_empty(self.value.get("id")))

    @property
    def tool(self) -> str:
        return text_or_empty(self.value.get("name"))


def calls(value: object, path: JsonPath) -> tuple[Part, ...]:
    """Return the tool calls in ``value``, which stands at ``path``."""
    return tuple(
        ToolCallPart(
            call_id=item.call_id,
            tool=item.tool,
            arguments=_text(item.value.get(ARGUMENTS)),
            path=(*item.at, ARGUMENTS),
        )
        for item in _items(value, path)
    )


def responses(value: object, path: JsonPath) -> tuple[Part, ...]:
    """Return the tool responses in ``value``, which stands at ``path``."""
    return tuple(_response(item) for item in _items(value, path))


def _response(item: _Item) -> ToolResultPart:
    path = (*item.at, RESPONSE)
    text, media = text_and_media(item.value.get(RESPONSE), path)
    return ToolResultPart(call_id=item.call_id, tool=item.tool, text=text, media=media, path=path)


def _items(value: object, path: JsonPath) -> Iterator[_Item]:
    for index, item in enumerate(list_or_empty(json_in(value))):
        if isinstance(item, Mapping):
            yield _Item(item, (*path, index))


def _text(value: object) -> str:
    return "" if value is None else json_text(value)


ROLES: Mapping[str, Role] = {
    "SYSTEM": "system",
    "USER": "user",
    "ASSISTANT": "assistant",
    "TOOL": "tool",
}
TYPE = "messageType"
_COLUMNS = {
    TYPE: "message_type",
    "messageContent": "message_content",
    "messageData": "message_data",
    "sessionId": "session_id",
}
DATA = ("messageData", _COLUMNS["messageData"])
_BINARY = ("image/", "audio/", "video/", "application/")


def column(record: Mapping[str, Any], name: str) -> str:
    """Return what a record calls a field: as the column is called, or in camel case."""
    as_column = _COLUMNS.get(name, name)
    return as_column if as_column in record else name


def is_event(record: Mapping[str, Any]) -> bool:
    """Tell whether a record is an event of a session, whichever form it has."""
    named = isinstance(record.get(column(record, "sessionId")), str)
    return named and _kind(record) in ROLES


def is_row(record: Mapping[str, Any]) -> bool:
    """Tell whether a record is a row of the table."""
    return column(record, TYPE) in record


def is_archived(record: Mapping[str, Any]) -> bool:
    """Tell whether a compaction took the event out of what is sent."""
    return _is_true(record.get("archived"))


def branch_of(record: Mapping[str, Any]) -> str:
    """Return the path of the subagent that an event belongs to, "" for the main agent's."""
    return text_or_empty(record.get("branch"))


def metadata_of(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the metadata of an event; in a row they are a text."""
    metadata = record.get("metadata")
    if not isinstance(metadata, str):
        return object_or_empty(metadata)
    try:
        return object_or_empty(json.loads(metadata))
    except (ValueError, RecursionError):
        return {}


class SpringConversation(ConversationParser):
    """The events of a session, in the order of the file, which is that of the session."""

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        """Return the message of an event, None for any other record."""
        role = ROLES.get(_kind(record))
        if role is None:
            return None
        parts = _row_parts(record, path) if is_row(record) else _event_parts(record, path)
        metadata = metadata_of(record)
        synthetic = _is_true(record.get("synthetic")) or _is_true(metadata.get("synthetic"))
        inner = object_or_empty(object_or_empty(record.get("message")).get("metadata"))
        return MessageDraft(
            role=role,
            parts=parts,
            record_id=text_or_none(record.get("id")),
            model=text_or_none(inner.get("model")) if role == "assistant" else None,
            # A summary is a question that stands in for one, and the answer.
            is_injected=synthetic and role == "user",
            is_summary=synthetic,
            is_subagent=bool(branch_of(record)),
        )


def _kind(record: Mapping[str, Any]) -> str:
    if is_row(record):
        return text_or_empty(record.get(column(record, TYPE)))
    return text_or_empty(object_or_empty(record.get("message")).get(TYPE))


def _row_parts(record: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    content, data = column(record, "messageContent"), column(record, "messageData")
    text = text_parts(record.get(content), (*path, content))
    listed = responses if _kind(record) == "TOOL" else calls
    return (*text, *listed(record.get(data), (*path, data)))


def _event_parts(record: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    message, path = object_or_empty(record.get("message")), (*path, "message")
    return (
        *text_parts(message.get("text"), (*path, "text")),
        *_media(list_or_empty(message.get("media")), (*path, "media")),
        *calls(message.get("toolCalls"), (*path, "toolCalls")),
        *responses(message.get("responses"), (*path, "responses")),
    )


def _media(items: list[Any], path: JsonPath) -> Iterator[Part]:
    for index, item in enumerate(map(object_or_empty, items)):
        kind, data = text_or_empty(item.get("mimeType")), text_or_empty(item.get("data"))
        if not data:
            continue
        if not kind.startswith(_BINARY):
            yield TextPart(text=data, path=(*path, index, "data"))
        elif "://" in data[:20] or data.startswith("data:"):
            yield media_from_url(data, kind, (*path, index))
        else:
            yield media_from_base64(data, kind, (*path, index))


def _is_true(value: object) -> bool:
    """Tell whether a flag is set; databases export them as numbers, too."""
    return value is True or value == 1


_MEMBERS = "events"
_TYPES: Mapping[Role, str] = {role: kind for kind, role in ROLES.items()}
_SOURCE = "compactctl"


class SpringAi(Format):
    """Reads and writes events of Spring AI Session, in the form that the file has."""

    name = "spring-ai"
    title = "Spring AI Session events"
    reads_arrays = True
    can_write_assistant = True

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognise events that name their session and a type of message."""
        events = sample_messages(records, _MEMBERS)
        return bool(events) and sum(map(is_event, events)) * 2 >= len(events)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return _EventReader(self.name, SpringConversation, _MEMBERS).read(lines)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a synthetic event in the form of its neighbour, a row or an event record."""
        build = _row if is_row(beside.neighbour) else _event
        return build(message, self.new_id(message), beside.neighbour)

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

    def on_message(self, message: Message, record: Mapping[str, Any]) -> None:
        """Take note of archived events and of those on a branch."""
        session = record.get(column(record, "sessionId"))
        self.builder.add_session(session if isinstance(session, str) else None, message.line)
        if is_archived(record):
            self._archived.add(message.id)
        if branch_of(record):
            self._branched.add(message.id)

    def effective(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
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
