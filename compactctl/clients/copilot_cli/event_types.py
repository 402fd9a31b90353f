"""Types of Copilot CLI's events: those that are sent, and those that are known not to be.

From ``session-events.d.ts`` of @github/copilot-sdk 1.0.14, and from sessions of clients 1.0.20 to
1.0.64. An event of any other type may be sent.
"""

from collections.abc import Mapping

MESSAGE_TYPES = frozenset(
    {"system.message", "user.message", "assistant.message", "tool.execution_complete"}
    | {"session.compaction_complete", "session.context_cleared"}
)
"""The types of events that are sent."""

# By what stands before the point: states, what the client shows, and requests to its user.
_UNSENT: Mapping[str, str] = {
    "assistant": "fusion_phase_activity fusion_phase_completed fusion_phase_failed"
    " fusion_phase_started idle intent message_delta message_start reasoning reasoning_delta"
    " server_tool_progress streaming_delta tool_call_delta turn_end turn_start usage",
    "auto_mode_switch": "completed requested",
    "capabilities": "changed",
    "command": "completed execute queued",
    "commands": "changed",
    "elicitation": "completed requested",
    "exit_plan_mode": "completed requested",
    "external_tool": "completed requested",
    "factory": "run_settled run_started run_updated",
    "hook": "end progress start",
    "mcp": "headers_refresh_completed headers_refresh_required oauth_completed oauth_required"
    " prompts.list_changed resources.list_changed tools.list_changed",
    "mcp_app": "tool_call_complete",
    "model": "call_failure call_finished",
    "pending_messages": "modified",
    "permission": "assentDetected carriedForward completed contextualAuthorization"
    " messageAuthorization messageAuthorizationDegraded messageAuthorizationRead requested",
    "sampling": "completed requested",
    "session": "auto_mode_resolved auto_tier_recommendation auto_tier_switch_failed"
    " autopilot_objective_changed background_tasks_changed binary_asset canvas.closed"
    " canvas.opened canvas.recorded canvas.registry_changed canvas.removed canvas.unavailable"
    " compaction_start completion_receipt context_changed custom_agents_updated"
    " custom_notification error extensions.attachments_pushed extensions_loaded fusion_completed"
    " fusion_resolved fusion_route_failed fusion_route_started idle info managed_settings_enforced"
    " managed_settings_resolved mcp_server_needs_reconnect mcp_server_removed"
    " mcp_server_status_changed mcp_servers_loaded mode_changed model_change permissions_changed"
    " plan_changed remote_steerable_changed resume schedule_cancelled schedule_created"
    " schedule_rearmed session_limits_changed shutdown skills_loaded snapshot_rewind start"
    " task_complete title_changed todos_changed tools_updated truncation usage_checkpoint"
    " usage_info warning workspace_file_changed",
    "session_limits_exhausted": "completed requested",
    "subagent": "completed configured deselected failed selected started",
    "tool": "execution_partial_result execution_progress execution_start user_requested",
    "tool_search": "activated",
    "ui": "ephemeral_query",
    "user_input": "completed requested",
}
UNSENT_TYPES = frozenset(
    {"abort"} | {f"{domain}.{name}" for domain, names in _UNSENT.items() for name in names.split()}
)
"""The types of events that are never sent."""
NEEDED_TYPES = frozenset({"session.start", "session.binary_asset"})
"""Those of them without which a session, or a message of it, is not complete."""
