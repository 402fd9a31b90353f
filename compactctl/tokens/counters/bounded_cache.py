"""A cache of counts with bounded memory."""

from collections.abc import Callable


class BoundedCache(dict[str, int]):
    """Caches the results of a function for segments of texts, with bounded memory."""

    # 30 MB of real transcripts have 220,000 distinct segments of 10 characters on average.
    MAX_ENTRIES = 500_000
    MAX_KEY_CHARS = 1_000

    def __init__(self, cost: Callable[[str], int]) -> None:
        super().__init__()
        self._cost = cost

    def __missing__(self, segment: str) -> int:
        """Compute a segment's cost; clear the cache first if it is full."""
        cost = self._cost(segment)
        if len(self) >= self.MAX_ENTRIES:
            self.clear()
        if len(segment) <= self.MAX_KEY_CHARS:
            self[segment] = cost
        return cost
