"""What Codex does with the items of a rollout when it loads them and makes a request.

The names of its functions are those of 0.171.0. It loads an output only as far as its budget goes
(``process_item``), and pairs calls and outputs by the type of their items.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from compactctl.clients.codex.truncation import TextBudget, cut_output
from compactctl.clients.content.openai import result_content
from compactctl.history.omissions import omitted, with_each
from compactctl.model.message import CallId, Message, Part, ToolCallPart, ToolResultPart
from compactctl.records import Record, replace

_NO_OUTPUT = "aborted"
# What is sent for a search of tools without an output has no text.
_SEARCH = "tool_search_call"
_OUTPUTS = {
    "function_call": "function_call_output",
    "local_shell_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    _SEARCH: "tool_search_output",
}
_ORPHAN = ("result", "without a matching call")
_Pair = tuple[str, CallId]
CUT_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output"})
"""The items whose outputs are cut when they are loaded, but not in a compaction's history."""


class StoredOutput(Record):
    """An output as it is stored, and its own budget; that of the model if it has none."""

    value: object
    budget: TextBudget | None = None

    def sent(self, budget: TextBudget | None) -> object:
        """Return the output as the client sends it, given the model's budget."""
        budget = self.budget or budget
        return self.value if budget is None else cut_output(self.value, budget)


def pairing_of(item: Mapping[str, Any]) -> str:
    """Return the type of output by which an item is paired; "" if it is not paired."""
    kind = item.get("type")
    if kind == "tool_search_output" and item.get("execution") == "server":
        return ""
    return _OUTPUTS.get(str(kind), str(kind) if kind in _OUTPUTS.values() else "")


def as_loaded(message: Message, output: StoredOutput, budget: TextBudget | None) -> Message:
    """Return the message of an output with the text that the client sends of it."""
    part = message.parts[0]
    value = output.sent(budget)
    if not isinstance(part, ToolResultPart) or value == output.value:
        return message
    text, _ = result_content(value, part.path)
    return replace(message, parts=(replace(part, text=text), *message.parts[1:]))


def pair_by_type(messages: Sequence[Message], pairings: Mapping[str, str]) -> tuple[Message, ...]:
    """Answer each call without an output, and leave out outputs of another type than their call.

    ``ensure_call_outputs_present`` and ``remove_orphan_outputs``. ``pairings`` are those of the
    messages, by id.
    """
    calls, outputs = set[_Pair](), set[_Pair]()
    for message in messages:
        pairing = pairings.get(message.id, "")
        calls.update((pairing, call.call_id) for call in message.calls)
        outputs.update((pairing, result.call_id) for result in message.results)
    call_ids = {call_id for _, call_id in calls}

    def paired(part: Part, pairing: str) -> Part:
        is_search = pairing == _OUTPUTS[_SEARCH]
        match part:
            case ToolCallPart() if part.call_id and (pairing, part.call_id) not in outputs:
                return part if is_search else replace(part, added=_NO_OUTPUT)
            case ToolResultPart() if part.call_id and (pairing, part.call_id) not in calls:
                is_of_another = is_search or part.call_id in call_ids
                return omitted(part, *_ORPHAN) if is_of_another else part
        return part

    return tuple(
        with_each(message, partial(paired, pairing=pairing)) if pairing else message
        for message in messages
        for pairing in [pairings.get(message.id, "")]
    )


def mark_omitted(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the history with outputs without a call marked as left out."""
    call_ids = {call.call_id for message in messages for call in message.calls}

    def sent(part: Part) -> Part:
        if not isinstance(part, ToolResultPart) or part.embedded or part.call_id in call_ids:
            return part
        return omitted(part, *_ORPHAN)

    return tuple(with_each(message, sent) if message.results else message for message in messages)
