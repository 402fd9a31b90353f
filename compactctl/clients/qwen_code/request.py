"""What Qwen Code does with the history for each request, in its order.

Each step is a function of messages, named as the client's function (0.24.4). A part that is left
out becomes an ``OmittedPart``, so that all others keep their numbers.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from compactctl.clients.records.json_values import utf16_units
from compactctl.history.omissions import omitted, with_answers, with_each
from compactctl.model.message import (
    CallId,
    Message,
    OmittedPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.records import replace

MISSING = (
    "Tool execution result was not recorded — likely interrupted by network failure, abort, or"
    " process exit. Treat as failure and retry if needed."
)
"""What the client sends as the result of a call without one."""
CLEARED = "[Old tool result content cleared]"
"""What it sends instead of an old result."""
# An answer of a gateway that gave up.
_PLACEHOLDER = "(request timeout)"
# Above so many characters in results the oldest are cleared until half of them are left, but not
# the newest five.
_MAX_RESULTS, _RECENT_RESULTS = 500_000, 5
# The tools whose results may be cleared; the last two are earlier names of such.
_CLEARABLE = frozenset(
    {"read_file", "run_shell_command", "grep_search", "glob", "web_fetch", "web_search"}
    | {"read_mcp_resource", "edit", "write_file", "skill", "search_file_content", "replace"}
)


def repair_orphaned_tool_use_turns(messages: Sequence[Message]) -> Sequence[Message]:
    """Leave each call the first of its results, from among the messages before the next answer.

    A call without a result gets one that the client makes up.
    """
    new = list(messages)
    open_calls: set[CallId] = set()
    closed: set[CallId] = set()
    for index, message in enumerate(messages):
        if message.role != "assistant":
            new[index] = with_each(message, partial(_first_result, open_calls, closed))
        elif _live(message) and not _is_placeholder(message):
            results = {part.call_id for part in _results_behind(messages, index)}
            calls = {call.call_id for call in message.calls if call.call_id}
            open_calls, closed = calls & results, set()
            new[index] = with_answers(message, calls - results, MISSING)
    return new


def extract_curated_history(messages: Sequence[Message]) -> Sequence[Message]:
    """Leave out answers that follow one another if one of them is empty, and placeholders."""
    new = list(messages)
    for run in _runs(messages):
        if any(map(_is_invalid, (messages[index] for index in run))):
            for index in run:
                new[index] = _without(messages[index], "beside an empty answer")
        for index in run:
            if _is_placeholder(messages[index]):
                new[index] = _without(messages[index], "of a request that timed out")
    return new


def microcompact_history(messages: Sequence[Message]) -> Sequence[Message]:
    """Replace the oldest results by a note if all together are too long."""
    sizes = {
        (index, number): utf16_units(part.text)
        for index, message in enumerate(messages)
        for number, part in enumerate(message.parts)
        if isinstance(part, ToolResultPart) and _is_clearable(part)
    }
    total = sum(sizes.values())
    if total <= _MAX_RESULTS:
        return messages
    cleared: defaultdict[int, set[int]] = defaultdict(set)
    for index, number in list(sizes)[:-_RECENT_RESULTS]:
        if total <= _MAX_RESULTS // 2:
            break
        total -= sizes[index, number]
        cleared[index].add(number)
    return [
        _cleared(message, cleared[index]) if index in cleared else message
        for index, message in enumerate(messages)
    ]


def _cleared(message: Message, numbers: set[int]) -> Message:
    parts = tuple(
        replace(part, text=CLEARED, media=(), cleared=True)
        if number in numbers and isinstance(part, ToolResultPart)
        else part
        for number, part in enumerate(message.parts)
    )
    return replace(message, parts=parts)


def clean_orphaned_tool_calls(messages: Sequence[Message]) -> Sequence[Message]:
    """Leave out a second call with one id, and results without a call in the answer before them.

    This the providers' converters do, after all else.
    """
    new = list(messages)
    seen: set[CallId] = set()
    open_calls: set[CallId] = set()
    for index, message in enumerate(messages):
        if message.role != "assistant":
            new[index] = with_each(message, partial(_matching_result, open_calls))
        elif _live(message):
            new[index] = with_each(message, partial(_first_call, seen))
            open_calls = {call.call_id for call in new[index].calls if not call.added}
    return new


REQUEST_STEPS: tuple[Callable[[Sequence[Message]], Sequence[Message]], ...] = (
    repair_orphaned_tool_use_turns,
    microcompact_history,
    extract_curated_history,
    clean_orphaned_tool_calls,
)
"""What the client does with the history for each request, in its order."""


def mark_omitted(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the history with what the client leaves out of the next request marked as such."""
    for step in REQUEST_STEPS:
        messages = step(messages)
    return tuple(messages)


def _first_result(open_calls: set[CallId], closed: set[CallId], part: Part) -> Part:
    """Leave out a result for a call that has one, and otherwise close the call."""
    if not isinstance(part, ToolResultPart) or part.call_id not in open_calls:
        return part
    if part.call_id in closed:
        return omitted(part, "result", "without a matching call before it")
    closed.add(part.call_id)
    return part


def _first_call(seen: set[CallId], part: Part) -> Part:
    if not isinstance(part, ToolCallPart):
        return part
    if not part.call_id:
        return omitted(part, "call", "without an id")
    if part.call_id in seen:
        return omitted(part, "call", "with the id of an earlier one")
    seen.add(part.call_id)
    return part


def _matching_result(open_calls: set[CallId], part: Part) -> Part:
    if not isinstance(part, ToolResultPart) or part.call_id in open_calls:
        return part
    return omitted(part, "result", "without a matching call before it")


def _results_behind(messages: Sequence[Message], index: int) -> Iterator[ToolResultPart]:
    """Yield the results between an answer and the next one."""
    for place in range(index + 1, len(messages)):
        message = messages[place]
        if message.role == "assistant" and _live(message) and not _is_placeholder(message):
            return
        yield from message.results


def _runs(messages: Sequence[Message]) -> Iterator[list[int]]:
    """Yield the indices of answers that follow one another; a result that is made up parts them."""
    run: list[int] = []
    for index, message in enumerate(messages):
        if not _live(message):
            continue
        if message.role == "assistant":
            run.append(index)
        if run and (message.role != "assistant" or any(call.added for call in message.calls)):
            yield run
            run = []
    if run:
        yield run


def _is_invalid(message: Message) -> bool:
    """Whether a part of an answer is an empty text (``isValidContent``)."""
    return any(isinstance(part, TextPart) and not part.text for part in message.parts)


def _is_placeholder(message: Message) -> bool:
    """Whether an answer is of a gateway that gave up (``isDegradedPlaceholderTurn``)."""
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    others = any(not isinstance(part, TextPart | ReasoningPart) for part in message.parts)
    is_answer = message.role == "assistant" and not others
    return is_answer and "".join(texts).strip() == _PLACEHOLDER


def _is_clearable(part: ToolResultPart) -> bool:
    """Whether a result counts: it is text of one of these tools, and no error."""
    # With pictures its path is that of the object around both.
    is_output = part.path[-1:] == ("output",) or (bool(part.media) and part.outcome != "failed")
    return part.tool.lower() in _CLEARABLE and is_output and part.text != CLEARED


def _live(message: Message) -> bool:
    return any(not isinstance(part, OmittedPart) for part in message.parts)


def _without(message: Message, detail: str) -> Message:
    return with_each(message, lambda part: omitted(part, "block", detail))
