"""``overflow`` as a JSON document."""

from typing import Any

from compactctl.profiles.overflow.overflow import Overflow


def overflow_document(result: Overflow) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.overflow/1",
        "overflow": result.overflow,
        "provider": result.provider,
        "actual": result.actual,
        "limit": result.limit,
        "gap": result.gap,
        "retryable": result.retryable,
        "pattern": result.pattern,
        "note": result.note,
    }
