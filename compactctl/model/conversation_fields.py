"""Fields of a logged message that say which conversation it belongs to, and when it was sent."""

from collections.abc import Mapping
from typing import Any

# The first that a row has counts: a session may hold several conversations. A trace is often that
# of one request, and counts where nothing else is named.
_CONVERSATION = (
    "conversation_id",
    "conversationId",
    "thread_id",
    "threadId",
    "chat_id",
    "chatId",
    "session_id",
    "sessionId",
    "trace_id",
    "traceId",
)
_CONVERSATION_NAMES = frozenset(_CONVERSATION)
TIMES = ("timestamp", "ts", "created_at", "createdAt", "created", "time")


def conversation_id(record: Mapping[str, Any]) -> str | int | None:
    """Return the id of the conversation that a message belongs to, None where it has none."""
    if _CONVERSATION_NAMES.isdisjoint(record):
        return None
    return next((record[name] for name in _CONVERSATION if _is_id(record.get(name))), None)


def placing_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that put what is written at the place of a message where that stands."""
    return {name: record[name] for name in (*_CONVERSATION, *TIMES) if name in record}


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""
