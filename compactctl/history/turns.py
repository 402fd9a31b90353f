"""Turns and steps: the pieces a conversation falls into."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, takewhile

from compactctl.history.pairs import tool_pairs
from compactctl.model.message import Message, Part, ReasoningPart


def find_turns(messages: Sequence[Message]) -> tuple[range, ...]:
    """Split a conversation into ranges that start where a person speaks; they cover all of it.

    System prompts and injected records before the first prompt belong to its turn. Anything else
    before it (a summary, the end of an earlier turn) makes a turn of its own.
    """
    starts = turn_starts(messages)
    before_first_prompt = messages[: starts[0]] if starts else messages
    if all(
        m.role == "system" or (m.origin.is_injected and not m.origin.is_summary)
        for m in before_first_prompt
    ):
        starts = starts[1:]
    bounds = sorted({0, *starts, len(messages)})
    return tuple(range(start, end) for start, end in pairwise(bounds))


def find_steps(messages: Sequence[Message]) -> tuple[tuple[int, ...], ...]:
    """Group indices by model response: its records and the results of its calls.

    Assistant messages that follow one another with the same response id (results between them do
    not count) are one response; without an id each is its own.
    """
    callers = {result.message: call.message for result, call in tool_pairs(messages).items()}
    members: list[list[int]] = []
    step_of: dict[int, list[int]] = {}
    response: str | None = None
    for index, message in enumerate(messages):
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
    """Count the system messages at the front, which hold the system prompt.

    What compactctl wrote there stands in for messages and is none of it.
    """
    return sum(
        1 for _ in takewhile(lambda m: m.role == "system" and not m.origin.is_synthetic, messages)
    )


def leading_system_indices(messages: Sequence[Message]) -> frozenset[int]:
    """Return the indices of every conversation's leading system messages."""
    begun: set[int] = set()
    front: set[int] = set()
    for index, message in enumerate(messages):
        if message.role != "system" or message.origin.is_synthetic:
            begun.add(message.conversation)
        elif message.conversation not in begun:
            front.add(index)
    return frozenset(front)


def preamble(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return what is not the conversation: the system prompt, tool definitions, fixed records.

    They stay whatever is compacted, so that a share of the conversation is one of the rest.
    """
    front = leading_system_count(messages)
    return tuple(m for index, m in enumerate(messages) if index < front or m.locks.immutable_reason)


def turn_starts(messages: Sequence[Message]) -> tuple[int, ...]:
    """Return the indices of the messages that a person wrote, each of which starts a turn."""
    return tuple(i for i, m in enumerate(messages) if m.starts_turn and not m.origin.is_synthetic)


def without_expired_reasoning(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return messages without the size of encrypted reasoning that ended with its turn.

    A summary is kept: it is encrypted as well, and is sent for as long as it is there.
    """
    starts = [index for index, message in enumerate(messages) if message.starts_turn]
    newest = starts[-1] if starts else 0
    return tuple(
        replace(message, parts=tuple(map(_without_hidden_size, message.parts)))
        if index < newest and not message.origin.is_summary and any(map(_is_sealed, message.parts))
        else message
        for index, message in enumerate(messages)
    )


def _is_sealed(part: Part) -> bool:
    return isinstance(part, ReasoningPart) and part.sealed > 0


def _without_hidden_size(part: Part) -> Part:
    return replace(part, sealed=0) if isinstance(part, ReasoningPart) else part


def split_conversations(messages: Sequence[Message]) -> tuple[tuple[Message, ...], ...]:
    """Split an effective history into its conversations, in order."""
    found: dict[int, list[Message]] = defaultdict(list)
    for message in messages:
        found[message.conversation].append(message)
    return tuple(tuple(found[number]) for number in sorted(found))
