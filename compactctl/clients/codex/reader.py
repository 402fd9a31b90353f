"""Reads Codex rollouts: session headers, items, and the usage and compactions among the events."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeGuard

from compactctl.clients.codex.agents import agent_draft, is_loaded
from compactctl.clients.codex.effective import CodexHistory
from compactctl.clients.codex.record_kinds import EVENTS, ITEMS, RECORDS, unmodeled
from compactctl.clients.codex.refusals import CodexRefusals
from compactctl.clients.codex.request import (
    CUT_OUTPUTS,
    StoredOutput,
    as_loaded,
    mark_omitted,
    pair_by_type,
    pairing_of,
)
from compactctl.clients.codex.truncation import (
    OUTPUT_LIMIT,
    TextBudget,
    model_budget,
    recorded_budget,
)
from compactctl.clients.codex.usage import USAGE_FIELDS, TokenCountReader
from compactctl.clients.codex.wrapping import CODEX, TAGGED
from compactctl.clients.content.response_items import (
    AGENT_MESSAGE,
    is_item,
    item_draft,
    item_kind,
)
from compactctl.clients.content.tool_definitions import tool_definitions
from compactctl.clients.records.builder import LineReader, TranscriptBuilder
from compactctl.clients.records.copied import answers_copied_at_once
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import (
    json_size,
    object_or_empty,
    parse_time,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft, text_parts
from compactctl.clients.records.order import judge_times
from compactctl.clients.records.responses import ResponseNamer
from compactctl.clients.records.unread import COMMON_UNSENT, UnsentFields
from compactctl.clients.records.wrapping import typed_prompt
from compactctl.history.omissions import as_sent, cut_results
from compactctl.history.turns import without_expired_reasoning
from compactctl.model.island import Island, island_of
from compactctl.model.message import (
    NO_TAGS,
    JsonPath,
    Message,
    MessageId,
    Part,
    ReportedUsage,
    TextPart,
    ToolDefinitionPart,
)
from compactctl.model.tags import is_appended
from compactctl.model.transcript import Omission, PastCompactions, SessionInfo, Transcript
from compactctl.model.usage_fields import with_reported_usage
from compactctl.records import Record, replace

# The history after a compaction, and what is noted of its items; the summary in it is repeated in
# ``message``, and its prompts in what is retained for reviews.
_HISTORY, _NOTES = "replacement_history", "replacement_history_metadata"
_COMPACTED_FIELDS = frozenset(
    {
        "message",
        *(_HISTORY, _NOTES),
        "retained_context",
        "guardian_history",
    }
)
# What the client builds from its settings and repeats whenever it compacts (0.58 to 0.142).
_SETTINGS = re.compile(
    r"\s*(?:# AGENTS\.md instructions|<(?:user_instructions|environment_context|app-context"
    r"|permissions|model_switch|collaboration_mode|personality_spec|apps_instructions"
    r"|skills_instructions|plugins_instructions)\b)"
)
_SETTINGS_REASON = "it holds the client's settings"
# What the client sends for a summary without a word.
_NO_SUMMARY = "(no summary available)"
# The client does not load a rollback of more turns.
_MAX_ROLLBACK = 2**32 - 1


class _Replacement(Record):
    """A compaction that records a whole history; ``is_ours`` if compactctl appended it."""

    n_bytes: int
    ids: frozenset[str]
    is_ours: bool


class _Report(Record, kw_only=False):
    """The usage of a request, and the token count that reports it."""

    usage: ReportedUsage
    record: Mapping[str, Any]
    decoded: Decoded


class CodexReader(LineReader):
    """Reads records in file order; ``finish`` computes the effective history."""

    def __init__(self) -> None:
        super().__init__("codex", CODEX, COMMON_UNSENT | UnsentFields(is_unsent=_is_deferred))
        # The client refuses a history of another length than that of the notes.
        self.builder.notes = {_HISTORY: _NOTES}
        self.history = CodexHistory()
        self.refusals = CodexRefusals()
        self.counts = TokenCountReader()
        self.responses = _ResponseGrouper(self.builder)
        self.tools: dict[str, str] = {}
        self.header: Message | None = None
        self.model: str | None = None
        self.cwd: str | None = None
        self.version: str | None = None
        self._sessions = 0
        self._session_ids: set[str] = set()
        self._created: float | None = None
        self._is_fork = False
        self._own_history_lines: list[int] = []
        # What the client recorded as typed by the user.
        self._prompts: set[str] = set()
        self._replacements: list[_Replacement] = []
        # By the ids of their messages: outputs that may be cut, and by what items are paired.
        self.outputs: dict[str, StoredOutput] = {}
        self._pairings: dict[str, str] = {}
        # Prompts that a compaction has shortened.
        self.shortened: set[str] = set()
        # Whether a message carries our tags.
        self._is_edited = False
        # Of the record whose counts compactctl restated; what was reported before is outdated.
        self._restated_line = -1

    def add_line(self, decoded: Decoded) -> None:
        """Add the records on a line."""
        self.refusals.add_line(decoded)
        for value in decoded.values:
            if not isinstance(value, Mapping):
                self.builder.add_opaque(decoded, "a JSON value that is not a record", value=value)
            elif isinstance(value.get("payload"), Mapping):
                record = with_reported_usage(value, USAGE_FIELDS)
                if record is not value:
                    self._restated_line = decoded.index
                self._enveloped(record, record["payload"], decoded)
            else:
                self._add_bare(value, decoded)

    def finish(self) -> Transcript:
        """Return the transcript."""
        self._add_empty_answer()
        sent = self._sent()
        self._drop_superseded({message.id for message in sent})
        self.builder.messages = list(map(self._attributed, self.builder.messages))
        header = [m for m in self.builder.messages if self.header and m.id == self.header.id]
        locked = map(self._with_lock, (*header, *sent))
        effective = tuple(map(self._with_outdated_usage, locked))
        self.builder.refused = [*self.refusals.records(self.cwd, self.version)]
        client_ids = {name for r in self._replacements if not r.is_ours for name in r.ids}
        transcript = self.builder.build(
            self.name,
            effective,
            session=SessionInfo(
                model=self.model,
                window=self.counts.window,
                client_version=self.version,
                cwd=self.cwd,
                # Inferred from the contexts reported around 173 turns of clients 0.121 to 0.142.
                drops_past_reasoning=True,
                usage_line=self.counts.line,
                copied=self._copied(),
            ),
            compactions=PastCompactions(
                by_client=any(m.origin.is_summary or m.id in client_ids for m in effective),
                own_history_lines=tuple(self._own_history_lines),
            ),
            order=judge_times(message.timestamp for message in self.builder.messages),
        )
        paired = pair_by_type(transcript.effective, self._pairings)
        history = without_expired_reasoning(paired)
        return as_sent(transcript, history, mark_omitted(history), self._cut_outputs(history))

    def islands(self) -> tuple[Island, ...]:
        """Return the turns that were rolled back, in file order."""
        names = {message.id for message in self.builder.messages if not message.record_path}
        dropped = ([m for m in turns if m.id in names] for turns in self.history.rolled_back())
        attributed = (list(map(self._attributed, messages)) for messages in dropped)
        islands = (island_of("other branch", messages) for messages in attributed if messages)
        return tuple(sorted(islands, key=lambda island: island.first))

    @property
    def budget(self) -> TextBudget | None:
        """The budget of outputs that have none of their own."""
        return model_budget(self.model)

    def _sent(self) -> tuple[Message, ...]:
        """Return the messages that are sent after the header, as the client loads them."""
        by_id = {message.id: message for message in self.builder.messages}
        sent: list[Message] = []
        for message in self.history.messages():
            newest = by_id[message.id]
            if message.id in self.outputs:
                newest = as_loaded(newest, self.outputs[message.id], self.budget)
            elif message.parts != newest.parts:
                self.shortened.add(message.id)
                newest = replace(newest, parts=message.parts)
            sent.append(self._attributed(newest))
        return tuple(sent)

    def _cut_outputs(self, messages: Iterable[Message]) -> Iterator[Omission]:
        for message in messages:
            output = self.outputs.get(message.id)
            if output and output.sent(self.budget) != output.value:
                yield cut_results(message.id)

    def _attributed(self, message: Message) -> Message:
        """Return a user's message as typed or not, where the client recorded what was typed.

        A text with a tag that is not recorded is the client's, even if the tag is not known. Of
        what a compaction kept, the client may have cut the texts.
        """
        is_settled = (
            message.role != "user"
            or message.origin.is_synthetic
            or message.record_path
            or message.id in self.history.agent_ids
        )
        texts = [part for part in message.parts if isinstance(part, TextPart)]
        if not self._prompts or is_settled or not texts:
            return message
        is_prompt = not self._prompts.isdisjoint(
            {"".join(p.text for p in texts), "\n".join(p.text for p in texts)}
        )
        parts = tuple(
            replace(part, typed=self._typed(part, is_prompt=is_prompt))
            if isinstance(part, TextPart)
            else part
            for part in message.parts
        )
        has_words = any(isinstance(part, TextPart) and part.typed != "" for part in parts)
        return replace(
            message, parts=parts, origin=replace(message.origin, is_injected=not has_words)
        )

    def _typed(self, part: TextPart, *, is_prompt: bool) -> str | None:
        if is_prompt or part.text in self._prompts:
            typed = typed_prompt(part.text, CODEX)
            return None if typed == part.text else typed
        return "" if TAGGED.match(part.text) else part.typed

    def _with_outdated_usage(self, message: Message) -> Message:
        """Return a message with its usage marked if compactctl edited the context after it."""
        if message.usage is None or message.line > self._restated_line:
            return message
        return replace(message, usage=replace(message.usage, is_before_edit=True))

    def _with_lock(self, message: Message) -> Message:
        if _holds_settings(message) and message.locks.immutable_reason is None:
            locks = replace(message.locks, immutable_reason=_SETTINGS_REASON)
            message = replace(message, locks=locks)
        if message.id not in self.history.unreplaceable:
            return message
        return message.as_unmovable("the client would take its replacement for a turn")

    def _enveloped(
        self, record: Mapping[str, Any], payload: Mapping[str, Any], decoded: Decoded
    ) -> None:
        kind = text_or_none(record.get("type")) or ""
        if change := unmodeled(kind, payload):
            self.builder.add_unmodeled(kind, decoded.index, change)
        match kind:
            case "response_item":
                self._item(record, payload, ("payload",), decoded)
            case "inter_agent_communication":
                self._agent_message(record, payload, decoded)
            case "event_msg":
                self._event(record, payload, decoded)
            case "session_meta":
                self._session(record, payload, ("payload",), decoded)
            case "turn_context":
                self._turn_context(payload, decoded)
            case "compacted":
                self._compacted(record, payload, decoded)
            case _:
                if kind not in RECORDS:
                    self.builder.unread.add_unknown(record, decoded.index)
                self.builder.add_metadata(kind or "record without a type", decoded.n_bytes)

    def _add_bare(self, record: Mapping[str, Any], decoded: Decoded) -> None:
        """Add a record of the oldest rollouts, which have no envelope."""
        if is_item(record):
            self._item(record, record, (), decoded)
        elif "instructions" in record:
            self._session(record, record, (), decoded)
        elif "record_type" in record:
            self.builder.unread.add_unknown(record, decoded.index)
            self.builder.add_metadata("state", decoded.n_bytes)
        else:
            self.builder.add_opaque(decoded, "a record of unknown type", value=record)

    def _item(
        self,
        record: Mapping[str, Any],
        item: Mapping[str, Any],
        path: JsonPath,
        decoded: Decoded,
    ) -> None:
        message = self._message(record, item, path, decoded, self.responses)
        if message is None:
            return
        kind, budget = item_kind(item), recorded_budget(record)
        if kind in CUT_OUTPUTS and (budget is not None or decoded.n_bytes > OUTPUT_LIMIT):
            self.outputs[message.id] = StoredOutput(value=item.get("output"), budget=budget)
        self.history.add(message)

    def _agent_message(
        self, record: Mapping[str, Any], payload: Mapping[str, Any], decoded: Decoded
    ) -> None:
        if not is_loaded(payload):
            self.builder.unread.add_unknown(payload, decoded.index)
            self.builder.add_metadata("inter_agent_communication", decoded.n_bytes)
            return
        draft = agent_draft(payload, ("payload",))
        if not draft.parts:
            self.builder.add_empty(
                "inter_agent_communication without content", record, decoded, decoded.n_bytes, ()
            )
            return
        self._add_empty_answer()
        draft = self.responses.assign(draft, self.model)
        message = self.builder.add_message(draft, record, decoded)
        self.history.agent_ids.add(message.id)
        self.history.add(message)

    def _add_empty_answer(self) -> None:
        """Add an answer without items, of which only the token count was recorded, if any.

        In a file that we compacted, the count may be that of an answer we removed.
        """
        report = None if self._is_edited else self.responses.take_unassigned()
        if report is not None:
            draft = MessageDraft(role="assistant", parts=(), model=self.model, usage=report.usage)
            self.history.add(self.builder.add_message(draft, report.record, report.decoded))

    def _message(
        self,
        record: Mapping[str, Any],
        item: Mapping[str, Any],
        path: JsonPath,
        decoded: Decoded,
        responses: "_ResponseGrouper",
    ) -> Message | None:
        """Add an item. ``record`` carries its tags; within a compaction it is the item itself."""
        kind = item_kind(item)
        element = path if record is item else ()
        draft = item_draft(item, path, self.tools)
        size = json_size(item) if element else decoded.n_bytes
        is_unsent = _is_left_out(item) and responses is self.responses and bool(path)
        if is_unsent or (kind in ITEMS and ITEMS[kind].effect == "never sent"):
            self.builder.add_metadata(f"response_item/{kind}", size)
        elif draft is None or kind not in ITEMS:
            self.builder.add_opaque(decoded, "an item of unknown type", size, value=item or record)
        elif not draft.parts:
            self.builder.add_empty(
                f"response_item/{kind} without content", record, decoded, size, element
            )
        else:
            if draft.role == "system" and path:
                # In an envelope, only the client and its hooks use this role.
                draft = replace(draft, is_injected=True)
            if draft.role != "assistant" and responses is self.responses:
                self._add_empty_answer()
            draft = responses.assign(draft, self.model)
            message = self.builder.add_message(draft, record, decoded, record_path=element)
            self._is_edited = self._is_edited or message.tags is not NO_TAGS
            self.tools.update((call.call_id, call.tool) for call in message.calls)
            self._pairings[message.id] = pairing_of(item)
            if kind == AGENT_MESSAGE:
                self.history.agent_ids.add(message.id)
            return message
        return None

    def _session(
        self,
        record: Mapping[str, Any],
        payload: Mapping[str, Any],
        path: JsonPath,
        decoded: Decoded,
    ) -> None:
        """Add a session header; a forked session repeats those of its ancestors after its own."""
        self._note_fork(record, payload)
        self._sessions += 1
        self._add_session_id(text_or_none(payload.get("id")), decoded.index)
        self.cwd = self.cwd or text_or_none(payload.get("cwd"))
        self.version = self.version or text_or_none(payload.get("cli_version"))
        parts = _header_parts(payload, path)
        if not parts:
            self.builder.unread.add_unknown(payload, decoded.index)
        if self._sessions > 1 or not parts:
            self.builder.add_metadata("session_meta", decoded.n_bytes)
            return
        draft = MessageDraft(role="system", parts=parts, unmovable_reason="the session header")
        self.header = self.builder.add_message(draft, record, decoded)

    def _note_fork(self, record: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        """Note that the session copied another, as its header says, or another header after it."""
        name = text_or_none(payload.get("id"))
        if self._sessions:
            is_new = name not in {None, *self._session_ids}
            self._is_fork = self._is_fork or (is_new and not self._has_conversation)
            return
        times = (parse_time(fields.get("timestamp")) for fields in (record, payload))
        self._created = max(filter(None, times), default=None)
        self._is_fork = bool(text_or_none(payload.get("forked_from_id")))

    @property
    def _has_beginning(self) -> bool:
        """Whether a report is about an answer in this file, and not about one before its start."""
        return bool(self._sessions) or any(m.response_id for m in self.builder.messages)

    @property
    def _has_conversation(self) -> bool:
        return bool(self.builder.messages[bool(self.header) :])

    def _copied(self) -> frozenset[MessageId]:
        if not self._is_fork:
            return frozenset()
        return answers_copied_at_once(self.builder.messages, self._created)

    def _add_session_id(self, session: str | None, line: int) -> None:
        if session is None or session in self._session_ids:
            return
        # Ids of ancestors follow the session's own before any message: no new session starts.
        if self._has_conversation or not self._session_ids:
            self.builder.add_session(session, line)
        self._session_ids.add(session)

    def _turn_context(self, payload: Mapping[str, Any], decoded: Decoded) -> None:
        self.model = text_or_none(payload.get("model")) or self.model
        self.cwd = self.cwd or text_or_none(payload.get("cwd"))
        self.builder.add_metadata("turn_context", decoded.n_bytes)

    def _event(
        self, record: Mapping[str, Any], payload: Mapping[str, Any], decoded: Decoded
    ) -> None:
        kind = text_or_none(payload.get("type")) or "event without a type"
        if kind not in EVENTS:
            self.builder.unread.add_unknown(record, decoded.index)
        self.builder.add_metadata(f"event_msg/{kind}", decoded.n_bytes)
        if kind == "token_count":
            usage = self.counts.new_usage(payload, decoded, is_due=self.responses.is_due)
            if usage is not None and self._has_beginning:
                self.responses.add_usage(_Report(usage, record, decoded))
        prompt = text_or_none(payload.get("message"))
        if kind == "user_message" and prompt and payload.get("kind") in (None, "plain"):
            self._prompts.add(prompt)
        if kind == "error":
            self.builder.add_error(text_or_none(payload.get("message")), decoded.index)
        self._note_turn(kind, payload)

    def _note_turn(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Note where turns begin and which are dropped, of what the client can load."""
        turns = payload.get("num_turns")
        match kind:
            case "task_started" | "turn_started" if isinstance(payload.get("turn_id"), str):
                self.history.begin_turn()
            case "user_message" if isinstance(payload.get("message"), str):
                self.history.add_prompt()
            case "thread_rolled_back" if type(turns) is int and 0 < turns <= _MAX_ROLLBACK:
                self.history.roll_back(turns)
                self.responses.close()

    def _compacted(
        self, record: Mapping[str, Any], payload: Mapping[str, Any], decoded: Decoded
    ) -> None:
        text = payload.get("message")
        if not isinstance(text, str) or not _is_loaded(payload):
            # The client does not read such a record.
            self.builder.unread.add_unknown(payload, decoded.index)
            self.builder.add_metadata("compacted", decoded.n_bytes)
            return
        self.responses.close()
        is_ours = is_appended(record)
        (self._own_history_lines if is_ours else self.builder.compactions).append(decoded.index)
        items = payload.get(_HISTORY)
        if isinstance(items, list):
            rest = {name: value for name, value in payload.items() if name not in _COMPACTED_FIELDS}
            self.builder.unread.add_unknown({**record, "payload": rest}, decoded.index)
            self._replace_history(items, decoded, is_ours=is_ours)
            return
        part = TextPart(text=text, added="" if text else _NO_SUMMARY, path=("payload", "message"))
        reason = "the client's own compaction"
        draft = MessageDraft(role="user", parts=(part,), is_summary=True, unmovable_reason=reason)
        self.history.condense(self.builder.add_message(draft, record, decoded))

    def _replace_history(self, items: list[Any], decoded: Decoded, *, is_ours: bool) -> None:
        path: JsonPath = ("payload", _HISTORY)
        responses = _ResponseGrouper(self.builder, f"line-{decoded.index}-response-")
        messages = []
        for index, item in enumerate(items):
            record = object_or_empty(item)
            message = self._message(record, record, (*path, index), decoded, responses)
            if message is not None:
                messages.append(message)
        self.history.replace(messages)
        ids = frozenset(message.id for message in messages)
        self._replacements.append(_Replacement(n_bytes=decoded.n_bytes, ids=ids, is_ours=is_ours))

    def _drop_superseded(self, sent_ids: set[str]) -> None:
        """Remove the messages of compactions of which nothing is sent any more."""
        superseded = [r for r in self._replacements if sent_ids.isdisjoint(r.ids)]
        dropped = {name for replacement in superseded for name in replacement.ids}
        self.builder.messages = [m for m in self.builder.messages if m.id not in dropped]
        for replacement in superseded:
            self.builder.add_metadata("compacted", replacement.n_bytes)


class _ResponseGrouper:
    """Assigns items to responses, and usage to the newest response."""

    def __init__(self, builder: TranscriptBuilder, prefix: str = "response-") -> None:
        self._builder = builder
        self._names = ResponseNamer(prefix)
        self._name: str | None = None
        self._has_usage = False
        self._newest: int | None = None
        # Whether the newest item is one that the model answers.
        self._is_asked = False
        # The report of a response that has no item yet, and whether something had been asked.
        self._unassigned: _Report | None = None
        self._was_asked = False

    def assign(self, draft: MessageDraft, model: str | None) -> MessageDraft:
        """Return the draft as part of its response; call it right before adding the message."""
        name = self._names.name_for(draft)
        self._is_asked = name is None and not draft.is_summary
        if name is None:
            return draft
        self._has_usage = self._has_usage and name == self._name
        self._name = name
        self._newest = len(self._builder.messages)
        report, self._unassigned = self._unassigned, None
        self._has_usage = self._has_usage or report is not None
        usage = report.usage if report else None
        return replace(draft, response_id=name, model=model, usage=usage)

    def take_unassigned(self) -> _Report | None:
        """Return the report of a response that turned out to have no items; end the response."""
        report = self._unassigned if self._was_asked else None
        if report is not None:
            self.close()
        return report

    @property
    def is_due(self) -> bool:
        """Whether the newest response has no usage yet."""
        return self._newest is not None and not self._has_usage

    def add_usage(self, report: _Report) -> None:
        """Assign usage to the newest response, or to the next one if that already has its own.

        Newer clients report usage after the response's outputs, older ones before its first item.
        """
        if self._newest is None or not self.is_due:
            self._unassigned, self._was_asked = report, self._is_asked
            return
        messages = self._builder.messages
        messages[self._newest] = replace(messages[self._newest], usage=report.usage)
        self._has_usage = True

    def close(self) -> None:
        """End the newest response, as at a compaction or a rollback."""
        self._names.close()
        self._newest = None
        self._is_asked = False
        self._unassigned = None


def _is_loaded(compacted: Mapping[str, Any]) -> bool:
    """Whether the client can load a compaction: it has items, or none, and a note of each or none.

    An item has a type, and a note is an object.
    """
    items, notes = compacted.get(_HISTORY), compacted.get(_NOTES)
    if items is None or notes is None:
        return notes is None and (items is None or _are_items(items))
    return _are_items(items) and _are_objects(notes) and len(notes) == len(items)


def _are_items(value: object) -> bool:
    return _are_objects(value) and all(isinstance(item.get("type"), str) for item in value)


def _are_objects(value: object) -> TypeGuard[list[Mapping[str, Any]]]:
    return isinstance(value, list) and all(isinstance(element, Mapping) for element in value)


def _is_left_out(item: Mapping[str, Any]) -> bool:
    """Whether the client does not load a message (``is_api_message``); its own are developer's."""
    return item_kind(item) == "message" and item.get("role") == "system"


def _holds_settings(message: Message) -> bool:
    texts = [part.text for part in message.parts[:1] if isinstance(part, TextPart)]
    return message.origin.is_injected and any(map(_SETTINGS.match, texts))


def _header_parts(payload: Mapping[str, Any], path: JsonPath) -> tuple[Part, ...]:
    """Return the base instructions and the dynamic tools of a session header."""
    return (*_instructions(payload, path), *_tools(payload, path))


def _instructions(payload: Mapping[str, Any], path: JsonPath) -> tuple[TextPart, ...]:
    base = payload.get("base_instructions")
    if isinstance(base, Mapping):
        return text_parts(base.get("text"), (*path, "base_instructions", "text"))
    if isinstance(base, str):
        return text_parts(base, (*path, "base_instructions"))
    return text_parts(payload.get("instructions"), (*path, "instructions"))


def _tools(payload: Mapping[str, Any], path: JsonPath) -> tuple[ToolDefinitionPart, ...]:
    """Return the dynamic tools, without those that the model must search for first."""
    tools = payload.get("dynamic_tools")
    parts = tool_definitions(tools, (*path, "dynamic_tools"))
    if not isinstance(tools, list):
        return ()
    return tuple(part for part, tool in zip(parts, tools, strict=True) if not _is_deferred(tool))


def _is_deferred(tool: object) -> bool:
    return isinstance(tool, Mapping) and tool.get("deferLoading") is True
