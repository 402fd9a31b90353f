"""The kinds of records, items and events in rollouts, and what each means for the next request.

They are those of Codex 0.171.0 (``RolloutItem``, ``ResponseItem``, ``EventMsg``); older ones were
seen in sessions or are in 0.142.5. What is not in here is unknown and may change what is sent.
"""

from collections.abc import Mapping
from typing import Any

from compactctl.clients.records.record_kinds import RecordKind, record_kinds

_NEWER, _OLDER = "0.171.0", "0.142.5"
RECORDS: Mapping[str, RecordKind] = {
    "session_meta": RecordKind(
        effect="message",
        fields=(
            "id",
            "cwd",
            "cli_version",
            "base_instructions",
            "instructions",
            "dynamic_tools",
            "history_base",
        ),
    ),
    "response_item": RecordKind(
        effect="message", fields=("payload", "metadata"), source="record_items"
    ),
    "inter_agent_communication": RecordKind(
        effect="message",
        fields=("content", "encrypted_content", "author", "recipient", "trigger_turn"),
        since=_OLDER,
        source="to_model_input_item",
    ),
    "compacted": RecordKind(
        effect="changes the history",
        fields=("message", "replacement_history"),
        source="reconstruct_history_from_rollout",
    ),
    "turn_context": RecordKind(effect="state", fields=("model", "cwd")),
    "event_msg": RecordKind(effect="changes the history", fields=("type",)),
    "dynamic_tools_updated": RecordKind(
        effect="changes the history",
        since=_NEWER,
        unmodeled="the client offers other tools than the session header defines",
    ),
    "retained_context": RecordKind(
        effect="changes the history",
        since=_NEWER,
        unmodeled="the client may send what it retained of a history before it",
    ),
    **record_kinds("world_state inter_agent_communication_metadata", "state", _OLDER),
    # A token count with the same numbers follows it.
    **record_kinds("token_usage_record", "never sent", _NEWER),
    **record_kinds("security_risk_score realtime_item", "never sent", _NEWER),
}

ITEMS: Mapping[str, RecordKind] = {
    **record_kinds(
        "message reasoning function_call function_call_output custom_tool_call"
        " custom_tool_call_output local_shell_call web_search_call",
        "message",
    ),
    **record_kinds(
        "agent_message tool_search_call tool_search_output image_generation_call compaction"
        " compaction_summary context_compaction additional_tools",
        "message",
        _OLDER,
    ),
    **record_kinds("configuration_update", "message", _NEWER),
    **record_kinds("ghost_snapshot compaction_trigger", "never sent"),
}
"""The client leaves out items of other types, but sends those in a compaction's history."""

_UNSENT_EVENTS = (
    "agent_message agent_message_content_delta agent_message_delta agent_reasoning"
    " agent_reasoning_delta agent_reasoning_raw_content agent_reasoning_raw_content_delta"
    " agent_reasoning_section_break apply_patch_approval_request auth_recovery_completed"
    " auth_recovery_started background_event collab_agent_interaction_begin"
    " collab_agent_interaction_end collab_agent_spawn_begin collab_agent_spawn_end"
    " collab_close_begin collab_close_end collab_resume_begin collab_resume_end"
    " collab_waiting_begin collab_waiting_end context_compacted conversation_path"
    " deprecation_notice dynamic_tool_call_request dynamic_tool_call_response"
    " elicitation_abandoned elicitation_complete elicitation_request entered_review_mode"
    " environment_connected environment_disconnected exec_approval_request exec_command_begin"
    " exec_command_end exec_command_output_delta exited_review_mode get_history_entry_response"
    " guardian_assessment guardian_warning hook_completed hook_started image_generation_begin"
    " image_generation_end item_completed item_started list_custom_prompts_response"
    " list_remote_skills_response list_skills_response mcp_list_tools_response mcp_startup_complete"
    " mcp_startup_update mcp_tool_call_begin mcp_tool_call_end model_reroute model_verification"
    " network_approval_resolved patch_apply_begin patch_apply_end patch_apply_updated plan_delta"
    " plan_update private_session_event raw_response_completed raw_response_item"
    " realtime_conversation_closed realtime_conversation_list_voices_response"
    " realtime_conversation_realtime realtime_conversation_sdp realtime_conversation_started"
    " reasoning_content_delta reasoning_raw_content_delta remote_skill_downloaded"
    " request_permissions request_user_input safety_buffering session_configured shutdown_complete"
    " skills_update_available stream_error sub_agent_activity task_complete"
    " terminal_interaction thread_goal_updated thread_name_updated thread_queue_changed"
    " thread_settings_applied turn_aborted turn_complete turn_diff turn_moderation_metadata"
    " undo_completed undo_started view_image_tool_call warning web_search_begin"
    " web_search_end"
)
EVENTS: Mapping[str, RecordKind] = {
    "thread_rolled_back": RecordKind(
        effect="changes the history", fields=("num_turns",), source="drop_last_n_user_turns"
    ),
    "token_count": RecordKind(effect="never sent", fields=("info",)),
    # They say which compactions a rollback undoes.
    **dict.fromkeys(
        ("task_started", "turn_started"),
        RecordKind(effect="changes the history", fields=("turn_id",)),
    ),
    "user_message": RecordKind(effect="changes the history", fields=("message", "kind")),
    "error": RecordKind(effect="never sent", fields=("message",)),
    **record_kinds(_UNSENT_EVENTS, "never sent"),
}

# 0.171.0 reverts a session by beginning another file, whose header names the part that stays.
_BASED = "the client sends the beginning of another file first"


def unmodeled(kind: str, payload: Mapping[str, Any]) -> str:
    """Return how a record may change what is sent without being followed here; "" if it may not."""
    if kind == "session_meta" and payload.get("history_base"):
        return _BASED
    return RECORDS[kind].unmodeled if kind in RECORDS else ""
