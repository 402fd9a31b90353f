"""Distill: put the lines that will be needed again in place of older messages, down to a size."""

from collections.abc import Sequence
from dataclasses import dataclass

from compactctl.history.pairs import cut_points
from compactctl.history.standins import is_stand_in
from compactctl.history.view import View
from compactctl.model.edit import Proposal, Skipped
from compactctl.model.message import Message, MessageId, TextPart
from compactctl.model.summary import Summary
from compactctl.stages.support.condensation import (
    Condensing,
    SummaryShape,
    condense,
    nothing_older,
    older,
    originals,
    too_few,
)
from compactctl.stages.support.stage import Stage, option, within_target
from compactctl.stages.support.truncation import newest_start
from compactctl.summaries.digest.digest import DigestRequest, digest
from compactctl.tokens.meter import Meter

NAME = "distill"
_PREFIX = "[Earlier conversation]:\n\n"
# From this share of the conversation on, more of it stays untouched, and gaps are marked.
_MUCH_KEPT = 0.2
_MOST_TAIL_TOKENS = 6_000
_TAIL, _SHORT_TAIL = 0.2, 0.1
# What joins a prefix and a text may cost.
_MARGIN = 4
_DETAIL = "see --keep-turns"


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillOptions:
    """How to distill."""

    keep: float = option(
        0.3, "Part of the conversation's tokens to keep where no target is given (0 to 1)."
    )
    tail: float = option(
        0.0,
        "Part of these tokens for the newest messages, which stay as they are; 0 takes a fifth "
        "where a fifth of the conversation or more is kept, else a tenth.",
    )


def propose(view: View, meter: Meter, options: DistillOptions) -> Proposal | Skipped:
    """Propose to hide older messages behind a digest of their originals."""
    total = meter.total(originals(view, view.messages))
    target = int(total * options.keep) if view.target is None else view.target
    if meter.total(view.messages) <= target:
        return within_target(NAME, target)
    is_much = target >= total * _MUCH_KEPT
    share = options.tail or (_TAIL if is_much else _SHORT_TAIL)
    hidden = older(view, _end(view, meter, min(int(target * share), _MOST_TAIL_TOKENS)))
    source = originals(view, hidden)
    # What was distilled is distilled anew, and smaller, only where its originals are known.
    if any(map(is_stand_in, source)):
        refusal = nothing_older(NAME, view, hidden, _DETAIL)
    else:
        refusal = too_few(NAME, source, _DETAIL)
    if refusal:
        return refusal
    kept = _without(view.messages, hidden)
    request = DigestRequest(
        messages=source,
        following=kept,
        budget=_budget(view, meter, kept, target),
        cwd=view.cwd,
        gaps=is_much,
    )
    text = digest(request, meter.counter.count_many)
    how = Condensing(stage=NAME, options=options, shape=SummaryShape(prefix=_PREFIX))
    return condense(view, meter, hidden, Summary(text=text), how)


def _without(messages: Sequence[Message], hidden: Sequence[Message]) -> tuple[Message, ...]:
    gone = {message.id for message in hidden}
    return tuple(message for message in messages if message.id not in gone)


def _end(view: View, meter: Meter, room: int) -> int:
    """Return the cut point behind which the newest messages take at most ``room`` tokens.

    What must stay at the end stays, whatever it takes.
    """
    newest = newest_start(view)
    left = room - meter.total(view.messages[newest:])
    end = newest
    for cut in reversed([cut for cut in cut_points(view.messages) if cut < newest]):
        left -= meter.total(view.messages[cut:end])
        if left < 0:
            break
        end = cut
    return end


def _budget(view: View, meter: Meter, kept: Sequence[Message], target: int) -> int:
    """Return the tokens for the digest beside what is kept, prefix and margin taken off."""
    taken = meter.total(kept)
    room = target - taken
    # What is left weighs otherwise than what there was: tried with texts of that size.
    while view.room is not None and room > 0:
        fits = view.room((*kept, _probe(room))) - taken
        if fits >= room:
            break
        room = fits
    return room - meter.text(_PREFIX) - _MARGIN


def _probe(tokens: int) -> Message:
    """Return a message that stands for a digest of so many tokens."""
    text = TextPart(text="word " * tokens)
    return Message(id=MessageId("digest"), role="user", parts=(text,), line=0)


STAGE = Stage(
    name=NAME,
    title="put the lines that will be needed again in place of older messages, down to a size",
    options=DistillOptions,
    propose=propose,
)
