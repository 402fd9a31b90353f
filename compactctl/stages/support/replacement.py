"""What the stages that rewrite tool results have in common."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import PartIndex, iter_parts
from compactctl.history.reads import is_stub
from compactctl.history.turns import find_steps, find_turns
from compactctl.model.edit import Proposal, Replace
from compactctl.model.message import (
    Message,
    MessageId,
    ToolCallPart,
    ToolResultPart,
    is_replaceable,
)
from compactctl.stages.support.stage import StageOptions, group_id
from compactctl.tokens.meter import Meter

ProtectedUnit = Literal["results", "turns", "steps"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """One tool result, or a call's arguments, to be replaced by ``text``.

    That saves ``tokens_saved`` tokens.
    """

    part_index: PartIndex
    text: str
    tokens_saved: int
    reason: str
    refers_to: MessageId | None = None


def results_in(view: ConversationView) -> Iterator[tuple[PartIndex, ToolResultPart]]:
    """Walk over the tool results of a view, oldest first."""
    for place, part in iter_parts(view.messages):
        if isinstance(part, ToolResultPart):
            yield place, part


def older_than_newest(
    view: ConversationView, places: Sequence[PartIndex], unit: ProtectedUnit, count: int
) -> tuple[PartIndex, ...]:
    """Return those of ``places``, oldest first, that are not in the newest ``count`` units."""
    if unit == "results":
        return tuple(places[: max(0, len(places) - count)])
    pieces = find_turns(view.messages) if unit == "turns" else find_steps(view.messages)
    recent = {index for piece in pieces[max(0, len(pieces) - count) :] for index in piece}
    return tuple(place for place in places if place.message not in recent)


def can_rewrite(view: ConversationView, message: Message) -> bool:
    """Whether the content of a message may be rewritten at all; what we wrote ourselves stays."""
    kept = (
        message.locks.immutable_reason
        or message.origin.is_synthetic
        or message.id in view.protection.reasons
    )
    return not (kept or message.id in view.to_be_summarized)


def tokens_saved(view: ConversationView, meter: Meter, place: PartIndex, text: str) -> int:
    """Return the tokens saved by putting ``text`` in place of a result and its media.

    In place of a call it stands for the arguments. That is 0 for what must stay as it is, such as a
    result in which a person said something, for stubs and what the client already sends as a
    placeholder, and where the text is no smaller.
    """
    message = view.messages[place.message]
    part = message.parts[place.part]
    stays = isinstance(part, ToolResultPart) and (part.said or part.cleared or is_stub(part.text))
    if stays or not is_replaceable(part) or not can_rewrite(view, message):
        return 0
    old = meter.text(part.arguments) if isinstance(part, ToolCallPart) else meter.part(part)
    return max(0, old - meter.text(text))


def rewrite_proposal(
    view: ConversationView,
    rewrites: Sequence[Rewrite],
    *,
    stage: str,
    options: StageOptions,
    note: str,
) -> Proposal:
    """Turn rewrites into one group of edits, in the order of the conversation."""
    ordered = sorted(rewrites, key=lambda rewrite: rewrite.part_index)
    ids = [view.messages[rewrite.part_index.message].id for rewrite in ordered]
    # The texts count too: where they depend on the target, a message may be rewritten twice.
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


# Codebuddy's, and the characters that it leaves alone.
ARGUMENT_PLACEHOLDER = "[args truncated]"
LONG_TEXT = 200

# A string in JSON that is known to be valid, and whether it is a key.
_STRING = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?', re.DOTALL)


def without_long_texts(call: ToolCallPart, over: int, placeholder: str) -> str:
    """Return a call's arguments with every text of more than ``over`` characters replaced.

    Keys, structure and all other values stay as they are written, so that it remains JSON of the
    same shape. The arguments are returned as they are when nothing in them is replaced: when they
    cannot be, are not an object or array, or no text in them is longer than the placeholder too.
    """
    return with_long_texts(call, max(over, len(placeholder)), lambda _: placeholder)


def with_long_texts(call: ToolCallPart, over: int, reword: Callable[[str], str]) -> str:
    """Return a call's arguments with every text of more than ``over`` characters reworded.

    As in ``without_long_texts`` all else stays as it is.
    """
    if call.embedded or len(call.arguments) <= over or not _structure(call.arguments):
        return call.arguments

    def reworded(found: re.Match[str]) -> str:
        if found[2] is not None:
            return found[0]
        text: str = json.loads(found[1], strict=False)
        return found[0] if len(text) <= over else json.dumps(reword(text), ensure_ascii=False)

    return _STRING.sub(reworded, call.arguments)


def is_alike(old: str, new: str) -> bool:
    """Whether arguments are JSON of the same kind as others: both an object, or both an array."""
    structure = _structure(old)
    return structure is not None and structure is _structure(new)


def _structure(arguments: str) -> type | None:
    try:
        value = json.loads(arguments, strict=False)
    except (ValueError, RecursionError):
        return None
    return type(value) if isinstance(value, dict | list) else None
