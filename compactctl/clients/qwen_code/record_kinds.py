"""The kinds of records in sessions of Qwen Code, and what each means for the next request.

Types and subtypes are those of 0.24.4 (``RECORD_TYPES``, ``KNOWN_RECORD_SUBTYPES``).
"""

from collections.abc import Mapping

from compactctl.clients.records.record_kinds import RecordKind, record_kinds

RECORDS: Mapping[str, RecordKind] = {
    "user": RecordKind(
        effect="message", fields=("message", "subtype"), source="appendApiHistoryRecord"
    ),
    "assistant": RecordKind(
        effect="message",
        fields=("message", "subtype", "model", "usageMetadata"),
        source="appendApiHistoryRecord",
    ),
    "tool_result": RecordKind(
        effect="message", fields=("message", "toolCallResult"), source="appendApiHistoryRecord"
    ),
    "system": RecordKind(effect="state", fields=("subtype", "systemPayload")),
}

NOT_SPOKEN = "realtime_message"
"""The subtype of what was said by voice, which is not sent."""
COMPRESSION, COMMAND = "chat_compression", "slash_command"
OUTSIDE = frozenset(
    {"session_artifact_event", "session_artifact_snapshot", "session_sources_snapshot"}
    | {f"managed_session_{kind}_v1" for kind in ("header", "event", "commit")}
)
"""The subtypes of records outside of the conversation (``isTranscriptConversationRecord``).

None of them is the newest record, and nothing before one that is named as a parent is sent.
"""

SUBTYPES: Mapping[str, RecordKind] = {
    COMPRESSION: RecordKind(
        effect="changes the history", fields=("compressedHistory",), source="SessionApiHistory"
    ),
    COMMAND: RecordKind(
        effect="changes the history",
        fields=("phase", "rawCommand", "outputHistoryItems", "sentToModel"),
        source="SessionApiHistoryAccumulator",
    ),
    # The records behind it follow an older one, so it needs no step of its own.
    "rewind": RecordKind(effect="never sent", source="rewindRecording"),
    **record_kinds(
        "at_command attribution_snapshot background_task_completed branch_checkpoint custom_title"
        " file_history_snapshot goal_state goal_turn_end omni_recall parent_session session_model"
        " session_source turn_result ui_telemetry user_text_elements",
        "never sent",
    ),
    **record_kinds(
        "agent_bootstrap agent_launch_prompt agent_retry agent_session_ready", "never sent"
    ),
    **record_kinds(" ".join(sorted(OUTSIDE)), "never sent"),
    **record_kinds("cron goal_runtime mid_turn_user_message notification", "message"),
    NOT_SPOKEN: RecordKind(effect="never sent"),
}
"""The subtypes of ``system`` and, at the end, of messages; those of others are sent, too."""
