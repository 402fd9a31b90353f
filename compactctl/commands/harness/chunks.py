"""Divides older messages into the chunks in which they would be summarized."""

from compactctl.commands.measuring.measure import Measurement, MeasureOptions, measure
from compactctl.commands.operations.find_history import history_behind
from compactctl.commands.operations.states import originals_of
from compactctl.commands.planning.run_stages import view_of
from compactctl.commands.reading.transcript import InputOptions, load
from compactctl.history.conversation_view import ConversationView
from compactctl.history.protection import ProtectOptions
from compactctl.history.turns import split_conversations
from compactctl.records import Record, field, replace
from compactctl.stages.support.chunking import Chunk, ChunkOptions, plan_chunks, skip_reason
from compactctl.tokens.meter import Meter


class ChunksOptions(Record):
    """The transcript to divide, and how to measure and divide it."""

    input: InputOptions
    measure: MeasureOptions = field(default_factory=MeasureOptions)
    protect: ProtectOptions = field(default_factory=ProtectOptions)
    chunk: ChunkOptions = field(default_factory=ChunkOptions)


class ChunkRow(Record):
    """One chunk: its first and last line, from 1, and its contents.

    ``left_out`` counts its messages that are too large to summarize; ``tokens`` includes them.
    """

    first_line: int
    last_line: int
    messages: int
    left_out: int
    tokens: int


class ConversationChunks(Record):
    """The chunks of one conversation, of at most ``limit`` tokens unless a tool pair is larger.

    ``n_kept`` counts messages outside of chunks; ``reason`` says why there are no chunks, else "".
    """

    chunks: tuple[ChunkRow, ...]
    limit: int
    n_kept: int
    reason: str


class ChunksResult(Record):
    """The chunks of every conversation in a transcript."""

    options: ChunksOptions
    format: str
    measure: Measurement
    conversations: tuple[ConversationChunks, ...]


def chunks(options: ChunksOptions) -> ChunksResult:
    """Divide a transcript. Raises NoInputError, NotUnderstoodError, UsageError."""
    loaded = load(options.input)
    transcript, originals = loaded.transcript, originals_of(loaded, history_behind(loaded))
    measured = measure(transcript, options.measure)
    measured.meter.prime(transcript.effective)
    protect = options.protect.across(transcript.effective)
    views = (
        replace(view_of(messages, transcript, measured, protect), originals=originals)
        for messages in split_conversations(transcript.effective)
    )
    return ChunksResult(
        options=options,
        format=transcript.format,
        measure=measured,
        conversations=tuple(_divided(view, measured.meter, options.chunk) for view in views),
    )


def _divided(view: ConversationView, meter: Meter, options: ChunkOptions) -> ConversationChunks:
    plan = plan_chunks(view, meter, options)
    refusal = skip_reason(view, plan, options)
    rows = () if refusal else tuple(map(_row, plan.chunks))
    return ConversationChunks(
        chunks=rows,
        limit=plan.limit,
        n_kept=len(view.messages) - len(plan.hidden) if rows else len(view.messages),
        reason=refusal.reason if refusal else "",
    )


def _row(chunk: Chunk) -> ChunkRow:
    lines = [message.line + 1 for message in chunk.messages]
    return ChunkRow(
        first_line=min(lines),
        last_line=max(lines),
        messages=len(chunk.messages),
        left_out=len(chunk.notes),
        tokens=chunk.tokens,
    )
