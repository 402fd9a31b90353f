"""What is done in any order, passed on in the order in which it was begun."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

Value = TypeVar("Value")


class InTurn(Generic[Value]):
    """Passes values on by their places, once those of all places before are there.

    What is kept meanwhile is what was done while the slowest one was waited for.
    """

    def __init__(self, take: Callable[[Value], object] | None) -> None:
        self._take = take
        self._waiting: dict[int, Sequence[Value]] = {}
        self._turn = 0

    def put(self, place: int, values: Sequence[Value]) -> None:
        """Take in the values of a place, from 0; each place comes once."""
        if self._take is None:
            return
        self._waiting[place] = values
        while self._turn in self._waiting:
            due = self._waiting.pop(self._turn)
            self._turn += 1
            for value in due:
                self._take(value)
