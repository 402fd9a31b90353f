"""Distill: replace older messages with the lines likely to be needed again, down to the target."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import atomic_units
from compactctl.history.stand_ins import (
    is_proven,
    is_stand_in,
    message_count,
    newest_summary,
)
from compactctl.history.turns import preamble
from compactctl.model.edit import Proposal, Replace, SkippedStage
from compactctl.model.message import Message, ToolCallPart
from compactctl.model.numbers import exact
from compactctl.model.summary import Summary
from compactctl.records import Record, replace
from compactctl.stages.support.condensation import (
    MIN_HIDDEN,
    CondenseSpec,
    SummaryFormat,
    condense,
    following,
    hide_behind_summary,
    hideable_before,
    originals_of,
    skip_if_nothing_new,
    skip_if_too_few,
    skip_not_smaller,
)
from compactctl.stages.support.in_place_layout import InPlaceLayout
from compactctl.stages.support.replacement import LONG_TEXT, RewordText, reword_long_texts
from compactctl.stages.support.stage import Stage, option, skip_within_target
from compactctl.stages.support.truncation import (
    messages_without,
    room_for_text,
    spoken_tokens,
    tail_start,
)
from compactctl.tokens.meter import Meter

if TYPE_CHECKING:
    from compactctl.summaries.digest.digest import DigestRequest
    from compactctl.summaries.digest.in_place import InPlaceRequest, InPlaceResult

NAME = "distill"
DistillForm = Literal["auto", "digest", "in-place"]
_PREFIX = "[Earlier conversation]:\n\n"
# If this share of the conversation stays, "auto" works in place.
_LARGE_SHARE = 0.2
# The newest work may fill this share of what stays before its tool results are shortened.
_MAX_NEWEST_SHARE = 0.5
# Without new messages, a smaller saving than this share is not worth another compaction.
_MIN_SAVING = 0.05
_DETAIL = "see --keep-turns"


class DistillOptions(Record):
    """How to distill."""

    keep: float = option(0.3, "Share of the conversation to keep without a target (0 to 1).")
    tail: float = option(
        0.1, "Share of these tokens for the newest messages, which are kept whole."
    )
    keep_user: int = option(
        2_000,
        "Tokens up to which a message of the user is kept whole, the newest and the first before "
        "all others, in at most a fifth of what is kept.",
    )
    form: DistillForm = option(
        "auto",
        '"digest" replaces all older messages by one text; "in-place" shortens each message '
        'where it is and hides the empty ones behind one text; "auto" works in place if at '
        "least a fifth of the conversation is kept, else it writes a digest.",
    )


def propose(
    view: ConversationView, meter: Meter, options: DistillOptions
) -> Proposal | SkippedStage:
    """Propose to hide older messages behind a digest of their originals, or to shorten them."""
    from compactctl.summaries.digest.digest import DigestRequest, write_digest
    from compactctl.summaries.digest.in_place import distill_in_place

    preamble_tokens = meter.total(preamble(view.messages))
    total = meter.total(originals_of(view, view.messages)) - preamble_tokens
    target = view.target
    if target is None:
        target = preamble_tokens + int(total * exact(options.keep))
    if meter.total(view.messages) <= target:
        return skip_within_target(NAME, target)
    is_large = target - preamble_tokens >= total * _LARGE_SHARE
    tail = int((target - preamble_tokens) * exact(options.tail))
    hidden = hideable_before(view, tail_start(view, meter, tail))
    max_newest = int((target - preamble_tokens) * _MAX_NEWEST_SHARE)
    newest = _oversized_newest(view, meter, max_newest)
    unmovable = _unmovable(view, meter, hidden, tail)
    source = originals_of(view, (*hidden, *unmovable, *newest))
    # Known originals may be distilled again, to a smaller size. What is known only from an earlier
    # digest would lose a little each time.
    is_lossy = any(map(is_stand_in, source))
    refusal = skip_if_nothing_new(NAME, view) if is_lossy else None
    if refusal is None and message_count(source) < MIN_HIDDEN:
        refusal = skip_if_too_few(NAME, source, _DETAIL)
    if refusal:
        return refusal
    chosen = (*hidden, *unmovable, *newest)
    kept_messages = messages_without(view.messages, chosen)
    spoken = spoken_tokens(meter, kept_messages)
    request = DigestRequest(
        messages=source,
        following=kept_messages,
        n_following=sum(not is_stand_in(message) for message in following(view, chosen)),
        budget=room_for_text(view, meter, kept_messages, target) - meter.text(_PREFIX),
        words_room=(target - preamble_tokens) // 2 - spoken,
        whole_tokens=options.keep_user,
        spoken_tokens=spoken,
        cwd=view.cwd,
    )
    is_digest = options.form == "digest" or (options.form == "auto" and not is_large)
    if newest or unmovable or not is_digest:
        layout = InPlaceLayout.build(view, hidden, newest, unmovable, hide_older=is_digest)
        result = distill_in_place(_in_place_request(layout, request, max_newest), meter)
        before, after = meter.total(layout.messages), result.tokens + meter.text(_PREFIX)
        proposal: Proposal | SkippedStage = skip_not_smaller(NAME, before)
        if after < before:
            proposal = _propose_in_place(view, layout, result, options, meter)
    else:
        summary = write_digest(request, meter)
        before, after = meter.total(hidden), meter.text(_PREFIX + summary.text)
        proposal = condense(view, meter, hidden, summary, _condense_spec(options))
    # The same again would be a little smaller each time, since what was shortened counts less.
    if before - after < meter.total(view.messages) * _MIN_SAVING and not _is_new_here(view):
        return skip_if_nothing_new(NAME, view) or proposal
    return proposal


def _is_new_here(view: ConversationView) -> bool:
    """Whether the newest summary is of this run, which may still find the size for its target."""
    summary = newest_summary(view.messages)
    return summary is not None and is_proven(summary) and summary.tags.operation is None


def _condense_spec(options: DistillOptions) -> CondenseSpec:
    return CondenseSpec(stage=NAME, options=options, format=SummaryFormat(prefix=_PREFIX))


def _oversized_newest(view: ConversationView, meter: Meter, max_tokens: int) -> tuple[Message, ...]:
    """Return the automatically protected newest work if it is larger than ``max_tokens``."""
    newest = tuple(message for message in view.messages if message.id in view.protection.automatic)
    return newest if meter.total(newest) > max_tokens else ()


def _unmovable(
    view: ConversationView, meter: Meter, hidden: Sequence[Message], tail: int
) -> tuple[Message, ...]:
    """Return the messages before the newest ``tail`` tokens that can be shortened but not hidden.

    Summaries stay as they are.
    """
    hidden_ids = {message.id for message in hidden}
    older = set(range(len(view.messages)))
    for index in reversed(range(len(view.messages))):
        tail -= meter.message(view.messages[index])
        if tail < 0:
            break
        older.discard(index)
    chosen: set[int] = set()
    for unit in atomic_units(view.messages):
        messages = [view.messages[index] for index in unit]
        is_older = older.issuperset(unit) and not any(m.id in hidden_ids for m in messages)
        if is_older and not any(map(partial(_is_kept_whole, view), messages)):
            chosen.update(unit)
    return tuple(view.messages[index] for index in sorted(chosen))


def _is_kept_whole(view: ConversationView, message: Message) -> bool:
    is_protected = message.id in view.protection.reasons or message.locks.immutable_reason
    return bool(is_protected) or message.origin.is_summary or is_stand_in(message)


def _propose_in_place(
    view: ConversationView,
    layout: InPlaceLayout,
    result: "InPlaceResult",
    options: DistillOptions,
    meter: Meter,
) -> Proposal:
    """Shorten messages in place; hide those of which no line is kept."""
    shortened = layout.rewrite_proposal(view, result, NAME, options)
    hidden = layout.messages_to_hide(view, result.hidden)
    if not hidden:
        return replace(shortened, notes=tuple(filter(None, (*shortened.notes, result.note))))
    summary = Summary(text=result.text)
    proposal = hide_behind_summary(view, meter, hidden, summary, _condense_spec(options))
    count = len({edit.id for edit in shortened.edits if isinstance(edit, Replace)})
    shortened_count = f", messages shortened: {count:,}" if count else ""
    notes = filter(None, (f"messages hidden: {len(hidden):,}{shortened_count}", result.note))
    return replace(proposal, edits=(*proposal.edits, *shortened.edits), notes=tuple(notes))


def _in_place_request(
    layout: InPlaceLayout, request: "DigestRequest", max_tokens: int
) -> "InPlaceRequest":
    from compactctl.summaries.digest.in_place import InPlaceRequest

    return InPlaceRequest(
        digest=replace(request, messages=layout.originals),
        units=layout.units,
        immutable=layout.uneditable,
        never_hidden=layout.newest,
        unmovable=layout.unmovable,
        never_hidden_tokens=max_tokens,
        reword=_reword_call,
    )


def _reword_call(call: ToolCallPart, reword: RewordText) -> str:
    return reword_long_texts(call, LONG_TEXT, reword)


STAGE = Stage(
    name=NAME,
    title="replace older messages with the lines likely to be needed again, down to the target",
    options=DistillOptions,
    propose=propose,
    example=DistillOptions(keep=0.9),
    keeps_lasting_words=True,
    fills_target=True,
)
