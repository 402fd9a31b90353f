"""Anthropic messages: one per line, a request per line or as a document, or an array."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compactctl.clients.apis.api_format import ApiFormat, DialectFit
from compactctl.clients.content.anthropic import (
    content_parts,
    new_content,
    reported_usage,
    text_content,
)
from compactctl.clients.content.context_edits import CONTEXT_EDITS, clearing_of
from compactctl.clients.content.tool_definitions import tool_definitions
from compactctl.clients.records.chat_log import NO_CONTENT, ConversationParser, RecordRefusal
from compactctl.clients.records.json_values import (
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft, preamble_drafts, role_with
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
from compactctl.records import replace

# Later system messages change the instructions in the middle of a conversation.
_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
# Up to where the API caches a request.
_CACHE_MARK = "cache_control"
# Block types that only this format stores in the content of messages.
_BLOCK_TYPES = (
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "server_tool_use",
    "web_search_tool_result",
)


class AnthropicMessages(ApiFormat):
    """Reads and writes messages of Anthropic's API."""

    name = "anthropic-messages"
    title = "Anthropic messages"
    provider = "anthropic"
    pair_order = "next turn"
    new_content = staticmethod(new_content)

    def fits(
        self, messages: Sequence[Mapping[str, Any]], request: Mapping[str, Any]
    ) -> DialectFit | None:
        """Recognize a ``system`` field, tools, blocks or answers that only this API has."""
        chat = [message for message in messages if _is_message(message)]
        if not chat or len(chat) * 2 < len(messages):
            return None
        # Requests to Bedrock and Vertex AI name the version.
        is_request = "anthropic_version" in request or _is_system_prompt(request.get("system"))
        if is_request or any(
            "input_schema" in object_or_empty(tool) for tool in list_or_empty(request.get("tools"))
        ):
            return "certain"
        if any(map(_is_response, messages)):
            return "distinctive"
        # This API takes the system prompt outside the messages: a system message is never first.
        has_valid_roles = messages[0].get("role") != "system" and len(chat) == len(messages)
        return (
            "distinctive"
            if has_valid_roles and any(map(_has_anthropic_blocks, messages))
            else "shared"
        )

    def start(self, number: int) -> ConversationParser:
        """Return the parser of a conversation."""
        return _AnthropicConversation(number)

    def roles_between(self, first: Message, second: Message) -> tuple[Role, ...]:
        """Keep a later system message after a user message and before an assistant message.

        The API rejects it anywhere else, except at the end. It merges consecutive assistant
        messages, and thinking has to come first in the merged message.
        """
        starts_with_reasoning = bool(second.parts) and isinstance(second.parts[0], ReasoningPart)
        if first.role == second.role == "assistant" and starts_with_reasoning:
            return ("user",)
        roles: tuple[Role, ...] = ()
        if _is_later_system_message(first) and second.role != "assistant":
            roles = ("assistant",)
        needs_user = _is_later_system_message(second) and (
            roles or first.role not in ("user", "tool")
        )
        return (*roles, "user") if needs_user else roles

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a user or assistant message; this API has no synthetic system messages.

        Half of a tool pair becomes a block: in an assistant message if it is a call.
        """
        if message.kind == "result":
            result = {"type": "tool_result", "tool_use_id": message.call_id}
            return {"role": "user", "content": [{**result, "content": message.text}]}
        if message.kind == "call":
            call = {"type": "tool_use", "id": message.call_id, "name": message.tool, "input": {}}
            text_block = {"type": "text", "text": message.text}
            return {"role": "assistant", "content": [text_block, call]}
        role = "assistant" if message.role == "assistant" else "user"
        return {
            "role": role,
            "content": text_content(beside.neighbor.get("content"), message.text),
        }


def _is_later_system_message(message: Message) -> bool:
    """Whether this is a system message, but not the system prompt or the tools."""
    return message.role == "system" and message.locks.immutable_reason is None


class _AnthropicConversation(ConversationParser):
    """Parses a conversation; the tool of each result is that of the call it answers."""

    provider = "Anthropic"

    def __init__(self, number: int) -> None:
        super().__init__(number)
        # The request whose rules let the API clear content.
        self.request: Mapping[str, Any] = {}

    def preamble(
        self, request: Mapping[str, Any], path: JsonPath
    ) -> Iterator[tuple[JsonPath, MessageDraft]]:
        tools_path, prompt_path = (*path, "tools"), (*path, "system")
        self.request = request if CONTEXT_EDITS in request else self.request
        definitions = tool_definitions(request.get("tools"), tools_path)
        system = content_parts(request.get("system"), prompt_path)
        for draft_path, draft in preamble_drafts(definitions, tools_path, system, prompt_path):
            marks = _cache_marks(request.get(str(draft_path[-1])), draft_path)
            yield draft_path, replace(draft, cache_marks=marks)

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        role = _role(record)
        if role is None:
            return None
        content, path = record.get("content"), (*path, "content")
        parts, marks = content_parts(content, path, self.tools), _cache_marks(content, path)
        if role == "assistant":
            return replace(self._response(record, parts), cache_marks=marks)
        role = role_with(parts, role) if role == "user" else role
        return MessageDraft(role=role, parts=parts, cache_marks=marks)

    def refusal(self, record: Mapping[str, Any]) -> RecordRefusal | None:
        return NO_CONTENT if _role(record) else None

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
            clearing=clearing_of(record, self.request),
        )


def _cache_marks(blocks: object, path: JsonPath) -> tuple[JsonPath, ...]:
    """Return the paths of the cache marks of blocks, and of the blocks in their results."""
    if not isinstance(blocks, list):
        return ()
    marks: list[JsonPath] = []
    for index, block in enumerate(blocks):
        if not isinstance(block, Mapping):
            continue
        if block.get(_CACHE_MARK):
            marks.append((*path, index, _CACHE_MARK))
        if isinstance(block.get("content"), list):
            marks += _cache_marks(block["content"], (*path, index, "content"))
    return tuple(marks)


def _role(record: Mapping[str, Any]) -> Role | None:
    return _ROLES.get(text_or_empty(record.get("role")))


def _is_message(record: Mapping[str, Any]) -> bool:
    has_content = isinstance(record.get("content"), str | list)
    return _role(record) is not None and (has_content or _is_response(record))


def _is_system_prompt(value: object) -> bool:
    """Whether a system prompt is a text or typed blocks; Bedrock's blocks have no type."""
    blocks = list_or_empty(value)
    return isinstance(value, str) or any("type" in object_or_empty(block) for block in blocks)


def _is_response(message: Mapping[str, Any]) -> bool:
    """Whether a message is a response of Anthropic's API, with its usage."""
    return "stop_reason" in message and "input_tokens" in object_or_empty(message.get("usage"))


def _has_anthropic_blocks(message: Mapping[str, Any]) -> bool:
    blocks = [
        block for block in list_or_empty(message.get("content")) if isinstance(block, Mapping)
    ]
    has_openai_calls = "tool_calls" in message
    return not has_openai_calls and any(map(_is_anthropic_block, blocks))


def _is_anthropic_block(block: Mapping[str, Any]) -> bool:
    # Mistral's API has blocks of the same type, but stores thinking as a list.
    is_mistral = isinstance(block.get("thinking"), list)
    is_anthropic = block.get("type") in _BLOCK_TYPES or isinstance(block.get("source"), Mapping)
    return is_anthropic and not is_mistral
