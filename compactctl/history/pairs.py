"""Tool calls and their results, and where a conversation may be cut without parting them."""

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

_PAIRED = (ToolCallPart, ToolResultPart)


class PartIndex(NamedTuple):
    """Where a part stands: index of its message, index of the part in the message."""

    message: int
    part: int


class Orphan(NamedTuple):
    """A tool call without a result, or a tool result without a call."""

    message: MessageId
    call_id: CallId
    kind: Literal["call", "result"]


def tool_pairs(messages: Sequence[Message]) -> dict[PartIndex, PartIndex]:
    """Map every tool result to its call: the newest call before it with the same call id.

    Clients that number calls anew in each response reuse ids. An empty id joins nothing.
    """
    newest: dict[CallId, PartIndex] = {}
    pairs: dict[PartIndex, PartIndex] = {}
    for place, part in _tool_parts(messages):
        if isinstance(part, ToolCallPart):
            newest[part.call_id] = place
        elif part.call_id in newest:
            pairs[place] = newest[part.call_id]
    return pairs


def result_tools(messages: Sequence[Message]) -> dict[PartIndex, str]:
    """Name the tool behind every tool result; empty when neither result nor call says it."""
    pairs = tool_pairs(messages)
    return {
        place: part.tool or _called_tool(messages, pairs.get(place))
        for place, part in iter_parts(messages)
        if isinstance(part, ToolResultPart)
    }


def parts_of_tools(messages: Sequence[Message], tools: Iterable[str]) -> dict[PartIndex, str]:
    """Name the tool behind each call and result of the named ``tools``, in any case, in order."""
    names = {tool.casefold() for tool in tools}
    results = result_tools(messages)
    found = {
        place: part.tool if isinstance(part, ToolCallPart) else results[place]
        for place, part in iter_parts(messages)
        if isinstance(part, _PAIRED)
    }
    return {place: tool for place, tool in found.items() if tool.casefold() in names}


def find_orphans(messages: Sequence[Message]) -> frozenset[Orphan]:
    """Return the calls without a result and the results without a call.

    Parts with an empty call id are left out, because nothing can be said about them.
    """
    return frozenset(
        Orphan(
            message=messages[place.message].id,
            call_id=part.call_id,
            kind="call" if isinstance(part, ToolCallPart) else "result",
        )
        for place, part in orphan_parts(messages).items()
    )


def orphan_parts(messages: Sequence[Message]) -> dict[PartIndex, ToolCallPart | ToolResultPart]:
    """Return the same calls and results by their places, in order."""
    pairs = tool_pairs(messages)
    paired = pairs.keys() | set(pairs.values())
    return {place: part for place, part in _tool_parts(messages) if place not in paired}


def atomic_units(messages: Sequence[Message]) -> tuple[tuple[int, ...], ...]:
    """Group message indices that are hidden together or not at all, in order of first index.

    Records of one model response belong together, and so do a call and its results.
    """
    parent = list(range(len(messages)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    for one, other in _links(messages):
        first, second = sorted((root(one), root(other)))
        parent[second] = first
    members: dict[int, list[int]] = {}
    for index in range(len(messages)):
        members.setdefault(root(index), []).append(index)
    return tuple(tuple(unit) for unit in members.values())


def cut_points(messages: Sequence[Message]) -> tuple[int, ...]:
    """Return every index from 0 to ``len(messages)`` before which no unit is parted."""
    opened = [0] * (len(messages) + 1)
    for unit in atomic_units(messages):
        opened[unit[0] + 1] += 1
        opened[unit[-1] + 1] -= 1
    return tuple(index for index, depth in enumerate(accumulate(opened)) if depth == 0)


def iter_parts(messages: Sequence[Message]) -> Iterator[tuple[PartIndex, Part]]:
    """Walk over all parts in order, each with its place."""
    for index, message in enumerate(messages):
        for position, part in enumerate(message.parts):
            yield PartIndex(index, position), part


def _tool_parts(
    messages: Sequence[Message],
) -> Iterator[tuple[PartIndex, ToolCallPart | ToolResultPart]]:
    for index, message in enumerate(messages):
        for position, part in enumerate(message.parts):
            if isinstance(part, _PAIRED) and part.call_id:
                yield PartIndex(index, position), part


def _called_tool(messages: Sequence[Message], place: PartIndex | None) -> str:
    call = messages[place.message].parts[place.part] if place else None
    return call.tool if isinstance(call, ToolCallPart) else ""


def _links(messages: Sequence[Message]) -> Iterator[tuple[int, int]]:
    first: dict[str, int] = {}
    for index, message in enumerate(messages):
        if message.response_id:
            yield first.setdefault(message.response_id, index), index
    for result, call in tool_pairs(messages).items():
        yield call.message, result.message
