"""The chunks of a view's older messages: what the chunk stage summarizes one by one."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Literal

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import cut_points
from compactctl.model.edit import Skipped
from compactctl.model.message import FilePart, Message, Part, TextPart, ToolResultPart
from compactctl.model.numbers import exact
from compactctl.stages.support.condensation import (
    end_of_older,
    hideable_before,
    originals,
    skip_if_nothing_older,
)
from compactctl.stages.support.stage import option
from compactctl.summaries.document.labels import truncate_text
from compactctl.tokens.meter import Meter

Formula = Literal["doc", "code"]

# Codebuddy's constants, in tokens: its estimates are taken for a fifth too low.
SAFETY = Fraction(6, 5)
MAX_CHUNK = 12_000
# Kept for the prompt around a chunk.
PROMPT_TOKENS = 4_096
# An average message of a larger share of the window makes chunks smaller: by twice its share, and
# by no more than a quarter of the window.
LARGE_MESSAGE = Fraction(1, 10)
MAX_DROP = Fraction(1, 4)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRule:
    """How large a chunk may be: by Codebuddy's documentation (``doc``) or by its code.

    ``ratio`` is a share of the window; with ``code`` it falls down to ``min_ratio`` where messages
    are large.
    """

    formula: Formula = "doc"
    ratio: float = 0.4
    min_ratio: float = 0.15

    def tokens(self, window: int, average: Fraction) -> int:
        """Return the tokens a chunk may have; ``average`` are those of a message. At least 1."""
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
    """Divide messages into ranges of at most ``limit`` tokens, each as full as it can be.

    A call and its result are never parted; where they alone are larger they make a range of
    their own. ``sizes`` are the messages' tokens.
    """
    bounds, filled = [0], 0
    for start, end in pairwise(cut_points(messages)):
        size = sum(sizes[start:end])
        if start > bounds[-1] and filled + size > limit:
            bounds.append(start)
            filled = 0
        filled += size
    return tuple(range(start, end) for start, end in pairwise([*bounds, len(messages)]))


NAME = "chunk"
# Codebuddy's window where it knows none.
DEFAULT_WINDOW = 16_000
_K = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkOptions:
    """How to summarize in chunks; the defaults are those of Codebuddy."""

    keep_recent: int = option(4, "How many of the newest messages stay as they are.")
    min_messages: int = option(6, "Do nothing when there are fewer messages.")
    formula: Formula = option(
        "doc",
        'How large a chunk may be: "doc" is ``ratio`` of the window and at most 12,000 tokens, as '
        'Codebuddy documents; "code" is that share without 4,096 tokens for the prompt and at '
        "least 7,904, as Codebuddy calculates.",
    )
    ratio: float = option(0.4, "Share of the window (0 to 1).")
    min_ratio: float = option(
        0.15, 'What ``ratio`` falls to with "code" where messages are large (0 to 1).'
    )
    message_cap: int = option(
        10_000, "Characters of a message that are shown to the summarizer; 0 means no limit."
    )
    oversized: float = option(
        0.5,
        "Leave out, and say so, messages of more than this share of five sixths of the window (0 "
        "to 1).",
    )
    summary_tokens: int = option(
        0,
        "Tokens the whole summary may have; 0 chooses by the size of what it stands for. It never "
        "gets more than half of the tokens it replaces.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Messages that are summarized together, and those among them that are left out as too large.

    ``tokens`` are those of all of them, ``notes`` says of each omission what it was; ``summarized``
    are the others as the summarizer gets them.
    """

    messages: tuple[Message, ...]
    summarized: tuple[Message, ...]
    notes: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPlan:
    """The messages to hide, and the chunks of what they stand for; ``limit`` is in tokens."""

    hidden: tuple[Message, ...]
    chunks: tuple[Chunk, ...]
    limit: int


def plan_chunks(view: ConversationView, meter: Meter, options: ChunkOptions) -> ChunkPlan:
    """Divide a view's older messages into chunks; originals stand in for earlier summaries."""
    hidden = hideable_before(view, end_of_older(view, options.keep_recent))
    source = originals(view, hidden)
    sizes = [meter.message(message) for message in source]
    window = view.window or view.target or DEFAULT_WINDOW
    rule = ChunkRule(formula=options.formula, ratio=options.ratio, min_ratio=options.min_ratio)
    limit = rule.tokens(window, Fraction(sum(sizes), max(1, len(sizes))))
    largest = int(window / SAFETY * exact(options.oversized))
    # The built-in summarizer quotes the words of people whatever their size.
    keeps_words = view.summarizer is None
    chunks = tuple(
        _chunk(
            source[part.start : part.stop],
            sizes[part.start : part.stop],
            largest,
            options.message_cap,
            keeps_words=keeps_words,
        )
        for part in chunk_ranges(source, sizes, limit)
        if part
    )
    return ChunkPlan(hidden=hidden, chunks=chunks, limit=limit)


def merge_chunks(chunks: Sequence[Chunk], most: int) -> tuple[Chunk, ...]:
    """Put neighbours together until there are at most so many chunks, of about equal size."""
    if len(chunks) <= most:
        return tuple(chunks)
    share = sum(chunk.tokens for chunk in chunks) / most
    ends = accumulate(chunk.tokens for chunk in chunks)
    middles = (end - chunk.tokens / 2 for end, chunk in zip(ends, chunks, strict=True))
    groups: dict[int, list[Chunk]] = {}
    for middle, chunk in zip(middles, chunks, strict=True):
        groups.setdefault(int(middle // share), []).append(chunk)
    return tuple(map(_joined, groups.values()))


def _joined(chunks: Sequence[Chunk]) -> Chunk:
    return Chunk(
        messages=tuple(message for chunk in chunks for message in chunk.messages),
        summarized=tuple(message for chunk in chunks for message in chunk.summarized),
        notes=tuple(note for chunk in chunks for note in chunk.notes),
        tokens=sum(chunk.tokens for chunk in chunks),
    )


def skip_reason(view: ConversationView, found: ChunkPlan, options: ChunkOptions) -> Skipped | None:
    """Say why nothing is to be summarized; None when something is."""
    count = len(view.messages)
    if count < options.min_messages:
        reason = f"only {count} messages, chunks need at least {options.min_messages}"
        return Skipped(stage=NAME, reason=reason, detail="lower it with --chunk-min-messages")
    refusal = skip_if_nothing_older(
        NAME, view, found.hidden, "see --chunk-keep-recent and --keep-turns"
    )
    if refusal:
        return refusal
    if all(len(chunk.notes) == len(chunk.messages) for chunk in found.chunks):
        reason = "every older message is too large to be summarized"
        return Skipped(stage=NAME, reason=reason, detail="raise --chunk-oversized")
    return None


def _chunk(
    messages: Sequence[Message],
    sizes: Sequence[int],
    largest: int,
    cap: int,
    *,
    keeps_words: bool,
) -> Chunk:
    sized = list(zip(messages, sizes, strict=True))
    shown = (
        capped(m, cap, keeps_words=keeps_words) if size <= largest else _words_of(m)
        for m, size in sized
        if size <= largest or keeps_words
    )
    return Chunk(
        messages=tuple(messages),
        summarized=tuple(message for message in shown if message.parts),
        notes=tuple(_omission(m, size) for m, size in sized if size > largest),
        tokens=sum(sizes),
    )


def _words_of(message: Message) -> Message:
    """Return a message with nothing but the parts that hold words of a person."""
    return replace(message, parts=tuple(p for p in message.parts if _has_words(message, p)))


def _has_words(message: Message, part: Part) -> bool:
    """Whether a part holds words of a person, maybe in what compactctl wrote."""
    return bool(message.words(part)) or (message.origin.is_synthetic and message.origin.is_summary)


def _omission(message: Message, tokens: int) -> str:
    # Codebuddy writes ~0K where there are fewer than 500.
    size = f"{(tokens + _K // 2) // _K}K" if tokens >= _K else str(tokens)
    return f"[Large {message.role} message (~{size} tokens) omitted from summary]"


def capped(message: Message, cap: int, *, keeps_words: bool = False) -> Message:
    """Return a message with at most ``cap`` characters of text, and how many are left out.

    With ``keeps_words`` the texts with words of a person stay whole, and do not count.
    """
    whole = {n for n, part in enumerate(message.parts) if keeps_words and _has_words(message, part)}
    parts = tuple(_capped(message.parts, cap, whole)) if cap else message.parts
    return message if parts == message.parts else replace(message, parts=parts)


def _capped(parts: Sequence[Part], cap: int, whole: Collection[int]) -> Iterator[Part]:
    left = cap
    for n, part in enumerate(parts):
        if n in whole or not isinstance(part, TextPart | ToolResultPart | FilePart):
            yield part
        elif len(part.text) <= left:
            left -= len(part.text)
            yield part
        else:
            yield replace(part, text=truncate_text(part.text, left))
            left = 0
