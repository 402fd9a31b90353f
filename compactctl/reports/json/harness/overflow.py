"""``overflow`` as a JSON document."""

from typing import Any

from compactctl.profiles.overflow.overflow import Overflow
from compactctl.reports.rendering.json_document import record


def overflow_document(result: Overflow) -> dict[str, Any]:
    """Return the document."""
    fields = ("overflow", "provider", "actual", "limit", "gap", "retryable", "pattern", "note")
    return {"schema": "compactctl.overflow/1", **record(result, only=fields)}
