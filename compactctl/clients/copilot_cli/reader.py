"""Reads Copilot CLI sessions: messages, usage, and the changes to what is sent, by event."""

from collections.abc import Callable, Mapping
from typing import Any

from compactctl.clients.copilot_cli.effective import CopilotHistory
from compactctl.clients.copilot_cli.event_types import MESSAGE_TYPES, NEEDED_TYPES, UNSENT_TYPES
from compactctl.clients.copilot_cli.events import (
    AssetStore,
    event_draft,
    is_unsent,
    text_parts,
)
from compactctl.clients.copilot_cli.required_fields import refusal_reason
from compactctl.clients.copilot_cli.wrapping import COPILOT_CLI
from compactctl.clients.records.builder import LineReader
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import count_or_none, object_or_empty, text_or_none
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.clients.records.unread import COMMON_UNSENT, UnsentFields, text_in
from compactctl.model.message import NO_TAGS, Message, ReportedUsage
from compactctl.model.transcript import (
    ClientTokenCounts,
    Link,
    RefusedRecord,
    SessionInfo,
    Transcript,
)
from compactctl.records import replace

# What the client shows, and repeats of a result or a prompt that it sends in another field.
_UNSENT_FIELDS = COMMON_UNSENT | UnsentFields(
    keys=frozenset(
        {
            "detailedContent",
            "intentionSummary",
            "reasoningOpaque",
            "encryptedContent",
            "structuredContent",
            "toolTelemetry",
            "toolDescription",
            "mcpMeta",
        }
    ),
    labels=frozenset(
        {
            "checkpointPath",
            "customInstructions",
            "fusion",
            "nativeDocumentPathFallbackPaths",
            "shellExecution",
            "supportedNativeDocumentMimeTypes",
            "toolTitle",
            "uiResource",
        }
    ),
)
# What these hold is also sent as a message, in the sessions that record that.
_COPIED = frozenset(
    {"skill.invoked", "system.notification", "session.handoff", "session.mode_notice_delivered"}
)
# What is sent of a skill is another event.
_NOTED = frozenset({"skill.invoked", "skill.invoked_ref"})
_TOKEN_COUNTS = ("systemTokens", "conversationTokens", "toolDefinitionsTokens", "currentTokens")
# The name under which each type of event records the current model.
_MODELS = {
    "session.start": "selectedModel",
    "session.resume": "selectedModel",
    "session.model_change": "newModel",
    "session.shutdown": "currentModel",
    "assistant.message": "model",
    "tool.execution_complete": "model",
}


class CopilotReader(LineReader):
    """Reads events in file order; ``finish`` computes the effective history."""

    def __init__(self, name: str) -> None:
        super().__init__(name, COPILOT_CLI, _UNSENT_FIELDS)
        self.history = CopilotHistory()
        self.assets = AssetStore()
        self.usages = _UsageCollector()
        self.tools: dict[str, str] = {}
        self.model: str | None = None
        self.window: int | None = None
        self.cwd: str | None = None
        self.client_counts: ClientTokenCounts | None = None
        self.usage_line: int | None = None
        self._lines: dict[str, int] = {}
        self._rewound_to: set[int] = set()
        # The data and lines of events that a message may repeat.
        self._copied: list[tuple[Mapping[str, Any], int]] = []
        # By the type of an event: what it says of the session, and how it changes what is sent.
        self._notes: Mapping[str, Callable[[Mapping[str, Any], int], None]] = {
            "session.start": self._note_start,
            "session.error": self._note_error,
            "session.shutdown": self._note_shutdown,
        }
        self._changes: Mapping[str, Callable[[Mapping[str, Any], int, Message | None], None]] = {
            "session.compaction_complete": self._condense,
            "session.context_cleared": self._clear,
            "session.snapshot_rewind": self._rewind,
            "session.truncation": self._truncate,
        }

    def add_line(self, decoded: Decoded) -> None:
        """Add the events on a line."""
        for value in decoded.values:
            data = value.get("data") if isinstance(value, Mapping) else None
            self._note_refusal(value, decoded)
            if isinstance(data, Mapping) and isinstance(value.get("type"), str):
                self._event(value, data, decoded)
            else:
                self._link(object_or_empty(value), decoded)
                self.builder.add_opaque(decoded, "a JSON value that is not an event", value=value)

    def finish(self) -> Transcript:
        """Return the transcript."""
        self._measure_copied()
        self.builder.refused = [
            replace(record, is_sent=record.is_sent or record.line in self._rewound_to)
            for record in self.builder.refused
        ]
        self.builder.messages = [
            self.usages.with_usage(message) for message in self.builder.messages
        ]
        is_edited = any(message.tags != NO_TAGS for message in self.builder.messages)
        return self.builder.build(
            self.name,
            tuple(self.usages.with_usage(message) for message in self.history.effective()),
            session=SessionInfo(
                model=self.model,
                window=self.window,
                cwd=self.cwd,
                client_counts=None if is_edited else self.client_counts,
                usage_line=self.usage_line,
            ),
        )

    def _note_refusal(self, value: object, decoded: Decoded) -> None:
        """Note that the client refuses a session with this event; damaged lines it skips."""
        if decoded.damage is not None or len(decoded.values) != 1 or not isinstance(value, dict):
            return
        reason = refusal_reason(value)
        if reason:
            is_sent = self._may_be_sent(value, object_or_empty(value.get("data")))
            record = RefusedRecord(
                line=decoded.index, client="Copilot CLI", reason=reason, is_sent=is_sent
            )
            self.builder.refused.append(record)

    def _may_be_sent(self, event: Mapping[str, Any], data: Mapping[str, Any]) -> bool:
        """Return whether an event may be sent, or changes what is."""
        kind = event["type"]
        if _is_from_subagent(event, data):
            return False
        if kind in MESSAGE_TYPES:
            return not is_unsent(kind, data)
        return kind in self._changes or kind in NEEDED_TYPES or kind not in UNSENT_TYPES | _NOTED

    def _event(self, event: Mapping[str, Any], data: Mapping[str, Any], decoded: Decoded) -> None:
        kind = event["type"]
        self._link(event, decoded)
        draft = event_draft(kind, data, self.assets, self.tools)
        message: Message | None = None
        if draft is None:
            self._measure(event, data, decoded.index)
            self.builder.add_metadata(kind, decoded.n_bytes)
        else:
            draft = replace(
                self._with_ids(draft, event), is_subagent=_is_from_subagent(event, data)
            )
            message = self.builder.add_message(draft, event, decoded)
            self.tools.update((call.call_id, call.tool) for call in message.calls)
        if not _is_from_subagent(event, data):
            self._note_session(kind, data)
            self._note_history(kind, data, decoded.index, message)

    def _measure(self, event: Mapping[str, Any], data: Mapping[str, Any], line: int) -> None:
        """Measure an event that is not a message, unless it is known not to be sent."""
        kind = event["type"]
        if kind in MESSAGE_TYPES:
            if not is_unsent(kind, data):
                self.builder.unread.add_message(event, (), (), line)
        elif kind in _COPIED:
            self._copied.append((data, line))
        elif kind not in UNSENT_TYPES:
            self.builder.unread.add_unknown(event, line)

    def _measure_copied(self) -> None:
        if self._copied:
            messages = (message for message in self.builder.messages if message.role == "user")
            texts = [text_in(part) for message in messages for part in message.parts]
            values = {"data": [data for data, _ in self._copied]}
            self.builder.unread.add_others(values, (), set(), texts, self._copied[0][1])

    def _link(self, event: Mapping[str, Any], decoded: Decoded) -> None:
        name, parent = text_or_none(event.get("id")), text_or_none(event.get("parentId"))
        if name is None:
            return
        self._lines.setdefault(name, decoded.index)
        self.builder.links.append(Link(decoded.index, name, parent))

    def _note_session(self, kind: str, data: Mapping[str, Any]) -> None:
        """Note the model, window, folder, binary data and usage in an event."""
        self.model = text_or_none(data.get(_MODELS.get(kind, ""))) or self.model
        self.window = count_or_none(data.get("tokenLimit")) or self.window
        self.cwd = self.cwd or text_or_none(object_or_empty(data.get("context")).get("cwd"))
        if kind == "session.binary_asset":
            self.assets.add(data)
        elif kind == "assistant.usage":
            self.usages.add(data)

    def _note_history(
        self, kind: str, data: Mapping[str, Any], line: int, message: Message | None
    ) -> None:
        """Note how an event of the main conversation changes what is sent.

        After a change, the client's own counts no longer hold.
        """
        if kind in self._notes:
            self._notes[kind](data, line)
        elif kind in self._changes and not _has_failed(kind, data):
            self._changes[kind](data, line, message)
            self.client_counts = None
        elif message is not None:
            self.usages.note_response(message)
            self.history.add(message, next(iter(text_parts(data, "content")), None))
            self.client_counts = None

    def _note_start(self, data: Mapping[str, Any], line: int) -> None:
        self.builder.add_session(text_or_none(data.get("sessionId")), line)

    def _note_error(self, data: Mapping[str, Any], line: int) -> None:
        self.builder.add_error(text_or_none(data.get("message")), line)

    def _note_shutdown(self, data: Mapping[str, Any], line: int) -> None:
        self.client_counts = _client_token_counts(data)
        self.usage_line = line if count_or_none(data.get("currentTokens")) else None

    def _condense(self, data: Mapping[str, Any], line: int, message: Message | None) -> None:
        self.builder.compactions.append(line)
        self.history.condense(line, message)

    def _clear(self, data: Mapping[str, Any], line: int, message: Message | None) -> None:
        self.builder.compactions.append(line)
        self.history.clear(line, message)

    def _rewind(self, data: Mapping[str, Any], line: int, message: Message | None) -> None:
        target = self._lines.get(str(data.get("upToEventId")), line)
        self._rewound_to.add(target)
        self.history.rewind(target)

    def _truncate(self, data: Mapping[str, Any], line: int, message: Message | None) -> None:
        removed = data.get("messagesRemovedDuringTruncation")
        if isinstance(removed, int) and removed > 0:
            self.builder.compactions.append(line)
            self.history.truncate(line, removed)
            self.builder.warnings.append(
                f"line {line + 1}: the client left out {removed:,} of its messages and the file "
                "does not say which; they are taken to be the oldest"
            )

    def _with_ids(self, draft: MessageDraft, event: Mapping[str, Any]) -> MessageDraft:
        """Set the event's id, also as the response id where that is missing."""
        name = text_or_none(event.get("id"))
        if draft.role != "assistant":
            return replace(draft, record_id=name)
        response, model = draft.response_id or name, draft.model or self.model
        return replace(draft, record_id=name, response_id=response, model=model)


def _has_failed(kind: str, data: Mapping[str, Any]) -> bool:
    return kind == "session.compaction_complete" and data.get("success") is not True


def _is_from_subagent(event: Mapping[str, Any], data: Mapping[str, Any]) -> bool:
    """Return whether an event belongs to a subagent, which has its own context.

    ``parentAgentTaskId`` does not show that: prompts of the user have it too.
    """
    owners = (event.get("agentId"), data.get("agentId"), data.get("parentToolCallId"))
    return any(isinstance(owner, str) and owner for owner in owners)


class _UsageCollector:
    """Assigns usage to responses; a usage event names its response or follows it."""

    def __init__(self) -> None:
        self._by_response: dict[str, ReportedUsage] = {}
        self._newest: str | None = None

    def note_response(self, message: Message) -> None:
        """Note the newest response, for usage events that name none."""
        self._newest = message.response_id or self._newest

    def add(self, data: Mapping[str, Any]) -> None:
        """Add an ``assistant.usage`` event; its input tokens include cache reads."""
        response = data.get("apiCallId") or self._newest
        if "inputTokens" in data and isinstance(response, str):
            self._by_response[response] = ReportedUsage(
                context=count_or_none(data.get("inputTokens")) or 0,
                output=count_or_none(data.get("outputTokens")),
                cache_read=count_or_none(data.get("cacheReadTokens")),
                cache_write=count_or_none(data.get("cacheWriteTokens")),
            )

    def with_usage(self, message: Message) -> Message:
        """Return the message with the usage of its response, if that was reported."""
        usage = self._by_response.get(message.response_id or "")
        return replace(message, usage=usage) if usage else message


def _client_token_counts(data: Mapping[str, Any]) -> ClientTokenCounts | None:
    """Return the token counts in a ``session.shutdown`` event; None for those of older clients."""
    counts = [count_or_none(data.get(name)) for name in _TOKEN_COUNTS]
    system, conversation, definitions, total = (count or 0 for count in counts)
    if None in counts or not total:
        return None
    return ClientTokenCounts(
        system=system, conversation=conversation, tool_definitions=definitions, total=total
    )
