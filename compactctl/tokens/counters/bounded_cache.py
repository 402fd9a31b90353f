"""What a function gave, remembered within a bound of memory."""

from collections.abc import Callable


class BoundedCache(dict[str, int]):
    """Remembers what a function gave for a segment, up to a bound of memory."""

    # Of 30 MB of real transcripts 220,000 segments are distinct, of 10 characters on average.
    LARGEST = 500_000
    LONGEST_KEY = 1_000

    def __init__(self, cost: Callable[[str], int]) -> None:
        super().__init__()
        self._cost = cost

    def __missing__(self, segment: str) -> int:
        """Ask for a segment's cost; forget everything once there is too much."""
        cost = self._cost(segment)
        if len(self) >= self.LARGEST:
            self.clear()
        if len(segment) <= self.LONGEST_KEY:
            self[segment] = cost
        return cost
