"""What Copilot CLI (1.0.102) makes of its history for a request.

Of reasoning it sends again only its provider's own blocks, and each call with exactly one result.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from compactctl.history.omissions import omitted, with_each
from compactctl.history.pairs import PartIndex
from compactctl.model.message import (
    CallId,
    Message,
    Part,
    ReasoningPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.records import replace

INTERRUPTED = "The execution of this tool, or a previous tool was interrupted."
"""What the client (1.0.102) sends as the result of a call without one."""
# It says this in 264 characters, and records it when it resumes the session.
RESUMED = (
    "[Copilot CLI puts a note here whose words this transcript lacks: no result of this call was"
    " recorded; nobody knows what it has done, in part or as a whole, and other calls may have been"
    " completed; look at the current state before it is repeated or taken for done.]"
)
"""What stands for the result that it records for a call since the newest prompt."""


def mark_omitted(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the history with what is not sent as omitted, and an answer to each call."""
    return _pair_results([_without_unsealed(message) for message in messages])


def _without_unsealed(message: Message) -> Message:
    """Leave out reasoning of which the file has none of the blocks that its provider reads."""
    return with_each(
        message,
        lambda part: (
            omitted(part, "reasoning block", "that its provider cannot read again")
            if isinstance(part, ReasoningPart) and not part.sealed
            else part
        ),
    )


def _pair_results(messages: Sequence[Message]) -> Sequence[Message]:
    """Give each call without an answer the first result behind it that is left, else any other.

    Other results are left out, and calls without one get an answer by the client.
    """
    calls, results = _by_call_id(messages)
    new = list(messages)
    for call_id, places in calls.items():
        for place in places:
            part = messages[place.message].parts[place.part]
            if not isinstance(part, ToolCallPart) or part.added:
                continue
            free = results[call_id]
            result = next((other for other in free if other > place), free[0] if free else None)
            if result is not None:
                free.remove(result)
            else:
                _replace_part(new, place, replace(part, added=INTERRUPTED))
    for call_id, places in results.items():
        detail = "of a call that already has one" if call_id in calls else "without a matching call"
        for place in places:
            part = messages[place.message].parts[place.part]
            _replace_part(new, place, omitted(part, "result", detail))
    return new


_Places = defaultdict[CallId, list[PartIndex]]


def _by_call_id(messages: Iterable[Message]) -> tuple[_Places, _Places]:
    """Return the places of the calls and of the results, by the id of the call."""
    calls: _Places = defaultdict(list)
    results: _Places = defaultdict(list)
    for index, message in enumerate(messages):
        for number, part in enumerate(message.parts):
            if isinstance(part, ToolCallPart):
                calls[part.call_id].append(PartIndex(index, number))
            elif isinstance(part, ToolResultPart):
                results[part.call_id].append(PartIndex(index, number))
    return calls, results


def _replace_part(messages: list[Message], place: PartIndex, part: Part) -> None:
    message = messages[place.message]
    parts = (*message.parts[: place.part], part, *message.parts[place.part + 1 :])
    messages[place.message] = replace(message, parts=parts)
