"""Splits a conversation into turns and steps, and a history into conversations."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise, takewhile

from compactctl.history.pairs import tool_pairs
from compactctl.history.stand_ins import is_marker
from compactctl.model.message import Message, Part, ReasoningPart, ToolDefinitionPart
from compactctl.records import replace


def find_turns(messages: Sequence[Message]) -> tuple[range, ...]:
    """Split a conversation into turns: ranges that begin with a user's message and cover all of it.

    System prompts and injected records before the first prompt belong to its turn. Anything else
    before it (a summary, the end of an earlier turn) is a separate turn.
    """
    starts = turn_starts(messages)
    before_first_prompt = messages[: starts[0]] if starts else messages
    if all(
        _is_system(m) or (m.origin.is_injected and not m.origin.is_summary)
        for m in before_first_prompt
    ):
        starts = starts[1:]
    bounds = sorted({0, *starts, len(messages)})
    return tuple(range(start, end) for start, end in pairwise(bounds))


def find_steps(messages: Sequence[Message]) -> tuple[tuple[int, ...], ...]:
    """Group indices by model response: its records and the results of its calls.

    Consecutive assistant messages with the same response id are one response, even with results
    between them, but not with a prompt. Each message without an id is a response.
    """
    callers = {result.message: call.message for result, call in tool_pairs(messages).items()}
    members: list[list[int]] = []
    step_of: dict[int, list[int]] = {}
    response: str | None = None
    for index, message in enumerate(messages):
        if message.starts_turn:
            response = None
        if message.role == "assistant" and not message.origin.is_summary:
            if not members or message.response_id is None or message.response_id != response:
                members.append([])
            response = message.response_id
            members[-1].append(index)
            step_of[index] = members[-1]
        elif callers.get(index) in step_of:
            step_of[callers[index]].append(index)
    return tuple(tuple(sorted(step)) for step in members)


def leading_system_count(messages: Sequence[Message]) -> int:
    """Count the messages at the start that are the system prompt.

    These are system messages, and what a client put before the first prompt: the rules of a
    project, the environment, the output of hooks. What compactctl wrote never counts.
    """
    # Where nobody asked anything, what was injected first is the request.
    has_prompt = any(m.starts_turn or m.origin.is_summary or is_marker(m) for m in messages)
    is_counted = _is_setup if has_prompt else _is_system
    return sum(1 for _ in takewhile(is_counted, messages))


def _is_setup(message: Message) -> bool:
    origin = message.origin
    is_other = origin.is_instruction or origin.is_summary or origin.is_synthetic
    return _is_system(message) or (origin.is_injected and not (is_other or is_marker(message)))


def _is_system(message: Message) -> bool:
    stands_for_others = message.origin.is_synthetic or message.origin.is_summary
    return message.role == "system" and not stands_for_others


def leading_system_indices(messages: Sequence[Message]) -> frozenset[int]:
    """Return the indices of the system prompts of all conversations."""
    by_conversation: dict[int, list[int]] = defaultdict(list)
    for index, message in enumerate(messages):
        by_conversation[message.conversation].append(index)
    return frozenset(
        index
        for indices in by_conversation.values()
        for index in indices[: leading_system_count([messages[index] for index in indices])]
    )


def preamble(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the system prompt and tool definitions, which no compaction counts or removes.

    All other messages are the conversation. Shares (``--keep 30%``) are shares of it. Definitions,
    and what a client restores by itself, belong to the system prompt wherever they are.
    """
    system_count = leading_system_count(messages)
    return tuple(m for index, m in enumerate(messages) if index < system_count or _is_restored(m))


def _is_restored(message: Message) -> bool:
    """Return whether a message that must not change is part of the system prompt."""
    if message.locks.immutable_reason is None or message.origin.is_summary:
        return False
    is_definition = any(isinstance(part, ToolDefinitionPart) for part in message.parts)
    return is_definition or message.origin.is_injected or message.role == "system"


def turn_starts(messages: Sequence[Message]) -> tuple[int, ...]:
    """Return the indices of the messages that start a turn: those that a user wrote."""
    return tuple(i for i, m in enumerate(messages) if m.starts_turn)


def without_expired_reasoning(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return messages with the encrypted reasoning of past turns as expired.

    Summaries keep theirs: a client's summary can be encrypted too, and is always sent.
    """
    starts = [index for index, message in enumerate(messages) if message.starts_turn]
    newest = starts[-1] if starts else 0
    return tuple(
        replace(message, parts=tuple(map(_expired, message.parts)))
        if index < newest and not message.origin.is_summary and any(map(_is_sealed, message.parts))
        else message
        for index, message in enumerate(messages)
    )


def _is_sealed(part: Part) -> bool:
    return isinstance(part, ReasoningPart) and part.sealed > 0


def _expired(part: Part) -> Part:
    return replace(part, is_expired=True) if isinstance(part, ReasoningPart) else part


def split_conversations(messages: Sequence[Message]) -> tuple[tuple[Message, ...], ...]:
    """Split an effective history by conversation, in the order of their numbers."""
    if len({message.conversation for message in messages}) == 1:
        return (tuple(messages),)
    by_conversation: dict[int, list[Message]] = defaultdict(list)
    for message in messages:
        by_conversation[message.conversation].append(message)
    return tuple(tuple(by_conversation[number]) for number in sorted(by_conversation))
