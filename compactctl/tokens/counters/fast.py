"""The exact counts of ``BpeCounter`` with a faster engine, if that is installed."""

import importlib
import os
from collections.abc import Callable, Iterator, Sequence

from compactctl.tokens.counters.bpe import BpeCounter, without_surrogates
from compactctl.tokens.counters.counter import Exactness

DISABLE_VARIABLE = "COMPACTCTL_NO_FAST"
"""Environment variable that, set to any value, makes tiktoken count everything."""

MIN_CHARS_TO_LOAD = 3_000_000
"""From this many characters on, the engine's speed outweighs its longer load, as measured."""

BATCH_CHARS = 4_000_000
"""Characters that are passed to the engine at once, of which it makes copies."""

BatchCount = Callable[[Sequence[str], str, int], list[int]]


class FastCounter:
    """Counts with the engine of the optional package ``toktok-rs``; see ``fast_counter``.

    Counts are those of tiktoken, even for huge texts that tiktoken cannot count whole. The engine
    takes longer to load its vocabulary, so tiktoken counts until there is enough text.
    """

    exactness: Exactness = "exact"

    def __init__(
        self, name: str, batch_count: BatchCount, min_chars: int = MIN_CHARS_TO_LOAD
    ) -> None:
        self.id = name
        self.engine = "tiktoken"
        self._plain = BpeCounter(name)
        self._batch_count = batch_count
        self._chars_until_load = min_chars

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Count each text as plain text: names of special tokens have no meaning in it."""
        if not any(texts):
            return [0] * len(texts)
        self._chars_until_load -= sum(map(len, texts))
        if self._chars_until_load >= 0:
            counts = self._plain.count_many(texts)
            if self._plain.exactness == self.exactness:
                return counts
        self.engine = "toktok"
        return [count for batch in _batches(texts) for count in self._count(batch)]

    def _count(self, texts: Sequence[str]) -> list[int]:
        # One thread: a transcript takes tenths of a second, and a batch has a process per core.
        return self._batch_count([without_surrogates(text) for text in texts], self.id, 1)


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """Group texts into batches of about ``BATCH_CHARS``."""
    batch: list[str] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size >= BATCH_CHARS:
            yield batch
            batch, size = [], 0
    yield batch


def fast_counter(name: str, min_chars: int = MIN_CHARS_TO_LOAD) -> FastCounter | None:
    """Return the fast counter for a vocabulary; None if it is not installed or disabled.

    tiktoken counts the first ``min_chars`` characters, before the engine is loaded.
    """
    if os.environ.get(DISABLE_VARIABLE):
        return None
    try:
        engine = importlib.import_module("toktok")
    except ImportError:
        return None
    # Another package installs a module of the same name.
    batch_count = getattr(engine, "batch_count", None)
    return FastCounter(name, batch_count, min_chars) if batch_count else None


def exact_counter(name: str, min_chars: int = MIN_CHARS_TO_LOAD) -> FastCounter | BpeCounter:
    """Return the fastest installed counter for a vocabulary; see ``fast_counter``."""
    return fast_counter(name, min_chars) or BpeCounter(name)
