"""Stand-ins: the summaries and markers that compactctl wrote in place of hidden messages."""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence

from compactctl.model.message import Message, MessageId, Tags

NOTE = r"(?:(?:Digest|Hand-over) of )?[\d,]+ earlier messages?\b[^\n]*\bwithout a model\b"
"""A pattern of the note on what a summary or digest was made from, which it begins with."""
_START = rf"(?:{NOTE}|Earlier messages were condensed; \d+ tokens hold no summary of them\.)"
_LABELED_START = re.compile(rf"(?:\[[^\]\n]*\]:?\n\n)?{_START}")
_ANY_START = re.compile(rf"^{_START}", re.MULTILINE)
# How the lines of a summary begin, but for those of the requests that it quotes.
_SUMMARY_LINE = re.compile(rf"- |  |> |#+ |---$|N/A$|\(none\)$|\[[LM]\d+\] |\[Earlier |{_START}")


def is_marker(message: Message) -> bool:
    """Whether the message is a truncation marker, ours or a client's."""
    return message.tags.is_truncation_marker


def is_stand_in(message: Message) -> bool:
    """Whether compactctl wrote the message as a summary or a marker."""
    return message.origin.is_synthetic and (message.origin.is_summary or is_marker(message))


def hidden_group(message: Message) -> str | None:
    """Return the group whose messages a stand-in stands for, None where it is to stand for none.

    What a person dropped does not return; nor does what others hid behind markers of their own.
    """
    tags = message.tags
    if tags.condense_id:
        return tags.condense_id
    is_ours = message.origin.is_synthetic and tags.is_truncation_marker
    return tags.truncation_id if is_ours and not tags.is_final else None


def base_id(message_id: str) -> str:
    """Return a message id without the number that tells records of equal content apart.

    The number changes when an earlier one of them is hidden.
    """
    return message_id.partition("#")[0]


def same_name_indices(messages: Sequence[Message], through: str) -> Sequence[int]:
    """Return the indices of the messages with the name of ``through``, up to that one.

    Names that are made from content repeat, as that of "Continue." does.
    """
    name, places = base_id(through), list[int]()
    for index, message in enumerate(messages):
        if base_id(message.id) == name:
            places.append(index)
        if message.id == through:
            break
    return places


def occurrence(places: Sequence[int], start: int) -> int | None:
    """Return how many of ``places`` are not before ``start``, None for fewer than two."""
    count = len(places) - bisect_left(places, start)
    return count if count > 1 else None


def edit_points(messages: Sequence[Message]) -> Mapping[int, int | None]:
    """Return which message was the newest one when compactctl wrote the ones that note it.

    Both are indices; None where the message is gone. Where fewer messages have its name than there
    were, since some were hidden later, it is taken for the last of them.
    """
    noted = {index: message.tags for index, message in enumerate(messages) if message.tags.through}
    wanted = {base_id(tags.through or "") for tags in noted.values()}
    places: dict[str, list[int]] = {name: [] for name in wanted}
    for index, message in enumerate(messages if noted else ()):
        name = base_id(message.id)
        if name in wanted and not message.tags.hidden_by:
            places[name].append(index)
    return {index: _place(places, index, tags) for index, tags in noted.items()}


def _place(places: Mapping[str, Sequence[int]], start: int, tags: Tags) -> int | None:
    indices = places[base_id(tags.through or "")]
    behind = indices[bisect_left(indices, start) :] or indices[-1:]
    return behind[min(max(tags.occurrence or 1, 1), len(behind)) - 1] if behind else None


def is_unchanged(messages: Sequence[Message], stand_in: Message) -> bool:
    """Whether nothing was added since a stand-in among the messages was written."""
    newest = newest_id(messages)
    place = edit_points(messages).get(messages.index(stand_in))
    return place is not None and messages[place].id == newest


def newest_id(messages: Sequence[Message]) -> MessageId | None:
    """Return the id of the newest message that is not a stand-in, None when there is none."""
    return next((m.id for m in reversed(messages) if not is_stand_in(m)), None)


def is_by_compactctl(text: str, *, is_summary: bool) -> bool:
    """Tell whether compactctl wrote a text as a summary or digest, as far as the text tells.

    One that its record calls a summary, ``is_summary``, may have any text in front.
    """
    start = _ANY_START.search(text) if is_summary else _LABELED_START.match(text)
    return start is not None


def text_after_summary(text: str) -> str:
    """Return what stands behind a summary by compactctl: last paragraphs that are not its own."""
    paragraphs = text.split("\n\n")
    start = len(paragraphs)
    while start > 1 and not any(map(_SUMMARY_LINE.match, paragraphs[start - 1].split("\n"))):
        start -= 1
    return "\n\n".join(paragraphs[start:]).strip()
