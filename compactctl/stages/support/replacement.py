"""Rewrite tool results and the arguments of calls: selection, savings, edits and long texts."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Literal

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import PartIndex, iter_parts
from compactctl.history.reads import is_stub
from compactctl.history.turns import find_steps, find_turns
from compactctl.model.edit import Proposal, Replace
from compactctl.model.json_parser import parse_json
from compactctl.model.message import (
    Message,
    MessageId,
    ToolCallPart,
    ToolResultPart,
    is_replaceable,
)
from compactctl.records import Record
from compactctl.stages.support.stage import group_id
from compactctl.tokens.meter import Meter

ProtectedUnit = Literal["results", "turns", "steps"]
# Returns the new text for one of those in a call's arguments: its index among them, and the text.
RewordText = Callable[[int, str], str]

# Both from Codebuddy, which keeps texts of up to this many characters.
ARGUMENT_PLACEHOLDER = "[args truncated]"
LONG_TEXT = 200
# A string in valid JSON; group 2 matches if it is a key.
_STRING = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?', re.DOTALL)


class Rewrite(Record):
    """The replacement of one tool result, or of a call's arguments, by ``text``.

    ``refers_to`` is the message that a stub points to.
    """

    part_index: PartIndex
    text: str
    tokens_saved: int
    reason: str
    refers_to: MessageId | None = None


def iter_results(view: ConversationView) -> Iterator[tuple[PartIndex, ToolResultPart]]:
    """Yield the tool results of a view, oldest first."""
    for part_index, part in iter_parts(view.messages):
        if isinstance(part, ToolResultPart):
            yield part_index, part


def without_newest(
    view: ConversationView, part_indices: Sequence[PartIndex], unit: ProtectedUnit, count: int
) -> tuple[PartIndex, ...]:
    """Return the ``part_indices``, oldest first, without those in the newest ``count`` units."""
    if unit == "results":
        return tuple(part_indices[: max(0, len(part_indices) - count)])
    ranges = find_turns(view.messages) if unit == "turns" else find_steps(view.messages)
    recent = {index for unit_range in ranges[max(0, len(ranges) - count) :] for index in unit_range}
    return tuple(part_index for part_index in part_indices if part_index.message not in recent)


def can_rewrite(view: ConversationView, message: Message) -> bool:
    """Whether the content of a message may be rewritten; synthetic messages are never rewritten."""
    is_fixed = (
        message.locks.immutable_reason
        or message.origin.is_synthetic
        or message.id in view.protection.reasons
    )
    return not (is_fixed or message.id in view.to_be_summarized)


def count_saved_tokens(
    view: ConversationView, meter: Meter, part_index: PartIndex, text: str
) -> int:
    """Count the tokens saved by replacing a result and its media, or a call's arguments.

    It is 0 for parts that must not change (such as a result that contains the user's answer), for
    stubs, for results that the client has already cleared, and if the text is no smaller.
    """
    message = view.messages[part_index.message]
    part = message.parts[part_index.part]
    is_final = isinstance(part, ToolResultPart) and (
        part.said or part.cleared or is_stub(part.text)
    )
    if is_final or not is_replaceable(part) or not can_rewrite(view, message):
        return 0
    old = meter.text(part.arguments) if isinstance(part, ToolCallPart) else meter.part(part)
    return max(0, old - meter.text(text))


def propose_rewrites(
    view: ConversationView,
    rewrites: Sequence[Rewrite],
    *,
    stage: str,
    options: Record,
    note: str,
) -> Proposal:
    """Turn rewrites into one group of edits, in the order of the conversation."""
    ordered = sorted(rewrites, key=lambda rewrite: rewrite.part_index)
    ids = [view.messages[rewrite.part_index.message].id for rewrite in ordered]
    # With the texts in the id, a message rewritten again for another target gets another group.
    group = group_id(stage, options, (*ids, *(rewrite.text for rewrite in ordered)))
    edits = tuple(
        Replace(
            id=message,
            part=rewrite.part_index.part,
            text=rewrite.text,
            group=group,
            reason=rewrite.reason,
            refers_to=rewrite.refers_to,
        )
        for message, rewrite in zip(ids, ordered, strict=True)
    )
    return Proposal(stage=stage, edits=edits, notes=(note,))


def replace_long_texts(call: ToolCallPart, max_chars: int, placeholder: str) -> str:
    """Return a call's arguments with every text of more than ``max_chars`` characters replaced.

    Keys, structure and all other values keep their exact text. Texts no longer than the placeholder
    stay. Arguments that may not be edited, or are not an object or array, are returned unchanged.
    """
    return reword_long_texts(call, max(max_chars, len(placeholder)), lambda *_: placeholder)


def reword_long_texts(call: ToolCallPart, max_chars: int, reword: RewordText) -> str:
    """Return a call's arguments with every text of more than ``max_chars`` characters reworded.

    ``reword`` gets the index of the text among all texts of the arguments, and the text. All else
    is unchanged, as in ``replace_long_texts``.
    """
    if call.embedded or len(call.arguments) <= max_chars or not _json_type(call.arguments):
        return call.arguments
    numbers = count()

    def reword_string(match: re.Match[str]) -> str:
        if match[2] is not None:
            return match[0]
        number, text = next(numbers), json.loads(match[1], strict=False)
        if len(text) <= max_chars:
            return match[0]
        return json.dumps(reword(number, text), ensure_ascii=False)

    return _STRING.sub(reword_string, call.arguments)


def is_same_json_type(old: str, new: str) -> bool:
    """Whether both texts are JSON objects, or both are JSON arrays."""
    structure = _json_type(old)
    return structure is not None and structure is _json_type(new)


def _json_type(arguments: str) -> type | None:
    try:
        value = parse_json(arguments, strict=False)
    except ValueError:
        return None
    return type(value) if isinstance(value, dict | list) else None
