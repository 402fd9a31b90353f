"""Tool calls and results that a provider refuses: unpaired, repeated or in the wrong place."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from compactctl.history.pairs import PartIndex, call_makers, iter_parts, orphan_parts, tool_pairs
from compactctl.model.message import (
    CallId,
    FilePart,
    MediaPart,
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

PairOrder = Literal["anywhere", "next turn", "next messages"]
"""Where the results of calls must stand: behind the call, in the next turn, or in the messages of
tools right behind the call (OpenAI's chat)."""
PairFault = tuple[str, PartIndex]
"""The id of a rule, and the part that breaks it."""
PAIR_RULES = frozenset({"call-without-result", "result-without-call"})
"""The rules that every provider has."""
MISPLACED = frozenset({"result-not-next", "result-first", "result-in-user"})
"""The rules on where a result stands."""


class _Placed(NamedTuple):
    place: PartIndex
    part: Part


class _Turn(NamedTuple):
    """Adjacent messages of the model, or of the user and tools."""

    is_model: bool
    parts: list[_Placed]


def find_pair_faults(messages: Sequence[Message], order: PairOrder) -> Iterator[PairFault]:
    """Yield the calls and results that break a rule on pairs, in no order, each once.

    Calls of the newest response may still get their results, and those of logged answers have
    theirs in another request.
    """
    faults = dict(_second_results(messages) if order == "anywhere" else _misplaced(messages, order))
    for index, part in unpaired_halves(messages).items():
        if index not in faults:
            is_call = isinstance(part, ToolCallPart)
            faults[index] = "call-without-result" if is_call else "result-without-call"
    return ((rule, index) for index, rule in faults.items())


def _second_results(messages: Sequence[Message]) -> Iterator[tuple[PartIndex, str]]:
    answered: set[PartIndex] = set()
    for result, call in tool_pairs(messages).items():
        if call in answered:
            yield result, "result-once"
        answered.add(call)


def count_unpaired(messages: Sequence[Message]) -> int:
    """Return how many calls have no result and results no call, the newest calls included."""
    return sum(
        not (isinstance(half, ToolCallPart) and messages[index.message].origin.is_logged_answer)
        for index, half in orphan_parts(messages).items()
    )


def unpaired_halves(
    messages: Sequence[Message],
) -> dict[PartIndex, ToolCallPart | ToolResultPart]:
    """Return the calls without a result anywhere and the results without a call, in order.

    Left out are calls of the newest response, whose results may still arrive, and calls in logged
    answers, whose results are in another request.
    """
    pending = pending_response(messages)
    makers = call_makers(messages)
    # Code that called a tool goes on when the result arrives.
    waiting_code = {maker for call, maker in makers.items() if call.message in pending}

    def is_pending(call: PartIndex) -> bool:
        return call.message in pending or messages[call.message].origin.is_logged_answer

    halves = {**orphan_parts(messages), **_unmatched_results(messages)}
    return {
        index: half
        for index, half in sorted(halves.items(), key=lambda item: item[0])
        if index not in waiting_code and not (isinstance(half, ToolCallPart) and is_pending(index))
    }


def _unmatched_results(messages: Sequence[Message]) -> dict[PartIndex, ToolResultPart]:
    """Return the results without a call id; none if there are calls without one either.

    Without ids, results belong to calls by their order, which the format's reader has matched: a
    result that still has no id matched no call.
    """
    if any(not call.call_id for message in messages for call in message.calls):
        return {}
    return {
        index: part
        for index, part in iter_parts(messages)
        if isinstance(part, ToolResultPart) and not part.call_id
    }


def pending_response(messages: Sequence[Message]) -> range:
    """Return the messages of the newest response, whose results may still arrive."""
    end = len(messages)
    while end and (messages[end - 1].results or messages[end - 1].origin.is_injected):
        end -= 1
    start = end
    while start and _belongs_to_response(messages[start - 1], messages[end - 1].response_id):
        start -= 1
    return range(start, end)


def _belongs_to_response(message: Message, response_id: str | None) -> bool:
    is_same_response = response_id is not None and message.response_id == response_id
    return message.role == "assistant" and (is_same_response or bool(message.calls))


def _misplaced(messages: Sequence[Message], order: PairOrder) -> Iterator[tuple[PartIndex, str]]:
    """Yield the halves of pairs that do not stand where the provider wants them.

    A result must be in the turn after its call, before anything else in it, and there only once.
    Clients may store one response in several records, with results between them.
    """
    calls: dict[CallId, PartIndex] = {}
    answered: set[CallId] = set()
    # The calls that the next turn answers, and the responses that they are of.
    expected: set[CallId] = set()
    responses: set[str | None] = set()
    for turn in _turns(messages, order):
        if turn.is_model:
            own_calls = dict(_client_calls(turn))
            calls |= own_calls
            answered -= own_calls.keys()
            own_responses = {messages[index.message].response_id for index, _ in turn.parts}
            is_continued = bool(responses & own_responses - {None})
            expected = own_calls.keys() | (expected if is_continued else set())
            responses = own_responses | (responses if is_continued else set())
            yield from ((index, "result-in-user") for index, _ in _client_results(turn))
            answered |= {part.call_id for _, part in _client_results(turn)}
        else:
            yield from _mixed_messages(turn)
            yield from _faults_of_results(turn, calls, expected, answered)
            if order == "next messages":
                expected = set()


def _faults_of_results(
    turn: _Turn,
    calls: dict[CallId, PartIndex],
    expected: set[CallId],
    answered: set[CallId],
) -> Iterator[tuple[PartIndex, str]]:
    """Yield the faults of the results in a turn, and add those that have a call to ``answered``."""
    first_other = next((n for n, (_, part) in enumerate(turn.parts) if _is_other(part)), None)
    for number, (index, part) in enumerate(turn.parts):
        if not isinstance(part, ToolResultPart) or part.embedded or part.call_id not in calls:
            continue
        if part.call_id in answered:
            yield index, "result-once"
        elif part.call_id not in expected:
            yield calls[part.call_id], "result-not-next"
        elif first_other is not None and number > first_other and part.path[-1:] != ("text",):
            yield index, "result-first"
        answered.add(part.call_id)


def _mixed_messages(turn: _Turn) -> Iterator[tuple[PartIndex, str]]:
    """Yield what stands beside results in one message."""
    with_results = {index.message for index, _ in _client_results(turn)}
    for index, part in turn.parts:
        if index.message in with_results and _is_other(part):
            yield index, "result-with-text"


def _is_other(part: Part) -> bool:
    return isinstance(part, TextPart | MediaPart | FilePart)


def _client_calls(turn: _Turn) -> Iterator[tuple[CallId, PartIndex]]:
    for index, part in turn.parts:
        if isinstance(part, ToolCallPart) and part.call_id and not part.embedded:
            yield part.call_id, index


def _client_results(turn: _Turn) -> Iterator[tuple[PartIndex, ToolResultPart]]:
    for index, part in turn.parts:
        if isinstance(part, ToolResultPart) and part.call_id and not part.embedded:
            yield index, part


def _turns(messages: Sequence[Message], order: PairOrder) -> Iterator[_Turn]:
    """Yield the turns as the API sees them; it takes system messages out of their row."""
    numbered = [pair for pair in enumerate(messages) if pair[1].role != "system"]

    def key(pair: tuple[int, Message]) -> object:
        number, message = pair
        if order == "next messages":
            return number if message.role == "assistant" else message.role
        return message.role == "assistant"

    for _, pairs in groupby(numbered, key):
        adjacent = list(pairs)
        parts = [
            _Placed(PartIndex(number, n), part)
            for number, message in adjacent
            for n, part in enumerate(message.parts)
        ]
        yield _Turn(adjacent[0][1].role == "assistant", parts)
