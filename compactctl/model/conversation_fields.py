"""Fields of a logged message that name its conversation and the time it was sent."""

from collections.abc import Mapping
from typing import Any

# In order of precedence: a session may contain several conversations, so its id comes after theirs.
# A trace often covers a single request, so its id comes last.
CONVERSATION_ID_FIELDS = (
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
TIME_FIELDS = ("timestamp", "ts", "created_at", "createdAt", "created", "time")


def conversation_id(record: Mapping[str, Any], field: str) -> str | int | None:
    """Return the id in the field of a record that names its conversation; None without one."""
    value = record.get(field)
    is_id = isinstance(value, str | int) and not isinstance(value, bool) and value != ""
    return value if is_id else None


def placement_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ids and times of a record, to be repeated in a record inserted beside it.

    Without them, readers of the log would assign the inserted record to another conversation.
    """
    return {
        name: record[name] for name in (*CONVERSATION_ID_FIELDS, *TIME_FIELDS) if name in record
    }
