"""Chunk: replace older messages with one summary, made chunk by chunk."""

from collections.abc import Sequence

from compactctl.history.conversation_view import ConversationView
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.message import Message, MessageId, Origin, TextPart
from compactctl.model.summary import BUILTIN_SUMMARIZER, Summary, SummaryRequest
from compactctl.records import replace
from compactctl.stages.support.chunking import (
    NAME,
    Chunk,
    ChunkOptions,
    ChunkPlan,
    merge_chunks,
    plan_chunks,
    skip_reason,
)
from compactctl.stages.support.condensation import (
    CondenseSpec,
    SummaryFormat,
    condense,
    following,
    summary_room,
    words_with_rest,
    write_summary,
)
from compactctl.stages.support.stage import Stage
from compactctl.stages.support.truncation import messages_without, room_for_words
from compactctl.summaries.extract.budget import summary_budget
from compactctl.tokens.meter import Meter

LABEL = "[Conversation Summary — {count} earlier messages compacted]\n\n"
SEPARATOR = "\n\n---\n\n"
MERGE = "The messages are summaries of consecutive parts of one conversation; make one of them."
# More characters than any message has.
_NO_CAP = 1 << 24
# Tokens of the label and of the line break behind it.
_LABEL_TOKENS = 20


def propose(view: ConversationView, meter: Meter, options: ChunkOptions) -> Proposal | SkippedStage:
    """Propose to hide all but the newest messages behind the summaries of their chunks."""
    plan = plan_chunks(view, meter, options)
    refusal = skip_reason(view, plan, options)
    if refusal:
        return refusal
    writer = _ChunkSummarizer(view, plan, meter, options)
    parts = [writer.summarize(index) for index in range(len(writer.chunks))]
    missing = next((n for n, part in enumerate(parts, 1) if not part.text), 0)
    if missing:
        cause = f": {parts[missing - 1].note}" if parts[missing - 1].note else ""
        reason = f"chunk {missing} of {len(parts)} got no summary{cause}"
        return SkippedStage(
            stage=NAME, reason=reason, detail="see --chunk-ratio and --chunk-formula"
        )
    summary = _with_notes(writer.merge(parts), plan.chunks)
    spec = CondenseSpec(stage=NAME, options=options, format=SummaryFormat(prefix=LABEL))
    outcome = condense(view, meter, plan.hidden, summary, spec)
    if isinstance(outcome, SkippedStage):
        return outcome
    return replace(outcome, notes=(*outcome.notes, f"chunks: {len(plan.chunks):,}"))


class _ChunkSummarizer:
    """Write the summaries, each within its share of what they may take together.

    A model merges its summaries into one, so together they only have to save tokens. The built-in
    summarizer needs no small chunks: it summarizes all of them at once.
    """

    def __init__(
        self, view: ConversationView, plan: ChunkPlan, meter: Meter, options: ChunkOptions
    ) -> None:
        self._view = view
        self._meter = meter
        self._message_cap = options.message_cap or _NO_CAP
        self._kept_messages = messages_without(view.messages, plan.hidden)
        self._following = following(view, plan.hidden)
        source_tokens = sum(chunk.tokens for chunk in plan.chunks)
        half = meter.total(plan.hidden) // 2
        self.max_tokens = min(
            max(
                options.summary_tokens or summary_budget(source_tokens),
                words_with_rest(
                    view,
                    meter,
                    self._kept_messages,
                    [message for chunk in plan.chunks for message in chunk.summarized],
                ),
            ),
            half,
            summary_room(view, meter, self._kept_messages, _LABEL_TOKENS),
        )
        summarized = [chunk for chunk in plan.chunks if chunk.summarized]
        self.chunks = merge_chunks(summarized, len(summarized) if view.summarizer else 1)
        # Oversized messages are covered by a note; they get no share of the summary.
        self._summarized_tokens = max(1, sum(meter.total(chunk.summarized) for chunk in summarized))
        overhead = meter.text(SEPARATOR) * (len(self.chunks) - 1) + meter.text(_notes(plan.chunks))
        most = half if view.summarizer else self.max_tokens
        self._room = max(0, most - overhead)

    def summarize(self, index: int) -> Summary:
        """Summarize a chunk, knowing what comes before and after it."""
        chunk = self.chunks[index]
        budget = self._room * self._meter.total(chunk.summarized) // self._summarized_tokens
        if self._view.summarizer:
            budget = min(budget, summary_budget(chunk.tokens))
        earlier_messages, later_messages = (
            [message for chunk in chunks for message in chunk.summarized]
            for chunks in (self.chunks[:index], self.chunks[index + 1 :])
        )
        request = replace(
            self._request(chunk.summarized, budget),
            words_room=room_for_words(self._view, self._meter, self._kept_messages),
            # The first chunk may hold only a client's summary, and no user prompt.
            continues=any(message.starts_turn for message in earlier_messages),
            following=(*later_messages, *self._following),
            message_cap=self._message_cap,
        )
        return write_summary(self._view, request, self._meter)

    def merge(self, parts: Sequence[Summary]) -> Summary:
        """Return one summary for all parts: merged by the external summarizer, else joined."""
        if len(parts) == 1:
            return parts[0]
        joined = Summary(
            text=SEPARATOR.join(part.text for part in parts),
            writer=", ".join(dict.fromkeys(part.writer for part in parts)),
            note="; ".join(dict.fromkeys(part.note for part in parts if part.note)),
        )
        if all(part.writer == BUILTIN_SUMMARIZER for part in parts):
            return joined
        request = self._request(_as_messages(parts), self.max_tokens, MERGE)
        merged = write_summary(self._view, request, self._meter)
        if not merged.text or merged.writer == BUILTIN_SUMMARIZER:
            return joined
        return replace(merged, note="; ".join(filter(None, (joined.note, merged.note))))

    def _request(
        self, messages: tuple[Message, ...], budget: int, instructions: str = ""
    ) -> SummaryRequest:
        return SummaryRequest(
            messages=messages, budget=budget, cwd=self._view.cwd, instructions=instructions
        )


def _as_messages(parts: Sequence[Summary]) -> tuple[Message, ...]:
    return tuple(
        Message(
            id=MessageId(f"part-{number}"),
            role="user",
            parts=(TextPart(text=f"[Part {number}]:\n{part.text}"),),
            line=number - 1,
            origin=Origin(is_injected=True),
        )
        for number, part in enumerate(parts, 1)
    )


def _with_notes(summary: Summary, chunks: Sequence[Chunk]) -> Summary:
    notes = _notes(chunks)
    return replace(summary, text=f"{summary.text}\n\n{notes}") if notes else summary


def _notes(chunks: Sequence[Chunk]) -> str:
    return "\n".join(note for chunk in chunks for note in chunk.notes)


STAGE = Stage(
    name=NAME,
    title="replace older messages with one summary, made chunk by chunk",
    options=ChunkOptions,
    propose=propose,
    example=ChunkOptions(keep_recent=2, min_messages=2),
    keeps_lasting_words=True,
    codebuddy_tier=2,
)
