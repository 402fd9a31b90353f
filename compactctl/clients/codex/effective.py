"""The messages of a Codex session that the next request would send.

These are the newest compaction's history and what followed it, without turns that were rolled back.
A rollback also undoes compactions within those turns.
"""

from collections.abc import Iterable, Iterator

from compactctl.model.message import Message
from compactctl.records import Record


class _CodexNode(Record, kw_only=False):
    """A message in a linked list; lists share their beginnings, so older histories cost nothing."""

    message: Message
    previous: "_CodexNode | None"


class CodexHistory:
    """Replay messages, compactions and rollbacks in file order to find what Codex would send.

    Attributes:
        unreplaceable: ids of messages that no synthetic record can replace. It would be a turn to
            the client: a rollback of more turns than there are would then undo it, and a compaction
            before the first turn would drop what came before it.
    """

    def __init__(self) -> None:
        self.unreplaceable: set[str] = set()
        self._head: _CodexNode | None = None
        # The end of the history before each turn, for rollbacks.
        self._turns: list[_CodexNode | None] = []

    def add(self, message: Message) -> None:
        """Append a message."""
        if message.starts_turn:
            self._turns.append(self._head)
        self._head = _CodexNode(message, self._head)

    def replace(self, messages: Iterable[Message]) -> None:
        """Apply a compaction that records the whole new history."""
        self._head = None
        for message in messages:
            self._head = _CodexNode(message, self._head)

    def condense(self, summary: Message | None) -> None:
        """Apply a compaction that records only a summary.

        The client then sends what came before the first turn, the user messages and the summary.
        """
        messages = self._messages()
        if not any(message.starts_turn for message in messages):
            self.unreplaceable.update(message.id for message in messages)
        self.replace([*_kept_by_condense(messages), *([summary] if summary else [])])

    def roll_back(self, turns: int) -> None:
        """Drop the newest ``turns`` turns, or all if there are fewer."""
        for _ in range(turns):
            if self._turns:
                self._head = self._turns.pop()
                continue
            start = _newest_turn(self._head)
            if start is None:
                self.unreplaceable.update(self.ids())
                return
            self._head = start.previous

    def ids(self) -> list[str]:
        """Return the ids of the messages that would be sent, in order."""
        return [message.id for message in self._messages()]

    def _messages(self) -> list[Message]:
        newest_first: list[Message] = []
        node = self._head
        while node is not None:
            newest_first.append(node.message)
            node = node.previous
        return newest_first[::-1]


def _kept_by_condense(messages: Iterable[Message]) -> Iterator[Message]:
    has_turn = False
    for message in messages:
        # To the client, a synthetic record is a user message too.
        is_user_message = message.starts_turn or message.origin.is_synthetic
        has_turn = has_turn or is_user_message
        if is_user_message or not has_turn:
            yield message


def _newest_turn(node: _CodexNode | None) -> _CodexNode | None:
    while node is not None and not node.message.starts_turn:
        node = node.previous
    return node
