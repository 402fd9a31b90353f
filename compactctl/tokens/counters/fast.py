"""The optional package toktok-rs, which counts as tiktoken does, but faster."""

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from compactctl.tokens.counters.tiktoken_counter import without_surrogates

DISABLE_VARIABLE = "COMPACTCTL_NO_FAST"
"""Environment variable that, set to any value, turns the package off."""

BATCH_CHARS = 4_000_000
"""Characters that are passed to the engine at once, of which it makes copies."""

BatchCount = Callable[[Sequence[str], str, int], list[int]]


@cache
def fast_engine() -> BatchCount | None:
    """Import the engine; None if it is not installed or turned off."""
    if os.environ.get(DISABLE_VARIABLE):
        return None
    try:
        engine = importlib.import_module("toktok")
    except ImportError:
        return None
    # Another package installs a module of the same name.
    return getattr(engine, "batch_count", None)


def count_fast(engine: BatchCount, name: str, texts: Sequence[str]) -> list[int]:
    """Count texts with a vocabulary, even huge ones that tiktoken cannot count whole."""
    # One thread: a transcript takes tenths of a second, and a batch has a process per core.
    return [
        count
        for batch in _batches(texts)
        for count in engine([without_surrogates(text) for text in batch], name, 1)
    ]


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
