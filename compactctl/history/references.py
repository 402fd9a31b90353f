"""References to messages, as summaries print them and users type them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from compactctl.model.message import FirstPlace, Message, MessageId
from compactctl.records import Record, replace

_REFERENCE = re.compile(
    r"(?P<mark>\[)?(?P<unit>[LM])(?P<number>\d{1,9})(?:\.(?P<item>\d{1,9}))?"
    r"(?:@(?P<state>\d{1,6}))?(?(mark)\])"
)
_LINE = re.compile(r"[0-9]{1,9}|[0-9]{1,3}(?:,[0-9]{3}){1,2}")


class SourceRef(Record, kw_only=False):
    """A reference such as ``[L12]``: a line of the file, or a message of a document, from 1.

    Attributes:
        number: the number of the line or message.
        unit: which of the two it counts.
        item: of a line with several messages, the number of the message in it, from 1; else 0.
        state: how many compactions were in effect when the file had the line.
        position: the place of the message in the conversation, from 1. Lines may be in another
            order.
    """

    number: int
    unit: Literal["L", "M"] = "L"
    item: int = 0
    state: int = 0
    position: int = 0

    def __eq__(self, other: object) -> bool:
        """Return whether users type both the same way; the position does not matter."""
        return isinstance(other, SourceRef) and self.name == other.name

    def __hash__(self) -> int:
        """Hash what is compared."""
        return hash(self.name)

    def __str__(self) -> str:
        """Return it as summaries write it, such as ``[L12]`` or ``[L12.3]``; "" for ``NO_REF``."""
        return f"[{self.name}]" if self.number else ""

    @property
    def name(self) -> str:
        """The reference as users type it, such as ``L12`` or ``L12@1``; "" for ``NO_REF``."""
        item = f".{self.item}" if self.item else ""
        state = f"@{self.state}" if self.state else ""
        return f"{self.unit}{self.number}{item}{state}" if self.number else ""

    def without_line(self) -> "SourceRef":
        """Return ``NO_REF`` with the position of this reference."""
        return replace(NO_REF, position=self.position)

    def names(self, message: Message) -> bool:
        """Return whether this is the first line, or number in its document, of a message."""
        place = first_place(message)
        number = place.number if is_in_document(message) else 0
        if place.state != self.state:
            return False
        if self.unit == "M":
            return number == self.number
        return place.line + 1 == self.number and self.item in (0, number)


NO_REF = SourceRef(0)
"""The reference of what an earlier digest quotes, whose line is not known any more."""


def parse_reference(name: str) -> SourceRef | None:
    """Parse ``L12``, ``[L12]``, ``L12.3``, ``M12``, ``L12@1`` and the like; None for all else."""
    match = _REFERENCE.fullmatch(name)
    if match is None or (match["unit"] == "M" and match["item"]):
        return None
    unit: Literal["L", "M"] = "L" if match["unit"] == "L" else "M"
    item, state = int(match["item"] or 0), int(match["state"] or 0)
    return SourceRef(int(match["number"]), unit, item, state)


def first_place(message: Message, state: int = 0) -> FirstPlace:
    """Return the first place of a message; if it is not known, where it is, in ``state``."""
    if message.first_place is not None:
        return message.first_place
    paths = (part.path for part in message.parts)
    number = next((step + 1 for path in paths for step in path if isinstance(step, int)), 0)
    return FirstPlace(state, message.line, number)


def is_in_document(message: Message) -> bool:
    """Whether a message is one of several on its line."""
    return any(isinstance(step, int) for step in message.record_path)


def refs_of(messages: Sequence[Message]) -> list[SourceRef]:
    """Return references to messages: by line, or by message if all are on one line.

    A message among several on its line has its number there, too, such as ``[L12.3]``.
    """
    places = [first_place(message) for message in messages]
    if len(messages) > 1 and len({(place.state, place.line) for place in places}) == 1:
        return [
            SourceRef(place.number or position, "M", state=place.state, position=position)
            for position, place in enumerate(places, start=1)
        ]
    shared = [is_in_document(message) for message in messages]
    counts = Counter(p[:2] for p, is_shared in zip(places, shared, strict=True) if is_shared)
    return [
        SourceRef(
            place.line + 1,
            item=place.number if is_shared and counts[place[:2]] > 1 else 0,
            state=place.state,
            position=position,
        )
        for position, (place, is_shared) in enumerate(zip(places, shared, strict=True), start=1)
    ]


def messages_named(messages: Sequence[Message], name: str) -> Iterator[int]:
    """Yield the indices of the messages that a name means.

    It is an id, or else a line (``12``) or a reference (``L12``, ``[L12]``).
    """
    by_id = [index for index, message in enumerate(messages) if message.id == name]
    line = SourceRef(int(name.replace(",", ""))) if _LINE.fullmatch(name) else None
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
