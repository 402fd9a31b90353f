"""A compaction by a client whose originals are still in the transcript."""

from collections.abc import Mapping
from typing import Any, Literal

from compactctl.model.message import Message, MessageId, RecordLocation
from compactctl.model.operation import OperationId
from compactctl.records import Record, field

Removal = Literal["summarized", "truncated", "cleared", "left out"]


class ClientCompaction(Record):
    """A compaction by a client.

    Attributes:
        id: derived from its records, so that it stays the same when the file grows.
        client: the format of the client.
        what: summarized, truncated, cleared, or left out without a trace.
        records: its records; without them, the client would send again what it hides.
        values: by location, values without the mark that an output was cleared.
        groups: the tags of its messages, if only tags hide them.
        time: when it was made, in seconds since 1970; None if unknown.
        hidden: the messages that it hid, or whose content it removed.
        stand_ins: the messages that it put in their place.
        in_effect: whether it still makes a difference.
    """

    id: OperationId
    client: str
    what: Removal
    records: tuple[RecordLocation, ...] = ()
    values: Mapping[RecordLocation, Any] = field(default_factory=dict)
    groups: frozenset[str] = frozenset()
    time: float | None
    hidden: tuple[MessageId, ...]
    stand_ins: tuple[Message, ...] = ()
    in_effect: bool

    @property
    def line(self) -> int:
        """Its first line, from 1."""
        return min(line for line, _ in (*self.records, *self.values)) + 1
