"""NeuroLink chat messages: one per line, an array, or a session document."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compactctl.clients.content.call_queue import CallIdAssigner, call_prefix, is_derived
from compactctl.clients.content.unknown_block import text_and_media
from compactctl.clients.format import Format
from compactctl.clients.records.chat_log import ChatLogReader, ConversationParser, sample_messages
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import (
    integer_or_none,
    json_text,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.clients.records.outcomes import stated_outcome
from compactctl.clients.records.unread import COMMON_UNSENT, UnsentFields
from compactctl.clients.wrappings import KNOWN_WRAPPINGS
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
_TOOL_ROLES = ("tool_call", "tool_result")
_ROLES_BY_KIND = {"call": "tool_call", "result": "tool_result"}
# Keys of ``metadata`` that other formats with ids and roles do not use.
_METADATA_FIELDS = frozenset(
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
# Written since August 2026; without it, results belong to calls by their order.
_CALL_ID = "toolCallId"
# All keys of a ChatMessage; other chat messages with an id have further keys.
_CHAT_FIELDS = frozenset(
    {
        "id",
        "role",
        "content",
        "timestamp",
        "tool",
        _CALL_ID,
        "args",
        "result",
        "events",
        "metadata",
    }
)
_RANGE_FIELDS = ("summarizesFrom", "summarizesTo")

# Of a tool's result, the content is sent; previews and events are for the screen.
_UNSENT_FIELDS = COMMON_UNSENT | UnsentFields(keys=frozenset({"events", "metadata", "result"}))


class NeuroLink(Format):
    """Reads and writes ChatMessage records of NeuroLink's conversation memory."""

    name = "neurolink"
    title = "NeuroLink conversation"
    tools_path = ()
    reads_arrays = True
    can_write_assistant = True

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize messages with an id and NeuroLink's roles, metadata or no other keys."""
        messages = sample_messages(records)
        if not messages or not all(_is_message(message) for message in messages):
            return False
        return any(map(_is_distinctive, messages)) or all(map(_has_only_chat_fields, messages))

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return ChatLogReader(
            self.name,
            _NeuroLinkConversation,
            wrappings=KNOWN_WRAPPINGS,
            is_log=self.is_log,
            unsent_fields=_UNSENT_FIELDS,
        ).read(lines)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a message, or half of a tool pair."""
        timestamp = (
            {"timestamp": beside.neighbor["timestamp"]} if "timestamp" in beside.neighbor else {}
        )
        tool = {"tool": message.tool} if message.tool else {}
        has_id = message.call_id and not is_derived(message.call_id)
        call_id = {_CALL_ID: message.call_id} if has_id else {}
        return {
            "id": self.new_id(message),
            "role": _ROLES_BY_KIND.get(message.kind, message.role),
            "content": message.text,
            **tool,
            **call_id,
            **timestamp,
            "metadata": _synthetic_metadata(message),
        }


class _NeuroLinkConversation(ConversationParser):
    """Match results to calls by id, or by tool name, step and order in records without one."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.queue = CallIdAssigner(call_prefix(number))

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        role = _role(record)
        if role is None:
            return None
        self.queue.begin_record(read_tags(record))
        if role not in _TOOL_ROLES:
            self.queue.end_batch()
        metadata = object_or_empty(record.get("metadata"))
        return MessageDraft(
            role=_ROLES[role],
            parts=self._parts(role, record, path),
            record_id=text_or_none(record.get("id")),
            model=text_or_none(metadata.get("modelUsed")),
            # Older versions mark a truncation only like this.
            is_injected=role in ("user", "system") and metadata.get("truncated") is True,
            is_summary=metadata.get("isSummary") is True,
        )

    def _parts(self, role: str, record: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
        content, tool = record.get("content"), text_or_empty(record.get("tool"))
        content_path = (*path, "content")
        text, media = text_and_media(content, content_path)
        step = integer_or_none(object_or_empty(record.get("metadata")).get("stepIndex"))
        recorded_id = text_or_empty(record.get(_CALL_ID))
        if role == "tool_result":
            result = ToolResultPart(
                call_id=self.queue.id_for_result(tool, step, recorded_id),
                tool=tool,
                text=text,
                outcome=stated_outcome(object_or_empty(record.get("result")).get("success")),
                media=media,
                path=content_path,
            )
            return (result,)
        is_text = isinstance(content, str)
        part = TextPart(text=text, embedded=not is_text, path=content_path)
        content_parts: tuple[Part, ...] = (part, *media) if text else ()
        if role != "tool_call":
            return content_parts
        call = ToolCallPart(
            call_id=self.queue.id_for_call(tool, step, recorded_id),
            tool=tool,
            arguments=json_text(record.get("args", {})),
            path=(*path, "args"),
        )
        return (*content_parts, call)


def _synthetic_metadata(message: Synthetic) -> dict[str, Any]:
    if message.kind != "summary":
        return {"truncated": True}
    summary_range = {
        name: message.details[name] for name in _RANGE_FIELDS if name in message.details
    }
    return {"isSummary": True, **summary_range}


def _is_message(record: Mapping[str, Any]) -> bool:
    return _role(record) is not None and isinstance(record.get("id"), str)


def _is_distinctive(record: Mapping[str, Any]) -> bool:
    names = object_or_empty(record.get("metadata")).keys()
    return record.get("role") in _TOOL_ROLES or not _METADATA_FIELDS.isdisjoint(names)


def _has_only_chat_fields(record: Mapping[str, Any]) -> bool:
    tags = {*tag_fields(read_tags(record)), METADATA_KEY}
    return isinstance(record.get("content"), str) and record.keys() <= _CHAT_FIELDS | tags


def _role(record: Mapping[str, Any]) -> str | None:
    role = text_or_none(record.get("role"))
    return role if role in _ROLES else None
