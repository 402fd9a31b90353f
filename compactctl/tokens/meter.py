"""Token sizes of messages and parts, each distinct text counted once."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from compactctl.model.message import (
    FilePart,
    MediaPart,
    Message,
    OmittedPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinitionPart,
    ToolResultPart,
    media_of,
)
from compactctl.tokens.counters.bpe import BpeCounter
from compactctl.tokens.counters.counter import TokenCounter
from compactctl.tokens.counters.estimates import (
    NeuroLinkCodeCounter,
    NeuroLinkCounter,
    RatioCounter,
)
from compactctl.tokens.counters.tiktoken_counter import LINE_SEAM, TiktokenCounter
from compactctl.tokens.media import RATES, MediaRates, media_tokens
from compactctl.tokens.memory import RecentTable, RunMemory

# How many trial texts are remembered, and the characters of the longest.
_MAX_TRIED, _MAX_TRIED_CHARS = 32_768, 300
# Longer lines of a trial are counted each time: most of them are cut elsewhere the next time.
_MAX_LINE_CHARS = 1_000
_LINE = re.compile(LINE_SEAM)


class Meter:
    """Measures messages with one counter and caches every count.

    ``image_tokens`` is what every image counts as, None for an estimate by its size; ``rates``
    apply to other media. Counts never change. Memory grows with the messages and distinct texts of
    a run; ``start_run`` begins the next one.

    Attributes:
        memory: what else is computed once per run of the messages that it measures.
    """

    def __init__(
        self,
        counter: TokenCounter,
        image_tokens: int | None = None,
        rates: MediaRates = RATES,
    ) -> None:
        self.counter = counter
        self.image_tokens = image_tokens
        self.rates = rates
        self.memory = RunMemory()
        self._is_neurolink = isinstance(counter, NeuroLinkCounter)
        self._line_counter = _line_counter(counter)
        self._counts = RecentTable[str, int]()
        self._lines = RecentTable[str, int]()
        # By identity, because hashing a message is slow. The message is stored with its count, so
        # that no other object can get its id.
        self._messages: dict[int, tuple[Message, int]] = {}
        self._totals: dict[int, tuple[tuple[Message, ...], int]] = {}
        self._tried = lru_cache(_MAX_TRIED)(self.text_uncached)
        self.start_run()

    def start_run(self) -> None:
        """Begin a run; forget what the one that ends has not asked for."""
        self.memory.start_run()
        self._counts.start_run()
        self._lines.start_run()
        # No counter need be asked.
        self._counts[""] = self._lines[""] = 0
        self._messages.clear()
        self._totals.clear()

    def counts_like(self, other: "Meter") -> bool:
        """Whether both count the same for everything."""
        return (self.counter.id, self.image_tokens, self.rates) == (
            other.counter.id,
            other.image_tokens,
            other.rates,
        )

    def text(self, text: str) -> int:
        """Count the tokens of one text."""
        try:
            return self._counts[text]
        except KeyError:
            tokens = self._counts[text] = self.text_uncached(text)
            return tokens

    def text_uncached(self, text: str) -> int:
        """Count the tokens of one text without caching it, because it is only a trial.

        The next trial has most lines of this one, so those are cached where counts add up.
        """
        if self._line_counter is None:
            return self.counter.count_many([text])[0]
        counter, scale = self._line_counter
        lines = _LINE.split(text)
        try:
            return scale(sum(map(self._lines.__getitem__, lines)))
        except KeyError:
            short = [line for line in lines if len(line) <= _MAX_LINE_CHARS]
            self._add_missing(self._lines, short, counter)
            long = counter.count_many([line for line in lines if len(line) > _MAX_LINE_CHARS])
            return scale(sum(map(self._lines.__getitem__, short)) + sum(long))

    def text_retried(self, text: str) -> int:
        """Count the tokens of a trial that may come again; the newest short ones are cached."""
        return self.text_uncached(text) if len(text) > _MAX_TRIED_CHARS else self._tried(text)

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Count each text in one batch, which is faster than one by one."""
        self._add_missing(self._counts, texts, self.counter)
        return list(map(self._counts.__getitem__, texts))

    def prime(self, messages: Iterable[Message]) -> None:
        """Count all texts of ``messages`` in one batch."""
        parts = (part for message in messages for part in message.parts)
        self._add_missing(
            self._counts, (text for part in parts for text in part_texts(part)), self.counter
        )

    def _add_missing(
        self, table: RecentTable[str, int], texts: Iterable[str], counter: TokenCounter
    ) -> None:
        missing = list(dict.fromkeys(text for text in texts if not table.holds(text)))
        if missing:
            table.update(zip(missing, counter.count_many(missing), strict=True))

    def part(self, part: Part) -> int:
        """Count the tokens of one part, its media included."""
        if self._is_neurolink:
            if isinstance(part, ToolDefinitionPart) and isinstance(self.counter, NeuroLinkCounter):
                return sum(self.counter.definitions(part_texts(part)))
            if isinstance(part, ToolCallPart) and isinstance(self.counter, NeuroLinkCodeCounter):
                return 0
        tokens = 0
        for text in part_texts(part):
            tokens += self.text(text)
        for item in media_of(part):
            tokens += media_tokens(item, self.image_tokens, self.rates, self.text)
        return tokens

    def message(self, message: Message) -> int:
        """Count the tokens of a message's parts, without the overhead of a message."""
        cached = self._messages.get(id(message))
        if cached is None:
            tokens = 0
            for part in message.parts:
                tokens += self.part(part)
            cached = self._messages[id(message)] = (message, tokens)
        return cached[1]

    def total(self, messages: Iterable[Message]) -> int:
        """Count the tokens of many messages."""
        if not isinstance(messages, tuple):
            return sum(map(self.message, messages))
        cached = self._totals.get(id(messages))
        if cached is None:
            tokens = sum(map(self.message, messages))
            cached = self._totals[id(messages)] = (messages, tokens)
        return cached[1]


def _line_counter(counter: TokenCounter) -> tuple[TokenCounter, Callable[[int], int]] | None:
    """Return a counter whose counts of lines add up, and how the sum is scaled; None if none do."""
    base, scale = (
        (counter.base, counter.scaled) if isinstance(counter, RatioCounter) else (counter, int)
    )
    return (base, scale) if isinstance(base, BpeCounter | TiktokenCounter) else None


def client_added_text(part: Part) -> str:
    """Return the text that the client sends with a part but does not store; "" for none."""
    return part.added if isinstance(part, TextPart | ToolCallPart) else ""


def part_texts(part: Part) -> tuple[str, ...]:
    """Return the texts of a part that the model reads; none for media and opaque reasoning."""
    match part:
        case ToolCallPart():
            return (part.tool, part.arguments, *_if_any(part.added))
        case ToolDefinitionPart():
            return (part.name, part.text)
        case TextPart():
            return (part.text, *_if_any(part.added))
        case ToolResultPart() | FilePart():
            return (part.text,)
        case ReasoningPart():
            return () if part.opaque else (part.text,)
        case MediaPart() | OmittedPart():
            return ()


def _if_any(text: str) -> tuple[str, ...]:
    return (text,) if text else ()
