"""The kinds of records in sessions of Claude Code, and what each means for the next request.

The record types are those of 2.1.332 (``ehr``, ``Ehr``), its system subtypes, and its attachments
(``normalizeAttachmentForAPI``: ``Xws``, ``i6t``); older ones were seen in sessions or are in
2.1.197. What is not in here is unknown and may change what is sent.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from compactctl.clients.records.record_kinds import RecordKind, record_kinds
from compactctl.model.message import JsonPath
from compactctl.records import Record

_NEWER, _OLDER = "2.1.332", "2.1.197"
RECORDS: Mapping[str, RecordKind] = {
    "user": RecordKind(
        effect="message",
        fields=(
            "message",
            "isMeta",
            "isCompactSummary",
            "isSidechain",
            "isVirtual",
            "origin",
            "toolUseResult",
            "sourceToolAssistantUUID",
            "retractedMessageUuids",
        ),
        source="processEntry",
    ),
    "assistant": RecordKind(
        effect="message",
        fields=("message", "isApiErrorMessage", "isSidechain", "isVirtual", "requestRef"),
        source="processEntry",
    ),
    "system": RecordKind(effect="message", fields=("subtype",), source="yu"),
    "attachment": RecordKind(
        effect="message", fields=("attachment", "rendered"), source="normalizeAttachmentForAPI"
    ),
    "progress": RecordKind(
        effect="changes the history", fields=("uuid", "parentUuid"), source="processEntry"
    ),
    "last-prompt": RecordKind(
        effect="changes the history",
        fields=("leafUuid", "explicit", "rewound", "cutUuid"),
        source="processEntry",
    ),
    "content-replacement": RecordKind(
        effect="changes the history",
        since=_OLDER,
        unmodeled="the client replaces results when the session is resumed on a screen",
    ),
    "history-suppression": RecordKind(
        effect="changes the history",
        since=_NEWER,
        unmodeled="the client leaves out messages that it names",
    ),
    "fork-context-ref": RecordKind(
        effect="changes the history",
        since=_OLDER,
        unmodeled="the client sends the messages of another session first",
    ),
    "api-request": RecordKind(
        effect="never sent", fields=("id", "shapeHash"), since="2.1.300", source="Ehr"
    ),
    "api-request-shape": RecordKind(
        effect="never sent", fields=("shapeHash", "shape"), since="2.1.300", source="Ehr"
    ),
    "summary": RecordKind(effect="state", fields=("leafUuid",)),
    **record_kinds("api-request-blob api-request-resumed", "never sent", _NEWER),
    **record_kinds(
        "queue-operation file-history-snapshot frame-link attribution-snapshot speculation-accept",
        "never sent",
    ),
    **record_kinds(
        "file-history-delta observer-ref resume-head-vouch host-row", "never sent", _NEWER
    ),
    **record_kinds("artifact-comment-monitor artifact-autoreact-ledger", "never sent", _NEWER),
    **record_kinds(
        "custom-title ai-title agent-name agent-color agent-setting mode permission-mode pr-link"
        " tag task-summary worktree-state",
        "state",
    ),
    **record_kinds("bridge-session relocated isolation-latch ended-by-model", "state", _OLDER),
    **record_kinds(
        "atis-latch tools-used cost-state continued-in session-owner dev-mods memory-mode repl-mode"
        " hybrid-organization derived-from data-flow-records data-flow-incomplete",
        "state",
        _NEWER,
    ),
}

_UNSENT_SUBTYPES = (
    "agents_killed api_error api_retry away_summary background_tasks_changed bridge_state"
    " bridge_status checkpoint_done cloud_session_delta cloud_session_status code_change_published"
    " commands_changed control_request_progress dev_intent elicitation_complete"
    " feedback_draft_queued file_attachments_missing file_snapshot files_persisted hook_progress"
    " hook_response hook_started informational inherited_asks_settled init"
    " instruction_size_warning late_allow_not_run local_command_output memory_recall memory_saved"
    " mirror_error model_consent_fallback model_fallback model_refusal_no_fallback notification"
    " peer_message_hold per_turn_effort_changed permission_check_status permission_denied"
    " permission_retry placed plugin_install post_turn_summary read_divider rewind_stand_in"
    " scheduled_task_fire session_metadata session_state_changed session_title_changed"
    " session_writes_lost shell_cwd start_folder status stop_hook_summary task_list_statuses"
    " task_notification task_progress task_started task_summary task_updated thinking"
    " thinking_tokens tool_host_result turn_began_before_init turn_duration turn_handoff_available"
    " turn_preempted turn_starting ui_focus ui_invalidate ui_log ui_notify ui_notify_cancel"
    " ui_panes ui_placed ui_scroll ui_status ui_toast upgrade_relay_marker vcs_state_changed"
    " voice_call_talk worker_shutting_down"
)
SUBTYPES: Mapping[str, RecordKind] = {
    "local_command": RecordKind(effect="message", fields=("content", "isDisplayOnly"), source="yu"),
    "compact_boundary": RecordKind(
        effect="changes the history", fields=("compactMetadata", "logicalParentUuid"), source="kRr"
    ),
    # 2.1.20 and 2.1.22 cleared the results that it names; newer clients send them whole.
    "microcompact_boundary": RecordKind(effect="never sent"),
    "model_refusal_fallback": RecordKind(
        effect="changes the history", fields=("retractedMessageUuids",), source="mUn"
    ),
    **record_kinds(_UNSENT_SUBTYPES, "never sent"),
}

Form = Literal["texts", "file", "list", "definition", "tasks", "unread", "unsent", "statement"]


class AttachmentKind(Record):
    """What the client sends of an attachment without the texts that it recorded as sent.

    Attributes:
        form: ``texts`` are the values at ``paths``, below the attachment; a ``file`` has a text and
            a name, a ``list`` objects with their texts under a key; a ``definition`` is of tools;
            ``tasks`` are listed by the client. Of ``unread`` ones the text is the client's own or
            not in the file. A ``statement`` is about other messages.
        paths: where its texts are.
        restored: whether the client sends it again where it is missing.
        events: only for these hooks is it sent; () for all.
        unmodeled: how it may change what is sent, if that is not followed here.
    """

    form: Form
    paths: tuple[JsonPath, ...] = ()
    restored: bool = False
    events: tuple[str, ...] = ()
    unmodeled: str = ""


def _attachments(
    names: str, form: Form, paths: Iterable[JsonPath] = (), *, restored: bool = False
) -> dict[str, AttachmentKind]:
    kind = AttachmentKind(form=form, paths=tuple(paths), restored=restored)
    return dict.fromkeys(names.split(), kind)


_CONTENT: tuple[JsonPath, ...] = (("content",),)
ATTACHMENTS: Mapping[str, AttachmentKind] = {
    **_attachments("file", "file", (("content", "file", "content"), ("filename",))),
    **_attachments("edited_text_file", "file", (("snippet",), ("filename",))),
    **_attachments("nested_memory", "file", (("content", "content"), ("content", "path"))),
    **_attachments("directory", "file", (("content",), ("path",))),
    **_attachments("selected_lines_in_ide", "file", (("content",), ("filename",))),
    **_attachments("selected_lines_in_diff", "file", (("content",), ("filePath",))),
    **_attachments("invoked_skills", "list", (("skills",), ("content",))),
    **_attachments("relevant_memories", "list", (("memories",), ("content",))),
    **_attachments("mcp_resource", "list", (("content", "contents"), ("text",))),
    **_attachments("deferred_tools_delta agent_listing_delta", "definition", (("addedLines",),)),
    **_attachments("mcp_instructions_delta", "definition", (("addedBlocks",),)),
    **_attachments("mcp_dropped_tools_delta", "definition", (("addedEntries",),)),
    **_attachments("skill_listing", "definition", _CONTENT),
    **_attachments("task_reminder", "tasks", _CONTENT),
    **_attachments("queued_command", "texts", (("prompt",),)),
    "hook_success": AttachmentKind(
        form="texts",
        paths=_CONTENT,
        events=("SessionStart", "UserPromptSubmit", "UserPromptExpansion"),
    ),
    **_attachments("hook_additional_context auto_mode auto_mode_exit", "texts", _CONTENT),
    **_attachments(
        "hook_blocking_error",
        "texts",
        (("blockingError", "command"), ("blockingError", "blockingError")),
    ),
    **_attachments("hook_stopped_continuation", "texts", (("message",),)),
    # Clients before 2.1.197 sent these, and may still be used; newer ones do not.
    **_attachments("todo ultramemory", "texts", _CONTENT),
    **_attachments("task_progress", "texts", (("message",),)),
    **_attachments(
        "async_hook_response",
        "texts",
        (("response", "systemMessage"), ("response", "hookSpecificOutput", "additionalContext")),
    ),
    **_attachments("plan_file_reference", "texts", (("planFilePath",), ("planContent",))),
    **_attachments(
        "plan_mode plan_mode_reentry plan_mode_exit", "texts", (("content",), ("planFilePath",))
    ),
    **_attachments(
        "task_status",
        "texts",
        (("taskId",), ("description",), ("deltaSummary",), ("outputFilePath",)),
    ),
    **_attachments(
        "compact_file_reference opened_file_in_ide pdf_reference", "texts", (("filename",),)
    ),
    **_attachments("at_mention_reference", "texts", (("mentions",),)),
    **_attachments("agent_mention", "texts", (("agentType",),)),
    **_attachments("skill_mention", "texts", (("skillName",),)),
    **_attachments("output_style", "texts", (("style",), ("turnReminder",))),
    **_attachments("diagnostics", "texts", (("files",),)),
    **_attachments("date_change", "texts", (("newDate",),)),
    **_attachments("language", "texts", (("language",),)),
    **_attachments("read_truncation_notice", "texts", (("banner",),)),
    **_attachments("memory_update", "texts", (("summary",), ("paths",))),
    **_attachments("tool_search_usage_reminder", "texts", (("undiscoveredToolNames",),)),
    **_attachments("context_sections", "list", (("sections",), ("text",))),
    **_attachments(
        "critical_system_reminder dir_sync_notice plugin_note sandbox_instructions"
        " artifact_opening_prefetch account_memory_recall cowork_memory_context repl_mcp_servers",
        "texts",
        _CONTENT,
    ),
    **_attachments(
        "total_tokens_reminder silent_turn_reminder elapsed_time_reminder prefix_delta"
        " fork_briefing linked_plugin_tools_note output_limit_note",
        "texts",
        (("text",),),
    ),
    **_attachments(
        "tool_hosts_correction tool_hosts_notice claude_app_notice agent_ask_notice",
        "texts",
        (("lines",),),
    ),
    **_attachments(
        "environment model instructions date remote_session_change", "unread", restored=True
    ),
    **_attachments(
        "poll_events peer_mention widget_context_hint thread_state inlined_image_paths"
        " unknown_command_fallback bash_output_audience_note session_context coordinator_context"
        " output_style_instructions first_week ultrathink_effort workflow_keyword_request"
        " ultra_effort_enter ultra_effort_exit advisor_tool workflow_size_guideline_change"
        " token_usage budget_usd output_token_usage teammate_mailbox"
        " team_context proactivity repl_mcp_needs_auth batching_reminder secondary_reminder"
        " project_doc_reads message_pdf_reads",
        "unread",
    ),
    **_attachments(
        "already_read_file async_hook_response_batch batching_reminder_sent command_permissions"
        " secondary_reminder_sent progress_reminder_sent prompt_as_file edited_image_file"
        " hook_cancelled hook_error_during_execution hook_non_blocking_error hook_system_message"
        " hook_permission_decision hook_deferred_tool goal_status goals session_cron_carry"
        " projects_thread_ask structured_output max_turns_reached teammate_shutdown_batch"
        " withheld_memory tool_host_result_lines attention_budget context_efficiency"
        " dynamic_skill todo_reminder credential_org tool_offer_record deferred_tools_record"
        " prompt_snapshot prompt_render_point autocheckpointing background_task_status"
        " compaction_reminder current_session_memory thinking_reminder companion_intro"
        " pen_mode_enter pen_mode_exit ultrawork_request echo_activities verify_plan_reminder"
        " fold_nudge context_tip audio_transcript instruction_files_not_loaded",
        "unsent",
    ),
    **_attachments("tool_results_cut thinking_stripped", "statement"),
    "thinking_drop": AttachmentKind(
        form="statement", unmodeled="the client may leave out reasoning"
    ),
    "advisor_stripped": AttachmentKind(
        form="statement", unmodeled="the client leaves out what its advisor said"
    ),
    "whole_texts_withdrawn": AttachmentKind(
        form="statement", unmodeled="the client leaves out the texts of files that it attached"
    ),
}


def unmodeled(record_type: str, attachment_type: str) -> str:
    """Return how a record may change what is sent without being followed here; "" if it may not."""
    if record_type == "attachment":
        return ATTACHMENTS[attachment_type].unmodeled if attachment_type in ATTACHMENTS else ""
    return RECORDS[record_type].unmodeled if record_type in RECORDS else ""
