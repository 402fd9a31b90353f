"""UI messages of the AI SDK, as apps keep their chats: rows of a database, arrays or documents."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compactctl.formats.content.ai_sdk_parts import (
    is_ui_part,
    message_parts,
    new_file,
    new_output,
)
from compactctl.formats.content.tool_definitions import tool_definitions
from compactctl.formats.records.api_format import ApiFormat
from compactctl.formats.records.chat_log import Conversation
from compactctl.formats.records.dialect import DialectFit
from compactctl.formats.records.json_values import (
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.formats.records.message_draft import MessageDraft, opening_drafts
from compactctl.model.message import (
    FilePart,
    JsonPath,
    MediaPart,
    Part,
    Role,
    Synthetic,
    TextPart,
    ToolResultPart,
)
from compactctl.pipeline.writer import Beside

_ROLES: Mapping[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
# Messages of version 4 for the app alone.
_DATA = "data"


class AISdk(ApiFormat):
    """Reads and writes the UI messages of versions 4 and newer."""

    name = "ai-sdk"
    title = "AI SDK UI messages"
    writes_pairs = False

    def fits(
        self,
        messages: Sequence[Mapping[str, Any]],
        request: Mapping[str, Any],
    ) -> DialectFit | None:
        """Recognize messages with parts of a type, or with ``toolInvocations``."""
        chat = [message for message in messages if _is_message(message)]
        return "own" if any(map(_is_own, chat)) and len(chat) * 2 >= len(messages) else None

    def start(self, number: int) -> Conversation:
        """Begin to read the conversation of a number."""
        return _UIConversation(number)

    def new_record(self, message: Synthetic, beside: Beside) -> Mapping[str, Any]:
        """Build a message with the fields for its text that its neighbour has."""
        part = {"type": "text", "text": message.text}
        time = {"createdAt": beside.like["createdAt"]} if "createdAt" in beside.like else {}
        content = {"content": message.text} if "content" in beside.like else {}
        parts = {"parts": [part]} if "parts" in beside.like or not content else {}
        return {"id": self.new_id(message), **time, "role": message.role, **content, **parts}

    def new_content(self, part: Part, current: object, text: str) -> object:
        """Return a file or an output with ``text`` in it; see ``Format.new_content``."""
        if isinstance(part, MediaPart | FilePart):
            return new_file(part.path, object_or_empty(current), text)
        return new_output(current, text) if isinstance(part, ToolResultPart) else text


class _UIConversation(Conversation):
    """Calls and results stand in one part, or name one another."""

    def opening(
        self, request: Mapping[str, Any], path: JsonPath
    ) -> Iterator[tuple[JsonPath, MessageDraft]]:
        tools, prompt = (*path, "tools"), (*path, "system")
        definitions = tool_definitions(request.get("tools"), tools)
        system = text_or_empty(request.get("system"))
        said = (TextPart(text=system, path=prompt),) if system else ()
        return opening_drafts(definitions, tools, said, prompt)

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        if not _is_message(record):
            return None
        role = _ROLES.get(text_or_empty(record.get("role")))
        metadata = object_or_empty(record.get("metadata"))
        return MessageDraft(
            role=role or "system",
            parts=message_parts(record, path) if role else (),
            name=text_or_none(record.get("id")),
            model=text_or_none(metadata.get("model")) if role == "assistant" else None,
        )


def _is_message(record: Mapping[str, Any]) -> bool:
    role = text_or_empty(record.get("role"))
    has_content = isinstance(record.get("parts"), list) or isinstance(record.get("content"), str)
    return (role in _ROLES or role == _DATA) and has_content


def _is_own(record: Mapping[str, Any]) -> bool:
    if any(map(is_ui_part, list_or_empty(record.get("parts")))):
        return True
    tools = map(object_or_empty, list_or_empty(record.get("toolInvocations")))
    return any("toolCallId" in tool for tool in tools)
