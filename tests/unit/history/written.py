"""What compactctl wrote in place of messages, as readers find it."""

from compactctl.formats.records.builder import RecordPlace, build_message
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.message_draft import MessageDraft
from compactctl.model.message import NO_TAGS, Message, MessageId, Tags, TextPart

PROVEN = Tags(condense_id="c", operation="op")
"""Tags that tell who wrote a record."""


def read_back(text: str, *, tags: Tags = NO_TAGS) -> Message:
    """Build the message of a text by compactctl, beside which others may have written."""
    draft = MessageDraft(role="user", parts=(TextPart(text=text),))
    return build_message(draft, {}, RecordPlace(Decoded(0, len(text))), tags, MessageId(""))
