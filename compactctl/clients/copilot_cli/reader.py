"""Reads Copilot CLI sessions: messages, usage, and the changes to what is sent, by event."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from compactctl.clients.copilot_cli.earlier import SKILL_TEXTS, EarlierEvents, content_id
from compactctl.clients.copilot_cli.effective import CopilotHistory
from compactctl.clients.copilot_cli.events import event_draft, is_unsent, prompt_part
from compactctl.clients.copilot_cli.record_kinds import RECORDS
from compactctl.clients.copilot_cli.request import mark_omitted
from compactctl.clients.copilot_cli.required_fields import FieldFault, find_faults
from compactctl.clients.copilot_cli.wrapping import COPILOT_CLI
from compactctl.clients.records.builder import LineReader
from compactctl.clients.records.decode import NOT_UTF8, Decoded
from compactctl.clients.records.json_values import (
    count_or_none,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.clients.records.record_kinds import Effect
from compactctl.clients.records.unread import COMMON_UNSENT, UnsentFields
from compactctl.clients.records.versions import is_older
from compactctl.history.omissions import as_sent
from compactctl.model.message import NO_TAGS, Message, ReportedUsage
from compactctl.model.transcript import (
    ClientTokenCounts,
    FieldValue,
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
            "reasoningBlocks",
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
_CLIENT = "Copilot CLI"
# Accepts what older versions refuse, and skips damaged lines.
_LENIENT_VERSION = (1, 0, 102)
_SENT: frozenset[Effect] = frozenset({"message", "changes the history"})
# Events without which a session, or a message of it, is not complete.
_NEEDED = frozenset({"session.start", "session.binary_asset"})
_NAMED_REASON = "a later event names its text; without it the client refuses the session"
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
        self.earlier = EarlierEvents()
        self.usages = _UsageCollector()
        self.model: str | None = None
        self.window: int | None = None
        self.cwd: str | None = None
        self.version: str | None = None
        # What only older versions refuse.
        self._refused_before: list[RefusedRecord] = []
        self.client_counts: ClientTokenCounts | None = None
        self.usage_line: int | None = None
        # The lines with the text of a skill, by its id, and the ids that later events name.
        self._skill_lines: defaultdict[str, list[int]] = defaultdict(list)
        self._named_ids: set[str] = set()

    def add_line(self, decoded: Decoded) -> None:
        """Add the events on a line."""
        if decoded.damage not in (None, NOT_UTF8):
            self._refused_before.append(
                RefusedRecord(
                    line=decoded.index,
                    client=_CLIENT,
                    reason="it is damaged, which older versions refuse",
                    is_sent=False,
                    rule="torn",
                )
            )
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
        self.builder.messages = [
            self.usages.with_usage(message) for message in self.builder.messages
        ]
        is_edited = any(message.tags != NO_TAGS for message in self.builder.messages)
        named_lines = {line for name in self._named_ids for line in self._skill_lines[name]}
        self.builder.refused = [
            replace(record, is_sent=record.is_sent or record.line in named_lines)
            for record in self._all_refused()
        ]
        transcript = self.builder.build(
            self.name,
            tuple(
                _locked(message) if message.line in named_lines else message
                for message in map(self.usages.with_usage, self.history.effective())
            ),
            session=SessionInfo(
                model=self.model,
                window=self.window,
                client_version=self.version,
                cwd=self.cwd,
                client_counts=None if is_edited else self.client_counts,
                usage_line=self.usage_line,
            ),
        )
        return as_sent(transcript, transcript.effective, mark_omitted(transcript.effective))

    def _note_refusal(self, value: object, decoded: Decoded) -> None:
        """Note that the client refuses a session with this event; damaged lines it skips."""
        if not _is_loaded(decoded) or not isinstance(value, dict):
            return
        kind, data = text_or_empty(value.get("type")), object_or_empty(value.get("data"))
        faults = tuple(find_faults(value))
        missing_text = self.earlier.refusal_reason(kind, data)
        if kind == "session.resume":
            # Whatever was written before was loaded.
            self._refused_before.clear()
        if not faults and not missing_text:
            return
        record = RefusedRecord(
            line=decoded.index,
            client=_CLIENT,
            reason=_reason(kind, faults) or missing_text,
            is_sent=_may_be_sent(value, data),
            rule="field-required" if faults and faults[0].is_missing else "field-value",
            values=()
            if missing_text
            else tuple(FieldValue(path=f.path, value=f.value) for f in faults),
        )
        is_old = not missing_text and all(fault.is_old for fault in faults)
        (self._refused_before if is_old else self.builder.refused).append(record)

    def _all_refused(self) -> list[RefusedRecord]:
        """Return the refused records in file order.

        Of a version that accepts them, those that only older ones refuse are left out.
        """
        before = self._refused_before if is_older(self.version, _LENIENT_VERSION) else []
        return sorted((*self.builder.refused, *before), key=lambda record: record.line)

    def _event(self, event: Mapping[str, Any], data: Mapping[str, Any], decoded: Decoded) -> None:
        kind = event["type"]
        self._link(event, decoded)
        draft = event_draft(kind, data, self.earlier)
        self.earlier.add(kind, data)
        message: Message | None = None
        if draft is None:
            self._measure(event, data, decoded.index)
            self.builder.add_metadata(kind, decoded.n_bytes)
        else:
            draft = replace(
                self._with_ids(draft, event), is_subagent=_is_from_subagent(event, data)
            )
            message = self.builder.add_message(draft, event, decoded)
        if kind in SKILL_TEXTS:
            text = content_id(text_or_empty(data.get("content")))
            self._skill_lines[text].append(decoded.index)
        self._named_ids.add(text_or_empty(data.get("contentId")))
        if not _is_from_subagent(event, data):
            self._note_session(kind, data, decoded.index)
            if _is_loaded(decoded):
                self._note_history(kind, data, decoded.index, message)

    def _measure(self, event: Mapping[str, Any], data: Mapping[str, Any], line: int) -> None:
        """Measure an event that is not a message, unless it is known not to be sent."""
        kind = RECORDS.get(event["type"])
        if kind is None:
            self.builder.unread.add_unknown(event, line)
        elif kind.effect in _SENT and not is_unsent(event["type"], data):
            self.builder.unread.add_message(event, (), (), line)

    def _link(self, event: Mapping[str, Any], decoded: Decoded) -> None:
        name, parent = text_or_none(event.get("id")), text_or_none(event.get("parentId"))
        if name is not None:
            self.builder.links.append(Link(decoded.index, name, parent))

    def _note_session(self, kind: str, data: Mapping[str, Any], line: int) -> None:
        """Note what an event says of the session: model, window, folder, usage and errors."""
        self.model = text_or_none(data.get(_MODELS.get(kind, ""))) or self.model
        self.window = count_or_none(data.get("tokenLimit")) or self.window
        self.cwd = self.cwd or text_or_none(object_or_empty(data.get("context")).get("cwd"))
        match kind:
            case "session.start":
                self.builder.add_session(text_or_none(data.get("sessionId")), line)
                self.version = text_or_none(data.get("copilotVersion"))
            case "session.error":
                self.builder.add_error(text_or_none(data.get("message")), line)
            case "session.usage_record":
                self.usages.add(object_or_empty(data.get("usage")))
            case "assistant.usage":
                self.usages.add(data, self.usages.newest)
            case _:
                pass

    def _note_history(
        self, kind: str, data: Mapping[str, Any], line: int, message: Message | None
    ) -> None:
        """Note how an event of the main conversation changes what is sent.

        After a change, the client's own counts no longer hold.
        """
        match kind:
            case "session.shutdown":
                self.client_counts = _client_token_counts(data)
                self.usage_line = line if count_or_none(data.get("currentTokens")) else None
            case "session.compaction_start":
                self.history.begin_compaction()
            case "session.compaction_complete" if message is not None:
                self.builder.compactions.append(line)
                self.history.condense(message)
                self.client_counts = None
            case "session.context_cleared":
                self.builder.compactions.append(line)
                self.history.clear(message, prompt_part(kind, data))
                self.client_counts = None
            case "skill.context_delivered" | "skill.context_delivered_ref" if (
                self.history.is_cleared
            ):
                # The client sends none between a clear and the next prompt.
                pass
            case _ if message is not None:
                self.usages.note_response(message)
                if kind == "user.message":
                    self.history.begin_turn()
                self.history.add(message, prompt_part(kind, data))
                self.client_counts = None
            case "abort":
                self.history.abort()
            case _ if kind in RECORDS and RECORDS[kind].unmodeled:
                self.builder.add_unmodeled(kind, line, RECORDS[kind].unmodeled)
            case _:
                pass

    def _with_ids(self, draft: MessageDraft, event: Mapping[str, Any]) -> MessageDraft:
        """Set the event's id, also as the response id where that is missing."""
        name = text_or_none(event.get("id"))
        if draft.role != "assistant":
            return replace(draft, record_id=name)
        response, model = draft.response_id or name, draft.model or self.model
        return replace(draft, record_id=name, response_id=response, model=model)


def _is_loaded(decoded: Decoded) -> bool:
    """Return whether the client reads a line: it skips those that are not one JSON object."""
    return decoded.damage is None and len(decoded.values) == 1


def _reason(kind: str, faults: Sequence[FieldFault]) -> str:
    """Return what is wrong with an event, first what every version refuses."""
    if not faults:
        return ""
    fault = min(faults, key=lambda fault: fault.is_old)
    return f"{kind} {fault.text}" + (", which older versions refuse" if fault.is_old else "")


def _may_be_sent(event: Mapping[str, Any], data: Mapping[str, Any]) -> bool:
    """Return whether an event may be sent, or changes what is."""
    kind = event["type"]
    if _is_from_subagent(event, data) or is_unsent(kind, data):
        return False
    return kind in _NEEDED or kind not in RECORDS or RECORDS[kind].effect in _SENT


def _locked(message: Message) -> Message:
    return replace(message, locks=replace(message.locks, immutable_reason=_NAMED_REASON))


def _is_from_subagent(event: Mapping[str, Any], data: Mapping[str, Any]) -> bool:
    """Return whether an event belongs to a subagent, which has its own context.

    ``parentAgentTaskId`` does not show that: prompts of the user have it too.
    """
    owners = (event.get("agentId"), data.get("agentId"), data.get("parentToolCallId"))
    return any(isinstance(owner, str) and owner for owner in owners)


class _UsageCollector:
    """Assigns usage to responses."""

    def __init__(self) -> None:
        self.newest: str | None = None
        self._by_response: dict[str, ReportedUsage] = {}

    def note_response(self, message: Message) -> None:
        """Note the newest response, for usage events that name none."""
        self.newest = message.response_id or self.newest

    def add(self, data: Mapping[str, Any], default: str | None = None) -> None:
        """Add the usage of a request, whose input tokens include cache reads and writes.

        ``default`` is the response that it belongs to if it names none.
        """
        response = text_or_none(data.get("apiCallId")) or default
        if "inputTokens" in data and response is not None:
            self._by_response[response] = ReportedUsage(
                context=count_or_none(data.get("inputTokens")) or 0,
                output=count_or_none(data.get("outputTokens")),
                reasoning=count_or_none(data.get("reasoningTokens")) or 0,
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
