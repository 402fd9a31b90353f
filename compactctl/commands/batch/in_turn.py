"""What is done in any order, passed on in the order in which it was begun."""

from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class InTurn(Generic[Value]):
    """Passes values on by their places, each as soon as those of all places before it are there.

    What is kept meanwhile is what was done while the slowest one was waited for. None is a place
    without a value.
    """

    def __init__(self, take: Callable[[Value], object] | None) -> None:
        self._take = take
        self._waiting: dict[int, Value | None] = {}
        self._turn = 0

    def put(self, place: int, value: Value | None) -> None:
        """Take in the value of a place, from 0; each place comes once."""
        if self._take is None:
            return
        self._waiting[place] = value
        while self._turn in self._waiting:
            value = self._waiting.pop(self._turn)
            self._turn += 1
            if value is not None:
                self._take(value)
