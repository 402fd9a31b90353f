"""Sessions of agent-code: a JSON document with the messages and facts of a session.

Keys are those of ``SessionData``, ``Message`` and ``ContentBlock`` (avala-ai/agent-code, August
2026).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compactctl.clients.content.anthropic import (
    block_parts,
    name_results,
    new_content,
    reported_usage,
)
from compactctl.clients.format import Format
from compactctl.clients.records.builder import uuid_for
from compactctl.clients.records.chat_log import ChatLogReader, ConversationParser, sample_messages
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import list_or_empty, text_or_empty, text_or_none
from compactctl.clients.records.message_draft import MessageDraft, role_with
from compactctl.clients.records.outcomes import Ending, ResultWording
from compactctl.clients.wrappings import KNOWN_WRAPPINGS, UNKNOWN_CLIENT
from compactctl.model.message import (
    JsonPath,
    Part,
    Role,
    Synthetic,
)
from compactctl.model.transcript import Transcript
from compactctl.model.usage_fields import UsageFields, with_reported_usage
from compactctl.pipeline.writer import InsertionContext
from compactctl.records import replace

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant"}
# Notes are shown on the screen and never sent.
_NOTE_TYPE = "system"
# agent-code takes the size of its context from the newest answer with these fields.
_USAGE_FIELDS = UsageFields(
    path=("usage",),
    input=("input_tokens",),
    cached_inputs=(("cache_creation_input_tokens",), ("cache_read_input_tokens",)),
    output=("output_tokens",),
)

# agent-code of 2026; leaving its plan mode needs no approval.
_RESULTS = ResultWording(
    marks_failures=True,
    code_last=r"Exit code: (\d+)\s*\Z",
    starts=(
        Ending("denied", (r"Permission denied(?: by user|: )",)),
        Ending("interrupted", (r"\(tool execution was interrupted\)",)),
    ),
    despite_success=(
        Ending(
            "unknown",
            (r"Command running in background \(task (?P<task>\w+)\)",),
        ),
        Ending("unknown", (r"Exited plan mode\.",), "plan"),
    ),
)

AGENT_CODE = replace(UNKNOWN_CLIENT, client="agent-code", results=_RESULTS)
_WRAPPINGS = replace(KNOWN_WRAPPINGS, unknown=AGENT_CODE)


class AgentCode(Format):
    """Reads and writes session files of agent-code."""

    name = "agent-code"
    title = "agent-code sessions"
    provider = "anthropic"
    pair_order = "next turn"
    can_write_assistant = True
    usage_fields = _USAGE_FIELDS
    new_content = staticmethod(new_content)

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize a document of messages with a type, a UUID and content."""
        documents = [record for record in records if isinstance(record.get("messages"), list)]
        messages = sample_messages(documents)
        return sum(map(_is_message, messages)) * 2 > len(messages)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return _SessionReader(self.name, _AgentCodeConversation, wrappings=_WRAPPINGS).read(lines)

    def new_id(self, message: Synthetic) -> str:
        """Derive a UUID from the message's id: agent-code accepts no other ids."""
        return uuid_for(message.id)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a message with one text, or half of a tool pair; it starts no turn."""
        is_assistant = message.role == "assistant" or message.kind == "call"
        kind = "assistant" if is_assistant else "user"
        record = {
            "type": kind,
            "uuid": self.new_id(message),
            "timestamp": beside.neighbor.get("timestamp", ""),
            "content": [_new_block(message)],
        }
        if is_assistant:
            return record
        return {**record, "is_meta": True, "is_compact_summary": message.kind == "summary"}


class _SessionReader(ChatLogReader):
    """Count notes apart from empty messages."""

    def unsent_kind(self, record: Mapping[str, Any]) -> str:
        """Return "note" for a record that is only shown."""
        return "note" if record.get("type") == _NOTE_TYPE else ""


class _AgentCodeConversation(ConversationParser):
    """Name the tool of each result by the call it answers."""

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        kind = text_or_empty(record.get("type"))
        if kind == _NOTE_TYPE:
            return MessageDraft(role="system", parts=())
        role = _ROLES.get(kind)
        if role is None:
            return None
        record_id = text_or_none(record.get("uuid"))
        parts = self._parts(record, (*path, "content"))
        return MessageDraft(
            role=role_with(parts, role),
            parts=parts,
            record_id=record_id,
            response_id=record_id if role == "assistant" else None,
            model=text_or_none(record.get("model")) if role == "assistant" else None,
            is_injected=record.get("is_meta") is True,
            is_summary=record.get("is_compact_summary") is True,
            usage=reported_usage(with_reported_usage(record, _USAGE_FIELDS))
            if role == "assistant"
            else None,
        )

    def _parts(self, record: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
        # Images in ``extra_content`` of a result are not sent.
        parts = tuple(
            part
            for index, block in enumerate(list_or_empty(record.get("content")))
            if isinstance(block, Mapping)
            for part in block_parts(block, (*path, index))
        )
        self.add_calls(parts)
        return name_results(parts, self.tools)


def _new_block(message: Synthetic) -> Mapping[str, Any]:
    if message.kind == "result":
        result = {"type": "tool_result", "tool_use_id": message.call_id}
        return {**result, "content": message.text, "is_error": False}
    if message.kind == "call":
        return {"type": "tool_use", "id": message.call_id, "name": message.tool, "input": {}}
    return {"type": "text", "text": message.text}


def _is_message(record: Mapping[str, Any]) -> bool:
    kind = text_or_empty(record.get("type"))
    content = record.get("content")
    has_content = isinstance(content, str) if kind == _NOTE_TYPE else isinstance(content, list)
    return (
        (kind == _NOTE_TYPE or kind in _ROLES)
        and has_content
        and isinstance(record.get("uuid"), str)
    )
