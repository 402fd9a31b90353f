"""Stand-ins: the summaries and markers that compactctl wrote in place of hidden messages."""

from collections.abc import Sequence

from compactctl.model.message import Message, MessageId


def is_marker(message: Message) -> bool:
    """Whether the message is a truncation marker, ours or a client's."""
    return message.tags.is_truncation_marker


def is_stand_in(message: Message) -> bool:
    """Whether compactctl wrote the message as a summary or a marker."""
    return message.synthetic and (message.summary or is_marker(message))


def group_behind(message: Message) -> str | None:
    """Return the group whose messages a stand-in stands for, None where it is to stand for none.

    What a person dropped does not return; nor does what others hid behind markers of their own.
    """
    tags = message.tags
    if tags.condense_id:
        return tags.condense_id
    is_ours = message.synthetic and tags.is_truncation_marker
    return tags.truncation_id if is_ours and not tags.final else None


def record_name(message_id: str) -> str:
    """Return a message id without the number that tells records of equal content apart.

    The number changes when an earlier one of them is hidden.
    """
    return message_id.partition("#")[0]


def is_newest(messages: Sequence[Message], through: str | None) -> bool:
    """Whether ``through``, noted when a stand-in was written, is still the newest message."""
    newest = newest_id(messages)
    return bool(through and newest) and record_name(str(through)) == record_name(str(newest))


def newest_id(messages: Sequence[Message]) -> MessageId | None:
    """Return the id of the newest message that is not a stand-in, None when there is none."""
    return next((m.id for m in reversed(messages) if not is_stand_in(m)), None)
