"""The types of Copilot CLI's events, and what each means for the next request.

They are those of ``schemas/session-events.schema.json`` of 1.0.102, whose loader was given each;
those of ``factory`` are of @github/copilot-sdk 1.0.14. An event of any other type may be sent. Of
most it is known only that they are stored, or shown while the client runs.
"""

from collections.abc import Iterator, Mapping

from compactctl.clients.records.record_kinds import Effect, RecordKind

_VERSION = "1.0.102"
_MESSAGES: Mapping[str, RecordKind] = {
    "system.message": RecordKind(effect="message", fields=("role", "content")),
    "user.message": RecordKind(
        effect="message",
        fields=(
            "content",
            "transformedContent",
            "attachments",
            "source",
            "isAutopilotContinuation",
        ),
    ),
    "assistant.message": RecordKind(
        effect="message",
        fields=(
            "content",
            "toolRequests",
            "reasoningText",
            "reasoningOpaque",
            "encryptedContent",
            "reasoningBlocks",
            "apiCallId",
            "messageId",
            "model",
        ),
    ),
    "tool.execution_complete": RecordKind(
        effect="message",
        fields=("toolCallId", "result", "error", "success", "isUserRequested", "model"),
    ),
    "skill.context_delivered": RecordKind(effect="message", fields=("content",), since=_VERSION),
    "skill.context_delivered_ref": RecordKind(
        effect="message", fields=("contentId", "prefix", "suffix"), since=_VERSION
    ),
    "system.notification": RecordKind(effect="message", fields=("content", "kind")),
    "session.mode_notice_delivered": RecordKind(
        effect="message", fields=("content",), since=_VERSION
    ),
    "session.compaction_start": RecordKind(effect="changes the history"),
    "session.compaction_complete": RecordKind(
        effect="changes the history",
        fields=("success", "summaryContent", "activeWorkflowSummary"),
    ),
    "session.context_cleared": RecordKind(effect="changes the history", fields=("initialMessage",)),
    "abort": RecordKind(effect="changes the history"),
    "session.handoff": RecordKind(
        effect="changes the history",
        unmodeled="the client sends its context with the next prompt",
    ),
    "session.fusion_handoff": RecordKind(
        effect="changes the history",
        since=_VERSION,
        unmodeled="the client may send it to a Fusion model",
    ),
    "assistant.fusion_phase_completed": RecordKind(
        effect="changes the history",
        since=_VERSION,
        unmodeled="the client may send what it says to a Fusion model",
    ),
}
_STATES: Mapping[str, RecordKind] = {
    "session.start": RecordKind(effect="state", fields=("sessionId", "selectedModel", "context")),
    "session.resume": RecordKind(effect="state", fields=("selectedModel", "context")),
    "session.model_change": RecordKind(effect="state", fields=("newModel",)),
    "session.error": RecordKind(effect="state", fields=("message",)),
    "session.shutdown": RecordKind(
        effect="state",
        fields=(
            "currentModel",
            "currentTokens",
            "systemTokens",
            "conversationTokens",
            "toolDefinitionsTokens",
        ),
    ),
    "session.usage_record": RecordKind(effect="state", fields=("usage",), since=_VERSION),
    "assistant.usage": RecordKind(
        effect="state",
        fields=(
            "apiCallId",
            "inputTokens",
            "outputTokens",
            "cacheReadTokens",
            "cacheWriteTokens",
        ),
    ),
    # Others name what these hold.
    "session.binary_asset": RecordKind(effect="state", fields=("assetId", "data", "mimeType")),
    "skill.invoked": RecordKind(effect="state", fields=("content",)),
    "skill.invoked_ref": RecordKind(
        effect="state", fields=("contentId", "contentLength"), since=_VERSION
    ),
    "tool.user_requested": RecordKind(effect="state", fields=("toolCallId", "arguments")),
}
# The others, by what stands before the point: what the client stores for itself.
_STORED: Mapping[str, str] = {
    "assistant": "fusion_phase_failed reasoning turn_end turn_start",
    "external_tool": "completed requested",
    "hook": "end start",
    "human_response": "recorded",
    "mcp": "oauth_recovery_completed",
    "permission": "assentDetected carriedForward completed contextualAuthorization"
    " messageAuthorization messageAuthorizationDegraded messageAuthorizationRead requested",
    "session": "auto_mode_resolved autopilot_objective_changed canvas.recorded canvas.removed"
    " completion_receipt context_changed fusion_change_checkpoint fusion_commit_started"
    " fusion_completed fusion_resolved fusion_route_failed info mode_changed"
    " model_deselected permission_recovery permissions_changed plan_changed"
    " remote_steerable_changed request_body_compression_disabled schedule_cancelled"
    " schedule_created schedule_rearmed session_limits_changed task_complete truncation"
    " usage_checkpoint warning workspace_file_changed",
    "subagent": "completed configured deselected failed selected started",
    "tool": "execution_start",
    "tool_search": "activated",
}
# What it only shows while it runs, or asks its user. Stored by others, it is not read.
_SHOWN: Mapping[str, str] = {
    "agent": "interrupted",
    "assistant": "fusion_phase_activity fusion_phase_started idle intent"
    " message_delta message_start reasoning_delta server_tool_progress streaming_delta"
    " tool_call_delta turn_retry",
    "auto_mode_switch": "completed requested",
    "capabilities": "changed",
    "command": "completed execute queued",
    "commands": "changed",
    "elicitation": "completed requested",
    "exit_plan_mode": "completed requested",
    "factory": "run_settled run_started run_updated",
    "hook": "progress",
    "mcp": "headers_refresh_completed headers_refresh_required oauth_completed oauth_required"
    " prompts.list_changed resources.list_changed tools.list_changed",
    "mcp_app": "tool_call_complete",
    "model": "call_failure call_final_result call_finished call_start",
    "pending_messages": "modified",
    "sampling": "completed requested",
    "sandbox": "decision",
    "session": "auto_tier_recommendation auto_tier_switch_failed autopilot_stopped"
    " background_tasks_changed canvas.closed canvas.opened canvas.registry_changed"
    " canvas.unavailable custom_agents_updated custom_notification"
    " extensions.attachments_pushed extensions_loaded fusion_route_started idle indexed_search"
    " managed_plugin_progress managed_settings_enforced managed_settings_resolved"
    " mcp_server_needs_reconnect mcp_server_removed mcp_server_status_changed"
    " mcp_server_tools_loaded mcp_servers_loaded memory_changed quota_observation skills_loaded"
    " snapshot_rewind title_changed todos_changed tools_updated usage_info",
    "session_limits_exhausted": "completed requested",
    "tool": "execution_partial_result execution_progress shell_output",
    "ui": "ephemeral_query",
    "user_input": "completed requested",
    "workflow": "run_settled run_started run_updated",
}


def _kinds(names: Mapping[str, str], effect: Effect) -> Iterator[tuple[str, RecordKind]]:
    kind = RecordKind(effect=effect)
    for domain, words in names.items():
        yield from ((f"{domain}.{name}", kind) for name in words.split())


RECORDS: Mapping[str, RecordKind] = {
    **_MESSAGES,
    **_STATES,
    **dict(_kinds(_STORED, "state")),
    **dict(_kinds(_SHOWN, "never sent")),
    "prompt_cache_break": RecordKind(effect="never sent"),
}
