"""Counts of what is asked of a context, and of what it holds."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from compactctl.records import Record

_Item = TypeVar("_Item")


class Tally(Record, kw_only=False):
    """How many of the required items are in a context."""

    hits: int
    asked: int

    @property
    def share(self) -> float | None:
        """The share of hits; None if nothing is required."""
        return self.hits / self.asked if self.asked else None


def tally(items: Iterable[_Item], is_present: Callable[[_Item], bool]) -> Tally:
    """Count the items, and those that are present."""
    hits = [is_present(item) for item in items]
    return Tally(hits=sum(hits), asked=len(hits))
