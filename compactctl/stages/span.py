"""Span: hide a range of messages behind your own summary or a marker."""

from collections.abc import Sequence

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import atomic_units
from compactctl.history.protection import reasons_to_stay
from compactctl.history.references import message_behind, messages_named
from compactctl.history.stand_ins import is_stand_in
from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.summary import Summary
from compactctl.records import Record
from compactctl.stages.support.condensation import CondenseSpec, SummaryFormat, condense
from compactctl.stages.support.stage import Stage, option
from compactctl.stages.support.truncation import HidePlanner, Marker, hide_messages
from compactctl.tokens.meter import Meter

NAME = "span"
_SUMMARY_PREFIX = "[Previous conversation summary]:\n\n"


class SpanOptions(Record):
    """Which messages to hide."""

    first: str = option("", "First message to hide: an id, a line (158) or a reference (L158).")
    last: str = option("", "Last message to hide, named in the same way.")
    widen: bool = option(
        False, "Extend the range if it would separate a tool call from its result."
    )
    summary: str = option(
        "", "Summary that replaces the hidden messages; without it, a marker does."
    )
    marker: str = option(
        "[{count} messages were taken out by hand]",
        "Marker that replaces the hidden messages; ``{count}`` is their number.",
    )


def propose(view: ConversationView, meter: Meter, options: SpanOptions) -> Proposal | SkippedStage:
    """Propose to hide exactly the messages from the first to the last."""
    indices = _span_indices(view, options)
    if isinstance(indices, SkippedStage):
        return indices
    refusal = _refusal(view, indices, options)
    if refusal is not None:
        return refusal
    hidden = [view.messages[index] for index in indices]
    if not options.summary:
        marker = Marker(
            stage=NAME, prefix="truncation", template=options.marker, reason="hidden by hand"
        )
        ids = tuple(message.id for message in hidden)
        return hide_messages(HidePlanner(view, meter, marker), ids, options)
    summary_format = SummaryFormat(prefix=_SUMMARY_PREFIX)
    spec = CondenseSpec(
        stage=NAME, options=options, format=summary_format, reason="summarized by hand"
    )
    return condense(view, meter, hidden, Summary(text=options.summary), spec)


def _span_indices(view: ConversationView, options: SpanOptions) -> list[int] | SkippedStage:
    """Return the indices of the messages, extended to whole units with ``widen``."""
    messages = view.messages
    bounds = []
    for name in (options.first, options.last):
        index = message_behind(name, messages, view.originals)
        if index is not None and is_stand_in(messages[index]):
            reason = f"message {name} is hidden already"
            detail = "compactctl view --all shows it"
            return SkippedStage(stage=NAME, reason=reason, detail=detail)
        if index is None:
            index = next(messages_named(messages, name), None)
        if index is None:
            if name:
                reason = f"message {name} is not in the context"
                detail = "compactctl view lists those that are"
            else:
                reason, detail = "no messages are named", "see --span-first and --span-last"
            return SkippedStage(stage=NAME, reason=reason, detail=detail)
        bounds.append(index)
    span = set(range(bounds[0], bounds[1] + 1))
    if not span:
        reason = f"range {options.first}..{options.last} is reversed"
        return SkippedStage(stage=NAME, reason=reason, detail="name the earlier message first")
    if options.widen:
        span.update(*(unit for unit in atomic_units(messages) if span.intersection(unit)))
    return sorted(span)


def _refusal(
    view: ConversationView, indices: Sequence[int], options: SpanOptions
) -> SkippedStage | None:
    """Return why the messages may not be hidden together; None when they may."""
    ids = {view.messages[index].id for index in indices}
    for unit in atomic_units(view.messages):
        if set(unit).intersection(indices) and not set(unit).issubset(indices):
            lines = [view.messages[index].line + 1 for index in unit]
            span = f"{options.first}..{options.last}"
            reason = f"{span} separates tool calls from their results"
            detail = f"lines {min(lines):,} to {max(lines):,} go together; add --span-widen"
            return SkippedStage(stage=NAME, reason=reason, detail=detail)
    reasons = reasons_to_stay(view, ids)
    messages = (view.messages[index] for index in indices)
    unhideable = next((message for message in messages if message.id in reasons), None)
    if unhideable is None:
        return None
    reason = f"line {unhideable.line + 1:,} cannot be hidden: {reasons[unhideable.id]}"
    return SkippedStage(stage=NAME, reason=reason, detail="leave it out")


STAGE = Stage(
    name=NAME,
    title="hide a range of messages behind your own summary or a marker",
    options=SpanOptions,
    propose=propose,
    example=SpanOptions(first="m0", last="m2", widen=True),
)
