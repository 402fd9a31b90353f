"""Reads sessions of Qwen Code: messages, and what is sent of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from compactctl.clients.content import gemini
from compactctl.clients.content.named_files import as_not_typed, without_files
from compactctl.clients.qwen_code.chain import (
    QwenChain,
    QwenRow,
    api_history,
    compressed_history,
    read_row,
    walk_chain,
)
from compactctl.clients.qwen_code.record_kinds import SUBTYPES
from compactctl.clients.qwen_code.request import mark_omitted
from compactctl.clients.qwen_code.wrapping import QWEN_CODE
from compactctl.clients.records.builder import LineReader
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import (
    count_or_none,
    integer_or_none,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.clients.records.message_draft import MessageDraft, role_with
from compactctl.clients.records.unread import COMMON_UNSENT, UnsentFields
from compactctl.history.omissions import as_sent, replaced_results
from compactctl.model.message import (
    CallOutcome,
    JsonPath,
    Message,
    MessageId,
    Part,
    ReportedUsage,
    TextPart,
    ToolResultPart,
)
from compactctl.model.transcript import (
    Link,
    PastCompactions,
    RefusedRecord,
    SessionInfo,
    Transcript,
)
from compactctl.model.usage_fields import UsageFields, with_reported_usage
from compactctl.records import replace

COUNTS = UsageFields(
    path=("usageMetadata",),
    input=("promptTokenCount",),
    cached_inputs=(("cachedContentTokenCount",),),
    output=("candidatesTokenCount",),
    total=("totalTokenCount",),
)
"""What the client takes as the size of its context when it resumes a session."""

# What it shows of results and prompts, and facts about them.
_UNSENT_FIELDS = COMMON_UNSENT | UnsentFields(
    keys=frozenset({"toolCallResult", "systemPayload", "goalContext", "forkedFrom", "parentUuid"})
)
# Prompts that the client writes.
_OWN_PROMPTS = frozenset({"notification", "cron", "goal_runtime"})
_ROLES = ("user", "model")
# Ends the summary that its own compaction puts first.
_TRAILER = "\n\nResume the prior task using the summary above. "
_OUTCOMES: Mapping[str, CallOutcome] = {
    "success": "ok",
    "error": "failed",
    "cancelled": "interrupted",
}
_FRAGMENT_REASON = "the client joins it with other records of the same id"


class QwenReader(LineReader):
    """Reads records in file order; ``finish`` computes the effective history."""

    def __init__(self, name: str) -> None:
        super().__init__(name, QWEN_CODE, _UNSENT_FIELDS)
        self._rows: list[QwenRow] = []
        self._refused: list[QwenRow] = []
        self._cwd: str | None = None
        self._version: str | None = None
        self._window: int | None = None
        self._copied: set[MessageId] = set()

    def add_line(self, decoded: Decoded) -> None:
        """Add the records on a line."""
        for value in decoded.values:
            record = object_or_empty(value)
            row = read_row(record, decoded.index)
            if row is None:
                self.builder.add_opaque(decoded, "a record that the client skips", value=value)
                continue
            self._cwd = self._cwd or text_or_none(record.get("cwd"))
            self._version = text_or_none(record.get("version")) or self._version
            self._window = integer_or_none(record.get("contextWindowSize")) or self._window
            self.builder.add_session(text_or_none(record.get("sessionId")), decoded.index)
            if not row.is_outside:
                self.builder.links.append(Link(decoded.index, row.uuid, row.parent))
            self._rows.append(self._with_messages(row, record, decoded))

    def _with_messages(self, row: QwenRow, record: Mapping[str, Any], decoded: Decoded) -> QwenRow:
        if not all(map(_has_role, _contents(row, record))):
            self._refused.append(row)
        if row.type == "system":
            messages = tuple(self._compacted(record, decoded))
            if row.replaces:
                self.builder.compactions.append(decoded.index)
            if record.get("forkedFrom"):
                # The end of what compactctl copied.
                self._copied |= {message.id for message in self.builder.messages}
            if not messages:
                self._add_system(row, record, decoded)
            return replace(row, messages=messages)
        draft = _draft(row, with_reported_usage(record, COUNTS))
        if draft.is_empty:
            self.builder.add_empty(row.type, record, decoded, decoded.n_bytes)
            return row
        message = self.builder.add_message(draft, record, decoded)
        if record.get("forkedFrom"):
            self._copied.add(message.id)
        return replace(row, messages=(message,))

    def _compacted(self, record: Mapping[str, Any], decoded: Decoded) -> Iterator[Message]:
        """Yield the messages that a compaction put in the place of all before it."""
        history = compressed_history(record) or ()
        is_summary = bool(history) and _is_summary(object_or_empty(history[0]))
        for index, value in enumerate(history):
            content, path = object_or_empty(value), ("systemPayload", "compressedHistory", index)
            draft = _content_draft(
                content,
                path,
                name=f"{record['uuid']}-{index}",
                is_injected=is_summary,
                is_summary=is_summary and index == 0,
            )
            if draft.is_empty:
                self.builder.unread.add_message(content, path, (), decoded.index)
            else:
                yield self.builder.add_message(draft, content, decoded, record_path=path)

    def _add_system(self, row: QwenRow, record: Mapping[str, Any], decoded: Decoded) -> None:
        """Count a record that says nothing by itself."""
        if row.subtype not in SUBTYPES:
            self.builder.unread.add_unknown(record, decoded.index)
        self.builder.add_metadata(f"{row.type}/{row.subtype}", decoded.n_bytes)

    def finish(self) -> Transcript:
        """Return the transcript."""
        chain = walk_chain(self._rows)
        self.builder.warnings += _warnings(chain)
        lines = {row.line for row in chain.rows}
        self.builder.refused = [
            RefusedRecord(
                line=row.line,
                client="Qwen Code",
                reason="its message is neither the user's nor the model's",
                is_sent=row.line in lines,
            )
            for row in self._refused
        ]
        effective = _with_fragments_locked(chain, api_history(chain))
        transcript = self.builder.build(
            self.name,
            effective,
            session=SessionInfo(
                model=next((m.model for m in reversed(self.builder.messages) if m.model), None),
                window=self._window,
                client_version=self._version,
                cwd=self._cwd,
                copied=frozenset(self._copied),
            ),
            compactions=PastCompactions(by_client=any(row.replaces for row in chain.rows)),
        )
        history = transcript.effective
        marked = mark_omitted(history)
        return as_sent(transcript, history, marked, replaced_results(history, marked))


def _warnings(chain: QwenChain) -> Iterator[str]:
    if chain.gap is not None:
        yield (
            f"line {chain.gap.line + 1}: its parent {text_or_empty(chain.gap.parent)[:8]} is not in"
            " the file; earlier history is not sent when the session is resumed"
        )


def _with_fragments_locked(chain: QwenChain, history: Iterable[Message]) -> tuple[Message, ...]:
    """Lock the messages of records that the client joins, of which the first has the parent."""
    counts = Counter(row.uuid for row in chain.rows)
    joined = {m.id for row in chain.rows if counts[row.uuid] > 1 for m in row.messages}
    return tuple(m.as_unmovable(_FRAGMENT_REASON) if m.id in joined else m for m in history)


def _contents(row: QwenRow, record: Mapping[str, Any]) -> Iterable[object]:
    """Return the contents that a record puts into the history."""
    if row.type == "system":
        return compressed_history(record) or ()
    content = record.get("message")
    return (content,) if isinstance(content, Mapping) else ()


def _has_role(content: object) -> bool:
    return object_or_empty(content).get("role") in _ROLES


def _is_summary(content: Mapping[str, Any]) -> bool:
    """Whether a content is a summary, behind which the client puts files and reminders only."""
    parts = gemini.content_parts(content.get("parts"), (), thoughts=False)
    return any(isinstance(part, TextPart) and _TRAILER in part.text for part in parts)


def _draft(row: QwenRow, record: Mapping[str, Any]) -> MessageDraft:
    draft = _content_draft(
        object_or_empty(record.get("message")),
        ("message",),
        name=row.uuid,
        is_injected=row.subtype in _OWN_PROMPTS or record.get("provenance") == "system",
    )
    if draft.role != "assistant":
        status = text_or_empty(object_or_empty(record.get("toolCallResult")).get("status"))
        return replace(draft, parts=tuple(_with_outcome(part, status) for part in draft.parts))
    return replace(
        draft,
        response_id=f"response-{row.uuid}",
        model=text_or_none(record.get("model")),
        usage=_usage(object_or_empty(record.get("usageMetadata"))),
    )


def _content_draft(
    content: Mapping[str, Any],
    path: JsonPath,
    *,
    name: str,
    is_injected: bool,
    is_summary: bool = False,
) -> MessageDraft:
    """Return the message of a content, as Gemini's API has it."""
    parts = gemini.content_parts(content.get("parts"), (*path, "parts"), thoughts=True)
    if content.get("role") == "model":
        return MessageDraft(role="assistant", parts=parts, record_id=name)
    # Texts beside the result of a tool are reminders of the client.
    is_answer = any(isinstance(part, ToolResultPart) for part in parts)
    parts = tuple(map(as_not_typed, parts) if is_answer else without_files(parts))
    return MessageDraft(
        role=role_with(parts, "user"),
        parts=parts,
        record_id=name,
        is_injected=is_injected or is_answer,
        is_summary=is_summary,
    )


def _usage(counts: Mapping[str, Any]) -> ReportedUsage | None:
    """Return the usage of an answer; what is sent includes what is read from the cache."""
    context = count_or_none(counts.get("promptTokenCount"))
    total = count_or_none(counts.get("totalTokenCount"))
    if context is None:
        return None
    output = count_or_none(counts.get("candidatesTokenCount"))
    return ReportedUsage(
        context=context,
        output=output if total is None else max(0, total - context),
        reasoning=count_or_none(counts.get("thoughtsTokenCount")) or 0,
        cache_read=count_or_none(counts.get("cachedContentTokenCount")),
    )


def _with_outcome(part: Part, status: str) -> Part:
    outcome = _OUTCOMES.get(status)
    return replace(part, outcome=outcome) if outcome and isinstance(part, ToolResultPart) else part
