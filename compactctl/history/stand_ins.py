"""Stand-ins: summaries and markers that compactctl wrote in place of hidden messages."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from compactctl.model.message import Message, MessageId, Tags, TextPart
from compactctl.model.own_texts import OwnMarker, OwnText

# No text stands for more messages than this, whatever it says.
_MAX_COUNT = 10**9
SUMMARY_QUESTION = "Summarize the conversation we had so far."
"""Stands before a summary that is written as the model's answer; Spring AI Session's words."""


def is_marker(message: Message) -> bool:
    """Whether the message is a truncation marker, by compactctl or by a client."""
    return message.tags.is_truncation_marker or is_own_marker(message)


def is_own_marker(message: Message) -> bool:
    """Whether compactctl wrote the message as a marker, with tags or without."""
    has_marker = any(isinstance(text, OwnMarker) for text in own_texts(message))
    return message.origin.is_synthetic and (message.tags.is_truncation_marker or has_marker)


def own_texts(message: Message) -> tuple[OwnText, ...]:
    """Return what compactctl wrote in a message, as far as it can be read back."""
    texts = (part for part in message.parts if isinstance(part, TextPart))
    return tuple([text for part in texts for text in part.own_texts])


def is_proven(message: Message) -> bool:
    """Whether tags of compactctl say that it wrote a message; else only its text does.

    In the run that writes it, a message has no operation yet. Other programs use the same ids.
    """
    return bool(message.tags.hiding_ids and (message.tags.operation or message.tags.through))


def is_stand_in(message: Message) -> bool:
    """Whether compactctl wrote the message as a summary or a marker."""
    return message.origin.is_synthetic and (message.origin.is_summary or is_marker(message))


def hidden_group(message: Message) -> str | None:
    """Return the group of messages that a stand-in represents, None if it represents none.

    A final marker does not: what the user dropped must not come back. Nor does a marker of another
    program.
    """
    tags = message.tags
    if tags.condense_id:
        return tags.condense_id
    is_ours = message.origin.is_synthetic and tags.is_truncation_marker
    return tags.truncation_id if is_ours and not tags.is_final else None


def base_id(message_id: str) -> str:
    """Return a message id without the number that distinguishes records of equal content.

    The number changes when an earlier one of them is hidden.
    """
    return message_id.partition("#")[0]


def same_name_indices(messages: Sequence[Message], through: str) -> Sequence[int]:
    """Return the indices of the messages with the base id of ``through``, up to that message.

    Ids that are derived from content repeat: every "Continue." has the same one.
    """
    name, indices = base_id(through), list[int]()
    for index, message in enumerate(messages):
        if base_id(message.id) == name:
            indices.append(index)
        if message.id == through:
            break
    return indices


def occurrence(indices: Sequence[int], start: int) -> int | None:
    """Return how many of the sorted ``indices`` are not before ``start``; None for 0 or 1."""
    count = len(indices) - bisect_left(indices, start)
    return count if count > 1 else None


def edit_points(messages: Sequence[Message]) -> Mapping[int, int | None]:
    """Map messages by compactctl to the message that was the newest when they were written.

    Both are indices; None if that message is no longer there. If fewer messages have its base id
    than at that time, because some were hidden since, it is the last of them.
    """
    tags_by_index = {
        index: message.tags for index, message in enumerate(messages) if message.tags.through
    }
    names = {base_id(tags.through or "") for tags in tags_by_index.values()}
    indices_by_name: dict[str, list[int]] = {name: [] for name in names}
    for index, message in enumerate(messages if tags_by_index else ()):
        name = base_id(message.id)
        if name in names and not message.tags.hidden_by:
            indices_by_name[name].append(index)
    return {
        index: _edit_point(indices_by_name, index, tags) for index, tags in tags_by_index.items()
    }


def _edit_point(indices_by_name: Mapping[str, Sequence[int]], start: int, tags: Tags) -> int | None:
    indices = indices_by_name[base_id(tags.through or "")]
    later = indices[bisect_left(indices, start) :] or indices[-1:]
    return later[min(max(tags.occurrence or 1, 1), len(later)) - 1] if later else None


def is_unchanged(messages: Sequence[Message], stand_in: Message) -> bool:
    """Whether no message was added after ``stand_in``, one of the messages, was written."""
    index = messages.index(stand_in)
    if stand_in.tags.through:
        newest_index = edit_points(messages).get(index)
        return newest_index is not None and messages[newest_index].id == newest_id(messages)
    written = [text for text in own_texts(stand_in) if not isinstance(text, OwnMarker)]
    later = sum(not is_stand_in(message) for message in messages[index + 1 :])
    return bool(written) and later == written[-1].following


def newest_summary(messages: Sequence[Message]) -> Message | None:
    """Return the newest summary by compactctl, None if there is none."""
    return next((m for m in reversed(messages) if is_stand_in(m) and not is_marker(m)), None)


def newest_id(messages: Sequence[Message]) -> MessageId | None:
    """Return the id of the newest message that is not a stand-in, None if there is none."""
    return next((m.id for m in reversed(messages) if not is_stand_in(m)), None)


def message_count(messages: Iterable[Message]) -> int:
    """Return how many messages these stand for: each for itself, unless it says how many.

    The question before a summary stands for none.
    """
    return sum(map(_count, messages))


def _count(message: Message) -> int:
    earlier = sum(min(text.count, _MAX_COUNT) for text in own_texts(message))
    if earlier:
        return earlier + any(map(message.words, message.parts))
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    is_question = message.origin.is_synthetic and texts == [SUMMARY_QUESTION]
    return 0 if is_question else 1
