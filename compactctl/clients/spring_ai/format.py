"""Events of Spring AI Session: lines, rows of its table, an array or a document."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from compactctl.clients.content.media import media_from_base64, media_from_url
from compactctl.clients.content.unknown_block import text_and_media
from compactctl.clients.format import Format
from compactctl.clients.records.chat_log import ChatLogReader, ConversationParser, sample_messages
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import (
    json_text,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft, text_parts
from compactctl.clients.wrappings import KNOWN_WRAPPINGS
from compactctl.model.json_parser import parse_json
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
from compactctl.records import Record

_ARGUMENTS = "arguments"
_RESPONSE = "responseData"

_ROLES: Mapping[str, Role] = {
    "SYSTEM": "system",
    "USER": "user",
    "ASSISTANT": "assistant",
    "TOOL": "tool",
}
_TYPE = "messageType"
_COLUMNS = {
    _TYPE: "message_type",
    "messageContent": "message_content",
    "messageData": "message_data",
    "sessionId": "session_id",
}
_BINARY_TYPES = ("image/", "audio/", "video/", "application/")

_MESSAGES_KEY = "events"
_TYPES_BY_ROLE: Mapping[Role, str] = {role: kind for kind, role in _ROLES.items()}
_SOURCE = "compactctl"
_SUMMARY_SOURCE = "recursive-summarization"


class SpringAi(Format):
    """Reads and writes events of Spring AI Session, as rows or event records."""

    name = "spring-ai"
    title = "Spring AI Session events"
    reads_arrays = True
    can_write_assistant = True

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize events with a session id and a message type."""
        events = sample_messages(records, _MESSAGES_KEY)
        return bool(events) and sum(map(_is_event, events)) * 2 >= len(events)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return _EventReader(self.name).read(lines)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a synthetic event in the form of its neighbor: a row or an event record."""
        build = _new_row if _is_row(beside.neighbor) else _new_event
        return build(message, self.new_id(message), beside.neighbor)

    def new_content(self, part: Part, current: object, text: str) -> object:
        """Return ``text``, as an attachment in place of media; see ``Format.new_content``."""
        return {"mimeType": "text/plain", "data": text} if isinstance(part, MediaPart) else text


class _EventReader(ChatLogReader):
    """Leave out archived events, and those of subagents in a session of the main agent."""

    def __init__(self, name: str) -> None:
        super().__init__(name, _SpringConversation, _MESSAGES_KEY, wrappings=KNOWN_WRAPPINGS)
        self._archived: set[MessageId] = set()
        self._branched: set[MessageId] = set()

    def on_message(self, message: Message, record: Mapping[str, Any]) -> None:
        """Note archived events and those of subagents."""
        session = record.get(_column(record, "sessionId"))
        self.builder.add_session(session if isinstance(session, str) else None, message.line)
        if _is_archived(record):
            self._archived.add(message.id)
        if _branch(record):
            self._branched.add(message.id)

    def effective(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return the active events of the main agent; of subagents if the file has only theirs."""
        active = [message for message in messages if message.id not in self._archived]
        main = [message for message in active if message.id not in self._branched]
        return tuple(main or active)


class _SpringConversation(ConversationParser):
    """Parse events; calls and responses have ids, so nothing is matched."""

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        """Parse an event; None for any other record."""
        role = _ROLES.get(_kind(record))
        if role is None:
            return None
        parts = _row_parts(record, path) if _is_row(record) else _event_parts(record, path)
        metadata = _metadata(record)
        is_synthetic = _is_true(record.get("synthetic")) or _is_true(metadata.get("synthetic"))
        inner = object_or_empty(object_or_empty(record.get("message")).get("metadata"))
        return MessageDraft(
            role=role,
            parts=parts,
            record_id=text_or_none(record.get("id")),
            model=text_or_none(inner.get("model")) if role == "assistant" else None,
            # A summary is a synthetic prompt and the synthetic answer to it.
            is_injected=is_synthetic and role == "user",
            is_summary=is_synthetic,
            is_subagent=bool(_branch(record)),
        )


def _is_event(record: Mapping[str, Any]) -> bool:
    has_session = isinstance(record.get(_column(record, "sessionId")), str)
    return has_session and _kind(record) in _ROLES


def _is_row(record: Mapping[str, Any]) -> bool:
    return _column(record, _TYPE) in record


def _is_archived(record: Mapping[str, Any]) -> bool:
    """Whether a compaction archived the event, so that it is no longer sent."""
    return _is_true(record.get("archived"))


def _branch(record: Mapping[str, Any]) -> str:
    """Return the path of the event's subagent; "" for the main agent."""
    return text_or_empty(record.get("branch"))


def _metadata(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the metadata of an event; rows store it as JSON text."""
    metadata = record.get("metadata")
    if not isinstance(metadata, str):
        return object_or_empty(metadata)
    try:
        return object_or_empty(parse_json(metadata))
    except ValueError:
        return {}


def _column(record: Mapping[str, Any], name: str) -> str:
    """Return the key of a field in a record: the name of its column, or camel case."""
    as_column = _COLUMNS.get(name, name)
    return as_column if as_column in record else name


def _kind(record: Mapping[str, Any]) -> str:
    if _is_row(record):
        return text_or_empty(record.get(_column(record, _TYPE)))
    return text_or_empty(object_or_empty(record.get("message")).get(_TYPE))


def _row_parts(record: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    content, data = _column(record, "messageContent"), _column(record, "messageData")
    text = text_parts(record.get(content), (*path, content))
    parse_tools = _response_parts if _kind(record) == "TOOL" else _call_parts
    return (*text, *parse_tools(record.get(data), (*path, data)))


def _event_parts(record: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    message, path = object_or_empty(record.get("message")), (*path, "message")
    return (
        *text_parts(message.get("text"), (*path, "text")),
        *_media_parts(list_or_empty(message.get("media")), (*path, "media")),
        *_call_parts(message.get("toolCalls"), (*path, "toolCalls")),
        *_response_parts(message.get("responses"), (*path, "responses")),
    )


def _media_parts(items: list[Any], path: JsonPath) -> Iterator[Part]:
    for index, item in enumerate(map(object_or_empty, items)):
        kind, data = text_or_empty(item.get("mimeType")), text_or_empty(item.get("data"))
        if not data:
            continue
        if not kind.startswith(_BINARY_TYPES):
            yield TextPart(text=data, path=(*path, index, "data"))
        elif "://" in data[:20] or data.startswith("data:"):
            yield media_from_url(data, kind, (*path, index))
        else:
            yield media_from_base64(data, kind, (*path, index))


class _Item(Record, kw_only=False):
    """A call or a response, and its path."""

    value: Mapping[str, Any]
    path: JsonPath

    @property
    def call_id(self) -> CallId:
        return CallId(text_or_empty(self.value.get("id")))

    @property
    def tool(self) -> str:
        return text_or_empty(self.value.get("name"))


def _call_parts(value: object, path: JsonPath) -> tuple[Part, ...]:
    return tuple(
        ToolCallPart(
            call_id=item.call_id,
            tool=item.tool,
            arguments=_text(item.value.get(_ARGUMENTS)),
            path=(*item.path, _ARGUMENTS),
        )
        for item in _items(value, path)
    )


def _response_parts(value: object, path: JsonPath) -> tuple[Part, ...]:
    return tuple(_response(item) for item in _items(value, path))


def _response(item: _Item) -> ToolResultPart:
    path = (*item.path, _RESPONSE)
    text, media = text_and_media(item.value.get(_RESPONSE), path)
    return ToolResultPart(call_id=item.call_id, tool=item.tool, text=text, media=media, path=path)


def _items(value: object, path: JsonPath) -> Iterator[_Item]:
    for index, item in enumerate(list_or_empty(json_in(value))):
        if isinstance(item, Mapping):
            yield _Item(item, (*path, index))


def _text(value: object) -> str:
    return "" if value is None else json_text(value)


def _is_true(value: object) -> bool:
    """Whether a flag is set; databases may export flags as numbers."""
    return value is True or value == 1


def _new_row(message: Synthetic, name: str, neighbor: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata: Mapping[str, Any] = {"compactionSource": _source(message)}
    is_text = isinstance(neighbor.get("metadata"), str)
    tool_parts = _new_calls(message) or _new_responses(message)
    return {
        **_copied_fields(neighbor),
        "id": name,
        _column(neighbor, _TYPE): _TYPES_BY_ROLE[message.role],
        _column(neighbor, "messageContent"): None if _new_responses(message) else message.text,
        _column(neighbor, "messageData"): json.dumps(tool_parts) if tool_parts else None,
        "synthetic": True,
        "archived": False,
        "branch": neighbor.get("branch"),
        "metadata": json.dumps(metadata) if is_text else metadata,
    }


def _new_event(message: Synthetic, name: str, neighbor: Mapping[str, Any]) -> Mapping[str, Any]:
    inner: dict[str, Any] = {_TYPE: _TYPES_BY_ROLE[message.role], "metadata": {}}
    if _new_responses(message):
        inner["responses"] = _new_responses(message)
    else:
        inner["text"] = message.text
    if _new_calls(message):
        inner["toolCalls"] = _new_calls(message)
    return {
        **_copied_fields(neighbor),
        "id": name,
        "message": inner,
        "metadata": {"synthetic": True, "compactionSource": _source(message)},
        "branch": neighbor.get("branch"),
        "archived": False,
    }


def _source(message: Synthetic) -> str:
    """Return what made an event: Spring's name for a summary, ours for anything else."""
    return _SUMMARY_SOURCE if message.kind == "summary" else _SOURCE


def _copied_fields(neighbor: Mapping[str, Any]) -> dict[str, Any]:
    keys = (_column(neighbor, "sessionId"), "timestamp")
    return {key: neighbor[key] for key in keys if key in neighbor}


def _new_calls(message: Synthetic) -> list[Mapping[str, Any]]:
    if message.kind != "call":
        return []
    call = {"id": message.call_id, "type": "function", "name": message.tool}
    return [{**call, _ARGUMENTS: "{}"}]


def _new_responses(message: Synthetic) -> list[Mapping[str, Any]]:
    if message.kind != "result":
        return []
    return [{"id": message.call_id, "name": message.tool, _RESPONSE: message.text}]
