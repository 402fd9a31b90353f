"""OpenAI chat messages: as lines, as requests per line, as a document or as an array."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from compactctl.clients.apis.api_format import ApiFormat, DialectFit
from compactctl.clients.content.openai import new_content, text_content
from compactctl.clients.content.openai_messages import OpenAIConversation, role_of
from compactctl.clients.records.chat_log import ConversationParser
from compactctl.clients.records.json_values import list_or_empty
from compactctl.model.message import Message, Role, Synthetic
from compactctl.pipeline.writer import InsertionContext

_CONTENT_KEYS = ("content", "tool_calls", "function_call")
# The only call ids that Mistral's API accepts; OpenAI's are longer.
_MISTRAL_ID = re.compile(r"[A-Za-z0-9]{9}")
_TOOL_ROLES = ("tool", "function")
_DISTINCTIVE_FIELDS = ("tool_calls", "function_call", "choices")


class OpenAIChat(ApiFormat):
    """Reads and writes chat messages of OpenAI's API."""

    name = "openai-chat"
    title = "OpenAI chat messages"
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
        return OpenAIConversation(number)

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


def _is_distinctive(message: Mapping[str, Any]) -> bool:
    """Whether only this API writes such a message or answer."""
    return message.get("role") in _TOOL_ROLES or any(
        name in message for name in _DISTINCTIVE_FIELDS
    )


def _is_tool(tool: object) -> bool:
    return isinstance(tool, Mapping) and isinstance(tool.get("function"), Mapping)
