"""Stand-ins: summaries and markers that compactctl wrote in place of hidden messages."""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence

from compactctl.history.references import WRITTEN
from compactctl.model.message import Message, MessageId, Tags

NOTE = r"(?:(?:Digest|Hand-over) of )?[\d,]+ earlier messages?\b[^\n]*\bwithout a model\b"
"""Matches the note that begins a summary or digest: what it was made from."""
SUMMARY_QUESTION = "Summarize the conversation we had so far."
"""Stands before a summary that is written as the model's answer; Spring AI Session's words."""
_START = rf"(?:{NOTE}|Earlier messages were condensed; \d+ tokens hold no summary of them\.)"
# The whole first line: a user may ask about a part of it.
_FIRST_LINE = (
    rf"(?:{NOTE}[^\n]* of what was compacted\.|Earlier messages were condensed; .*)(?:\n|\Z)"
)
_LABELED_START = re.compile(rf"(?:\[[^\]\n]*\]:?\n\n)?{_FIRST_LINE}")
_ANY_START = re.compile(rf"^{_START}", re.MULTILINE)
# How the lines of a summary begin, except those of the requests that it quotes.
_SUMMARY_LINE = re.compile(rf"- |  |> |#+ |---$|N/A$|\(none\)$|{WRITTEN} |\[Earlier |{_START}")


def is_marker(message: Message) -> bool:
    """Whether the message is a truncation marker, by compactctl or by a client."""
    return message.tags.is_truncation_marker


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
    newest = newest_id(messages)
    newest_index = edit_points(messages).get(messages.index(stand_in))
    return newest_index is not None and messages[newest_index].id == newest


def newest_id(messages: Sequence[Message]) -> MessageId | None:
    """Return the id of the newest message that is not a stand-in, None if there is none."""
    return next((m.id for m in reversed(messages) if not is_stand_in(m)), None)


def is_by_compactctl(text: str, *, is_summary: bool) -> bool:
    """Whether a text looks like a summary or digest by compactctl.

    If its record calls it a summary (``is_summary``), any text may come before.
    """
    start = _ANY_START.search(text) if is_summary else _LABELED_START.match(text)
    return start is not None


def text_after_summary(text: str) -> str:
    """Return the text after a summary by compactctl: the last paragraphs not part of it."""
    paragraphs = text.split("\n\n")
    start = len(paragraphs)
    while start > 1 and not any(map(_SUMMARY_LINE.match, paragraphs[start - 1].split("\n"))):
        start -= 1
    return "\n\n".join(paragraphs[start:]).strip()
