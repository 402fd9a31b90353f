"""What Copilot CLI requires of an event: it refuses a whole session for one that lacks it.

From ``schemas/session-events.schema.json`` of @github/copilot 1.0.102, whose loader was given each
type without any data. It accepts values that an enumeration lacks; it skips lines that are not one
JSON object, and events of any other type. Older loaders also refused what 1.0.102 was seen to
accept: negative counts and exit codes (issue 3454 of github/copilot-cli), the missing summary of a
task (2089), and an event that is marked as not ephemeral (issue 1007 of github/copilot-sdk).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UNSET

from compactctl.clients.records.builder import content_id, uuid_for
from compactctl.clients.records.json_values import object_or_empty, text_or_empty, time_text
from compactctl.model.message import JsonPath
from compactctl.records import Record

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
# Numbers that must not be negative, in the data of an event and in the objects in it.
_COUNTS = frozenset({"exitCode", "messagesRemoved", "tokensRemoved"})
_MARKED = re.compile(r"(\w+)([#%?{}\[\]]*)")
# By mark: the name of a type, what it is in Python, and its smallest value.
_TYPES: Mapping[str, tuple[str, type | tuple[type, ...], object]] = {
    "": ("text", str, ""),
    "#": ("whole number", int, 0),
    "%": ("number", (int, float), 0),
    "?": ("boolean", bool, False),
    "{}": ("object", Mapping, {}),
    "[]": ("list", list, []),
}
_EPOCH = "1970-01-01T00:00:00.000Z"
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT.*(?:[Zz]|[+-]\d\d:?\d\d)")


def _rows(table: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    for row in table.strip().replace("\n    ", " ").split("\n"):
        kind, _, fields = row.partition(":")
        yield kind, {match[1]: match[2] for match in _MARKED.finditer(fields)}


_REQUIRED = dict(_rows(_TABLE))
_REQUIRED_INSIDE = dict(_rows(_INNER_TABLE))


class FieldFault(Record, kw_only=False):
    """What is wrong with a field of an event, as a predicate, and the value that is accepted.

    ``is_old`` says that only clients before 1.0.102 refuse it.
    """

    path: JsonPath
    text: str
    value: object
    is_missing: bool = False
    is_old: bool = False


def find_faults(event: Mapping[str, Any]) -> Iterator[FieldFault]:
    """Yield all for which a client refuses a session with this event; nothing if it does not."""
    kind = text_or_empty(event.get("type"))
    fields = _REQUIRED.get(kind)
    if fields is None:
        return
    yield from _envelope_faults(event)
    data = event.get("data")
    if not isinstance(data, Mapping):
        values = {name: _TYPES[mark][2] for name, mark in fields.items()}
        yield FieldFault(("data",), "has no data", values, is_missing=True)
        return
    yield from _field_faults(data, fields, ("data",))
    yield from _inner_faults(kind, data)
    yield from _old_faults(event, data)


def is_time(value: object) -> bool:
    """Whether the client accepts a value as an event's time."""
    return isinstance(value, str) and _TIME.fullmatch(value) is not None


def _envelope_faults(event: Mapping[str, Any]) -> Iterator[FieldFault]:
    if not _is_uuid(event.get("id")):
        yield FieldFault(("id",), "has no UUID as its id", _uuid(event.get("id"), event))
    if not is_time(event.get("timestamp")):
        value = time_text(event.get("timestamp")) or _EPOCH
        yield FieldFault(("timestamp",), "has no timestamp with a time zone", value)
    parent = event.get("parentId")
    if "parentId" not in event or not (parent is None or _is_uuid(parent)):
        new_parent = _uuid(parent, event) if isinstance(parent, str) else None
        yield FieldFault(("parentId",), "names no UUID as its parent", new_parent)
    if not isinstance(event.get("agentId", ""), str | None):
        yield FieldFault(("agentId",), "has an agentId that is not text", UNSET)


def _is_uuid(value: object) -> bool:
    return isinstance(value, str) and _UUID.fullmatch(value) is not None


def _uuid(name: object, event: Mapping[str, Any]) -> str:
    """Return a UUID for another id, the same wherever that is named."""
    return uuid_for(name if isinstance(name, str) and name else content_id(event))


def _inner_faults(kind: str, data: Mapping[str, Any]) -> Iterator[FieldFault]:
    for place, fields in _REQUIRED_INSIDE.items():
        outer, _, name = place.partition(" ")
        value = data.get(name) if outer == kind else None
        path: JsonPath = ("data", name)
        pairs = enumerate(value) if isinstance(value, list) else ((None, value),)
        for index, item in pairs:
            if isinstance(item, Mapping):
                item_path = path if index is None else (*path, index)
                yield from _field_faults(item, fields, item_path, where=f" in its {name}")


def _field_faults(
    data: Mapping[str, Any], fields: Mapping[str, str], path: JsonPath, *, where: str = ""
) -> Iterator[FieldFault]:
    for name, mark in fields.items():
        title, types, smallest = _TYPES[mark]
        value = data.get(name)
        is_accepted = isinstance(value, types) and (types is bool or not isinstance(value, bool))
        if name not in data:
            yield FieldFault((*path, name), f"has no {name}{where}", smallest, is_missing=True)
        elif not is_accepted:
            yield FieldFault((*path, name), f"has a {name} that is no {title}{where}", smallest)


def _old_faults(event: Mapping[str, Any], data: Mapping[str, Any]) -> Iterator[FieldFault]:
    inner = {("data", name): object_or_empty(value) for name, value in data.items()}
    for path, holder in ((("data",), data), *inner.items()):
        for name in sorted(_COUNTS & holder.keys()):
            value = holder[name]
            if isinstance(value, int | float) and value < 0:
                yield FieldFault((*path, name), f"has a negative {name}", 0, is_old=True)
    if event["type"] == "session.task_complete" and "summary" not in data:
        place = ("data", "summary")
        yield FieldFault(place, "has no summary", "", is_missing=True, is_old=True)
    if event.get("ephemeral") is False:
        yield FieldFault(("ephemeral",), "is marked as not ephemeral", UNSET, is_old=True)
