"""What Copilot CLI requires of an event: it refuses a whole session for one that lacks it.

From ``schemas/session-events.schema.json`` of @github/copilot 1.0.102, whose loader was given each
type without any data. It accepts values that an enumeration lacks; it skips lines that are not one
JSON object, and events of any other type.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from compactctl.clients.records.json_values import text_or_empty

# The required fields of the data, by type of event: texts, whole numbers (#), numbers (%), booleans
# (?), objects ({}) and lists ([]). Those that may be null may also be missing.
_TABLE = """
abort: reason
agent.interrupted: activity elapsedMs% turn#
assistant.fusion_phase_activity: fusionId phaseId phaseKind pattern role conversationScope
    activity
assistant.fusion_phase_completed: fusionId phaseId phaseKind role conversationScope model
    status content durationMs% usage{}
assistant.fusion_phase_failed: fusionId phaseId phaseKind role conversationScope model status
    reason durationMs% usage{}
assistant.fusion_phase_started: fusionId phaseId phaseKind pattern role conversationScope
    model
assistant.idle:
assistant.intent: intent
assistant.message: messageId content
assistant.message_delta: messageId deltaContent
assistant.message_start: messageId
assistant.reasoning: reasoningId content
assistant.reasoning_delta: reasoningId deltaContent
assistant.server_tool_progress: outputIndex# kind status
assistant.streaming_delta: totalResponseSizeBytes#
assistant.tool_call_delta: toolCallId inputDelta
assistant.turn_end: turnId
assistant.turn_retry: turnId
assistant.turn_start: turnId
assistant.usage: model
auto_mode_switch.completed: requestId response
auto_mode_switch.requested: requestId
capabilities.changed:
command.completed: requestId
command.execute: requestId command commandName args
command.queued: requestId command
commands.changed: commands[]
elicitation.completed: requestId
elicitation.requested: requestId message
exit_plan_mode.completed: requestId
exit_plan_mode.requested: requestId summary planContent actions[] recommendedAction
external_tool.completed: requestId
external_tool.requested: requestId sessionId toolCallId toolName
hook.end: hookInvocationId hookType success?
hook.progress: message
hook.start: hookInvocationId hookType
human_response.recorded: requestId actor response{}
mcp.headers_refresh_completed: requestId outcome
mcp.headers_refresh_required: requestId serverName serverUrl reason
mcp.oauth_completed: requestId outcome
mcp.oauth_recovery_completed: requestId serverName outcome
mcp.oauth_required: requestId serverName serverUrl reason
mcp.prompts.list_changed: serverName
mcp.resources.list_changed: serverName
mcp.tools.list_changed: serverName
mcp_app.tool_call_complete: serverName toolName success? durationMs%
model.call_failure: source
model.call_final_result: model result
model.call_finished: turnId dispatchDurationMs% outcome editClassifierVersion#
model.call_start: turnId
pending_messages.modified:
permission.assentDetected: requestId turnIndex#
permission.carriedForward: requestId toolCallId recordId decisionSource
permission.completed: requestId result{}
permission.contextualAuthorization: recordId requestId turnIndex# polarity spanStart# spanEnd#
permission.messageAuthorization: recordId turnIndex# polarity actionClass spanStart# spanEnd#
permission.messageAuthorizationDegraded: turnIndex#
permission.messageAuthorizationRead: turnIndex#
permission.requested: requestId permissionRequest{}
prompt_cache_break: primaryReason contributingReasons[] survivedTokens# frontierTokens#
    shortfallTokens# retentionRatio%
sampling.completed: requestId
sampling.requested: requestId serverName
sandbox.decision: kind
session.auto_mode_resolved: chosenModel
session.auto_tier_recommendation: recommendedAutoTier
session.auto_tier_switch_failed: reason
session.autopilot_objective_changed: operation
session.autopilot_stopped: reason
session.background_tasks_changed:
session.binary_asset: assetId type mimeType byteLength# data
session.canvas.closed: instanceId extensionId canvasId
session.canvas.opened: instanceId extensionId canvasId
session.canvas.recorded: instanceId extensionId canvasId
session.canvas.registry_changed: canvases[]
session.canvas.removed: instanceId extensionId canvasId
session.canvas.unavailable: instanceId extensionId canvasId
session.compaction_complete: success?
session.compaction_start:
session.completion_receipt: schemaVersion# attempt# sourceEventId eventRange{} stopReason
    successfulToolCount# failedToolCount#
session.context_changed: cwd
session.context_cleared: messagesCleared#
session.custom_agents_updated: agents[] warnings[] errors[]
session.custom_notification: source name
session.error: errorType message
session.extensions.attachments_pushed: attachments[]
session.extensions_loaded: extensions[]
session.fusion_change_checkpoint: codeChanges{}
session.fusion_commit_started: fusionId commitId sourcePhaseId sourceModel kind
session.fusion_completed: fusionId commitId turnId syntheticModel pattern outcome
    followUpModel phaseCount# requestCount# inputTokens# outputTokens# cachedTokens#
    totalNanoAiu% durationMs%
session.fusion_handoff: fusionId sourcePhaseId targetPhaseId targetModel
session.fusion_resolved: fusionId turnId contractVersion# syntheticModel policy pattern
    primaryModel fallbackModel followUpModel
session.fusion_route_failed: attemptId syntheticModel policy reason fallbackModel
session.fusion_route_started: attemptId turnKind
session.handoff: handoffTime sourceType
session.idle:
session.indexed_search: kind
session.info: infoType message
session.managed_plugin_progress: phase pluginSpecs[]
session.managed_settings_enforced: action setting failClosed? message
session.managed_settings_resolved: source serverManaged? deviceManaged? failClosed?
    bypassPermissionsDisabled? managedKeys[]
session.mcp_server_needs_reconnect: serverName
session.mcp_server_removed: serverName
session.mcp_server_status_changed: serverName status
session.mcp_server_tools_loaded: serverName toolCount#
session.mcp_servers_loaded: servers[]
session.memory_changed:
session.mode_changed: previousMode newMode
session.mode_notice_delivered: mode
session.model_change: newModel
session.model_deselected: previousModel reason
session.permission_recovery: episodeId status onBlocked reason maxAttempts# attempts[]
session.permissions_changed:
session.plan_changed: operation
session.quota_observation: observation{}
session.remote_steerable_changed: remoteSteerable?
session.request_body_compression_disabled:
session.resume: resumeTime eventCount#
session.schedule_cancelled: id#
session.schedule_created: id# prompt
session.schedule_rearmed: id# nextRunAt#
session.session_limits_changed:
session.shutdown: shutdownType totalApiDurationMs# sessionStartTime# codeChanges{}
    modelMetrics{}
session.skills_loaded: skills[]
session.snapshot_rewind: upToEventId eventsRemoved#
session.start: sessionId version# producer copilotVersion startTime
session.task_complete:
session.title_changed: title
session.todos_changed:
session.tools_updated: model
session.truncation: tokenLimit# preTruncationTokensInMessages# preTruncationMessagesLength#
    postTruncationTokensInMessages# postTruncationMessagesLength#
    tokensRemovedDuringTruncation# messagesRemovedDuringTruncation# performedBy
session.usage_checkpoint: totalNanoAiu%
session.usage_info: tokenLimit# currentTokens# messagesLength#
session.usage_record: usage{}
session.warning: warningType message
session.workspace_file_changed: path operation
session_limits_exhausted.completed: requestId response{}
session_limits_exhausted.requested: requestId usedAiCredits% maxAiCredits%
skill.context_delivered: content source
skill.context_delivered_ref: contentId source
skill.invoked: name path content
skill.invoked_ref: name path contentId contentLength#
subagent.completed: toolCallId agentName agentDisplayName
subagent.configured: model multiTurn?
subagent.deselected:
subagent.failed: toolCallId agentName agentDisplayName error
subagent.selected: agentName agentDisplayName
subagent.started: toolCallId agentName agentDisplayName agentDescription
system.message: content role
system.notification: content kind{}
tool.execution_complete: toolCallId success?
tool.execution_partial_result: toolCallId partialOutput
tool.execution_progress: toolCallId progressMessage
tool.execution_start: toolCallId toolName
tool.shell_output: toolCallId text sequence#
tool.user_requested: toolCallId toolName
tool_search.activated: strategy toolNames[]
ui.ephemeral_query: requestId phase
user.message: content
user_input.completed: requestId
user_input.requested: requestId question
workflow.run_settled: runId status consumedSubagents# consumedNanoAiu# elapsedMs#
workflow.run_started: runId workflowName attempt#
workflow.run_updated: runId revision#
"""
# The same of objects inside, where there are any.
_INNER_TABLE = """
assistant.message toolRequests: toolCallId name
session.shutdown codeChanges: linesAdded# linesRemoved# filesModified[]
tool.execution_complete error: message
tool.execution_complete result: content
"""
_MARKED = re.compile(r"(\w+)([#%?{}\[\]]*)")
_TYPES: Mapping[str, tuple[str, type | tuple[type, ...]]] = {
    "": ("text", str),
    "#": ("whole number", int),
    "%": ("number", (int, float)),
    "?": ("boolean", bool),
    "{}": ("object", Mapping),
    "[]": ("list", list),
}
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT.*(?:[Zz]|[+-]\d\d:?\d\d)")


def _rows(table: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    for row in table.strip().replace("\n    ", " ").split("\n"):
        kind, _, fields = row.partition(":")
        yield kind, {match[1]: match[2] for match in _MARKED.finditer(fields)}


_REQUIRED = dict(_rows(_TABLE))
_REQUIRED_INSIDE = dict(_rows(_INNER_TABLE))


def refusal_reason(event: Mapping[str, Any]) -> str:
    """Return why the client refuses a session with this event, as a clause; "" if it does not."""
    kind = text_or_empty(event.get("type"))
    fields = _REQUIRED.get(kind)
    if fields is None:
        return ""
    data = event.get("data")
    if not isinstance(data, Mapping):
        return f"{kind} has no data"
    faults = chain(_envelope_faults(event), _field_faults(data, fields), _inner_faults(kind, data))
    fault = next(faults, "")
    return f"{kind} {fault}" if fault else ""


def is_time(value: object) -> bool:
    """Whether the client accepts a value as an event's time."""
    return isinstance(value, str) and _TIME.fullmatch(value) is not None


def _envelope_faults(event: Mapping[str, Any]) -> Iterator[str]:
    if not _is_uuid(event.get("id")):
        yield "has no UUID as its id"
    if not is_time(event.get("timestamp")):
        yield "has no timestamp with a time zone"
    if "parentId" not in event or not (event["parentId"] is None or _is_uuid(event["parentId"])):
        yield "names no UUID as its parent"
    if not isinstance(event.get("agentId", ""), str | None):
        yield "has an agentId that is not text"


def _is_uuid(value: object) -> bool:
    return isinstance(value, str) and _UUID.fullmatch(value) is not None


def _inner_faults(kind: str, data: Mapping[str, Any]) -> Iterator[str]:
    for place, fields in _REQUIRED_INSIDE.items():
        outer, _, name = place.partition(" ")
        value = data.get(name) if outer == kind else None
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, Mapping):
                faults = _field_faults(item, fields)
                yield from (f"{fault} in its {name}" for fault in faults)


def _field_faults(data: Mapping[str, Any], fields: Mapping[str, str]) -> Iterator[str]:
    for name, mark in fields.items():
        title, types = _TYPES[mark]
        value = data.get(name)
        is_accepted = isinstance(value, types) and (types is bool or not isinstance(value, bool))
        if name not in data:
            yield f"has no {name}"
        elif not is_accepted:
            yield f"has a {name} that is no {title}"
