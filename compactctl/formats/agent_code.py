"""Sessions of agent-code: a JSON document with the messages and facts of the session.

Names are those of ``SessionData``, ``Message`` and ``ContentBlock`` (avala-ai/agent-code, August
2026).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compactctl.formats.content.anthropic import (
    block_parts,
    name_results,
    new_content,
    reported_usage,
)
from compactctl.formats.format import Format
from compactctl.formats.records.builder import uuid_for
from compactctl.formats.records.chat_log import ChatLogReader, ConversationParser, sample_messages
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.json_values import list_or_empty, text_or_empty, text_or_none
from compactctl.formats.records.message_draft import MessageDraft, role_with
from compactctl.model.message import (
    JsonPath,
    Part,
    Role,
    Synthetic,
)
from compactctl.model.transcript import Transcript
from compactctl.model.usage_fields import UsageFields, with_reported_usage
from compactctl.pipeline.writer import InsertionContext

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant"}
# Shown on the screen and never sent.
_NOTE = "system"
# agent-code takes the size of its context from the newest answer that has them.
_COUNTS = UsageFields(
    path=("usage",),
    input=("input_tokens",),
    cached_inputs=(("cache_creation_input_tokens",), ("cache_read_input_tokens",)),
    output=("output_tokens",),
)


class AgentCode(Format):
    """Reads and writes session files of agent-code."""

    name = "agent-code"
    title = "agent-code sessions"
    can_write_assistant = True
    usage_fields = _COUNTS
    new_content = staticmethod(new_content)

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognise messages with a type, a UUID and content beside them, in a document."""
        documents = [each for each in records if isinstance(each.get("messages"), list)]
        messages = sample_messages(documents)
        return bool(messages) and all(map(_is_own, messages))

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return _SessionReader(self.name, _AgentCodeConversation).read(lines)

    def new_id(self, message: Synthetic) -> str:
        """Return a UUID derived from the message's id: agent-code takes nothing else."""
        return uuid_for(message.id)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a user message of one text that starts no turn, or the half of a tool pair."""
        is_said = message.role == "assistant" or message.kind == "call"
        kind = "assistant" if is_said else "user"
        record = {
            "type": kind,
            "uuid": self.new_id(message),
            "timestamp": beside.neighbour.get("timestamp", ""),
            "content": [_block(message)],
        }
        if is_said:
            return record
        return {**record, "is_meta": True, "is_compact_summary": message.kind == "summary"}


class _SessionReader(ChatLogReader):
    """Tells notes for the screen from messages that say nothing."""

    is_open = False

    def empty_kind(self, record: Mapping[str, Any]) -> str:
        """Return what a record is that holds nothing to send."""
        return "note" if record.get("type") == _NOTE else super().empty_kind(record)


class _AgentCodeConversation(ConversationParser):
    """Names the tool of each result by the call it answers."""

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        kind = text_or_empty(record.get("type"))
        if kind == _NOTE:
            return MessageDraft(role="system", parts=())
        role = _ROLES.get(kind)
        if role is None:
            return None
        name = text_or_none(record.get("uuid"))
        parts = self._parts(record, (*path, "content"))
        return MessageDraft(
            role=role_with(parts, role),
            parts=parts,
            record_id=name,
            response_id=name if role == "assistant" else None,
            model=text_or_none(record.get("model")) if role == "assistant" else None,
            is_injected=record.get("is_meta") is True,
            is_summary=record.get("is_compact_summary") is True,
            usage=reported_usage(with_reported_usage(record, _COUNTS))
            if role == "assistant"
            else None,
        )

    def _parts(self, record: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
        # Pictures beside a result (``extra_content``) are not sent.
        parts = tuple(
            part
            for index, block in enumerate(list_or_empty(record.get("content")))
            if isinstance(block, Mapping)
            for part in block_parts(block, (*path, index))
        )
        self.add_calls(parts)
        return name_results(parts, self.tools)


def _block(message: Synthetic) -> Mapping[str, Any]:
    if message.kind == "result":
        answer = {"type": "tool_result", "tool_use_id": message.call_id}
        return {**answer, "content": message.text, "is_error": False}
    if message.kind == "call":
        return {"type": "tool_use", "id": message.call_id, "name": message.tool, "input": {}}
    return {"type": "text", "text": message.text}


def _is_own(record: Mapping[str, Any]) -> bool:
    kind = text_or_empty(record.get("type"))
    content = record.get("content")
    shaped = isinstance(content, str) if kind == _NOTE else isinstance(content, list)
    return (kind == _NOTE or kind in _ROLES) and shaped and isinstance(record.get("uuid"), str)
