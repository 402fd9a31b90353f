"""Anthropic messages: one per line, a request per line or as a document, or an array."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compactctl.formats.api_format import ApiFormat, DialectFit
from compactctl.formats.content.anthropic import (
    content_parts,
    new_content,
    reported_usage,
    text_content,
)
from compactctl.formats.content.tool_definitions import tool_definitions
from compactctl.formats.records.chat_log import ConversationParser
from compactctl.formats.records.json_values import (
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.formats.records.message_draft import MessageDraft, preamble_drafts, role_with
from compactctl.model.message import (
    JsonPath,
    Message,
    Part,
    ReasoningPart,
    ReportedUsage,
    Role,
    Synthetic,
)
from compactctl.pipeline.writer import InsertionContext

# Instructions to change in the middle of a conversation are the system's.
_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
# Blocks that no other format stores in a message's content.
_BLOCKS = (
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "server_tool_use",
    "web_search_tool_result",
)


class AnthropicMessages(ApiFormat):
    """Reads and writes messages as Anthropic's API takes them."""

    name = "anthropic-messages"
    title = "Anthropic messages"
    new_content = staticmethod(new_content)

    def fits(
        self, messages: Sequence[Mapping[str, Any]], request: Mapping[str, Any]
    ) -> DialectFit | None:
        """Recognize a ``system`` field, tools, blocks or answers as only this API has them."""
        known = [message for message in messages if _is_message(message)]
        if not known or len(known) * 2 < len(messages):
            return None
        # The version is named in bodies for Bedrock and Vertex AI.
        is_named = "anthropic_version" in request or _is_system(request.get("system"))
        if is_named or any(map(_is_response, messages)):
            return "distinctive"
        if any("input_schema" in object_or_empty(t) for t in list_or_empty(request.get("tools"))):
            return "distinctive"
        # Here the system prompt stands beside the messages; later ones may be of the system.
        starts = messages[0].get("role") != "system" and len(known) == len(messages)
        return "distinctive" if starts and any(map(_has_blocks, messages)) else "shared"

    def start(self, number: int) -> ConversationParser:
        """Begin to read the conversation of a number."""
        return _AnthropicConversation(number)

    def between(self, first: Message, second: Message) -> tuple[Role, ...]:
        """Keep a system message among the others behind the user's and before the assistant's.

        The API refuses it anywhere else, except at the end. Of messages of the assistant in a row
        it makes one, in which thinking has to come first.
        """
        is_thought = bool(second.parts) and isinstance(second.parts[0], ReasoningPart)
        if first.role == second.role == "assistant" and is_thought:
            return ("user",)
        before: tuple[Role, ...] = ()
        if _is_among(first) and second.role != "assistant":
            before = ("assistant",)
        needs_user = _is_among(second) and (before or first.role not in ("user", "tool"))
        return (*before, "user") if needs_user else before

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a message of the user's or the assistant's: there are none of the system here.

        The missing half of a tool pair is a block, and a call comes from the assistant.
        """
        if message.kind == "result":
            answer = {"type": "tool_result", "tool_use_id": message.call_id}
            return {"role": "user", "content": [{**answer, "content": message.text}]}
        if message.kind == "call":
            call = {"type": "tool_use", "id": message.call_id, "name": message.tool, "input": {}}
            said = {"type": "text", "text": message.text}
            return {"role": "assistant", "content": [said, call]}
        role = "assistant" if message.role == "assistant" else "user"
        return {
            "role": role,
            "content": text_content(beside.neighbour.get("content"), message.text),
        }


def _is_among(message: Message) -> bool:
    """Tell whether it is a system message among the others, not the system prompt or the tools."""
    return message.role == "system" and message.locks.immutable_reason is None


class _AnthropicConversation(ConversationParser):
    """Names the tool of each result by the call it answers."""

    def preamble(
        self, request: Mapping[str, Any], path: JsonPath
    ) -> Iterator[tuple[JsonPath, MessageDraft]]:
        tools, prompt = (*path, "tools"), (*path, "system")
        definitions = tool_definitions(request.get("tools"), tools)
        system = content_parts(request.get("system"), prompt)
        return preamble_drafts(definitions, tools, system, prompt)

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        role = _role(record)
        if role is None:
            return None
        content, path = record.get("content"), (*path, "content")
        if role == "assistant":
            return self._response(record, content_parts(content, path))
        if role == "system":
            return MessageDraft(role=role, parts=content_parts(content, path))
        parts = content_parts(content, path, self.tools)
        return MessageDraft(role=role_with(parts, "user"), parts=parts)

    def answer(
        self, answer: Mapping[str, Any], path: JsonPath
    ) -> tuple[JsonPath, MessageDraft] | None:
        draft = self.message(answer, path)
        return None if draft is None else (path, draft)

    def usage(self, answer: Mapping[str, Any]) -> ReportedUsage | None:
        return reported_usage(answer)

    def _response(self, record: Mapping[str, Any], parts: tuple[Part, ...]) -> MessageDraft:
        self.add_calls(parts)
        return MessageDraft(
            role="assistant",
            parts=parts,
            response_id=text_or_none(record.get("id")),
            model=text_or_none(record.get("model")),
            usage=reported_usage(record),
        )


def _role(record: Mapping[str, Any]) -> Role | None:
    return _ROLES.get(text_or_empty(record.get("role")))


def _is_message(record: Mapping[str, Any]) -> bool:
    return _role(record) is not None and isinstance(record.get("content"), str | list)


def _is_system(value: object) -> bool:
    """Tell whether a system prompt is a text or blocks with a type; Bedrock's have none."""
    blocks = list_or_empty(value)
    return isinstance(value, str) or any("type" in object_or_empty(block) for block in blocks)


def _is_response(message: Mapping[str, Any]) -> bool:
    """Tell whether a message is a response as Anthropic's API gives it, with what it reports."""
    return "stop_reason" in message and "input_tokens" in object_or_empty(message.get("usage"))


def _has_blocks(message: Mapping[str, Any]) -> bool:
    blocks = [b for b in list_or_empty(message["content"]) if isinstance(b, Mapping)]
    calls_apart = "tool_calls" in message
    return not calls_apart and any(map(_is_block, blocks))


def _is_block(block: Mapping[str, Any]) -> bool:
    # Mistral's thinking is a list.
    is_other = isinstance(block.get("thinking"), list)
    known = block.get("type") in _BLOCKS or isinstance(block.get("source"), Mapping)
    return known and not is_other
