"""Reads pi sessions entry by entry."""

from collections.abc import Mapping
from typing import Any

from compactctl.clients.pi.chain import PiChain
from compactctl.clients.pi.messages import COUNTS, SENT_TYPES, entry_draft, was_interrupted
from compactctl.clients.pi.wrapping import PI
from compactctl.clients.records.builder import LineReader
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import integer_or_none, object_or_empty, text_or_none
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.clients.records.missing_answers import with_client_answers
from compactctl.clients.records.order import judge_times
from compactctl.clients.records.unread import COMMON_UNSENT, UnsentFields
from compactctl.model.transcript import Link, RecordOrder, SessionInfo, Transcript
from compactctl.model.usage_fields import with_reported_usage
from compactctl.records import replace

# The client sends this for a call that was never answered.
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
_STATE_TYPES = frozenset(
    {"custom", "label", "model_change", "session_info", "thinking_level_change", "mode_change"}
)
_NO_RESULT = "No result provided"


class PiReader(LineReader):
    """Reads records in file order; ``finish`` computes the effective history."""

    def __init__(self, name: str) -> None:
        super().__init__(name, PI, _UNSENT_FIELDS)
        self.chain = PiChain()
        self.model: str | None = None
        self.cwd: str | None = None
        self.version: int | None = None
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
        effective = self.chain.effective()
        bridged = self.chain.bridged
        self.builder.links = [
            replace(link, parent=bridged.get(link.id, link.parent)) for link in self.builder.links
        ]
        self.builder.warnings += self.chain.warnings
        self.builder.errors = [e for e in self.builder.errors if e.name in self.chain.included]
        models = [message.model for message in effective if message.model]
        model = models[-1] if models else self.model
        transcript = self.builder.build(
            self.name,
            effective,
            session=SessionInfo(model=model, file_version=self.version, cwd=self.cwd),
            order=self._order(),
        )
        answered = with_client_answers(transcript.effective, _NO_RESULT)
        return replace(transcript, effective=answered)

    def _order(self) -> RecordOrder | None:
        """Return the order of entries without ids, by their times; None if they have ids."""
        times = (message.timestamp for message in self.builder.messages)
        return None if self.builder.links else judge_times(times)

    def _header(self, record: Mapping[str, Any], decoded: Decoded) -> None:
        self.cwd = self.cwd or text_or_none(record.get("cwd"))
        self.model = text_or_none(record.get("modelId")) or self.model
        self.version = integer_or_none(record.get("version"))
        self.chain.add_header()
        self.builder.add_session(text_or_none(record.get("id")), decoded.index)
        self.builder.add_metadata("session", decoded.n_bytes)

    def _entry(self, entry: Mapping[str, Any], decoded: Decoded) -> None:
        if entry["type"] == "model_change" and entry.get("role") in (None, "default"):
            self.model = (
                text_or_none(entry.get("modelId")) or text_or_none(entry.get("model")) or self.model
            )
        self._link(entry, decoded)
        node = self.chain.add(entry, decoded.index)
        if was_interrupted(entry):
            error = text_or_none(object_or_empty(entry.get("message")).get("errorMessage"))
            self.builder.add_error(error, decoded.index, node)
        draft = entry_draft(entry)
        if draft is None:
            self.builder.add_opaque(decoded, "a message of unknown role", value=entry)
        elif draft.is_empty and entry["type"] in SENT_TYPES:
            self.builder.add_empty(_kind(entry), entry, decoded, decoded.n_bytes)
        elif draft.is_empty:
            if entry["type"] not in _STATE_TYPES:
                self.builder.unread.add_unknown(entry, decoded.index)
            self.builder.add_metadata(_kind(entry), decoded.n_bytes)
        else:
            message = self.builder.add_message(self._with_ids(draft, entry), entry, decoded)
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


def _kind(entry: Mapping[str, Any]) -> str:
    """Return the kind of an entry that is not sent: its type, and the role of a message."""
    message = entry.get("message")
    if entry["type"] != "message" or not isinstance(message, Mapping):
        return str(entry["type"])
    is_hidden = message.get("excludeFromContext") is True
    reason = "kept from the model" if is_hidden else "without content"
    return f"message/{message.get('role')} {reason}"
