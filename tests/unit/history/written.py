"""What compactctl wrote in place of messages, as readers find it."""

from typing import Any

from builders import message

from compactctl.formats.records.builder import with_own_texts
from compactctl.model.message import Message, Tags, TextPart

PROVEN = Tags(condense_id="c", operation="op")
"""Tags that tell who wrote a record."""


def read_back(text: str, *, is_alone: bool = True, **fields: Any) -> Message:
    """Build the message of a summary by compactctl; others may have written beside it."""
    parts = with_own_texts((TextPart(text=text),), is_alone=is_alone)
    origin = {"is_injected": True, "is_summary": True, "is_synthetic": True}
    return message("user", *parts, **{**origin, **fields})
