"""Fields of a logged message that name its conversation and the time it was sent."""

from collections.abc import Mapping
from typing import Any

# In order of precedence: a session may contain several conversations, so its id comes after theirs.
# A trace often covers a single request, so its id comes last.
_CONVERSATION_ID_FIELDS = (
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
_CONVERSATION_ID_FIELD_SET = frozenset(_CONVERSATION_ID_FIELDS)
TIME_FIELDS = ("timestamp", "ts", "created_at", "createdAt", "created", "time")


def conversation_id(record: Mapping[str, Any]) -> str | int | None:
    """Return the first id in a record that can name its conversation; None if it has none."""
    if _CONVERSATION_ID_FIELD_SET.isdisjoint(record):
        return None
    return next(
        (record[name] for name in _CONVERSATION_ID_FIELDS if _is_id(record.get(name))), None
    )


def placement_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ids and times of a record, to be repeated in a record inserted beside it.

    Without them, readers of the log would assign the inserted record to another conversation.
    """
    return {
        name: record[name] for name in (*_CONVERSATION_ID_FIELDS, *TIME_FIELDS) if name in record
    }


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""
