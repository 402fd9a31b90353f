"""Chunk: summarize older messages chunk by chunk, and put one summary in their place."""

from collections.abc import Sequence
from dataclasses import replace

from compactctl.history.conversation_view import View
from compactctl.model.edit import Proposal, Skipped
from compactctl.model.message import Message, MessageId, Origin, TextPart
from compactctl.model.summary import BUILT_IN, Summary, SummaryRequest
from compactctl.stages.support.chunking import (
    NAME,
    Chunk,
    ChunkOptions,
    Chunks,
    chunks_of,
    refusal_of,
    together,
)
from compactctl.stages.support.condensation import (
    Condensing,
    SummaryShape,
    condense,
    room_for,
    write,
)
from compactctl.stages.support.stage import Stage
from compactctl.stages.support.truncation import without
from compactctl.summaries.document.offline import summary_budget
from compactctl.tokens.meter import Meter

LABEL = "[Conversation Summary — {count} earlier messages compacted]\n\n"
SEPARATOR = "\n\n---\n\n"
MERGE = "The messages are summaries of consecutive parts of one conversation; make one of them."
# The built-in summarizer needs about 350 tokens before it can write sections.
SMALLEST_PART = 700
# Tokens of the label and of what joins it to the text.
_AROUND = 20


def propose(view: View, meter: Meter, options: ChunkOptions) -> Proposal | Skipped:
    """Propose to hide all but the newest messages behind the summaries of their chunks."""
    found = chunks_of(view, meter, options)
    refusal = refusal_of(view, found, options)
    if refusal:
        return refusal
    writing = _Writing(view, found, meter, options)
    parts = [writing.summary(number) for number in range(len(writing.chunks))]
    missing = next((n for n, part in enumerate(parts, 1) if not part.text), 0)
    if missing:
        why = f": {parts[missing - 1].note}" if parts[missing - 1].note else ""
        reason = f"chunk {missing} of {len(parts)} got no summary{why}"
        return Skipped(stage=NAME, reason=reason, detail="see --chunk-ratio and --chunk-formula")
    summary = _with_notes(writing.joined(parts), found.chunks)
    how = Condensing(stage=NAME, options=options, shape=SummaryShape(prefix=LABEL))
    outcome = condense(view, meter, found.hidden, summary, how)
    if isinstance(outcome, Skipped):
        return outcome
    return replace(outcome, notes=(*outcome.notes, f"chunks: {len(found.chunks):,}"))


class _Writing:
    """Writes the summaries, each within its share of what may be written.

    The built-in summarizer's are joined as they are, so together they must keep to the budget of
    the whole; those of a model are merged into one, so only their sum must save something. The
    built-in one needs no small chunks, but room to write: neighbours are summarized together
    where there are more chunks than that.
    """

    def __init__(self, view: View, found: Chunks, meter: Meter, options: ChunkOptions) -> None:
        self._view = view
        self._meter = meter
        self._kept = without(view.messages, found.hidden)
        source = sum(chunk.tokens for chunk in found.chunks)
        half = meter.total(found.hidden) // 2
        usual = max(summary_budget(source), len(found.chunks) * SMALLEST_PART)
        self.whole = min(
            options.summary_tokens or usual, half, room_for(view, meter, self._kept, _AROUND)
        )
        shown = [chunk for chunk in found.chunks if chunk.shown]
        most = len(shown) if view.summarizer else max(1, self.whole // SMALLEST_PART)
        self.chunks = together(shown, most)
        # What is left out is told by a note, and needs no part of the summary.
        self._shown = max(1, sum(meter.total(chunk.shown) for chunk in shown))
        between = meter.text(SEPARATOR) * (len(self.chunks) - 1) + meter.text(_notes(found.chunks))
        self._room = max(0, (half if view.summarizer else self.whole) - between)

    def summary(self, number: int) -> Summary:
        """Write the summary of a chunk; what the others tell need not be told again."""
        chunk = self.chunks[number]
        budget = self._room * self._meter.total(chunk.shown) // self._shown
        if self._view.summarizer:
            budget = min(budget, summary_budget(chunk.tokens))
        earlier, later = (
            [message for chunk in chunks for message in chunk.shown]
            for chunks in (self.chunks[:number], self.chunks[number + 1 :])
        )
        request = replace(
            self._request(chunk.shown, budget),
            # A chunk in front may hold a client's summary alone, and no request.
            continues=any(message.starts_turn for message in earlier),
            following=(*later, *self._kept),
        )
        return write(self._view, request, self._meter)

    def joined(self, parts: Sequence[Summary]) -> Summary:
        """Return one summary of several: merged by the summarizer, else one below the other."""
        if len(parts) == 1:
            return parts[0]
        joined = Summary(
            text=SEPARATOR.join(part.text for part in parts),
            source=", ".join(dict.fromkeys(part.source for part in parts)),
            note="; ".join(dict.fromkeys(part.note for part in parts if part.note)),
        )
        if all(part.source == BUILT_IN for part in parts):
            return joined
        request = self._request(_as_messages(parts), self.whole, MERGE)
        merged = write(self._view, request, self._meter)
        if not merged.text or merged.source == BUILT_IN:
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
    tier=2,
)
