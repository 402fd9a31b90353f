"""What the pipeline asks of a format in order to write records."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from compactctl.model.message import JsonPath, Message, Synthetic
from compactctl.model.unsent import UnsentRule
from compactctl.model.usage_fields import UsageFields


@dataclass(frozen=True, slots=True, kw_only=True)
class InsertionContext:
    """Where a written record goes: next to the message ``anchor``, whose record is ``neighbour``.

    ``parent`` is the id of the record it follows, in formats that link records.
    """

    anchor: Message
    neighbour: Mapping[str, Any]
    parent: str | None = None


class RecordWriter(Protocol):
    """The writing half of a format.

    ``parent_path`` leads to the id of a record's parent, None where records are not linked;
    ``usage_fields`` is where a client finds the size of its context, None where none looks for it;
    ``unsent`` is what a client keeps, is known never to send, and goes on without.
    """

    parent_path: JsonPath | None
    usage_fields: UsageFields | None
    unsent: tuple[UnsentRule, ...]

    def new_id(self, message: Synthetic) -> str:
        """Return the record id that a written summary or marker gets."""

    @abstractmethod
    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build the record for a summary or marker, shaped like the one that it stands beside."""

    def new_value(self, message: Message, part: int, current: object, text: str) -> object:
        """Return what stands at the part's path once its content is ``text``."""
