"""What compactctl wrote in place of messages, as readers find it."""

from compactctl.clients.records.builder import RecordPlace, build_message
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.message_draft import MessageDraft
from compactctl.clients.wrappings import UNKNOWN_CLIENT
from compactctl.model.message import NO_TAGS, Message, MessageId, Tags, TextPart

PROVEN = Tags(condense_id="c", operation="op")
"""Tags that tell who wrote a record."""


def read_back(text: str, *, tags: Tags = NO_TAGS) -> Message:
    """Build the message of a text by compactctl, beside which others may have written."""
    draft = MessageDraft(role="user", parts=(TextPart(text=text),))
    place = RecordPlace(Decoded(0, len(text)), wrapping=UNKNOWN_CLIENT)
    return build_message(draft, {}, place, tags, MessageId(""))
