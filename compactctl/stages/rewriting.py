"""What the stages that rewrite tool results have in common."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from compactctl.history.pairs import Place, part_places
from compactctl.history.reads import is_stub
from compactctl.history.view import View
from compactctl.model.edit import Proposal, Replace
from compactctl.model.message import MessageId, ToolResultPart
from compactctl.stages.stage import group_id
from compactctl.tokens.meter import Meter


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """One tool result to be replaced by ``text``, which saves ``saved`` tokens."""

    place: Place
    text: str
    saved: int
    reason: str
    refers_to: MessageId | None = None


def results_in(view: View) -> Iterator[tuple[Place, ToolResultPart]]:
    """Walk over the tool results of a view, oldest first."""
    for place, part in part_places(view.messages):
        if isinstance(part, ToolResultPart):
            yield place, part


def saving(view: View, meter: Meter, place: Place, text: str) -> int:
    """Return the tokens saved by putting ``text`` in place of a result and its media.

    That is 0 for what must stay as it is, for stubs and what the client already sends as a
    placeholder, and where the text is no smaller than the result.
    """
    message = view.messages[place.message]
    part = message.parts[place.part]
    done = isinstance(part, ToolResultPart) and (part.cleared or is_stub(part.text))
    if done or message.fixed or message.id in view.protected:
        return 0
    return max(0, meter.part(part) - meter.text(text))


def rewriting(
    view: View,
    rewrites: Sequence[Rewrite],
    *,
    stage: str,
    options: Any,  # noqa: ANN401
    note: str,
) -> Proposal:
    """Turn rewrites into one group of edits, in the order of the conversation."""
    ordered = sorted(rewrites, key=lambda rewrite: rewrite.place)
    ids = [view.messages[rewrite.place.message].id for rewrite in ordered]
    group = group_id(stage, options, ids)
    edits = tuple(
        Replace(
            id=message,
            part=rewrite.place.part,
            text=rewrite.text,
            group=group,
            reason=rewrite.reason,
            refers_to=rewrite.refers_to,
        )
        for message, rewrite in zip(ids, ordered, strict=True)
    )
    return Proposal(stage=stage, edits=edits, notes=(note,))
