"""What Copilot CLI reports about requests, and its own split of the context at the end."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from compactctl.formats.records.json_values import integer_or_none
from compactctl.model.message import Message, ReportedUsage
from compactctl.model.transcript import ClientTokenCounts

_SPLIT = ("systemTokens", "conversationTokens", "toolDefinitionsTokens", "currentTokens")


class Usages:
    """Takes in the usage of requests, which names the response or follows it."""

    def __init__(self) -> None:
        self._by_response: dict[str, ReportedUsage] = {}
        self._newest: str | None = None

    def answer(self, message: Message) -> None:
        """Take in the next message."""
        self._newest = message.response_id or self._newest

    def take(self, data: Mapping[str, Any]) -> None:
        """Take in an ``assistant.usage`` event; its input holds what was read from a cache."""
        context, output = integer_or_none(data.get("inputTokens")) or 0, data.get("outputTokens")
        response = data.get("apiCallId") or self._newest
        if "inputTokens" in data and isinstance(response, str):
            self._by_response[response] = ReportedUsage(
                context=context,
                output=integer_or_none(output),
                cache_read=integer_or_none(data.get("cacheReadTokens")),
                cache_write=integer_or_none(data.get("cacheWriteTokens")),
            )

    def put(self, message: Message) -> Message:
        """Return the message with the usage of its request, if that was reported."""
        usage = self._by_response.get(message.response_id or "")
        return replace(message, usage=usage) if usage else message


def client_token_counts(data: Mapping[str, Any]) -> ClientTokenCounts | None:
    """Return the split in a ``session.shutdown`` event; older clients give none."""
    system, conversation, definitions, total = (data.get(name) for name in _SPLIT)
    if not (
        isinstance(system, int)
        and isinstance(conversation, int)
        and isinstance(definitions, int)
        and isinstance(total, int)
        and total > 0
    ):
        return None
    return ClientTokenCounts(
        system=system, conversation=conversation, tool_definitions=definitions, total=total
    )
