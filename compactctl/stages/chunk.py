"""Chunk: summarize older messages chunk by chunk, and put one summary in their place."""

from collections.abc import Sequence
from dataclasses import replace

from compactctl.history.conversation_view import ConversationView
from compactctl.model.edit import Proposal, Skipped
from compactctl.model.message import Message, MessageId, Origin, TextPart
from compactctl.model.summary import BUILTIN_SUMMARIZER, Summary, SummaryRequest
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
    summary_room,
    write_summary,
)
from compactctl.stages.support.stage import Stage
from compactctl.stages.support.truncation import messages_without
from compactctl.summaries.document.offline import summary_budget
from compactctl.tokens.meter import Meter

LABEL = "[Conversation Summary — {count} earlier messages compacted]\n\n"
SEPARATOR = "\n\n---\n\n"
MERGE = "The messages are summaries of consecutive parts of one conversation; make one of them."
# The built-in summarizer needs about 350 tokens before it can write sections.
MIN_PART = 700
# Tokens of the label and of what joins it to the text.
_LABEL_TOKENS = 20


def propose(view: ConversationView, meter: Meter, options: ChunkOptions) -> Proposal | Skipped:
    """Propose to hide all but the newest messages behind the summaries of their chunks."""
    found = plan_chunks(view, meter, options)
    refusal = skip_reason(view, found, options)
    if refusal:
        return refusal
    writing = _ChunkSummarizer(view, found, meter, options)
    parts = [writing.summarize(number) for number in range(len(writing.chunks))]
    missing = next((n for n, part in enumerate(parts, 1) if not part.text), 0)
    if missing:
        why = f": {parts[missing - 1].note}" if parts[missing - 1].note else ""
        reason = f"chunk {missing} of {len(parts)} got no summary{why}"
        return Skipped(stage=NAME, reason=reason, detail="see --chunk-ratio and --chunk-formula")
    summary = _with_notes(writing.merge(parts), found.chunks)
    how = CondenseSpec(stage=NAME, options=options, shape=SummaryFormat(prefix=LABEL))
    outcome = condense(view, meter, found.hidden, summary, how)
    if isinstance(outcome, Skipped):
        return outcome
    return replace(outcome, notes=(*outcome.notes, f"chunks: {len(found.chunks):,}"))


class _ChunkSummarizer:
    """Writes the summaries, each within its share of what may be written.

    The built-in summarizer's are joined as they are, so together they must keep to the budget of
    the whole; those of a model are merged into one, so only their sum must save something. The
    built-in one needs no small chunks, but room to write: neighbours are summarized together
    where there are more chunks than that.
    """

    def __init__(
        self, view: ConversationView, found: ChunkPlan, meter: Meter, options: ChunkOptions
    ) -> None:
        self._view = view
        self._meter = meter
        self._kept = messages_without(view.messages, found.hidden)
        source = sum(chunk.tokens for chunk in found.chunks)
        half = meter.total(found.hidden) // 2
        usual = max(summary_budget(source), len(found.chunks) * MIN_PART)
        self.whole = min(
            options.summary_tokens or usual,
            half,
            summary_room(view, meter, self._kept, _LABEL_TOKENS),
        )
        shown = [chunk for chunk in found.chunks if chunk.summarized]
        most = len(shown) if view.summarizer else max(1, self.whole // MIN_PART)
        self.chunks = merge_chunks(shown, most)
        # What is left out is told by a note, and needs no part of the summary.
        self._shown = max(1, sum(meter.total(chunk.summarized) for chunk in shown))
        between = meter.text(SEPARATOR) * (len(self.chunks) - 1) + meter.text(_notes(found.chunks))
        self._room = max(0, (half if view.summarizer else self.whole) - between)

    def summarize(self, number: int) -> Summary:
        """Write the summary of a chunk; what the others tell need not be told again."""
        chunk = self.chunks[number]
        budget = self._room * self._meter.total(chunk.summarized) // self._shown
        if self._view.summarizer:
            budget = min(budget, summary_budget(chunk.tokens))
        earlier, later = (
            [message for chunk in chunks for message in chunk.summarized]
            for chunks in (self.chunks[:number], self.chunks[number + 1 :])
        )
        request = replace(
            self._request(chunk.summarized, budget),
            # A chunk in front may hold a client's summary alone, and no request.
            continues=any(message.starts_turn for message in earlier),
            following=(*later, *self._kept),
        )
        return write_summary(self._view, request, self._meter)

    def merge(self, parts: Sequence[Summary]) -> Summary:
        """Return one summary of several: merged by the summarizer, else one below the other."""
        if len(parts) == 1:
            return parts[0]
        joined = Summary(
            text=SEPARATOR.join(part.text for part in parts),
            writer=", ".join(dict.fromkeys(part.writer for part in parts)),
            note="; ".join(dict.fromkeys(part.note for part in parts if part.note)),
        )
        if all(part.writer == BUILTIN_SUMMARIZER for part in parts):
            return joined
        request = self._request(_as_messages(parts), self.whole, MERGE)
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
    title="summarize older messages chunk by chunk, and put one summary in their place",
    options=ChunkOptions,
    propose=propose,
    keeps_words=True,
    codebuddy_tier=2,
)
