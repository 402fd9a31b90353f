"""OpenAI chat messages: as lines, as requests per line, as a document or as an array."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compactctl.clients.apis.api_format import ApiFormat, DialectFit
from compactctl.clients.content.openai import new_content, text_content
from compactctl.clients.content.openai_messages import OpenAIConversation, role_of
from compactctl.clients.records.chat_log import NO_CONTENT, ConversationParser, RecordRefusal
from compactctl.clients.records.json_values import list_or_empty, text_or_empty
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.model.message import JsonPath, Message, Role, Synthetic
from compactctl.pipeline.writer import InsertionContext

_CONTENT_KEYS = ("content", "tool_calls", "function_call")
# The only call ids that Mistral's API accepts; OpenAI's are longer.
_MISTRAL_ID = re.compile(r"[A-Za-z0-9]{9}")
# OpenAI's own models, also as gateways name them.
_OPENAI_MODEL = re.compile(r"(?:openai[/.])?(?:gpt-|chatgpt-|codex-|o\d)")
_TOOL_ROLES = ("tool", "function")
_DISTINCTIVE_FIELDS = ("tool_calls", "function_call", "choices")


class OpenAIChat(ApiFormat):
    """Reads and writes chat messages of OpenAI's API."""

    name = "openai-chat"
    title = "OpenAI chat messages"
    provider = "openai"
    pair_order = "next messages"
    new_content = staticmethod(new_content)

    def fits(
        self, messages: Sequence[Mapping[str, Any]], request: Mapping[str, Any]
    ) -> DialectFit | None:
        """Recognize roles, calls, choices or tools that only this API has, or plain messages."""
        if "functions" in request or any(map(_is_tool, list_or_empty(request.get("tools")))):
            return "certain"
        if any(map(_is_distinctive, messages)):
            return "distinctive"
        chat = [m for m in messages if role_of(m) and any(name in m for name in _CONTENT_KEYS)]
        return "shared" if chat and len(chat) * 2 >= len(messages) else None

    def start(self, number: int) -> ConversationParser:
        """Return the parser of a conversation."""
        return _ChatConversation(number)

    def roles_between(self, first: Message, second: Message) -> tuple[Role, ...]:
        """Keep an answer between results and a user message, which Mistral's API requires."""
        is_mistral = any(_MISTRAL_ID.fullmatch(result.call_id) for result in first.results)
        return ("assistant",) if is_mistral and second.role == "user" else ()

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a message with content of the same shape as its neighbor's."""
        record = {
            "role": message.role,
            "content": text_content(beside.neighbor.get("content"), message.text),
        }
        if message.kind == "result":
            return {**record, "tool_call_id": message.call_id}
        if message.kind != "call":
            return record
        function = {"name": message.tool, "arguments": "{}"}
        return {
            **record,
            "tool_calls": [{"id": message.call_id, "type": "function", "function": function}],
        }


class _ChatConversation(OpenAIConversation):
    """A conversation with OpenAI, or with a server that takes the same requests.

    Other servers accept an answer without content.
    """

    provider = "OpenAI"

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self._is_openai = True

    def preamble(
        self, request: Mapping[str, Any], path: JsonPath
    ) -> Iterator[tuple[JsonPath, MessageDraft]]:
        model = text_or_empty(request.get("model"))
        self._is_openai = self._is_openai and (not model or bool(_OPENAI_MODEL.match(model)))
        return super().preamble(request, path)

    def refusal(self, record: Mapping[str, Any]) -> RecordRefusal | None:
        return NO_CONTENT if self._is_openai and role_of(record) else None


def _is_distinctive(message: Mapping[str, Any]) -> bool:
    """Whether only this API writes such a message or answer."""
    return message.get("role") in _TOOL_ROLES or any(
        name in message for name in _DISTINCTIVE_FIELDS
    )


def _is_tool(tool: object) -> bool:
    return isinstance(tool, Mapping) and isinstance(tool.get("function"), Mapping)
