"""A list of messages with what is known of each, in which a change in place is noticed."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from compactctl.records import Record

# More messages than these are compared in turns, beside the newest ones, so that a step takes a
# millisecond however long the conversation is.
_COMPARED_AT_ONCE = 1_000
# So many messages in a row may be replaced before the list is taken for another one.
_MAX_REPLACED = 8

JsonMessage = dict[str, Any]
SaysSame = Callable[[JsonMessage, JsonMessage], bool]
"""Whether the model reads the same of two messages, whatever marks they have for a cache."""


class MessageFacts(Record, kw_only=False):
    """What is known of a message: its tokens in a request, and the ids of its calls.

    ``unread`` says where text is in it that was not read, "" if all was.
    """

    tokens: float
    calls: tuple[str, ...] = ()
    unread: str = ""


class Match(NamedTuple):
    """How far a list agrees: its first ``length`` messages, of which ``changed`` are others."""

    length: int
    changed: tuple[int, ...] = ()


class TrackedMessages:
    """The messages of a conversation, each with its facts and a copy of what it was.

    ``messages`` are the objects of the caller; ``tokens`` is the sum of theirs.
    """

    def __init__(self, says_same: SaysSame) -> None:
        self.messages: list[JsonMessage] = []
        self.facts: list[MessageFacts] = []
        self.tokens = 0.0
        self._says_same = says_same
        self._copies: list[JsonMessage] = []
        self._unread: dict[int, str] = {}
        self._next_compared = 0

    def __len__(self) -> int:
        return len(self.messages)

    @property
    def unread(self) -> str:
        """Where text is that was not read, "" if all was."""
        return next(iter(self._unread.values()), "")

    def extend(self, messages: Sequence[JsonMessage], facts: Sequence[MessageFacts]) -> None:
        """Add messages at the end."""
        start = len(self)
        self.messages += messages
        self.facts += facts
        self._copies += map(_copy, messages)
        for index, fact in enumerate(facts, start):
            self.tokens += fact.tokens
            if fact.unread:
                self._unread[index] = fact.unread

    def truncate(self, length: int) -> None:
        """Keep the first ``length`` messages."""
        if length < len(self):
            del self.messages[length:], self.facts[length:], self._copies[length:]
            self._add_up()

    def replace(self, index: int, message: JsonMessage, facts: MessageFacts) -> None:
        """Replace one message, or take it as it reads now."""
        self.messages[index], self.facts[index] = message, facts
        self._copies[index] = _copy(message)
        self._add_up()

    def _add_up(self) -> None:
        self.tokens = sum(fact.tokens for fact in self.facts)
        self._unread = {n: fact.unread for n, fact in enumerate(self.facts) if fact.unread}

    def holds(self, index: int, message: object) -> bool:
        """Whether a message is the one at an index as it was."""
        return message == self._copies[index]

    def agrees(self, index: int, message: object) -> bool:
        """Whether a message says what the one at an index said."""
        if self.holds(index, message):
            return True
        return isinstance(message, dict) and self._says_same(self._copies[index], message)

    def match(self, others: Sequence[JsonMessage], *, all_at_once: bool = False) -> Match:
        """Compare with the beginning of a list, which may hold copies.

        A message that was changed in place, has other marks, or stands for another one between
        those that agree, is in ``changed``. Of very long lists, the oldest messages are only
        compared in turns, so that a change of them is noticed some calls later, unless
        ``all_at_once`` is asked for.
        """
        length = min(len(self), len(others))
        if self._is_same(others, length, all_at_once=all_at_once):
            return Match(length)
        changed: list[int] = []
        for index in range(length):
            if self._copies[index] == others[index]:
                continue
            is_same_message = others[index] is self.messages[index]
            if not (is_same_message or self._is_replaced(others, index, length)):
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

    def _is_replaced(self, others: Sequence[JsonMessage], index: int, length: int) -> bool:
        """Whether a message has other marks, or stands for one of its role before one that agrees.

        Up to ``_MAX_REPLACED`` messages in a row may.
        """
        if self.agrees(index, others[index]):
            return True
        for place in range(index, min(length, index + _MAX_REPLACED + 1)):
            other: object = others[place]
            if place > index and self.agrees(place, other):
                return True
            if not isinstance(other, dict) or other.get("role") != self._copies[place].get("role"):
                return False
        return False


def _copy(value: Any) -> Any:  # noqa: ANN401 - JSON is any value
    """Copy objects and arrays; texts and numbers cannot change."""
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


def common_length(first: Sequence[object], second: Sequence[object]) -> int:
    """Return how many of the first places of two lists hold the same objects."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((n for n, (a, b) in pairs if a is not b), min(len(first), len(second)))
