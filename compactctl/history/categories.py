"""Categories: the buckets that every token of a conversation falls into, one each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, get_args

from compactctl.history.pairs import PartIndex, iter_parts
from compactctl.history.reads import FileRead
from compactctl.history.turns import leading_system_indices
from compactctl.model.message import (
    FilePart,
    MediaPart,
    Message,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolDefinitionPart,
    ToolResultPart,
)
from compactctl.tokens.meter import Meter

Category = Literal[
    "system prompt",
    "tool definitions",
    "user",
    "assistant",
    "reasoning",
    "tool calls",
    "tool results",
    "file reads",
    "attachments",
    "media",
    "summaries",
    "other",
]
CATEGORIES: tuple[Category, ...] = get_args(Category)

_BY_PART: Mapping[type[Part], Category] = {
    ReasoningPart: "reasoning",
    ToolCallPart: "tool calls",
    ToolDefinitionPart: "tool definitions",
    ToolResultPart: "tool results",
    FilePart: "attachments",
    MediaPart: "media",
}
_BY_ROLE: Mapping[Role, Category] = {
    "user": "user",
    "assistant": "assistant",
    "tool": "tool results",
    "system": "other",
}


def category_tokens(
    messages: Sequence[Message], reads: Sequence[FileRead], meter: Meter
) -> dict[Category, int]:
    """Return the tokens of every category; together they are the total of the messages.

    ``reads`` are the file reads among the messages. Media inside a tool result count as media.
    Injected records and markers are "other"; system messages are the prompt only at the front of
    their conversation.
    """
    tokens: dict[Category, int] = dict.fromkeys(CATEGORIES, 0)
    for _, category, count in categorize(messages, reads, meter):
        tokens[category] += count
    return tokens


def categorize(
    messages: Sequence[Message], reads: Sequence[FileRead], meter: Meter
) -> Iterator[tuple[PartIndex, Category, int]]:
    """Yield the tokens of every part in order; see ``category_tokens``.

    Its media stand apart, and so does what the client answers a call that has no result.
    """
    read_places = {read.part_index for read in reads}
    front = leading_system_indices(messages)
    for place, part in iter_parts(messages):
        message = messages[place.message]
        media, answer = _media_tokens(part, meter), _answer_tokens(part, meter)
        category = "file reads" if place in read_places else _category(message, part)
        if category == "other" and place.message in front:
            category = "system prompt"
        if media:
            yield place, "media", media
        if answer:
            yield place, "tool results", answer
        yield place, category, meter.part(part) - media - answer


def _category(message: Message, part: Part) -> Category:
    if message.origin.is_summary:
        return "summaries"
    if isinstance(part, TextPart):
        written = not (message.origin.is_injected or message.origin.is_synthetic)
        return _BY_ROLE[message.role] if written else "other"
    return _BY_PART[type(part)]


def _media_tokens(part: Part, meter: Meter) -> int:
    if isinstance(part, ToolResultPart):
        return sum(meter.part(item) for item in part.media)
    return meter.part(part) if isinstance(part, MediaPart) else 0


def _answer_tokens(part: Part, meter: Meter) -> int:
    return meter.text(part.added) if isinstance(part, ToolCallPart) else 0
