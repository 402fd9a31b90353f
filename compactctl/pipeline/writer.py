"""The interface through which the pipeline writes records of a format."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol

from compactctl.model.message import JsonPath, Message, Synthetic
from compactctl.model.unsent import UnsentRule
from compactctl.model.usage_fields import UsageFields
from compactctl.records import Record


class InsertionContext(Record):
    """The surroundings of an inserted record.

    Attributes:
        anchor: the message that it is inserted before.
        neighbor: the record of that message, whose shape the new one takes.
        parent: the id of the record it follows, in formats that link records.
    """

    anchor: Message
    neighbor: Mapping[str, Any]
    parent: str | None = None


class RecordWriter(Protocol):
    """The writing half of a format.

    Attributes:
        parent_path: the path to the id of a record's parent, None where records are not linked.
        usage_fields: where the client reads the size of its context, None if it does not.
        unsent: rules for what the client keeps but never sends, and can do without.
    """

    parent_path: JsonPath | None
    usage_fields: UsageFields | None
    unsent: tuple[UnsentRule, ...]

    def new_id(self, message: Synthetic) -> str:
        """Return the record id of a synthetic message."""

    @abstractmethod
    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build the record of a synthetic message, in the shape of its neighbor's record."""

    def new_value(self, message: Message, part: int, current: object, text: str) -> object:
        """Return what replaces ``current`` at the part's path so that its content is ``text``."""
