"""What of a conversation a provider still reads, after it compacted or cleared content itself.

The client goes on sending everything; what is left out here is not part of the context.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile

from compactctl.history.pairs import PartIndex, iter_parts, tool_pairs
from compactctl.history.turns import find_turns
from compactctl.model.message import (
    Clearing,
    Message,
    Part,
    ReasoningPart,
    ToolCallPart,
    ToolResultPart,
    is_compaction,
    is_replaceable,
)
from compactctl.records import replace

_CLEARED = "[Old tool result content cleared]"


def as_read(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return the messages of one conversation as its provider reads them.

    Usage reported before a compaction or a clearing describes a larger context, and is removed.
    """
    return _cleared(_compacted(messages))


def _compacted(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Remove what stands before the provider's newest summary, except the system prompt."""
    newest = next((item for item in _newest_first(messages) if is_compaction(item[1])), None)
    if newest is None:
        return messages
    (index, number), part = newest
    earlier, first = messages[:index], messages[index]
    if isinstance(part, ReasoningPart) and _is_window(earlier):
        return messages
    system = takewhile(lambda message: message.role == "system", earlier)
    remaining = first.parts[number:]
    # An answer that is only a summary reports the size of what it summarizes.
    usage = first.usage if len(remaining) > 1 else None
    later = (_without_usage_beside(first, message) for message in messages[index + 1 :])
    return (*system, replace(first, parts=remaining, usage=usage), *later)


def _without_usage_beside(summary: Message, message: Message) -> Message:
    """Return an item of the same logged answer as a summary without the usage of that answer."""
    is_same_answer = (
        summary.origin.is_logged_answer
        and message.origin.is_logged_answer
        and (summary.line, summary.record_path[:-1]) == (message.line, message.record_path[:-1])
    )
    return replace(message, usage=None) if is_same_answer else message


def _newest_first(messages: Sequence[Message]) -> Iterator[tuple[PartIndex, Part]]:
    for index in range(len(messages) - 1, -1, -1):
        parts = messages[index].parts
        for number in range(len(parts) - 1, -1, -1):
            yield PartIndex(index, number), parts[number]


def _is_window(messages: Sequence[Message]) -> bool:
    """Whether these are what OpenAI's own endpoint for compaction retains: no answer is left.

    That window is sent as it is, and read whole.
    """
    return not any(message.role in ("assistant", "tool") for message in messages)


def _cleared(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """Clear what the provider cleared from the newest request."""
    request = _newest_request(messages)
    if request is None:
        return messages
    sent, clearing = request
    parts = {**_cleared_tools(sent, clearing), **_cleared_reasoning(sent, clearing)}
    read = [
        replace(
            message,
            parts=tuple(
                parts.get(PartIndex(index, number), part)
                for number, part in enumerate(message.parts)
            ),
            usage=None,
        )
        for index, message in enumerate(sent)
    ]
    return (*read, *messages[len(sent) :])


def cleared_tool_parts(messages: Sequence[Message]) -> dict[PartIndex, str]:
    """Return the new texts of the results and arguments that the provider cleared, by position."""
    request = _newest_request(messages)
    parts = _cleared_tools(*request) if request else {}
    return {
        index: part.arguments if isinstance(part, ToolCallPart) else part.text
        for index, part in parts.items()
    }


def _newest_request(messages: Sequence[Message]) -> tuple[Sequence[Message], Clearing] | None:
    """Return the messages of the newest answered request, and what was cleared from it, if any."""
    answer = next((m for m in reversed(messages) if m.role == "assistant"), None)
    if answer is None:
        return None
    response = [
        index
        for index, message in enumerate(messages)
        if message is answer or (answer.response_id and message.response_id == answer.response_id)
    ]
    clearing = next((c for index in response if (c := messages[index].clearing)), None)
    return None if clearing is None else (messages[: response[0]], clearing)


def _cleared_tools(
    sent: Sequence[Message], clearing: Clearing
) -> dict[PartIndex, ToolCallPart | ToolResultPart]:
    """Return the oldest results of tools without their content, by position.

    Only what an edit can clear too: a compaction makes the clearing last. Then there is none: the
    clearing belongs to the request as it was sent, and other results are now its oldest.
    """
    if any(map(_is_edited, sent)):
        return {}
    parts = dict(iter_parts(sent))
    cleared: dict[PartIndex, ToolCallPart | ToolResultPart] = {}
    by_call = sorted((call, result) for result, call in tool_pairs(sent).items())
    clearable = [pair for pair in by_call if not _is_spared(parts[pair[0]], clearing.spared_tools)]
    n_cleared = min(clearing.tool_uses, max(0, len(clearable) - clearing.kept_tool_uses))
    for index in (index for pair in clearable[:n_cleared] for index in pair):
        part = parts[index]
        if sent[index.message].locks.immutable_reason or not is_replaceable(part):
            continue
        if isinstance(part, ToolResultPart):
            cleared[index] = replace(part, text=_CLEARED, media=(), cleared=True)
        elif isinstance(part, ToolCallPart) and _clears_input(part, clearing):
            cleared[index] = replace(part, arguments="{}")
    return cleared


def _is_edited(message: Message) -> bool:
    """Whether compactctl rewrote a message, or wrote it in place of others."""
    return message.origin.is_synthetic or bool(message.tags.edit_id or message.tags.operation)


def _is_spared(part: Part, tools: Collection[str]) -> bool:
    return isinstance(part, ToolCallPart) and part.tool in tools


def _clears_input(call: ToolCallPart, clearing: Clearing) -> bool:
    return clearing.input_tools is None or call.tool in clearing.input_tools


def _cleared_reasoning(sent: Sequence[Message], clearing: Clearing) -> dict[PartIndex, Part]:
    """Return the reasoning of the oldest turns that have any without its text, by position."""
    turns = (
        {
            PartIndex(index, number): replace(part, text="", opaque=False, sealed=0)
            for index in turn
            for number, part in enumerate(sent[index].parts)
            if isinstance(part, ReasoningPart)
        }
        for turn in (find_turns(sent) if clearing.thinking_turns else ())
    )
    with_reasoning = [reasoning for reasoning in turns if reasoning]
    n_cleared = min(clearing.thinking_turns, max(0, len(with_reasoning) - clearing.kept_turns))
    cleared = with_reasoning[:n_cleared]
    return {index: part for reasoning in cleared for index, part in reasoning.items()}
