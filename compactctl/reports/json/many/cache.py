"""``cache`` as a JSON document."""

from typing import Any

from compactctl.commands.cache import CacheResult


def cache_document(result: CacheResult) -> dict[str, Any]:
    """Return the document."""
    state = result.state
    return {
        "schema": "compactctl.cache/1",
        "path": str(state.path),
        "bytes": state.n_bytes,
        "results": state.results,
        "cleared": result.cleared,
    }
