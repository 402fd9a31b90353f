"""What a client sends in answer to a call for which its file has no result."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from compactctl.history.pairs import orphan_parts
from compactctl.model.message import Message, ToolCallPart


def with_client_answers(
    messages: Sequence[Message], answer: str, *, exempt_tools: frozenset[str] = frozenset()
) -> tuple[Message, ...]:
    """Return messages in which calls without a result carry the client's ``answer``.

    Calls of the tools in ``exempt_tools`` get none; nor do calls without an id, which join nothing.
    """
    unanswered: dict[int, set[int]] = defaultdict(set)
    for place, part in orphan_parts(messages).items():
        if isinstance(part, ToolCallPart) and part.tool not in exempt_tools:
            unanswered[place.message].add(place.part)
    return tuple(
        _with_answer(message, unanswered[index], answer) if index in unanswered else message
        for index, message in enumerate(messages)
    )


def _with_answer(message: Message, places: set[int], answer: str) -> Message:
    parts = tuple(
        replace(part, added=answer) if index in places and isinstance(part, ToolCallPart) else part
        for index, part in enumerate(message.parts)
    )
    return replace(message, parts=parts)
