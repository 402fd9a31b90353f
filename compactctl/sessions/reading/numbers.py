"""Token counts as clients record them."""

from collections.abc import Mapping
from typing import Any


def total_of(record: Mapping[str, Any], *names: str) -> int | None:
    """Return the sum of the whole numbers under these names; None when it is nothing."""
    found = (record.get(name) for name in names)
    total = sum(n for n in found if isinstance(n, int) and not isinstance(n, bool) and n > 0)
    return total or None
