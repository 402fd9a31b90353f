"""NeuroLink chat messages: one per line, an array, or a session document."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compactctl.formats.content.call_queue import CallIdAssigner
from compactctl.formats.content.unknown_block import text_and_media
from compactctl.formats.format import Format
from compactctl.formats.records.chat_log import ChatLogReader, ConversationParser, sample_messages
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.json_values import (
    integer_or_none,
    json_text,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.formats.records.message_draft import MessageDraft
from compactctl.model.message import (
    JsonPath,
    Part,
    Role,
    Synthetic,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.tags import METADATA_KEY, read_tags, tag_fields
from compactctl.model.transcript import Transcript
from compactctl.pipeline.writer import InsertionContext

_ROLES: Mapping[str, Role] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool_call": "assistant",
    "tool_result": "tool",
}
_OWN_ROLES = ("tool_call", "tool_result")
_WRITTEN_ROLES = {"call": "tool_call", "result": "tool_result"}
# Names in ``metadata`` that other formats with an id and a role do not use.
_OWN_METADATA = frozenset(
    {
        "isSummary",
        "summarizesFrom",
        "summarizesTo",
        "truncated",
        "modelUsed",
        "toolOutputPreview",
        "originalSize",
        "artifactId",
        "stepIndex",
        "thoughtSignature",
    }
)
# All that a ChatMessage may hold; chat messages of others have no id beside so little.
_FIELDS = frozenset(
    {"id", "role", "content", "timestamp", "tool", "args", "result", "events", "metadata"}
)
_SUMMARY_RANGE = ("summarizesFrom", "summarizesTo")


class NeuroLink(Format):
    """Reads and writes the ChatMessage records of NeuroLink's conversation memory."""

    name = "neurolink"
    title = "NeuroLink conversation"
    reads_arrays = True
    can_write_assistant = True

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognise messages with an id and NeuroLink's own roles or metadata, or nothing else."""
        messages = sample_messages(records)
        if not messages or not all(_is_message(message) for message in messages):
            return False
        return any(map(_is_own, messages)) or all(map(_is_bare, messages))

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return ChatLogReader(self.name, _NeuroLinkConversation).read(lines)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a message of the role wanted, or the missing half of a tool pair."""
        timestamp = (
            {"timestamp": beside.neighbour["timestamp"]} if "timestamp" in beside.neighbour else {}
        )
        tool = {"tool": message.tool} if message.tool else {}
        return {
            "id": self.new_id(message),
            "role": _WRITTEN_ROLES.get(message.kind, message.role),
            "content": message.text,
            **tool,
            **timestamp,
            "metadata": _metadata(message),
        }


class _NeuroLinkConversation(ConversationParser):
    """Joins results to calls by tool name, step and order: there are no call ids."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.queue = CallIdAssigner(f"call-{number}-")

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        role = _role(record)
        if role is None:
            return None
        self.queue.begin_record(read_tags(record))
        metadata = object_or_empty(record.get("metadata"))
        return MessageDraft(
            role=_ROLES[role],
            parts=self._parts(role, record, path),
            record_id=text_or_none(record.get("id")),
            model=text_or_none(metadata.get("modelUsed")),
            # Older versions mark a truncation with nothing else.
            is_injected=role in ("user", "system") and metadata.get("truncated") is True,
            is_summary=metadata.get("isSummary") is True,
        )

    def _parts(self, role: str, record: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
        content, tool = record.get("content"), text_or_empty(record.get("tool"))
        path_to_content = (*path, "content")
        text, media = text_and_media(content, path_to_content)
        step = integer_or_none(object_or_empty(record.get("metadata")).get("stepIndex"))
        if role == "tool_result":
            result = ToolResultPart(
                call_id=self.queue.id_for_result(tool, step),
                tool=tool,
                text=text,
                is_error=object_or_empty(record.get("result")).get("success") is False,
                media=media,
                path=path_to_content,
            )
            return (result,)
        is_text = isinstance(content, str)
        part = TextPart(text=text, embedded=not is_text, path=path_to_content)
        said: tuple[Part, ...] = (part, *media) if text else ()
        if role != "tool_call":
            return said
        call = ToolCallPart(
            call_id=self.queue.id_for_call(tool, step),
            tool=tool,
            arguments=json_text(record.get("args", {})),
            path=(*path, "args"),
        )
        return (*said, call)


def _metadata(message: Synthetic) -> dict[str, Any]:
    if message.kind != "summary":
        return {"truncated": True}
    known = {name: message.details[name] for name in _SUMMARY_RANGE if name in message.details}
    return {"isSummary": True, **known}


def _is_message(record: Mapping[str, Any]) -> bool:
    return _role(record) is not None and isinstance(record.get("id"), str)


def _is_own(record: Mapping[str, Any]) -> bool:
    names = object_or_empty(record.get("metadata")).keys()
    return record.get("role") in _OWN_ROLES or not _OWN_METADATA.isdisjoint(names)


def _is_bare(record: Mapping[str, Any]) -> bool:
    tags = {*tag_fields(read_tags(record)), METADATA_KEY}
    return isinstance(record.get("content"), str) and record.keys() <= _FIELDS | tags


def _role(record: Mapping[str, Any]) -> str | None:
    role = text_or_none(record.get("role"))
    return role if role in _ROLES else None
