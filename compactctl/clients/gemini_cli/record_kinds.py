"""The records of Gemini CLI's sessions, and what each means for the next request.

From 0.61: ``loadConversationRecord`` reads the lines, ``convertSessionToClientHistory`` makes
messages of what is left. It knows a line by its fields, in this order: ``$rewindTo``, ``id``,
``$set``, ``sessionId`` with ``projectHash``. Any other line it skips.
"""

from collections.abc import Mapping

from compactctl.clients.records.record_kinds import RecordKind

SET, REWIND, SESSION = "$set", "$rewindTo", "session"
_LOADER, _HISTORY = "loadConversationRecord", "convertSessionToClientHistory"
LINES: Mapping[str, RecordKind] = {
    REWIND: RecordKind(effect="changes the history", fields=(REWIND,), source=_LOADER),
    SET: RecordKind(effect="changes the history", fields=("messages",), source=_LOADER),
    SESSION: RecordKind(
        effect="state", fields=("sessionId", "projectHash", "messages"), source=_LOADER
    ),
}
"""What is in a line that holds no message of its own."""
SESSION_FIELDS = frozenset(
    {"sessionId", "projectHash", "startTime", "lastUpdated", "summary", "kind", "directories"}
    | {"memoryScratchpad"}
)
"""The fields of a session beside its messages: what the client lists it by, and remembers of it."""
MESSAGES: Mapping[str, RecordKind] = {
    "user": RecordKind(effect="message", fields=("content",), source=_HISTORY),
    "gemini": RecordKind(
        effect="message", fields=("content", "toolCalls", "tokens", "model"), source=_HISTORY
    ),
    "info": RecordKind(effect="never sent", source=_HISTORY),
    "warning": RecordKind(effect="never sent", source=_HISTORY),
    "error": RecordKind(effect="never sent", fields=("content",), source=_HISTORY),
}
"""The messages by their type. The client leaves out those of other types as well."""
EMPTY_PART = RecordKind(
    effect="changes the history",
    source="extractCuratedHistory",
    unmodeled="the client leaves out an answer with an empty part, and the answers beside it",
)
"""An answer with a part that says nothing."""
