"""Runs the stages over every conversation in a transcript."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from compactctl.commands.measuring.context_size import ContextSize, context_size
from compactctl.commands.measuring.measure import Measurement
from compactctl.commands.measuring.next_request import (
    CacheUse,
    RequestModel,
    Totals,
    cache_use,
    largest_of,
    request_model,
    sized_request,
    sized_requests,
    totals_of,
)
from compactctl.commands.planning.plan import Plan, SizeToReach
from compactctl.formats.registry import between, can_write_assistant
from compactctl.history.conversation_view import ConversationView, Protection
from compactctl.history.protection import Fits, ProtectOptions, protected_messages
from compactctl.history.stand_ins import newest_id
from compactctl.history.turns import preamble, split_conversations
from compactctl.model.edit import Edit
from compactctl.model.message import Message, MessageId
from compactctl.model.numbers import exact
from compactctl.model.operation import StageRecord
from compactctl.model.summary import NO_SUMMARY_INPUTS, Summarizer, SummaryInputs
from compactctl.model.transcript import RecordStats, Transcript
from compactctl.model.unsent import UnsentKind
from compactctl.pipeline.run import PipelineRun, not_needed_run, run, sum_counts
from compactctl.stages.support.condensation import with_originals
from compactctl.summaries.extract.passages import read_passages
from compactctl.summaries.extract.user_requests import lasting_words
from compactctl.tokens.meter import Meter
from compactctl.tokens.trigger import Trigger, TriggerInput

# Of the size to reach, what the newest work may hold that is left alone unasked.
NEWEST_SHARE = 0.2
# What is kept of a conversation where the size to reach is less than is in every request beside it:
# to take out more would not reach that either.
LEAST_KEPT = 0.1

Room = Callable[[tuple[Message, ...]], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageInputs:
    """What stages are given beside the messages.

    ``originals`` are those of stand-ins and of rewritten messages. ``summarizer`` writes summaries,
    None is the built-in one, with the ``texts`` that are given. ``unsent`` is what the file holds
    that is never sent, for the stages that take that out, None where every record stays in it.
    """

    originals: Mapping[MessageId, tuple[Message, ...]] = field(default_factory=dict)
    summarizer: Summarizer | None = None
    texts: SummaryInputs = NO_SUMMARY_INPUTS
    unsent: Mapping[UnsentKind, RecordStats] | None = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What stages came to over all conversations, in figures.

    ``size`` is what was found of the largest next request before; ``situation`` is that of the
    largest one after, as triggers and levels look at it. ``target`` is the size to reach, None
    where there is none to name or compaction was not due. ``cache`` is what a prompt cache loses,
    None where it loses nothing or there are several conversations. ``not_due`` says why no stage
    ran although some were named, "" where they ran.
    """

    stages: tuple[StageRecord, ...]
    before: Totals
    after: Totals
    size: ContextSize
    situation: TriggerInput
    target: int | None = None
    cache: CacheUse | None = None
    not_due: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedEdits:
    """What stages changed, with all messages before and after.

    ``groups`` names the stage behind each group of edits, ``protected`` says why messages were left
    alone. The largest conversations are those whose next requests are the largest.
    """

    edits: tuple[Edit, ...]
    groups: Mapping[str, str]
    before: tuple[Message, ...]
    after: tuple[Message, ...]
    largest_before: tuple[Message, ...]
    largest_after: tuple[Message, ...]
    protected: Mapping[MessageId, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRun:
    """What stages came to: in figures, which go on, and in edits and messages, which do not.

    ``fixed`` are the tokens of every request that no compaction takes out. ``said`` are those of
    the words of people that stages keep in a conversation that is still too large, 0 where none is,
    and ``preamble`` those of its system prompt and the like.
    """

    outcome: Outcome
    applied: AppliedEdits
    fixed: int
    said: int = 0
    given: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedTranscript:
    """A transcript, and what its next request comes to: ``size`` now, ``request`` with less."""

    transcript: Transcript
    measured: Measurement
    size: ContextSize
    request: RequestModel

    @classmethod
    def of(cls, transcript: Transcript, measured: Measurement) -> "SizedTranscript":
        """Measure the effective history."""
        measured.meter.prime(transcript.effective)
        size = context_size(transcript, measured)
        request = request_model(size, transcript, measured)
        return cls(transcript=transcript, measured=measured, size=size, request=request)


def run_stages(
    transcript: Transcript, plan: Plan, measured: Measurement, inputs: StageInputs, held: str = ""
) -> StageRun:
    """Run the plan over every conversation on its own; ``held`` says why no step may run.

    The target is for the whole request: what it holds beside the conversation is taken off.
    """
    protect = plan.protect.across(transcript.effective)
    meter, sized = measured.meter, SizedTranscript.of(transcript, measured)
    protected: dict[MessageId, str] = {}
    runs: list[PipelineRun] = []
    kept: list[int] = []
    waiting: list[str] = []
    for messages in split_conversations(transcript.effective):
        share = _share(plan.reach, messages, inputs.originals, meter)
        kept += [] if share is None else [share]
        room = room_for(plan.reach, messages, sized.request) if share is None else _always(share)
        view = replace(
            view_of(messages, transcript, measured, protect, room),
            originals=inputs.originals,
            summarizer=inputs.summarizer,
            summary_inputs=inputs.texts,
            # Of the whole file, so for one of its conversations.
            unsent={} if runs else inputs.unsent,
        )
        protected.update(view.protection.reasons)
        asked = sized_request(messages, meter, sized.size.unseen)
        waiting.append(_not_due(plan.gate, asked.situation(measured.limits)))
        refusal = held or waiting[-1]
        runs.append(
            not_needed_run(view, plan.steps, meter, refusal)
            if refusal
            else run(view, plan.steps, meter)
        )
    done = joined_run(sized, runs, protected)
    not_due = waiting[0] if waiting and all(waiting) else ""
    target = None if not_due else size_to_reach(plan.reach, done.outcome, max(kept, default=None))
    said, given_tokens = max((_words(each, plan, meter) for each in runs), default=(0, 0))
    outcome = replace(done.outcome, target=target, not_due=not_due)
    return replace(done, outcome=outcome, said=said, given=given_tokens)


def _words(done: PipelineRun, plan: Plan, meter: Meter) -> tuple[int, int]:
    """Return the tokens of the words that stages kept, and of what is given, of too large a rest.

    That is 0 of each where the conversation is small enough or no stage keeps such words.
    """
    view = done.view.with_current_target()
    is_kept = any(step.stage.keeps_words for step in plan.steps)
    if not is_kept or view.target is None or meter.total(view.messages) <= view.target:
        return 0, 0
    messages = with_originals(view.messages, view.originals)
    given_messages = {message.id: message for message in preamble(messages)}
    said = tuple(message for message in messages if message.id not in given_messages)
    words = lasting_words(read_passages(said)).texts.values()
    return sum(map(meter.text, words)), meter.total(given_messages.values())


def view_of(
    messages: tuple[Message, ...],
    transcript: Transcript,
    measured: Measurement,
    options: ProtectOptions,
    room: Room | None = None,
) -> ConversationView:
    """Return what a stage looks at in one conversation of a transcript.

    ``room`` tells the target, if there is one: of what that leaves for the conversation, the newest
    work may hold a part, and the oldest messages what is asked for of all of it; without one, of
    the conversation's tokens.
    """
    size = measured.meter.total
    reach = size(messages) if room is None else room(messages)
    most = inf if room is None else (reach - size(preamble(messages))) * NEWEST_SHARE
    front = reach * (options.keep_prefix or 0)
    has_room: tuple[Fits, Fits] = (
        lambda newest: size(newest) <= most,
        lambda oldest: size(oldest) <= front,
    )
    protected = _protected(messages, options, *has_room)
    return ConversationView(
        messages=messages,
        target_for=room,
        protection=Protection(
            reasons=protected,
            automatic=_unasked(messages, options, *has_room) & protected.keys(),
            tools=options.tools,
        ),
        window=measured.budget.window,
        cwd=transcript.session.cwd,
        can_write_assistant=can_write_assistant(transcript.format),
        between=between(transcript.format),
    )


def _share(
    reach: SizeToReach,
    messages: Sequence[Message],
    originals: Mapping[MessageId, tuple[Message, ...]],
    meter: Meter,
) -> int | None:
    """Return the tokens that are kept of a conversation, as it was before any summary.

    None where it is not a share that is kept.
    """
    if reach.share is None:
        return None
    return kept_tokens(with_originals(messages, originals), reach.share, meter)


def kept_tokens(messages: Sequence[Message], share: float, meter: Meter) -> int:
    """Return the tokens of messages of which a share is kept, and all that is given."""
    given_tokens = meter.total(preamble(messages))
    return given_tokens + int(exact(share) * (meter.total(messages) - given_tokens))


def size_to_reach(reach: SizeToReach, outcome: Outcome, kept: int | None = None) -> int | None:
    """Return the size to reach, None where there is none to name.

    ``kept`` are the tokens that are kept of the largest conversation, where that is a share. After
    an overflow, what was too much has to go as well.
    """
    if kept is not None:
        return outcome.after.unseen + kept
    if reach.tokens is None or not reach.excess:
        return reach.tokens
    return max(1, min(reach.tokens, outcome.before.request_tokens - reach.excess))


def _always(tokens: int) -> Room:
    return lambda _: tokens


def room_for(reach: SizeToReach, messages: Sequence[Message], request: RequestModel) -> Room | None:
    """Return what tells the tokens that messages may come to for a request within the target."""
    if reach.tokens is None:
        return None
    limit = reach.tokens - reach.below
    if reach.excess:
        limit = min(limit, request.tokens(messages) - reach.excess)
    if request.fixed >= limit:
        return _always(kept_tokens(messages, LEAST_KEPT, request.meter))
    return lambda left: request.room(left, limit)


def _not_due(gate: Trigger | None, situation: TriggerInput) -> str:
    """Say why compaction is not due; "" when it is, or nobody asked."""
    if gate is None or gate.matched_condition(situation):
        return ""
    return f"compaction is not due: {situation.tokens:,} tokens, the trigger is {gate}"


def _protected(
    messages: Sequence[Message], options: ProtectOptions, *has_room: Fits
) -> Mapping[MessageId, str]:
    newest = newest_id(messages)
    always = {newest: "the newest message"} if newest else {}
    return {**always, **protected_messages(messages, options, *has_room)}


def _unasked(
    messages: Sequence[Message], options: ProtectOptions, *has_room: Fits
) -> frozenset[MessageId]:
    """Return the messages that nobody asked to leave alone, but for prompts."""
    if options.keep_turns is not None:
        return frozenset()
    asked = protected_messages(messages, replace(options, keep_turns=0), *has_room)
    return frozenset(m.id for m in messages if m.id not in asked and not m.starts_turn)


def joined_run(
    sized: SizedTranscript, runs: Sequence[PipelineRun], protected: Mapping[MessageId, str]
) -> StageRun:
    """Return what the runs over all conversations of a transcript come to together."""
    size, request, before = sized.size, sized.request, sized.transcript.effective
    meter = request.meter
    after = tuple(message for each in runs for message in each.view.messages)
    unseen = request.unseen(after) if len(runs) == 1 else 0
    left = [sized_request(each.view.messages, meter, unseen) for each in runs]
    largest_before = largest_of(sized_requests(before, meter, size.unseen))
    largest_after = largest_of(left or [sized_request((), meter, 0)])
    outcome = Outcome(
        stages=_joined([each.stages for each in runs]),
        before=totals_of(before, largest_before, meter),
        after=totals_of(after, largest_after, meter),
        size=size,
        situation=largest_after.situation(sized.measured.limits),
        cache=cache_use(before, after, request) if len(runs) == 1 else None,
    )
    applied = AppliedEdits(
        edits=tuple(edit for each in runs for edit in each.edits),
        groups={name: stage for each in runs for name, stage in each.groups.items()},
        before=before,
        after=after,
        largest_before=largest_before.messages,
        largest_after=largest_after.messages,
        protected=protected,
    )
    return StageRun(outcome=outcome, applied=applied, fixed=request.fixed)


def _joined(runs: Sequence[tuple[StageRecord, ...]]) -> tuple[StageRecord, ...]:
    """Add up the records of each stage over the conversations; one of them speaks for all."""
    if len(runs) == 1:
        return runs[0]
    return tuple(_sum(records) for records in zip(*runs, strict=True))


def _sum(records: Sequence[StageRecord]) -> StageRecord:
    # Where none did anything, the exception says more: it may have what the others have not.
    details = Counter(record.detail for record in records)
    rarest = min(records, key=lambda record: details[record.detail])
    chosen = next((record for record in records if record.outcome == "applied"), rarest)
    applied = sum(record.outcome == "applied" for record in records)
    detail = f"in {applied} of {len(records)} conversations" if applied else chosen.detail
    return replace(
        chosen,
        tokens_before=sum(record.tokens_before for record in records),
        tokens_after=sum(record.tokens_after for record in records),
        hidden=sum(record.hidden for record in records),
        replaced=sum(record.replaced for record in records),
        detail=detail,
        figures=sum_counts(*(record.figures for record in records)),
    )
