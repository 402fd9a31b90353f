"""References to messages, as summaries print them and users type them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Literal

from compactctl.model.message import Message, MessageId
from compactctl.records import dataclass

_REFERENCE = re.compile(
    r"(?P<mark>\[)?(?P<unit>[LM])(?P<number>\d{1,9})(?:\.(?P<item>\d{1,9}))?(?(mark)\])"
)
WRITTEN = r"\[[LM]\d+(?:\.\d+)?\]"
"""Matches a reference as summaries write it."""
_LINE = re.compile(r"\d{1,9}")


@dataclass(frozen=True, slots=True)
class SourceRef:
    """A reference such as ``[L12]``: a line of the file, or a message of a document, from 1.

    Attributes:
        number: the number of the line or message.
        unit: which of the two it counts.
        item: of a line with several messages, the number of the message in it, from 1; else 0.
        position: the place of the message in the conversation, from 1. Lines may be in another
            order.
    """

    number: int
    unit: Literal["L", "M"] = "L"
    item: int = 0
    position: int = field(default=0, compare=False)

    def __str__(self) -> str:
        """Return it as summaries write it, such as ``[L12]`` or ``[L12.3]``."""
        return f"[{self.name}]"

    @property
    def name(self) -> str:
        """The reference as users type it, such as ``L12``."""
        return f"{self.unit}{self.number}" + (f".{self.item}" if self.item else "")

    @property
    def legend(self) -> str:
        """A sentence that explains such references."""
        unit = "line" if self.unit == "L" else "message"
        return f"[{self.unit}12] is {unit} 12 of what was compacted."

    def names(self, message: Message) -> bool:
        """Return whether this is the line, or the number in its document, of a message."""
        if self.unit == "M":
            return number_in_line(message) == self.number
        is_item = not self.item or number_in_line(message) == self.item
        return message.line + 1 == self.number and is_item


NO_REF = SourceRef(0)


def parse_reference(name: str) -> SourceRef | None:
    """Parse ``L12``, ``[L12]``, ``L12.3``, ``M12`` or ``[M12]``; None for anything else."""
    match = _REFERENCE.fullmatch(name)
    if match is None or (match["unit"] == "M" and match["item"]):
        return None
    unit: Literal["L", "M"] = "L" if match["unit"] == "L" else "M"
    return SourceRef(int(match["number"]), unit, int(match["item"] or 0))


def number_in_document(message: Message) -> int | None:
    """Return the number of a message in its document, from 1: its first index in a part's path."""
    paths = (part.path for part in message.parts)
    return next((step + 1 for path in paths for step in path if isinstance(step, int)), None)


def number_in_line(message: Message) -> int | None:
    """Return the number of a message among several on its line, None if it is the whole line."""
    is_part = any(isinstance(step, int) for step in message.record_path)
    return number_in_document(message) if is_part else None


def messages_named(messages: Sequence[Message], name: str) -> Iterator[int]:
    """Yield the indices of the messages that a name means.

    It is an id, or else a line (``12``) or a reference (``L12``, ``[L12]``).
    """
    by_id = [index for index, message in enumerate(messages) if message.id == name]
    line = SourceRef(int(name)) if _LINE.fullmatch(name) else None
    reference = parse_reference(name) or line
    if by_id or reference is None:
        yield from by_id
        return
    yield from (index for index, message in enumerate(messages) if reference.names(message))


def message_behind(
    name: str, messages: Sequence[Message], originals: Mapping[MessageId, Sequence[Message]]
) -> int | None:
    """Return the index of the message that holds what a summary refers to, None if none does.

    Summaries refer to lines of what was compacted, where messages may have other lines now.
    """
    reference = parse_reference(name)
    if reference is None:
        return None
    indices = (
        index
        for index, message in enumerate(messages)
        if any(map(reference.names, originals.get(message.id, ())))
    )
    return next(indices, None)
