"""Token sizes of messages and parts, each distinct text counted once."""

from collections.abc import Iterable
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
from compactctl.tokens.counters.counter import TokenCounter
from compactctl.tokens.counters.estimates import NeuroLinkCodeCounter, NeuroLinkCounter
from compactctl.tokens.media import RATES, MediaRates, media_tokens

# How many trial texts are remembered, and the characters of the longest.
_MAX_TRIED, _MAX_TRIED_CHARS = 32_768, 300


class Meter:
    """Measures messages with one counter and caches every count.

    ``image_tokens`` is what every image counts as, None for an estimate by its size; ``rates``
    apply to other media. Memory grows with the messages and distinct texts; counts never change.
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
        self._is_neurolink = isinstance(counter, NeuroLinkCounter)
        self._counts: dict[str, int] = {"": 0}
        # By identity, because hashing a message is slow. The message is stored with its count, so
        # that no other object can get its id.
        self._messages: dict[int, tuple[Message, int]] = {}
        self._totals: dict[int, tuple[tuple[Message, ...], int]] = {}
        self._tried = lru_cache(_MAX_TRIED)(self.text_uncached)

    def text(self, text: str) -> int:
        """Count the tokens of one text."""
        cached = self._counts.get(text)
        if cached is None:
            cached = self._counts[text] = self.text_uncached(text)
        return cached

    def text_uncached(self, text: str) -> int:
        """Count the tokens of one text without caching it, because it is only a trial."""
        return self.counter.count_many([text])[0]

    def text_retried(self, text: str) -> int:
        """Count the tokens of a trial that may come again; the newest short ones are cached."""
        return self.text_uncached(text) if len(text) > _MAX_TRIED_CHARS else self._tried(text)

    def prime(self, messages: Iterable[Message]) -> None:
        """Count all texts of ``messages`` in one batch, which is faster than one by one."""
        texts: dict[str, None] = {}
        for message in messages:
            for part in message.parts:
                texts.update(dict.fromkeys(part_texts(part)))
        uncached = [text for text in texts if text not in self._counts]
        self._counts.update(zip(uncached, self.counter.count_many(uncached), strict=True))

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
