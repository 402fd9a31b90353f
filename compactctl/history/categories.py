"""Count tokens by category; every token of a conversation is in exactly one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, get_args

from compactctl.history.pairs import PartIndex, iter_parts
from compactctl.history.reads import FileRead
from compactctl.history.turns import leading_system_indices
from compactctl.model.message import (
    FilePart,
    MediaPart,
    Message,
    OmittedPart,
    Part,
    ReasoningPart,
    Role,
    TextPart,
    ToolCallPart,
    ToolDefinitionPart,
    ToolResultPart,
    is_compaction,
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

_CATEGORY_BY_PART: Mapping[type[Part], Category] = {
    ReasoningPart: "reasoning",
    ToolCallPart: "tool calls",
    ToolDefinitionPart: "tool definitions",
    ToolResultPart: "tool results",
    FilePart: "attachments",
    OmittedPart: "other",
    MediaPart: "media",
}
_CATEGORY_BY_ROLE: Mapping[Role, Category] = {
    "user": "user",
    "assistant": "assistant",
    "tool": "tool results",
    "system": "other",
}


def category_tokens(
    messages: Sequence[Message], reads: Sequence[FileRead], meter: Meter
) -> dict[Category, int]:
    """Return the tokens of every category; they add up to the total of the messages.

    ``reads`` are the file reads in the messages. Media in a tool result count as media. Injected
    records and markers are "other"; a system message is the system prompt only at the start of its
    conversation.
    """
    tokens: dict[Category, int] = dict.fromkeys(CATEGORIES, 0)
    for _, category, count in categorize(messages, reads, meter):
        tokens[category] += count
    return tokens


def categorize(
    messages: Sequence[Message], reads: Sequence[FileRead], meter: Meter
) -> Iterator[tuple[PartIndex, Category, int]]:
    """Yield the tokens of every part by category, in order; see ``category_tokens``.

    A part is yielded more than once if it has media, or if it is a call without a result, for which
    the client sends one.
    """
    read_indices = {read.part_index for read in reads}
    system_indices = leading_system_indices(messages)
    for index, part in iter_parts(messages):
        message = messages[index.message]
        tokens = meter.part(part)
        media, added = _media_tokens(part, meter), _added_tokens(part, meter)
        category = "file reads" if index in read_indices else _category(message, part)
        if category == "other" and index.message in system_indices:
            category = "system prompt"
        if media:
            yield index, "media", media
        if added:
            yield index, "tool results", added
        yield index, category, tokens - media - added


def _category(message: Message, part: Part) -> Category:
    if message.origin.is_summary or is_compaction(part):
        return "summaries"
    if isinstance(part, TextPart):
        if message.origin.is_injected or message.origin.is_synthetic:
            return "other"
        return _CATEGORY_BY_ROLE[message.role]
    return _CATEGORY_BY_PART[type(part)]


def _media_tokens(part: Part, meter: Meter) -> int:
    if isinstance(part, ToolResultPart):
        return sum([meter.part(item) for item in part.media]) if part.media else 0
    return meter.part(part) if isinstance(part, MediaPart) else 0


def _added_tokens(part: Part, meter: Meter) -> int:
    return meter.text(part.added) if isinstance(part, ToolCallPart) else 0
