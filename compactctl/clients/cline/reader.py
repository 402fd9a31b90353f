"""Reads histories of Cline and Roo Code, where only order and name may link results to calls."""

from collections.abc import Sequence

from compactctl.clients.cline.assistant_messages import (
    PendingCalls,
    blocks_of,
    encrypted_reasoning,
    model_of,
    response_parts,
    usage_of,
)
from compactctl.clients.cline.client_texts import model_in_environment, working_folder
from compactctl.clients.cline.effective import ClineRecord, effective_messages
from compactctl.clients.cline.request import cut_texts, drop_shown, mark_omitted
from compactctl.clients.cline.user_messages import UserMessageParser
from compactctl.clients.cline.wrapping import CLINE
from compactctl.clients.records.builder import TranscriptBuilder, is_synthetic
from compactctl.clients.records.containers import ContainedRecord, Container
from compactctl.clients.records.json_values import object_or_empty, text_or_none
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.history.omissions import as_sent, cut_results, replaced_results
from compactctl.model.message import JsonPath, Message, TextPart, ToolCallPart
from compactctl.model.tags import read_tags
from compactctl.model.transcript import Omission, SessionInfo, Transcript
from compactctl.records import replace

# The kinds of summaries of Cline's SDK: written without a model and by a model.
_BASIC_SUMMARY, _MODEL_SUMMARY = "compaction", "compaction_summary"
# The client of which there are sessions of the SDK.
_OF_SDK = "cline"


class ClineReader:
    """Reads whole conversations and determines their effective histories."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.builder = TranscriptBuilder(wrapping=CLINE)
        self.effective: list[Message] = []
        self.cut: list[Omission] = []
        self._n_conversations = 0

    def add_container(self, container: Container) -> None:
        """Add one conversation."""
        if not container.entries:
            self.builder.add_metadata("empty conversation", container.decoded.n_bytes)
        self._add_system_prompt(container)
        is_of_sdk = self.name == _OF_SDK and bool(container.document)
        sent = [_as_sent(entry) if is_of_sdk else (entry, 0) for entry in container.entries]
        parser = _ConversationParser([entry for entry, _ in sent], self._n_conversations)
        records = []
        for index, entry in enumerate(container.entries):
            message = self._add_message(parser.draft(index), entry)
            if message is None:
                continue
            if is_of_sdk and _is_only_shown(entry):
                message = drop_shown(message)
            elif count := sent[index][1]:
                self.cut.append(cut_results(message.id, count))
            records.append(ClineRecord(entry.record, message))
        self.effective += effective_messages(records)
        self._n_conversations += 1

    def finish(self) -> Transcript:
        """Return the transcript."""
        messages = self.builder.messages
        texts = [p.text for m in messages for p in m.parts if isinstance(p, TextPart)]
        cwd = next(filter(None, map(working_folder, texts)), None)
        model = next((m.model for m in reversed(messages) if m.model), None)
        model = model or next(filter(None, map(model_in_environment, reversed(texts))), None)
        session = SessionInfo(model=model, cwd=cwd)
        transcript = self.builder.build(self.name, tuple(self.effective), session=session)
        if self.name != _OF_SDK:
            return transcript
        history = transcript.effective
        marked = mark_omitted(history)
        outdated = replaced_results(history, marked, "of a file that was read again")
        return as_sent(transcript, history, marked, (*outdated, *self.cut))

    def _add_system_prompt(self, container: Container) -> None:
        text = container.document.get("system_prompt")
        if isinstance(text, str) and text:
            path: JsonPath = ("system_prompt",)
            record_id = f"{self._n_conversations}-system_prompt"
            parts = (TextPart(text=text, path=path),)
            draft = MessageDraft(
                role="system", parts=parts, record_id=record_id, immutable_reason="system prompt"
            )
            message = self.builder.add_message(
                draft, {}, container.decoded, record_path=path, conversation=self._n_conversations
            )
            self.effective.append(message)

    def _add_message(self, draft: MessageDraft | None, entry: ContainedRecord) -> Message | None:
        if draft is None:
            self.builder.add_opaque(
                entry.decoded, "a record that is not a message", entry.n_bytes, value=entry.value
            )
        elif draft.is_empty:
            self.builder.add_empty(
                "empty message", entry.record, entry.decoded, entry.n_bytes, entry.record_path
            )
        else:
            return self.builder.add_message(
                draft,
                entry.record,
                entry.decoded,
                record_path=entry.record_path,
                conversation=self._n_conversations,
            )
        return None


class _ConversationParser:
    """Drafts the messages of one conversation; call ``draft`` for every record, in order."""

    def __init__(self, entries: Sequence[ContainedRecord], number: int) -> None:
        self._entries = entries
        self._number = number
        self._tools_by_call: dict[str, str] = {}
        self._pending_calls = PendingCalls()
        blocks = (block for entry in entries for block in blocks_of(entry.record))
        self._answered_ids = frozenset(
            str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"
        )

    def draft(self, index: int) -> MessageDraft | None:
        """Return the draft of the record at ``index``, or None if it is not a message."""
        entry = self._entries[index]
        match entry.record.get("role"):
            case "user":
                return self._user_message(entry)
            case "assistant":
                return self._response(entry, index)
            case _ if entry.record.get("type") == "reasoning":
                parts = encrypted_reasoning(entry.record, entry.record_path)
                return MessageDraft(role="assistant", parts=parts)
            case _:
                return None

    def _user_message(self, entry: ContainedRecord) -> MessageDraft:
        # A synthetic message replaces others, so it does not answer the calls before it.
        calls = PendingCalls() if is_synthetic(read_tags(entry.record)) else self._pending_calls
        parser = UserMessageParser(calls, by_order=not self._answered_ids)
        parser.read(
            entry.record.get("content"), (*entry.record_path, "content"), self._tools_by_call
        )
        # Cline's SDK appends its list of removed messages to a prompt, which is not a summary.
        is_summary = _is_summary(entry) and not (
            _summary_kind(entry) == _BASIC_SUMMARY and parser.has_user_text
        )
        has_results = not all(isinstance(part, TextPart) for part in parser.parts)
        return MessageDraft(
            role="tool" if has_results and not parser.has_user_text else "user",
            parts=tuple(parser.parts),
            record_id=_record_id(entry),
            is_injected=not (parser.has_user_text or is_summary),
            is_summary=is_summary,
        )

    def _response(self, entry: ContainedRecord, index: int) -> MessageDraft:
        next_record = self._entries[index + 1].record if index + 1 < len(self._entries) else {}
        prefix = f"call-{self._number}-{index}"
        parts = response_parts(entry, next_record, self._answered_ids, prefix)
        calls = [part for part in parts if isinstance(part, ToolCallPart)]
        self._tools_by_call.update((call.call_id, call.tool) for call in calls)
        self._pending_calls = PendingCalls(calls)
        return MessageDraft(
            role="assistant",
            parts=parts,
            record_id=_record_id(entry),
            response_id=f"response-{self._number}-{index}",
            model=model_of(entry.record),
            is_summary=_is_summary(entry),
            usage=usage_of(entry.record),
        )


def _as_sent(entry: ContainedRecord) -> tuple[ContainedRecord, int]:
    """Return a record with its texts as the SDK sends them, and how many it cuts."""
    record, count = cut_texts(entry.record)
    return (entry if record is entry.record else replace(entry, value=record)), count


def _is_only_shown(entry: ContainedRecord) -> bool:
    return object_or_empty(entry.record.get("metadata")).get("displayOnly") is True


def _is_summary(entry: ContainedRecord) -> bool:
    """Return whether a message is a summary of Roo Code or of Cline's SDK."""
    return entry.record.get("isSummary") is True or _summary_kind(entry) in (
        _BASIC_SUMMARY,
        _MODEL_SUMMARY,
    )


def _summary_kind(entry: ContainedRecord) -> object:
    return object_or_empty(entry.record.get("metadata")).get("kind")


def _record_id(entry: ContainedRecord) -> str | None:
    return text_or_none(entry.record.get("id"))
