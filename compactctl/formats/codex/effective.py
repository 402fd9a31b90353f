"""Which messages of a Codex session the next request would send.

The newest compaction's history and what followed it, without turns that were rolled back. A
compaction inside a turn that was rolled back does not count.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from compactctl.model.message import Message


@dataclass(frozen=True, slots=True)
class _CodexNode:
    """A message and what was sent before it; shared, so that older histories cost nothing."""

    message: Message
    before: "_CodexNode | None"


class CodexHistory:
    """Takes in messages in file order, then tells which are still sent.

    ``unreplaceable`` are messages in whose place no record can be written, because it would be a
    turn: one that a rollback of more turns than there were takes back, or after which a compaction
    before the first turn keeps less.
    """

    def __init__(self) -> None:
        self.unreplaceable: set[str] = set()
        self._head: _CodexNode | None = None
        # What was sent before each turn, to come back to.
        self._turns: list[_CodexNode | None] = []

    def add(self, message: Message) -> None:
        """Take in the next message."""
        if message.starts_turn:
            self._turns.append(self._head)
        self._head = _CodexNode(message, self._head)

    def replace(self, messages: Iterable[Message]) -> None:
        """Take in a compaction that gives the whole history so far."""
        self._head = None
        for message in messages:
            self._head = _CodexNode(message, self._head)

    def condense(self, summary: Message | None) -> None:
        """Take in a compaction that gives only a summary.

        The client sends what it sent before the first turn, the user messages and the summary.
        """
        messages = self._messages()
        if not any(message.starts_turn for message in messages):
            self.unreplaceable.update(message.id for message in messages)
        kept = [*_kept_by_condense(messages), *([summary] if summary else [])]
        self.replace(kept)

    def roll_back(self, turns: int) -> None:
        """Drop the newest ``turns`` turns; there may be fewer."""
        for _ in range(turns):
            if self._turns:
                self._head = self._turns.pop()
                continue
            start = _newest_turn(self._head)
            if start is None:
                self.unreplaceable.update(self.ids())
                return
            self._head = start.before

    def ids(self) -> list[str]:
        """Return the ids of the messages that are sent, in order."""
        return [message.id for message in self._messages()]

    def _messages(self) -> list[Message]:
        found: list[Message] = []
        node = self._head
        while node is not None:
            found.append(node.message)
            node = node.before
        return found[::-1]


def _kept_by_condense(messages: Iterable[Message]) -> Iterator[Message]:
    started = False
    for message in messages:
        started = started or message.starts_turn or message.origin.is_synthetic
        # A record compactctl wrote is a user message to the client.
        if not started or message.starts_turn or message.origin.is_synthetic:
            yield message


def _newest_turn(node: _CodexNode | None) -> _CodexNode | None:
    while node is not None and not node.message.starts_turn:
        node = node.before
    return node
