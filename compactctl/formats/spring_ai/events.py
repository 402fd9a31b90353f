"""Events as messages: event records with a ``message``, and rows of the table of events.

Names are those of ``SessionEvent`` and its messages, and of the columns of ``AI_SESSION_EVENT``,
in camel case or as columns are called; Spring AI Session of July 2026.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from compactctl.formats.content.media_url import media_from_base64, media_from_url
from compactctl.formats.records.chat_log import Conversation
from compactctl.formats.records.json_values import (
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.formats.records.message_draft import MessageDraft
from compactctl.formats.spring_ai.items import calls, responses
from compactctl.model.message import JsonPath, Part, Role, TextPart

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


class SpringConversation(Conversation):
    """The events of a session, in the order of the file, which is that of the session."""

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        """Return what an event says, None when it is not one; see ``Conversation.message``."""
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
            name=text_or_none(record.get("id")),
            model=text_or_none(inner.get("model")) if role == "assistant" else None,
            # A summary is a question that stands in for one, and the answer.
            injected=synthetic and role == "user",
            summary=synthetic,
            aside=bool(branch_of(record)),
        )


def _kind(record: Mapping[str, Any]) -> str:
    if is_row(record):
        return text_or_empty(record.get(column(record, TYPE)))
    return text_or_empty(object_or_empty(record.get("message")).get(TYPE))


def _row_parts(record: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    content, data = column(record, "messageContent"), column(record, "messageData")
    text = _text_part(record.get(content), (*path, content))
    listed = responses if _kind(record) == "TOOL" else calls
    return (*text, *listed(record.get(data), (*path, data)))


def _event_parts(record: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    message, path = object_or_empty(record.get("message")), (*path, "message")
    return (
        *_text_part(message.get("text"), (*path, "text")),
        *_media(list_or_empty(message.get("media")), (*path, "media")),
        *calls(message.get("toolCalls"), (*path, "toolCalls")),
        *responses(message.get("responses"), (*path, "responses")),
    )


def _text_part(value: object, path: JsonPath) -> tuple[Part, ...]:
    return (TextPart(text=value, path=path),) if isinstance(value, str) and value else ()


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
