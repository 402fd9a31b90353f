"""Divide a view's older messages into the chunks that the chunk stage summarizes one by one."""

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Literal

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import cut_points
from compactctl.model.edit import SkippedStage
from compactctl.model.message import (
    FilePart,
    MediaPart,
    Message,
    Part,
    TextPart,
    ToolResultPart,
    media_text,
)
from compactctl.model.numbers import exact
from compactctl.records import Record, replace
from compactctl.stages.support.condensation import (
    end_of_older,
    hideable_before,
    originals_of,
    skip_if_nothing_older,
)
from compactctl.stages.support.stage import option
from compactctl.summaries.document.labels import truncate_text
from compactctl.tokens.meter import Meter

NAME = "chunk"
Formula = Literal["doc", "code"]
# Codebuddy's default for models with an unknown window.
DEFAULT_WINDOW = 16_000
_K = 1_000
# Codebuddy's constants: a factor by which it raises its estimates, and tokens.
SAFETY = Fraction(6, 5)
MAX_CHUNK = 12_000
# Reserved for the prompt around a chunk.
PROMPT_TOKENS = 4_096
# If the average message takes a larger share of the window than this, chunks get smaller: by twice
# that share, but at most by a quarter of the window.
LARGE_MESSAGE = Fraction(1, 10)
MAX_DROP = Fraction(1, 4)


class ChunkRule(Record):
    """How large a chunk may be, by Codebuddy's documentation (``doc``) or by its code (``code``).

    ``ratio`` is a share of the window; with ``code``, it falls to ``min_ratio`` for large messages.
    """

    formula: Formula = "doc"
    ratio: float = 0.4
    min_ratio: float = 0.15

    def tokens(self, window: int, average: Fraction) -> int:
        """Return the tokens a chunk may have, at least 1; ``average`` is the size of a message."""
        if self.formula == "doc":
            return max(1, min(int(window * exact(self.ratio)), MAX_CHUNK))
        room = int(window * self._ratio_for(average * SAFETY / max(1, window)))
        return max(room - PROMPT_TOKENS, MAX_CHUNK - PROMPT_TOKENS)

    def _ratio_for(self, share: Fraction) -> Fraction:
        if share <= LARGE_MESSAGE:
            return exact(self.ratio)
        return max(exact(self.min_ratio), exact(self.ratio) - min(2 * share, MAX_DROP))


def chunk_ranges(
    messages: Sequence[Message], sizes: Sequence[int], limit: int
) -> tuple[range, ...]:
    """Divide messages into ranges of at most ``limit`` tokens, each as full as possible.

    Calls and their results are never separated; a unit that is too large is a range of its own.
    ``sizes`` are the tokens of each message.
    """
    bounds, filled = [0], 0
    for start, end in pairwise(cut_points(messages)):
        size = sum(sizes[start:end])
        if start > bounds[-1] and filled + size > limit:
            bounds.append(start)
            filled = 0
        filled += size
    return tuple(range(start, end) for start, end in pairwise([*bounds, len(messages)]))


class ChunkOptions(Record):
    """How to summarize in chunks; the defaults are those of Codebuddy."""

    keep_recent: int = option(4, "Number of the newest messages to keep.")
    min_messages: int = option(6, "Do nothing if there are fewer messages.")
    formula: Formula = option(
        "doc",
        'Maximum size of a chunk: "doc" is ``ratio`` of the window, at most 12,000 tokens (as '
        'Codebuddy documents); "code" is ``ratio`` of the window minus 4,096 tokens for the '
        "prompt, at least 7,904 (as Codebuddy calculates).",
    )
    ratio: float = option(0.4, "Share of the context window per chunk (0 to 1).")
    min_ratio: float = option(
        0.15, 'With "code", the minimum that ``ratio`` falls to if messages are large (0 to 1).'
    )
    message_cap: int = option(
        10_000, "Maximum characters of a message to show the summarizer; 0 means no limit."
    )
    oversized: float = option(
        0.5,
        "Omit messages larger than this share of five sixths of the window, and say so in the "
        "summary (0 to 1).",
    )
    summary_tokens: int = option(
        0,
        "Maximum size of the whole summary in tokens; 0 chooses one from the size of what it "
        "replaces. Never more than half of that.",
    )


class Chunk(Record):
    """Messages that are summarized together.

    Attributes:
        messages: all messages of the chunk.
        summarized: those that are not too large, as the summarizer gets them.
        notes: a sentence about each of the others.
        tokens: the tokens of ``messages``.
    """

    messages: tuple[Message, ...]
    summarized: tuple[Message, ...]
    notes: tuple[str, ...]
    tokens: int


class ChunkPlan(Record):
    """The messages to hide, and the chunks of their originals; ``limit`` is in tokens."""

    hidden: tuple[Message, ...]
    chunks: tuple[Chunk, ...]
    limit: int


def plan_chunks(view: ConversationView, meter: Meter, options: ChunkOptions) -> ChunkPlan:
    """Divide a view's older messages into chunks, earlier summaries replaced by their originals."""
    hidden = hideable_before(view, end_of_older(view, options.keep_recent))
    source = originals_of(view, hidden)
    sizes = [meter.message(message) for message in source]
    window = view.window or view.target or DEFAULT_WINDOW
    rule = ChunkRule(formula=options.formula, ratio=options.ratio, min_ratio=options.min_ratio)
    limit = rule.tokens(window, Fraction(sum(sizes), max(1, len(sizes))))
    max_message_tokens = int(window / SAFETY * exact(options.oversized))
    # The built-in summarizer quotes the user's words whatever their size. Others get a prompt, for
    # which messages are cut when it is written.
    keeps_words = view.summarizer is None
    chunks = tuple(
        _build_chunk(
            source[chunk_range.start : chunk_range.stop],
            sizes[chunk_range.start : chunk_range.stop],
            max_message_tokens,
            options.message_cap if keeps_words else 0,
            keeps_words=keeps_words,
        )
        for chunk_range in chunk_ranges(source, sizes, limit)
        if chunk_range
    )
    return ChunkPlan(hidden=hidden, chunks=chunks, limit=limit)


def merge_chunks(chunks: Sequence[Chunk], max_chunks: int) -> tuple[Chunk, ...]:
    """Merge neighbors into at most ``max_chunks`` chunks of about equal size.

    Tokens 10, 10, 30, 10 for 2 chunks: the middles 5, 15, 35, 55 fall into the halves of 60, so
    10 + 10 and 30 + 10.
    """
    if len(chunks) <= max_chunks:
        return tuple(chunks)
    tokens_per_group = sum(chunk.tokens for chunk in chunks) / max_chunks
    ends = accumulate(chunk.tokens for chunk in chunks)
    middles = (end - chunk.tokens / 2 for end, chunk in zip(ends, chunks, strict=True))
    groups: dict[int, list[Chunk]] = {}
    for middle, chunk in zip(middles, chunks, strict=True):
        groups.setdefault(int(middle // tokens_per_group), []).append(chunk)
    return tuple(map(_merge, groups.values()))


def _merge(chunks: Sequence[Chunk]) -> Chunk:
    return Chunk(
        messages=tuple(message for chunk in chunks for message in chunk.messages),
        summarized=tuple(message for chunk in chunks for message in chunk.summarized),
        notes=tuple(note for chunk in chunks for note in chunk.notes),
        tokens=sum(chunk.tokens for chunk in chunks),
    )


def skip_reason(
    view: ConversationView, plan: ChunkPlan, options: ChunkOptions
) -> SkippedStage | None:
    """Return why there is nothing to summarize; None when there is."""
    count = len(view.messages)
    if count < options.min_messages:
        reason = f"only {count} messages, chunks need at least {options.min_messages}"
        return SkippedStage(stage=NAME, reason=reason, detail="lower it with --chunk-min-messages")
    refusal = skip_if_nothing_older(
        NAME, view, plan.hidden, "see --chunk-keep-recent and --keep-turns"
    )
    if refusal:
        return refusal
    if all(len(chunk.notes) == len(chunk.messages) for chunk in plan.chunks):
        reason = "every older message is too large to summarize"
        return SkippedStage(stage=NAME, reason=reason, detail="raise --chunk-oversized")
    return None


def _build_chunk(
    messages: Sequence[Message],
    sizes: Sequence[int],
    max_message_tokens: int,
    cap: int,
    *,
    keeps_words: bool,
) -> Chunk:
    sized = list(zip(messages, sizes, strict=True))
    summarized = (
        truncate_message(m, cap, keeps_words=keeps_words)
        if size <= max_message_tokens
        else _words_of(m)
        for m, size in sized
        if size <= max_message_tokens or keeps_words
    )
    return Chunk(
        messages=tuple(messages),
        summarized=tuple(message for message in summarized if message.parts),
        notes=tuple(_omission(m, size) for m, size in sized if size > max_message_tokens),
        tokens=sum(sizes),
    )


def _words_of(message: Message) -> Message:
    """Return a message reduced to the parts that contain the user's words, media included."""
    return replace(message, parts=tuple(p for p in message.parts if _has_words(message, p)))


def _has_words(message: Message, part: Part) -> bool:
    """Whether a part contains the user's words, or may quote them because we summarized them.

    A medium that they attached is part of them; a summary describes it.
    """
    if message.starts_turn and isinstance(part, MediaPart):
        return True
    return bool(message.words(part)) or (message.origin.is_synthetic and message.origin.is_summary)


def _omission(message: Message, tokens: int) -> str:
    # Codebuddy writes ~0K below 500 tokens.
    size = f"{(tokens + _K // 2) // _K}K" if tokens >= _K else str(tokens)
    note = f"[Large {message.role} message (~{size} tokens) omitted from summary]"
    media = (part for part in message.parts if isinstance(part, MediaPart))
    return " ".join((note, *map(media_text, media)))


def truncate_message(message: Message, cap: int, *, keeps_words: bool = False) -> Message:
    """Truncate the texts of a message to ``cap`` characters in all; 0 means no limit.

    A note in the text says how many characters are missing. With ``keeps_words``, texts with the
    user's words stay whole and do not count.
    """
    whole_parts = {
        n for n, part in enumerate(message.parts) if keeps_words and _has_words(message, part)
    }
    parts = tuple(_truncate_parts(message.parts, cap, whole_parts)) if cap else message.parts
    return message if parts == message.parts else replace(message, parts=parts)


def _truncate_parts(
    parts: Sequence[Part], cap: int, whole_parts: Collection[int]
) -> Iterator[Part]:
    remaining = cap
    for n, part in enumerate(parts):
        if n in whole_parts or not isinstance(part, TextPart | ToolResultPart | FilePart):
            yield part
        elif len(part.text) <= remaining:
            remaining -= len(part.text)
            yield part
        else:
            yield replace(part, text=truncate_text(part.text, remaining))
            remaining = 0
