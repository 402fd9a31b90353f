"""The cache of batches: its location and size."""

from collections.abc import Iterator
from typing import Any

from compactctl.commands.cache import CacheResult
from compactctl.views.encode import record
from compactctl.views.terminal.text import line_text, plural, size_text


def cache_terminal(result: CacheResult) -> Iterator[str]:
    """Yield the cache file with its size, and whether it was cleared."""
    state = result.state
    held = f"{plural(state.results, 'result')}, {size_text(state.n_bytes)}"
    done = "cleared: " if result.cleared else ""
    yield f"{done}{line_text(str(state.path))} ({held})"


def cache_document(result: CacheResult) -> dict[str, Any]:
    """Return the location of the cache, and its contents or, once cleared, former contents."""
    return {"schema": "compactctl.cache/1", **record(result.state), "cleared": result.cleared}
