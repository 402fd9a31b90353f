"""The kinds of entries and messages in sessions of pi, and what each means for the next request.

They are those of 1.6.0 (``sessionEntryToContextMessages``, ``convertToLlm``); those without a
version in them are its relatives' (oh-my-pi), or were seen in sessions.
"""

from collections.abc import Mapping

from compactctl.clients.records.record_kinds import RecordKind, record_kinds

ENTRIES: Mapping[str, RecordKind] = {
    "session": RecordKind(effect="state", fields=("id", "version", "cwd", "modelId")),
    "message": RecordKind(effect="message", fields=("message",), source="buildSessionPath"),
    "custom_message": RecordKind(
        effect="message", fields=("content",), source="createCustomMessage"
    ),
    "branch_summary": RecordKind(
        effect="message", fields=("summary",), source="createBranchSummaryMessage"
    ),
    "compaction": RecordKind(
        effect="message",
        fields=("summary", "firstKeptEntryId", "firstKeptEntryIndex", "systemMessage"),
        source="buildContextEntries",
    ),
    "context_edit": RecordKind(
        effect="changes the history",
        fields=("targetId", "replacement"),
        since="0.87.0",
        source="projectContextEntry",
    ),
    "model_change": RecordKind(
        effect="changes the history",
        fields=("provider", "modelId", "model", "role"),
        source="getSessionContextSettings",
    ),
    "reset_boundary": RecordKind(effect="changes the history", fields=("parentId",)),
    "usage": RecordKind(effect="never sent", since="0.86.0"),
    **record_kinds("custom label session_info thinking_level_change", "state"),
    **record_kinds("model_usage session_init ttsr_injection credential_pin", "never sent"),
    **record_kinds("mode_change service_tier_change title title_change archive", "state"),
}

ROLES: Mapping[str, RecordKind] = {
    "system": RecordKind(
        effect="message",
        fields=("content", "sections", "toolsAdded", "toolsRemoved"),
        since="0.86.0",
        source="getCurrentSystemMessage",
        unmodeled="to some models the client also sends the earlier sections that it replaces",
    ),
    "bashExecution": RecordKind(
        effect="message",
        fields=("command", "output", "excludeFromContext"),
        source="bashExecutionToText",
    ),
    **record_kinds("user assistant toolResult custom hookMessage", "message"),
    **record_kinds("branchSummary compactionSummary developer", "message"),
}
"""The roles of messages; those of any other are not sent."""
