"""What the pipeline asks of a format in order to write records."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from compactctl.model.message import JsonPath, Message, Synthetic
from compactctl.model.unsent import UnsentRule
from compactctl.model.usage_fields import CountFields


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Where a written record goes: next to the message ``anchor``, whose record is ``like``.

    ``parent`` is the id of the record it follows, in formats that link records.
    """

    anchor: Message
    like: Mapping[str, Any]
    parent: str | None = None


class Writer(Protocol):
    """The writing half of a format.

    ``parent_path`` leads to the id of a record's parent, None where records are not linked;
    ``counts`` is where a client finds the size of its context, None where none looks for it;
    ``unsent`` is what a client keeps, is known never to send, and goes on without.
    """

    parent_path: JsonPath | None
    counts: CountFields | None
    unsent: tuple[UnsentRule, ...]

    def new_id(self, message: Synthetic) -> str:
        """Return the record id that a written summary or marker gets."""

    def new_record(self, message: Synthetic, beside: Beside) -> Mapping[str, Any]:
        """Build the record for a summary or marker, shaped like the one that it stands beside."""

    def new_value(self, message: Message, part: int, current: object, text: str) -> object:
        """Return what stands at the part's path once its content is ``text``."""
