"""Distill: put the lines that will be needed again in place of older messages, down to a size."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from compactctl.history.conversation_view import ConversationView
from compactctl.history.stand_ins import is_stand_in
from compactctl.history.turns import preamble
from compactctl.model.edit import Proposal, Replace, Skipped
from compactctl.model.message import Message, ToolCallPart
from compactctl.model.numbers import exact
from compactctl.model.summary import Summary
from compactctl.stages.support.condensation import (
    CondenseSpec,
    SummaryFormat,
    condense,
    hide_behind_summary,
    hideable_before,
    originals,
    skip_if_nothing_older,
    skip_if_too_few,
    skip_not_smaller,
)
from compactctl.stages.support.in_place_layout import InPlaceLayout
from compactctl.stages.support.replacement import LONG_TEXT, with_long_texts
from compactctl.stages.support.stage import Stage, option, within_target
from compactctl.stages.support.truncation import messages_without, room_for_text, tail_start
from compactctl.summaries.digest.digest import DigestRequest, digest
from compactctl.summaries.digest.in_place import InPlaceRequest, InPlaceResult, in_place
from compactctl.tokens.meter import Meter

NAME = "distill"
DistillForm = Literal["auto", "digest", "in-place"]
_PREFIX = "[Earlier conversation]:\n\n"
# From this share of the conversation on, more of it stays untouched, and gaps are marked.
_LARGE_SHARE = 0.2
_MAX_TAIL_TOKENS = 6_000
_TAIL, _SHORT_TAIL = 0.2, 0.1
# Of what is kept, the newest work may take this much before results in it are shortened.
_MAX_NEWEST_SHARE = 0.5
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
    form: DistillForm = option(
        "auto",
        'What becomes of the messages: "digest" puts one text in place of all of them; "in-place" '
        "shortens each where it is and hides those of which nothing is left, behind one text; "
        '"auto" is in place where a fifth of the conversation or more is kept, else a digest.',
    )


def propose(view: ConversationView, meter: Meter, options: DistillOptions) -> Proposal | Skipped:
    """Propose to hide older messages behind a digest of their originals."""
    fixed = meter.total(preamble(view.messages))
    total = meter.total(originals(view, view.messages)) - fixed
    target = fixed + int(total * exact(options.keep)) if view.target is None else view.target
    if meter.total(view.messages) <= target:
        return within_target(NAME, target)
    is_much = target - fixed >= total * _LARGE_SHARE
    share = options.tail or (_TAIL if is_much else _SHORT_TAIL)
    tail = min(int((target - fixed) * share), _MAX_TAIL_TOKENS)
    hidden = hideable_before(view, tail_start(view, meter, tail))
    most = int((target - fixed) * _MAX_NEWEST_SHARE)
    newest = _oversized_newest(view, meter, most)
    source = originals(view, (*hidden, *newest))
    # What was distilled is distilled anew, and smaller, only where its originals are known.
    if any(map(is_stand_in, source)):
        refusal = skip_if_nothing_older(NAME, view, hidden, _DETAIL)
    else:
        refusal = skip_if_too_few(NAME, source, _DETAIL)
    if refusal:
        return refusal
    kept = messages_without(view.messages, (*hidden, *newest))
    request = DigestRequest(
        messages=source,
        following=kept,
        budget=room_for_text(view, meter, kept, target) - meter.text(_PREFIX),
        said=sum(map(meter.text, _said(messages_without(kept, preamble(kept))))),
        cwd=view.cwd,
        mark_gaps=is_much,
    )
    are_gone = options.form == "digest" or (options.form == "auto" and not is_much)
    if newest or not are_gone:
        layout = InPlaceLayout.build(view, hidden, newest, are_older_gone=are_gone)
        found = in_place(_in_place_request(layout, request, most), meter)
        return _in_place(view, meter, layout, found, options)
    text = digest(request, meter.counter.count_many)
    return condense(view, meter, hidden, Summary(text=text), _condense_spec(options))


def _said(messages: Sequence[Message]) -> Iterator[str]:
    """Yield what people said in messages."""
    return (words for each in messages for part in each.parts if (words := each.words(part)))


def _condense_spec(options: DistillOptions) -> CondenseSpec:
    return CondenseSpec(stage=NAME, options=options, shape=SummaryFormat(prefix=_PREFIX))


def _oversized_newest(view: ConversationView, meter: Meter, most: int) -> tuple[Message, ...]:
    """Return the newest work, unless it is small enough or asked for."""
    newest = tuple(message for message in view.messages if message.id in view.protection.automatic)
    return newest if meter.total(newest) > most else ()


def _in_place(
    view: ConversationView,
    meter: Meter,
    layout: InPlaceLayout,
    found: InPlaceResult,
    options: DistillOptions,
) -> Proposal | Skipped:
    """Shorten messages where they are, hide those of which nothing is left."""
    before = meter.total(layout.messages)
    if found.tokens + meter.text(_PREFIX) >= before:
        return skip_not_smaller(NAME, before)
    shortened = layout.rewrite_proposal(view, found, NAME, options)
    gone = layout.messages_to_hide(view, found.hidden)
    if not gone:
        return shortened
    summary = Summary(text=found.text)
    proposal = hide_behind_summary(view, meter, gone, summary, _condense_spec(options))
    count = len({edit.id for edit in shortened.edits if isinstance(edit, Replace)})
    notes = (f"messages shortened: {count:,}, left out: {len(gone):,}",)
    return replace(proposal, edits=(*proposal.edits, *shortened.edits), notes=notes)


def _in_place_request(layout: InPlaceLayout, request: DigestRequest, most: int) -> InPlaceRequest:
    return InPlaceRequest(
        digest=replace(request, messages=layout.originals),
        units=layout.units,
        fixed=layout.uneditable,
        never_hidden=layout.never_hidden,
        never_hidden_tokens=most,
        reword=_reword_call,
    )


def _reword_call(call: ToolCallPart, reword: Callable[[str], str]) -> str:
    return with_long_texts(call, LONG_TEXT, reword)


STAGE = Stage(
    name=NAME,
    title="put the lines that will be needed again in place of older messages, down to a size",
    options=DistillOptions,
    propose=propose,
    keeps_words=True,
)
