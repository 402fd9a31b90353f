"""The exact counts of ``BpeCounter`` from a faster engine, where that is installed."""

import importlib
import os
from collections.abc import Callable, Sequence

from compactctl.tokens.bpe import BpeCounter, without_surrogates
from compactctl.tokens.counter import Exactness

SWITCH_OFF = "COMPACTCTL_NO_FAST"
"""Environment variable that, set to anything, keeps every count with tiktoken."""

BatchCount = Callable[[Sequence[str], str, int], list[int]]


class FastCounter:
    """Counts with the engine of the optional package ``toktok-rs``; see ``fast_counter``.

    Counts are those of tiktoken, also for the huge texts that tiktoken itself cannot count whole.
    The engine builds its vocabulary at the first count of a text, in about half a second.
    """

    exactness: Exactness = "exact"
    engine = "toktok"

    def __init__(self, name: str, batch_count: BatchCount) -> None:
        self.id = name
        self._batch_count = batch_count

    def count_many(self, texts: Sequence[str]) -> list[int]:
        """Count all texts in one call of the engine: names of special tokens have no meaning."""
        if not any(texts):
            return [0] * len(texts)
        # One thread: a transcript takes tenths of a second, and batches have a process per core.
        return list(self._batch_count([without_surrogates(text) for text in texts], self.id, 1))


def fast_counter(name: str) -> FastCounter | None:
    """Return the fast counter for a vocabulary; None when it is not installed or switched off."""
    if os.environ.get(SWITCH_OFF):
        return None
    try:
        engine = importlib.import_module("toktok")
    except ImportError:
        return None
    # Another package installs a module of this name.
    batch_count = getattr(engine, "batch_count", None)
    return FastCounter(name, batch_count) if batch_count else None


def exact_counter(name: str) -> FastCounter | BpeCounter:
    """Return the fastest counter there is for a vocabulary."""
    return fast_counter(name) or BpeCounter(name)
