"""UI messages of the AI SDK, as apps keep their chats: rows of a database, arrays or documents."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from compactctl.formats.content.ai_sdk_parts import (
    is_ui_part,
    message_parts,
    new_file,
    new_output,
)
from compactctl.formats.content.rewritten import rewritten
from compactctl.formats.content.tool_definitions import tool_definitions
from compactctl.formats.records.chat_log import ChatLogReader, sample_messages
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.json_values import (
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.formats.records.message_draft import MessageDraft
from compactctl.model.counts import CountFields
from compactctl.model.message import (
    FilePart,
    JsonPath,
    MediaPart,
    Message,
    Part,
    ReportedUsage,
    Role,
    Synthetic,
    TextPart,
    ToolResultPart,
)
from compactctl.model.transcript import Transcript
from compactctl.model.unsent import UnsentRule
from compactctl.pipeline.writer import Beside

_ROLES: Mapping[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
# Messages of version 4 for the app alone.
_DATA = "data"


class AISdk:
    """Reads and writes the UI messages of versions 4 and newer."""

    name = "ai-sdk"
    title = "AI SDK UI messages"
    reads_arrays = True
    writes_pairs = False
    parent_path: JsonPath | None = None
    counts: CountFields | None = None
    unsent: tuple[UnsentRule, ...] = ()

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognise messages with parts of a type, or with ``toolInvocations``."""
        messages = sample_messages(records)
        chat = [message for message in messages if _is_message(message)]
        return any(map(_is_own, chat)) and len(chat) * 2 >= len(messages)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return ChatLogReader(self.name, _UIConversation).read(lines)

    def new_id(self, message: Synthetic) -> str:
        """Return the message's own id, which becomes the record's."""
        return message.id

    def new_record(self, message: Synthetic, beside: Beside) -> Mapping[str, Any]:
        """Build a message with the fields for its text that its neighbour has."""
        part = {"type": "text", "text": message.text}
        time = {"createdAt": beside.like["createdAt"]} if "createdAt" in beside.like else {}
        content = {"content": message.text} if "content" in beside.like else {}
        parts = {"parts": [part]} if "parts" in beside.like or not content else {}
        return {"id": self.new_id(message), **time, "role": message.role, **content, **parts}

    def new_value(self, message: Message, part: int, current: Any, text: str) -> Any:  # noqa: ANN401
        """Return new content in the shape of the current one; see ``Writer.new_value``."""
        return rewritten(message.parts[part], current, text, _new_content)


def _new_content(part: Part, current: Any, text: str) -> object:  # noqa: ANN401 - JSON is any value
    if isinstance(part, MediaPart | FilePart):
        return new_file(part.path, object_or_empty(current), text)
    return new_output(current, text) if isinstance(part, ToolResultPart) else text


class _UIConversation:
    """Calls and results stand in one part, or name one another."""

    def __init__(self, number: int) -> None:
        self.number = number

    def opening(self, document: Mapping[str, Any]) -> Iterator[tuple[JsonPath, MessageDraft]]:
        definitions = tool_definitions(document.get("tools"), ("tools",))
        if definitions:
            yield ("tools",), MessageDraft(role="system", parts=definitions, injected=True)
        system = text_or_empty(document.get("system"))
        if system:
            said = TextPart(text=system, path=("system",))
            yield ("system",), MessageDraft(role="system", parts=(said,), fixed="system prompt")

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

    def answer(self, document: Mapping[str, Any]) -> None:
        """An app keeps the answer as the newest message."""

    def usage(self, document: Mapping[str, Any]) -> ReportedUsage | None:  # noqa: ARG002 - no field is the same with every provider
        """Messages report no usage that is the same with every provider."""
        return None


def _is_message(record: Mapping[str, Any]) -> bool:
    role = text_or_empty(record.get("role"))
    has_content = isinstance(record.get("parts"), list) or isinstance(record.get("content"), str)
    return (role in _ROLES or role == _DATA) and has_content


def _is_own(record: Mapping[str, Any]) -> bool:
    if any(map(is_ui_part, list_or_empty(record.get("parts")))):
        return True
    tools = map(object_or_empty, list_or_empty(record.get("toolInvocations")))
    return any("toolCallId" in tool for tool in tools)
