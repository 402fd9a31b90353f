"""Answers that a client sends for calls without a result."""

from collections import defaultdict
from collections.abc import Sequence

from compactctl.history.pairs import unpaired_parts
from compactctl.model.message import Message, ToolCallPart
from compactctl.records import replace


def with_client_answers(
    messages: Sequence[Message], answer: str, *, exempt_tools: frozenset[str] = frozenset()
) -> tuple[Message, ...]:
    """Add the client's ``answer`` to each call that has no result.

    Calls of ``exempt_tools``, and calls without an id, get no answer.
    """
    unanswered: dict[int, set[int]] = defaultdict(set)
    for index, part in unpaired_parts(messages).items():
        if isinstance(part, ToolCallPart) and part.tool not in exempt_tools:
            unanswered[index.message].add(index.part)
    return tuple(
        _with_answer(message, unanswered[index], answer) if index in unanswered else message
        for index, message in enumerate(messages)
    )


def _with_answer(message: Message, calls: set[int], answer: str) -> Message:
    parts = tuple(
        replace(part, added=answer) if index in calls and isinstance(part, ToolCallPart) else part
        for index, part in enumerate(message.parts)
    )
    return replace(message, parts=parts)
