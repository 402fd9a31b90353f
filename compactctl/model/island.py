"""Islands: messages of a file that no request sends, although compactctl hides none of them."""

from collections.abc import Sequence
from typing import Literal

from compactctl.model.message import Message, MessageId
from compactctl.records import Record

IslandKind = Literal["cut off", "context cleared", "other branch", "before a compaction"]
"""Why they are not sent: the record behind them names one that is not in the file; the context was
cleared there, or requests are smaller as if it was; the user continued from an earlier record; or
the client has compacted them."""


class Island(Record):
    """The messages of one branch, in the order in which a request would send them.

    Attributes:
        first, last: the indices of the first and the last of their lines.
        requests: how many of them the user wrote.
    """

    kind: IslandKind
    messages: tuple[MessageId, ...]
    first: int
    last: int
    requests: int

    def describe(self, noun: str) -> str:
        """Return its size and place: "211 records with 7 requests (lines 3-1,009)"."""
        size = _counted(len(self.messages), noun)
        if self.requests:
            size = f"{size} with {_counted(self.requests, 'request')}"
        if self.first == self.last:
            return f"{size} (line {self.first + 1:,})"
        return f"{size} (lines {self.first + 1:,}\N{EN DASH}{self.last + 1:,})"


def island_of(kind: IslandKind, messages: Sequence[Message]) -> Island:
    """Return the island that messages are, at least one."""
    lines = [message.line for message in messages]
    return Island(
        kind=kind,
        messages=tuple([message.id for message in messages]),
        first=min(lines),
        last=max(lines),
        requests=sum([message.starts_turn for message in messages]),
    )


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"
