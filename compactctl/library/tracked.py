"""A list of messages with their sizes, in which a change in place is noticed."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

# More messages than these are compared in turns, beside the newest ones, so that a step takes a
# millisecond however long the conversation is.
_COMPARED_AT_ONCE = 1_000

JsonMessage = dict[str, Any]


class Match(NamedTuple):
    """How far a list agrees: its first ``length`` messages, of which ``changed`` read otherwise."""

    length: int
    changed: tuple[int, ...] = ()


class TrackedMessages:
    """The messages of a conversation, each with its tokens and a copy of what it was.

    ``messages`` are the objects of the caller, and ``sizes`` their tokens.
    """

    def __init__(self) -> None:
        self.messages: list[JsonMessage] = []
        self.sizes: list[float] = []
        self.tokens = 0.0
        self._copies: list[JsonMessage] = []
        self._next_compared = 0

    def __len__(self) -> int:
        return len(self.messages)

    def extend(self, messages: Sequence[JsonMessage], sizes: Iterable[float]) -> None:
        """Add messages at the end."""
        n_before = len(self)
        self.messages += messages
        self.sizes += sizes
        self.tokens = sum(self.sizes[n_before:], self.tokens)
        self._copies += map(_copy, messages)

    def truncate(self, length: int) -> None:
        """Keep the first ``length`` messages."""
        if length == len(self):
            return
        del self.messages[length:], self.sizes[length:], self._copies[length:]
        self.tokens = sum(self.sizes)

    def replace(self, index: int, message: JsonMessage, size: float) -> None:
        """Replace one message, or take it as it reads now."""
        self.messages[index], self.sizes[index] = message, size
        self._copies[index] = _copy(message)
        self.tokens = sum(self.sizes)

    def match(self, others: Sequence[JsonMessage], *, all_at_once: bool = False) -> Match:
        """Compare with the beginning of a list, which may hold copies.

        A message that was changed, or replaced by another one between two that agree, is in
        ``changed``. Of very long lists, the oldest messages are only compared in turns, so that
        such a change of them is noticed some calls later, unless ``all_at_once`` is asked for.
        """
        length = min(len(self), len(others))
        if self._is_same(others, length, all_at_once=all_at_once):
            return Match(length)
        changed: list[int] = []
        for index in range(length):
            message = others[index]
            if self._copies[index] == message:
                continue
            if message is not self.messages[index] and not self._is_replaced(others, index):
                return Match(index, tuple(changed))
            changed.append(index)
        return Match(length, tuple(changed))

    def _is_same(self, others: Sequence[JsonMessage], length: int, *, all_at_once: bool) -> bool:
        """Whether so many messages agree; the same object counts as unchanged until its turn."""
        if all_at_once or length <= 2 * _COMPARED_AT_ONCE:
            return self._copies[:length] == others[:length]
        if self.messages[:length] != others[:length]:
            return False
        newest = length - _COMPARED_AT_ONCE
        start = self._next_compared % newest
        stop = min(newest, start + _COMPARED_AT_ONCE)
        self._next_compared = stop
        return all(
            self._copies[first:last] == others[first:last]
            for first, last in ((start, stop), (newest, length))
        )

    def _is_replaced(self, others: Sequence[JsonMessage], index: int) -> bool:
        """Whether a message was replaced by another of its role, and the one after it was not."""
        if index + 1 >= min(len(self), len(others)):
            return False
        is_same_role = others[index].get("role") == self._copies[index].get("role")
        return is_same_role and self._copies[index + 1] == others[index + 1]


def _copy(value: Any) -> Any:  # noqa: ANN401 - JSON is any value
    """Copy objects and arrays; texts and numbers cannot change."""
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def common_length(first: Sequence[object], second: Sequence[object]) -> int:
    """Return how many of the first places of two lists hold the same objects."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a is not b), min(len(first), len(second)))
