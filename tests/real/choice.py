"""Which of many ways a real transcript is tried in, so that all files together try all of them."""

import os
from collections.abc import Sequence
from zlib import crc32


def chosen(ways: Sequence[str], key: str, count: int) -> Sequence[str]:
    """Return ``count`` of the ways, others for other keys; all with COMPACTCTL_LONG_TESTS=1."""
    if os.environ.get("COMPACTCTL_LONG_TESTS") or count >= len(ways):
        return ways
    return sorted(ways, key=lambda way: crc32(f"{key} {way}".encode()))[:count]
