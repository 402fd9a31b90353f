"""Reads pi sessions entry by entry."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from compactctl.clients.pi.chain import PiChain
from compactctl.clients.pi.messages import COUNTS, entry_draft, system_draft, was_interrupted
from compactctl.clients.pi.record_kinds import ENTRIES, ROLES
from compactctl.clients.pi.request import (
    AnswerModel,
    ContextEdit,
    answer_calls,
    apply_edits,
    drop_foreign_thinking,
    edit_of,
    is_editable,
    model_of,
    replacements,
    replay_system_messages,
)
from compactctl.clients.pi.wrapping import PI
from compactctl.clients.records.builder import LineReader
from compactctl.clients.records.copied import answers_before
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import (
    integer_or_none,
    object_or_empty,
    parse_time,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.clients.records.order import judge_times
from compactctl.clients.records.record_kinds import unmodeled_warning
from compactctl.clients.records.unread import COMMON_UNSENT, UnsentFields
from compactctl.history.omissions import as_sent
from compactctl.model.island import Island, island_of
from compactctl.model.message import JsonPath, Message, MessageId, OmittedPart
from compactctl.model.transcript import Link, RecordOrder, SessionInfo, Transcript
from compactctl.model.usage_fields import with_reported_usage
from compactctl.records import replace

# What the client shows of results, keeps for extensions, or stores elsewhere.
_UNSENT_FIELDS = COMMON_UNSENT | UnsentFields(
    keys=frozenset(
        {
            "details",
            "display",
            "errorMessage",
            "evictedContent",
            "intent",
            "partialJson",
            "shortSummary",
            "textSignature",
            "thinkingSignature",
        }
    ),
    is_unsent=lambda message: message.get("excludeFromContext") is True,
)
_PROMPT = "systemMessage"


class PiReader(LineReader):
    """Reads records in file order; ``finish`` computes the effective history."""

    def __init__(self, name: str) -> None:
        super().__init__(name, PI, _UNSENT_FIELDS)
        self.chain = PiChain()
        self.model: str | None = None
        self.cwd: str | None = None
        self.version: int | None = None
        # When the session was forked, None if it was not.
        self.forked: float | None = None
        # By the names of entries.
        self.models: dict[str, AnswerModel] = {}
        self.edits: dict[str, ContextEdit] = {}
        self.editable: set[str] = set()
        self.names: dict[MessageId, str] = {}
        self._responses = 0

    def add_line(self, decoded: Decoded) -> None:
        """Add the records on a line."""
        if decoded.damage is not None:
            self.chain.add_damage(decoded.index)
        for value in decoded.values:
            if not isinstance(value, Mapping) or not isinstance(value.get("type"), str):
                self.builder.add_opaque(decoded, "a JSON value of unknown type", value=value)
            elif value["type"] == "session":
                self._header(value, decoded)
            else:
                self._entry(with_reported_usage(value, COUNTS), decoded)

    def finish(self) -> Transcript:
        """Return the transcript."""
        chosen = self.chain.effective()
        bridged = self.chain.bridged
        self.builder.links = [
            replace(link, parent=bridged.get(link.id, link.parent)) for link in self.builder.links
        ]
        self.builder.warnings += self.chain.warnings
        self.builder.errors = [e for e in self.builder.errors if e.name in self.chain.included]
        used = (self.models[name] for name in self.chain.path if name in self.models)
        current = next((model for model in used if model.name), AnswerModel(name=self.model))
        transcript = self.builder.build(
            self.name,
            self._without_old_usage(chosen),
            session=SessionInfo(
                model=current.name,
                file_version=self.version,
                cwd=self.cwd,
                holds_overhead=any(message.role == "system" for message in chosen),
                copied=answers_before(self.builder.messages, self.forked),
            ),
            order=self._order(),
        )
        return self._as_sent(transcript, current)

    def islands(self) -> tuple[Island, ...]:
        """Return what the file holds and the next request does not send, in file order."""
        self.chain.effective()
        islands = (island_of(kind, m) for kind, m in self.chain.branches() if m)
        return tuple(sorted(islands, key=lambda island: island.first))

    def _without_old_usage(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Remove usage that was reported before the newest edit, which it does not describe.

        The client does not count on it either (``estimateProjectedContextTokens``).
        """
        path = self.chain.path
        newest = next((place for place, name in enumerate(path) if name in self.edits), len(path))
        older = frozenset(path[newest:])
        return tuple(
            replace(message, usage=None) if self.names[message.id] in older else message
            for message in messages
        )

    def _as_sent(self, transcript: Transcript, current: AnswerModel) -> Transcript:
        """Return the transcript with what the client sends of its history."""
        stored = transcript.effective
        names = [(message, self.names[message.id]) for message in stored]
        by_target = self._edits_by_target()
        edits = {message.id: by_target[name] for message, name in names if name in by_target}
        models = {message.id: self.models[name] for message, name in names if name in self.models}
        history = drop_foreign_thinking(apply_edits(stored, edits), models, current)
        history = answer_calls(replay_system_messages(history))
        sent = as_sent(transcript, history, history, replacements(stored, edits))
        return replace(sent, warnings=(*sent.warnings, *_prompt_warnings(history)))

    def _edits_by_target(self) -> Mapping[str, ContextEdit]:
        """Return the newest edit of each entry that is edited."""
        edits = (self.edits[name] for name in self.chain.context if name in self.edits)
        by_target = {edit.target: edit for edit in edits}
        return {
            name: edit
            for name, edit in by_target.items()
            if edit.is_removal or name in self.editable
        }

    def _order(self) -> RecordOrder | None:
        """Return the order of entries without ids, by their times; None if they have ids."""
        times = (message.timestamp for message in self.builder.messages)
        return None if self.builder.links else judge_times(times)

    def _header(self, record: Mapping[str, Any], decoded: Decoded) -> None:
        self.cwd = self.cwd or text_or_none(record.get("cwd"))
        self.model = text_or_none(record.get("modelId")) or self.model
        self.version = integer_or_none(record.get("version"))
        if text_or_none(record.get("parentSession")):
            self.forked = parse_time(record.get("timestamp"))
        self.chain.add_header()
        self.builder.add_session(text_or_none(record.get("id")), decoded.index)
        self.builder.add_metadata("session", decoded.n_bytes)

    def _entry(self, entry: Mapping[str, Any], decoded: Decoded) -> None:
        self._link(entry, decoded)
        node = self.chain.add(entry, decoded.index)
        if model := model_of(entry):
            self.models[node] = model
        if edit := edit_of(entry):
            self.edits[node] = edit
        if is_editable(entry):
            self.editable.add(node)
        if was_interrupted(entry):
            error = text_or_none(object_or_empty(entry.get("message")).get("errorMessage"))
            self.builder.add_error(error, decoded.index, node)
        kind = ENTRIES.get(entry["type"])
        draft = entry_draft(entry)
        if draft is None:
            self.builder.add_opaque(decoded, "a message of unknown role", value=entry)
        elif not draft.is_empty:
            self._add_messages(draft, entry, decoded, node)
        elif kind and kind.effect == "message":
            self.builder.add_empty(_kind(entry), entry, decoded, decoded.n_bytes)
        else:
            if kind is None:
                self.builder.unread.add_unknown(entry, decoded.index)
            self.builder.add_metadata(_kind(entry), decoded.n_bytes)

    def _add_messages(
        self, draft: MessageDraft, entry: Mapping[str, Any], decoded: Decoded, node: str
    ) -> None:
        """Add the message of an entry, and before it the system message that it holds, if any."""
        prompt = object_or_empty(entry.get(_PROMPT)) if entry["type"] == "compaction" else {}
        if prompt:
            of_prompt = replace(system_draft(prompt, (_PROMPT,)), record_id=f"{node}.{_PROMPT}")
            self._add(of_prompt, entry, decoded, node, (_PROMPT,))
            entry = {**entry, _PROMPT: None}
        self._add(self._with_ids(draft, entry), entry, decoded, node)

    def _add(
        self,
        draft: MessageDraft,
        entry: Mapping[str, Any],
        decoded: Decoded,
        node: str,
        path: JsonPath = (),
    ) -> None:
        message = self.builder.add_message(
            draft,
            entry,
            decoded,
            record_path=path,
            measured=entry[_PROMPT] if path else None,
        )
        self.names[message.id] = node
        if not was_interrupted(entry):
            self.chain.add_message(node, message)

    def _link(self, entry: Mapping[str, Any], decoded: Decoded) -> None:
        name, parent = text_or_none(entry.get("id")), text_or_none(entry.get("parentId"))
        if name is None:
            return
        self.builder.links.append(Link(decoded.index, name, parent))

    def _with_ids(self, draft: MessageDraft, entry: Mapping[str, Any]) -> MessageDraft:
        """Set the entry's id, and a response id: each assistant message is a response."""
        name = text_or_none(entry.get("id"))
        if draft.role != "assistant":
            return replace(draft, record_id=name)
        self._responses += 1
        response = draft.response_id or f"response-{self._responses}"
        return replace(draft, record_id=name, response_id=response)


def _prompt_warnings(history: Sequence[Message]) -> Iterator[str]:
    """Warn of parts of the prompt that a later system message replaces."""
    lines = (
        message.line
        for message in history
        if message.role == "system"
        for part in message.parts
        if isinstance(part, OmittedPart)
    )
    for line in islice(lines, 1):
        yield unmodeled_warning("message/system", line, ROLES["system"].unmodeled)


def _kind(entry: Mapping[str, Any]) -> str:
    """Return the kind of an entry that is not sent: its type, and the role of a message."""
    message = entry.get("message")
    if entry["type"] != "message" or not isinstance(message, Mapping):
        return str(entry["type"])
    is_hidden = message.get("excludeFromContext") is True
    reason = "kept from the model" if is_hidden else "without content"
    return f"message/{message.get('role')} {reason}"
