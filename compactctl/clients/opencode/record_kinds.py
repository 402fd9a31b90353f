"""The kinds of messages and parts in OpenCode's sessions, and what each means for a request.

They are those of 1.18.33 (``MessageV2``), which Kilo 7.7.9 has too. What is not in here is unknown
and may be sent.
"""

from collections.abc import Mapping

from compactctl.clients.records.record_kinds import RecordKind, record_kinds

MESSAGES: Mapping[str, RecordKind] = {
    "user": RecordKind(effect="message", fields=("id", "model", "time"), source="toModelMessages"),
    "assistant": RecordKind(
        effect="message",
        fields=("id", "parentID", "summary", "finish", "error", "tokens", "modelID", "providerID"),
        source="toModelMessages",
    ),
}

PARTS: Mapping[str, RecordKind] = {
    "text": RecordKind(
        effect="message", fields=("text", "synthetic", "ignored"), source="toModelMessages"
    ),
    "reasoning": RecordKind(
        effect="message", fields=("text", "metadata"), source="toModelMessages"
    ),
    "tool": RecordKind(
        effect="message", fields=("callID", "tool", "state"), source="toModelMessages"
    ),
    "file": RecordKind(
        effect="message", fields=("mime", "filename", "url"), source="toModelMessages"
    ),
    "subtask": RecordKind(effect="message", source="toModelMessages"),
    "compaction": RecordKind(
        effect="changes the history", fields=("tail_start_id",), source="filterCompacted"
    ),
    **record_kinds("agent patch retry snapshot step-finish step-start", "never sent"),
}
