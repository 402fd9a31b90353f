"""``cache`` as a JSON document."""

from typing import Any

from compactctl.commands.cache import CacheResult
from compactctl.reports.rendering.json_document import record


def cache_document(result: CacheResult) -> dict[str, Any]:
    """Return the document."""
    return {"schema": "compactctl.cache/1", **record(result.state), "cleared": result.cleared}
