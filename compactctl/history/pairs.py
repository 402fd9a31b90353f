"""Tool calls and their results, and where a conversation may be cut without separating them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Literal, NamedTuple

from compactctl.model.message import (
    CallId,
    Message,
    MessageId,
    Part,
    ToolCallPart,
    ToolResultPart,
)

_TOOL_PARTS = (ToolCallPart, ToolResultPart)


class PartIndex(NamedTuple):
    """The position of a part: the index of its message, and its index in the message."""

    message: int
    part: int


class Orphan(NamedTuple):
    """A tool call without a result or without the code that made it, or a result without a call."""

    message: MessageId
    call_id: CallId
    kind: Literal["call", "result"]


def tool_pairs(messages: Sequence[Message]) -> dict[PartIndex, PartIndex]:
    """Map every tool result to its call: the newest call before it with the same call id.

    Ids repeat when a client numbers the calls of each response from 0. An empty id matches nothing.
    """
    newest: dict[CallId, PartIndex] = {}
    pairs: dict[PartIndex, PartIndex] = {}
    for index, part in _tool_parts(messages):
        if isinstance(part, ToolCallPart):
            newest[part.call_id] = index
        elif part.call_id in newest:
            pairs[index] = newest[part.call_id]
    return pairs


def call_makers(messages: Sequence[Message]) -> dict[PartIndex, PartIndex | None]:
    """Map every call by code to the call that ran the code, None if that is not before it."""
    newest: dict[CallId, PartIndex] = {}
    makers: dict[PartIndex, PartIndex | None] = {}
    for index, part in _tool_parts(messages):
        if isinstance(part, ToolCallPart):
            if part.caller:
                makers[index] = newest.get(part.caller)
            newest[part.call_id] = index
    return makers


def result_tools(messages: Sequence[Message]) -> dict[PartIndex, str]:
    """Map every tool result to the name of its tool; "" if neither result nor call has it."""
    pairs = tool_pairs(messages)
    return {
        index: part.tool or _tool_of_call(messages, pairs.get(index))
        for index, part in iter_results(messages)
    }


def parts_of_tools(messages: Sequence[Message], tools: Iterable[str]) -> dict[PartIndex, str]:
    """Map the calls and results of ``tools`` (in any case) to the tool's name, in order."""
    folded_names = {tool.casefold() for tool in tools}
    results = result_tools(messages)
    tool_names = {
        index: part.tool if isinstance(part, ToolCallPart) else results[index]
        for index, part in iter_parts(messages)
        if isinstance(part, _TOOL_PARTS)
    }
    return {index: tool for index, tool in tool_names.items() if tool.casefold() in folded_names}


def find_orphans(messages: Sequence[Message]) -> frozenset[Orphan]:
    """Return the calls without a result and the results without a call.

    Calls by code that is missing are orphans, and so are their results: APIs refuse them. Parts
    with an empty call id are left out: they cannot be matched.
    """
    return frozenset(
        Orphan(
            message=messages[index.message].id,
            call_id=part.call_id,
            kind="call" if isinstance(part, ToolCallPart) else "result",
        )
        for index, part in orphan_parts(messages).items()
    )


def orphan_parts(messages: Sequence[Message]) -> dict[PartIndex, ToolCallPart | ToolResultPart]:
    """Return the parts behind ``find_orphans``, by position and in order."""
    lost_calls = {call for call, maker in call_makers(messages).items() if maker is None}
    return _unpaired(messages, lost_calls)


def unpaired_parts(messages: Sequence[Message]) -> dict[PartIndex, ToolCallPart | ToolResultPart]:
    """Return the calls without a result and the results without a call, whoever made the calls."""
    return _unpaired(messages, set())


def _unpaired(
    messages: Sequence[Message], lost_calls: set[PartIndex]
) -> dict[PartIndex, ToolCallPart | ToolResultPart]:
    pairs = tool_pairs(messages)
    sound = {result: call for result, call in pairs.items() if call not in lost_calls}
    paired = sound.keys() | set(sound.values())
    return {index: part for index, part in _tool_parts(messages) if index not in paired}


def atomic_units(messages: Sequence[Message]) -> tuple[tuple[int, ...], ...]:
    """Group the indices of messages that must be hidden together, in order of their first index.

    The records of one model response belong together, and so do a call, its results, and the calls
    that its code made. Groups are joined with a union-find, whose root is the first message.
    """
    parent = list(range(len(messages)))

    def find_root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    for first, second in _linked_messages(messages):
        low, high = sorted((find_root(first), find_root(second)))
        parent[high] = low
    members: dict[int, list[int]] = {}
    for index in range(len(messages)):
        members.setdefault(find_root(index), []).append(index)
    return tuple(tuple(unit) for unit in members.values())


def cut_points(messages: Sequence[Message]) -> tuple[int, ...]:
    """Return every index from 0 to ``len(messages)`` at which a cut splits no unit.

    units (0,), (1, 3), (2, 4), (5,)  ->  0, 1, 5, 6
    """
    depth_changes = [0] * (len(messages) + 1)
    for unit in atomic_units(messages):
        depth_changes[unit[0] + 1] += 1
        depth_changes[unit[-1] + 1] -= 1
    return tuple(index for index, depth in enumerate(accumulate(depth_changes)) if depth == 0)


def iter_parts(messages: Sequence[Message]) -> Iterator[tuple[PartIndex, Part]]:
    """Yield all parts in order, each with its position."""
    for index, message in enumerate(messages):
        for position, part in enumerate(message.parts):
            yield PartIndex(index, position), part


def iter_results(messages: Sequence[Message]) -> Iterator[tuple[PartIndex, ToolResultPart]]:
    """Yield all tool results in order, each with its position."""
    for index, message in enumerate(messages):
        for position, part in enumerate(message.parts):
            if isinstance(part, ToolResultPart):
                yield PartIndex(index, position), part


def _tool_parts(
    messages: Sequence[Message],
) -> Iterator[tuple[PartIndex, ToolCallPart | ToolResultPart]]:
    for index, message in enumerate(messages):
        for position, part in enumerate(message.parts):
            if isinstance(part, _TOOL_PARTS) and part.call_id:
                yield PartIndex(index, position), part


def _tool_of_call(messages: Sequence[Message], index: PartIndex | None) -> str:
    call = messages[index.message].parts[index.part] if index else None
    return call.tool if isinstance(call, ToolCallPart) else ""


def _linked_messages(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    responses: dict[str, int] = {}
    newest: dict[CallId, int] = {}
    for index, message in enumerate(messages):
        if message.response_id:
            yield responses.setdefault(message.response_id, index), index
        for part in message.parts:
            if isinstance(part, ToolCallPart) and part.call_id:
                if part.caller in newest:
                    yield newest[part.caller], index
                newest[part.call_id] = index
            elif isinstance(part, ToolResultPart) and part.call_id in newest:
                yield newest[part.call_id], index
