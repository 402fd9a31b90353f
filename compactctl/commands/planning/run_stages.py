"""Runs the stages over every conversation in a transcript."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from compactctl.commands.measuring.context_size import ContextSize, unseen_size
from compactctl.commands.measuring.measure import Measure
from compactctl.commands.measuring.next_request import (
    CacheUse,
    NextRequest,
    SizedRequest,
    cache_use,
    largest_of,
    next_request,
    sized_request,
    sized_requests,
)
from compactctl.commands.planning.plan import Plan
from compactctl.formats.registry import between, writes_pairs
from compactctl.history.conversations import conversations_of
from compactctl.history.protection import HasRoom, ProtectOptions, protect
from compactctl.history.standins import newest_id
from compactctl.history.turns import given
from compactctl.history.view import View
from compactctl.model.edit import Edit
from compactctl.model.exact import exact
from compactctl.model.message import Message, MessageId
from compactctl.model.operation import StageRecord
from compactctl.model.transcript import Transcript
from compactctl.pipeline.run import Run, idle, run, summed
from compactctl.stages.support.condensation import with_originals
from compactctl.summaries.extract.passages import passages
from compactctl.summaries.extract.user_requests import lasting_words
from compactctl.tokens.meter import Meter
from compactctl.tokens.trigger import Situation, Trigger

# Of the size to reach, what the newest work may hold that is left alone unasked.
NEWEST_SHARE = 0.2
# What is kept of a conversation where the size to reach is less than is in every request beside it:
# to take out more would not reach that either.
LEAST_KEPT = 0.1

Room = Callable[[tuple[Message, ...]], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOutcome:
    """What the stages came to over all conversations.

    ``groups`` names the stage behind each group of edits. Tokens are totals over all
    conversations; ``request_before`` and ``request_after`` are the largest of their next requests.
    ``size`` is what was found of the request before. ``share`` is what the plan keeps of the
    largest conversation's tokens, None where it has another size to reach; ``fixed`` are the
    tokens of every request that no compaction takes out. ``not_due`` says why no stage
    ran although some were named, "" where they ran. ``cache`` is what a prompt cache loses, None
    where it loses nothing or there are several conversations. ``word_tokens`` are those of the
    words of people that stages keep in a conversation which is still too large, 0 where none is;
    ``given_tokens`` those of its system prompt and the like.
    """

    stages: tuple[StageRecord, ...]
    edits: tuple[Edit, ...]
    groups: Mapping[str, str]
    before: tuple[Message, ...]
    after: tuple[Message, ...]
    protected: Mapping[MessageId, str]
    notes: tuple[str, ...]
    tokens_before: int
    tokens_after: int
    size: ContextSize
    request_before: SizedRequest
    request_after: SizedRequest
    cache: CacheUse | None
    share: int | None = None
    fixed: int = 0
    not_due: str = ""
    word_tokens: int = 0
    given_tokens: int = 0


def run_all(
    transcript: Transcript,
    plan: Plan,
    measured: Measure,
    options: ProtectOptions,
    originals: Mapping[MessageId, tuple[Message, ...]],
) -> PlanOutcome:
    """Run the plan over every conversation on its own.

    The target is for the whole request: what it holds beside the conversation is taken off.
    """
    options = plan.protecting(options).across(transcript.effective)
    meter = measured.meter
    meter.prime(transcript.effective)
    size = unseen_size(transcript, measured)
    request = next_request(size, transcript, measured)
    protected: dict[MessageId, str] = {}
    runs: list[Run] = []
    shares: list[int] = []
    waiting: list[str] = []
    for messages in conversations_of(transcript.effective):
        share = _share(plan, messages, originals, measured)
        shares += [] if share is None else [share]
        room = room_for(plan, messages, request) if share is None else _always(share)
        view = replace(
            view_of(messages, transcript, measured, options, room),
            originals=originals,
            summarizer=plan.summarizer,
            texts=plan.texts,
            # Of the whole file, so for one of its conversations.
            unsent={} if runs else plan.unsent,
        )
        protected.update(view.protected)
        asked = sized_request(messages, meter, size.unseen)
        waiting.append(_not_due(plan.gate, asked.situation(measured.limits)))
        refusal = plan.held or waiting[-1]
        runs.append(
            idle(view, plan.steps, meter, refusal) if refusal else run(view, plan.steps, meter)
        )
    outcome = outcome_of(transcript, runs, protected, size, request)
    not_due = waiting[0] if waiting and all(waiting) else ""
    words, fixed = max((_words(each, plan, meter) for each in runs), default=(0, 0))
    return replace(
        outcome,
        share=max(shares, default=None),
        not_due=not_due,
        word_tokens=words,
        given_tokens=fixed,
    )


def _words(done: Run, plan: Plan, meter: Meter) -> tuple[int, int]:
    """Return the tokens of the words that stages kept, and of what is given, of too large a rest.

    That is 0 of each where the conversation is small enough or no stage keeps such words.
    """
    view = done.view.with_room()
    is_kept = any(step.stage.keeps_words for step in plan.steps)
    if not is_kept or view.target is None or meter.total(view.messages) <= view.target:
        return 0, 0
    messages = with_originals(view.messages, view.originals)
    fixed = {message.id: message for message in given(messages)}
    said = tuple(message for message in messages if message.id not in fixed)
    words = lasting_words(passages(said)).texts.values()
    return sum(map(meter.text, words)), meter.total(fixed.values())


def view_of(
    messages: tuple[Message, ...],
    transcript: Transcript,
    measured: Measure,
    options: ProtectOptions,
    room: Room | None = None,
) -> View:
    """Return what a stage looks at in one conversation of a transcript.

    ``room`` tells the target, if there is one: of what that leaves for the conversation, the newest
    work may hold a part, and the oldest messages what is asked for of all of it; without one, of
    the conversation's tokens.
    """
    size = measured.meter.total
    reach = size(messages) if room is None else room(messages)
    most = inf if room is None else (reach - size(given(messages))) * NEWEST_SHARE
    front = reach * (options.keep_prefix or 0)
    has_room: tuple[HasRoom, HasRoom] = (
        lambda newest: size(newest) <= most,
        lambda oldest: size(oldest) <= front,
    )
    protected = _protected(messages, options, *has_room)
    return View(
        messages=messages,
        room=room,
        protected=protected,
        newest=_unasked(messages, options, *has_room) & protected.keys(),
        protected_tools=options.tools,
        window=measured.budget.window,
        cwd=transcript.cwd,
        writes_pairs=writes_pairs(transcript.format),
        between=between(transcript.format),
    )


def _share(
    plan: Plan,
    messages: Sequence[Message],
    originals: Mapping[MessageId, tuple[Message, ...]],
    measured: Measure,
) -> int | None:
    """Return the tokens that the plan keeps of a conversation, as it was before any summary."""
    if plan.keep is None:
        return None
    return part_of(with_originals(messages, originals), plan.keep, measured.meter)


def part_of(messages: Sequence[Message], share: float, meter: Meter) -> int:
    """Return the tokens of messages of which a share is kept, and all that is given."""
    fixed = meter.total(given(messages))
    return fixed + int(exact(share) * (meter.total(messages) - fixed))


def size_to_reach(plan: Plan, outcome: PlanOutcome) -> int | None:
    """Return the size to reach, None where there is none to name or compaction is not due.

    After an overflow, what was too much has to go as well.
    """
    if outcome.not_due:
        return None
    if outcome.share is not None:
        return outcome.request_after.unseen + outcome.share
    if plan.target is None or not plan.excess:
        return plan.target
    return max(1, min(plan.target, outcome.request_before.tokens - plan.excess))


def _always(tokens: int) -> Room:
    return lambda _: tokens


def room_for(plan: Plan, messages: Sequence[Message], request: NextRequest) -> Room | None:
    """Return what tells the tokens that messages may come to for a request within the target."""
    if plan.target is None:
        return None
    limit = plan.target - plan.below
    if plan.excess:
        limit = min(limit, request.tokens(messages) - plan.excess)
    if request.fixed >= limit:
        return _always(part_of(messages, LEAST_KEPT, request.meter))
    return lambda left: request.room(left, limit)


def _not_due(gate: Trigger | None, situation: Situation) -> str:
    """Say why compaction is not due; "" when it is, or nobody asked."""
    if gate is None or gate.fired(situation):
        return ""
    return f"compaction is not due: {situation.tokens:,} tokens, the trigger is {gate}"


def _protected(
    messages: Sequence[Message], options: ProtectOptions, *has_room: HasRoom
) -> Mapping[MessageId, str]:
    newest = newest_id(messages)
    always = {newest: "the newest message"} if newest else {}
    return {**always, **protect(messages, options, *has_room)}


def _unasked(
    messages: Sequence[Message], options: ProtectOptions, *has_room: HasRoom
) -> frozenset[MessageId]:
    """Return the messages that nobody asked to leave alone, but for prompts."""
    if options.keep_turns is not None:
        return frozenset()
    asked = protect(messages, replace(options, keep_turns=0), *has_room)
    return frozenset(m.id for m in messages if m.id not in asked and not m.starts_turn)


def outcome_of(
    transcript: Transcript,
    runs: Sequence[Run],
    protected: Mapping[MessageId, str],
    size: ContextSize,
    request: NextRequest,
) -> PlanOutcome:
    """Return what the runs over all conversations of a transcript come to together."""
    meter = request.meter
    after = tuple(message for each in runs for message in each.view.messages)
    unseen = request.unseen(after) if len(runs) == 1 else 0
    asked = [sized_request(each.view.messages, meter, unseen) for each in runs]
    return PlanOutcome(
        stages=_joined([each.stages for each in runs]),
        edits=tuple(edit for each in runs for edit in each.edits),
        groups={name: stage for each in runs for name, stage in each.groups.items()},
        before=transcript.effective,
        after=after,
        protected=protected,
        notes=tuple(dict.fromkeys(note for each in runs for note in each.notes)),
        tokens_before=meter.total(transcript.effective),
        tokens_after=meter.total(after),
        size=size,
        request_before=largest_of(sized_requests(transcript.effective, meter, size.unseen)),
        request_after=largest_of(asked or [sized_request((), meter, 0)]),
        cache=cache_use(transcript.effective, after, request) if len(runs) == 1 else None,
        fixed=request.fixed,
    )


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
        figures=summed(*(record.figures for record in records)),
    )
