"""Runs the stages over every conversation of a transcript."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from types import MappingProxyType

from compactctl.clients.registry import (
    can_write_assistant,
    can_write_results,
    request_of,
    roles_between_in,
)
from compactctl.commands.measuring.acceptance import recipient_of, stored_of
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
from compactctl.history.apply import apply_all
from compactctl.history.conversation_view import ConversationView, Protection
from compactctl.history.faults import Recipient
from compactctl.history.omissions import with_omitted_hidden
from compactctl.history.protection import ProtectionLimits, ProtectOptions, protected_messages
from compactctl.history.stand_ins import is_proven, is_unchanged, newest_id, newest_summary
from compactctl.history.turns import preamble, split_conversations
from compactctl.model.edit import Edit
from compactctl.model.message import Message, MessageId
from compactctl.model.numbers import exact
from compactctl.model.operation import SizeChange, StageRecord
from compactctl.model.summary import NO_SUMMARY_INPUTS, Summarizer, SummaryInputs
from compactctl.model.transcript import RecordStats, RefusedRecord, Transcript
from compactctl.model.unsent import UnsentKind
from compactctl.pipeline.run import PipelineRun, add_up_notes, not_needed_run, run, sum_counts
from compactctl.records import Record, field, replace
from compactctl.stages.support.condensation import with_originals
from compactctl.summaries.extract.passages import read_passages
from compactctl.summaries.extract.user_words import choose_words
from compactctl.tokens.fit import Limits
from compactctl.tokens.meter import Meter
from compactctl.tokens.trigger import Trigger, TriggerInput
from compactctl.tokens.verdict import Judgment

# The share of the size to reach up to which the newest work is protected by default.
NEWEST_SHARE = 0.2
# The share of a conversation to keep if what is in every request alone exceeds the size to reach:
# removing more would not reach it either.
MIN_KEPT_SHARE = 0.1

Room = Callable[[tuple[Message, ...]], int]


class StageInputs(Record):
    """The inputs of stages besides the messages.

    Attributes:
        originals: the original messages behind summaries, markers and rewritten messages.
        summarizer: writes the summaries; None is the built-in one.
        texts: additional inputs of the summarizer.
        unsent: the records that are never sent, for stages that remove them; None if all records
            stay in the file.
        refused: the records for which the client refuses the file, for the stage that repairs it.
        recipient: who gets the next request, if an error says more of them than the transcript.
        keeps_originals: whether the new file keeps all records.
        settles: whether stages look for a result that they would not change again.
    """

    originals: Mapping[MessageId, tuple[Message, ...]] = field(default_factory=dict)
    summarizer: Summarizer | None = None
    texts: SummaryInputs = NO_SUMMARY_INPUTS
    unsent: Mapping[UnsentKind, RecordStats] | None = field(default_factory=dict)
    refused: tuple[RefusedRecord, ...] = ()
    recipient: Recipient | None = None
    keeps_originals: bool = False
    settles: bool = True


class ConversationSize(Record):
    """Tokens of all conversations of a transcript: messages except ``preamble``.

    ``original`` is the size before any compaction, ``before`` and ``after`` that around this one.
    """

    original: int
    before: int
    after: int

    @property
    def share(self) -> float:
        """The share of the original conversation that is left; 1 if there was none."""
        return self.after / self.original if self.original else 1.0


class Outcome(Record):
    """The result of the stages over all conversations, in figures.

    Attributes:
        stages: a record for each stage.
        before: the totals before.
        after: the totals after.
        conversation: the tokens that shares are shares of.
        size: the size of the largest next request before, and how it is known.
        situation: the largest next request after, as triggers and levels measure it.
        target: the size to reach; None if there is none, or compaction was not due.
        cache: what the prompt cache loses; None if nothing, or with several conversations.
        not_due: why compaction was not due, "" if stages ran.
        parts: what the stages did to each conversation, if there are several.
    """

    stages: tuple[StageRecord, ...]
    before: Totals
    after: Totals
    conversation: ConversationSize
    size: ContextSize
    situation: TriggerInput
    target: int | None = None
    cache: CacheUse | None = None
    not_due: str = ""
    parts: "tuple[StagedConversation, ...]" = ()

    @property
    def is_single(self) -> bool:
        """Whether there is one conversation."""
        return all(totals.largest_counted == totals.tokens for totals in (self.before, self.after))

    @property
    def sizes(self) -> SizeChange:
        """The tokens before and after: of the next request, or of all conversations."""
        before, after = self.before, self.after
        if self.is_single:
            return SizeChange(before=before.request_tokens, after=after.request_tokens)
        return SizeChange(before=before.tokens, after=after.tokens)

    @property
    def is_changed(self) -> bool:
        """Whether any stage changed anything."""
        return _has_applied(self.stages)

    def judge(
        self, limits: Limits, *, is_refused: bool = False, is_incomplete: bool = False
    ) -> Judgment:
        """Judge the largest next request after the stages.

        Without a target its limit is the size that gates compare with.
        """
        return Judgment(
            tokens=self.after.request_tokens,
            limit=limits.base_tokens if self.target is None else limits.budget.window,
            target=self.target,
            is_refused=is_refused,
            is_incomplete=is_incomplete,
            is_unchanged=not self.is_changed,
        )


class StagedConversation(Record):
    """What the stages did to one of several conversations, and its number from 0.

    ``target`` is the size it was to reach; None if there is none, or compaction was not due.
    """

    number: int
    stages: tuple[StageRecord, ...]
    after: Totals
    target: int | None

    @property
    def is_changed(self) -> bool:
        """Whether any stage changed anything."""
        return _has_applied(self.stages)


def _has_applied(stages: Iterable[StageRecord]) -> bool:
    return any(record.outcome == "applied" for record in stages)


class AppliedEdits(Record):
    """The edits of the stages, with all messages before and after.

    ``groups`` maps each group of edits to its stage, ``protected`` maps messages to the reason they
    were protected. The largest conversation is the one with the largest next request.
    """

    edits: tuple[Edit, ...]
    groups: Mapping[str, str]
    before: tuple[Message, ...]
    after: tuple[Message, ...]
    largest_before: tuple[Message, ...]
    largest_after: tuple[Message, ...]
    protected: Mapping[MessageId, str]


class StageRun(Record):
    """The result of the stages: figures, which are kept, and edits and messages, which are not.

    Attributes:
        outcome: the figures.
        applied: the edits and messages.
        fixed: tokens in every request that no compaction removes.
        words: tokens of the user's words that stages keep in a conversation over its target; of
            several conversations the largest figure, 0 if none is over.
        preamble: tokens of the system prompt and the like in that conversation.
    """

    outcome: Outcome
    applied: AppliedEdits
    fixed: int
    words: int = 0
    preamble: int = 0


class SizedTranscript(Record):
    """A transcript, the ``size`` of its next request, and a model of that ``request`` with less."""

    transcript: Transcript
    measured: Measurement
    size: ContextSize
    request: RequestModel

    @classmethod
    def of(cls, transcript: Transcript, measured: Measurement) -> "SizedTranscript":
        """Measure the effective messages."""
        measured.meter.prime(transcript.effective)
        size = context_size(transcript, measured)
        request = request_model(size, transcript, measured)
        return cls(transcript=transcript, measured=measured, size=size, request=request)


class ConversationRun(Record):
    """The stages over one conversation.

    Attributes:
        result: their edits, and the conversation after them.
        protected: why messages were protected.
        share_tokens: the tokens to keep if the size to reach is a share, else None.
        not_due: why compaction was not due; "" if it was, or without a gate.
        words: tokens of the user's words that stages keep, as in a ``StageRun``.
        preamble: tokens of the system prompt and the like, as in a ``StageRun``.
    """

    result: PipelineRun
    protected: Mapping[MessageId, str]
    share_tokens: int | None = None
    not_due: str = ""
    words: int = 0
    preamble: int = 0


def run_stages(sized: SizedTranscript, plan: Plan, inputs: StageInputs, held: str = "") -> StageRun:
    """Run the plan over each conversation separately; ``held`` is the reason why none may run.

    The target is for the whole request; its fixed part is subtracted from it.
    """
    history = sized.transcript.effective
    plan = replace(plan, protect=plan.protect.across(history))
    # Unsent records belong to the file, so only one of its conversations has them.
    without_unsent = replace(inputs, unsent={}, refused=())
    runs = [
        _run_conversation(messages, sized, plan, without_unsent if index else inputs, held)
        for index, messages in enumerate(split_conversations(history))
    ]
    return _without_idle(plan, joined_run(sized, runs, plan.reach, inputs.originals))


def _without_idle(plan: Plan, stage_run: StageRun) -> StageRun:
    """Return the run without the records of steps that nobody asked for and that did nothing."""
    outcome = stage_run.outcome
    stages = tuple(
        record
        # Without a conversation, no step has a record.
        for step, record in zip(plan.steps, outcome.stages, strict=False)
        if not step.is_implied or record.outcome == "applied"
    )
    return replace(stage_run, outcome=replace(outcome, stages=stages))


def _run_conversation(
    messages: tuple[Message, ...],
    sized: SizedTranscript,
    plan: Plan,
    inputs: StageInputs,
    held: str,
) -> ConversationRun:
    measured, meter = sized.measured, sized.measured.meter
    share_tokens = _share_tokens(plan.reach, messages, inputs.originals, meter)
    room = (
        room_for(plan.reach, messages, sized.request)
        if share_tokens is None
        else _always(share_tokens)
    )
    view = view_of(messages, sized.transcript, measured, plan.protect, room)
    view = replace(
        view,
        originals=inputs.originals,
        summarizer=inputs.summarizer,
        summary_inputs=inputs.texts,
        unsent=inputs.unsent,
        refused=inputs.refused,
        recipient=inputs.recipient or view.recipient,
        keeps_originals=inputs.keeps_originals,
        settles=inputs.settles,
    )
    request = sized_request(messages, meter, sized.size.unseen)
    not_due = _not_due(plan.gate, request.situation(measured.limits))
    refusal = held or not_due
    result = (
        not_needed_run(view, plan.steps, meter, refusal)
        if refusal
        else run(view, plan.steps, meter)
    )
    words, preamble_tokens = _words(result.view, plan, meter)
    return ConversationRun(
        result=result,
        protected=view.protection.reasons,
        share_tokens=share_tokens,
        not_due=not_due,
        words=words,
        preamble=preamble_tokens,
    )


def _words(view: ConversationView, plan: Plan, meter: Meter) -> tuple[int, int]:
    """Return the tokens of the user's words that stages keep, and of the preamble.

    Both are 0 if the conversation reaches its target, or if no stage keeps such words.
    """
    view = view.with_current_target()
    keeps_words = any(step.stage.keeps_lasting_words for step in plan.steps)
    if not keeps_words or view.target is None or meter.total(view.messages) <= view.target:
        return 0, 0
    messages = with_originals(view.messages, view.originals)
    preamble_by_id = {message.id: message for message in preamble(view.messages)}
    conversation = tuple(message for message in messages if message.id not in preamble_by_id)
    preamble_tokens = meter.total(preamble_by_id.values())
    room = (view.target - preamble_tokens) // 2
    return choose_words(read_passages(conversation), room, meter.text).tokens, preamble_tokens


def view_of(
    messages: tuple[Message, ...],
    transcript: Transcript,
    measured: Measurement,
    options: ProtectOptions,
    room: Room | None = None,
) -> ConversationView:
    """Return the input of a stage for one conversation of a transcript.

    ``room`` computes the target, if there is one. Without one, shares are of the conversation's
    size. With a target of 100,000 tokens and a preamble of 10,000:

        newest work is protected up to 0.2 * 90,000 = 18,000 tokens (without a target, all)
        --keep-prefix 10% protects the oldest messages up to 0.1 * 100,000 = 10,000 tokens
    """
    size = measured.meter.total
    target = size(messages) if room is None else room(messages)
    newest_limit = inf if room is None else (target - size(preamble(messages))) * NEWEST_SHARE
    prefix_limit = target * (options.keep_prefix or 0)
    limits = ProtectionLimits(size=size, newest=newest_limit, oldest=prefix_limit)
    protected = _protected(messages, options, limits)
    return ConversationView(
        messages=messages,
        target_for=room,
        protection=Protection(
            reasons=protected,
            automatic=_unasked(messages, options, limits) & protected.keys(),
            tools=options.tools,
        ),
        window=measured.budget.window,
        cwd=transcript.session.cwd,
        can_write_assistant=can_write_assistant(transcript.format),
        can_write_results=can_write_results(transcript.format),
        stored=stored_of(transcript, messages),
        recipient=recipient_of(transcript, measured),
        roles_between=roles_between_in(transcript.format),
    )


def _share_tokens(
    reach: SizeToReach,
    messages: Sequence[Message],
    originals: Mapping[MessageId, tuple[Message, ...]],
    meter: Meter,
) -> int | None:
    """Return the tokens to keep of a conversation as it was before any summary.

    None if the size to reach is not a share. All of a conversation stays if nothing was added since
    a summary whose originals are unknown: a share of a share would be smaller each time.
    """
    if reach.share is None:
        return None
    summary = newest_summary(messages)
    behind = originals.get(summary.id, (summary,)) if summary else ()
    is_known = summary and is_proven(summary) and summary.id not in {m.id for m in behind}
    if summary and not is_known and is_unchanged(messages, summary):
        return meter.total(messages)
    return kept_tokens(messages, reach.share, meter, originals)


def kept_tokens(
    messages: Sequence[Message],
    share: float,
    meter: Meter,
    originals: Mapping[MessageId, tuple[Message, ...]] = MappingProxyType({}),
) -> int:
    """Return the tokens to keep: the whole preamble, and a share of all other ``originals``."""
    conversation_tokens = _conversation_tokens(messages, meter, originals)
    return meter.total(preamble(messages)) + int(exact(share) * conversation_tokens)


def _conversation_tokens(
    messages: Sequence[Message],
    meter: Meter,
    originals: Mapping[MessageId, tuple[Message, ...]] = MappingProxyType({}),
) -> int:
    """Return the tokens of all ``originals`` but the preamble."""
    # No compaction removes the preamble, but originals that are ranked by state may be before it.
    return meter.total(with_originals(messages, originals)) - meter.total(preamble(messages))


def _always(tokens: int) -> Room:
    return lambda _: tokens


def room_for(reach: SizeToReach, messages: Sequence[Message], request: RequestModel) -> Room | None:
    """Return a function that computes the tokens messages may have in a request within the target.

    None if the size to reach is not in tokens.
    """
    if reach.tokens is None:
        return None
    limit = reach.tokens - reach.below
    if reach.excess:
        limit = min(limit, request.tokens(messages) - reach.excess)
    if request.tokens(preamble(messages)) >= limit:
        return _always(kept_tokens(messages, MIN_KEPT_SHARE, request.meter))
    return lambda messages_left: request.room(messages_left, limit)


def _not_due(gate: Trigger | None, situation: TriggerInput) -> str:
    """Return why compaction is not due; "" if it is, or without a gate."""
    if gate is None or gate.matched_condition(situation):
        return ""
    return f"compaction is not due: {situation.tokens:,} tokens, the trigger is {gate}"


def _protected(
    messages: Sequence[Message], options: ProtectOptions, limits: ProtectionLimits
) -> Mapping[MessageId, str]:
    newest = newest_id(messages)
    always = {newest: "the newest message"} if newest else {}
    return {**always, **protected_messages(messages, options, limits)}


def _unasked(
    messages: Sequence[Message], options: ProtectOptions, limits: ProtectionLimits
) -> frozenset[MessageId]:
    """Return the messages, except prompts, that are protected by default and not by request."""
    if options.keep_turns is not None:
        return frozenset()
    requested = protected_messages(messages, replace(options, keep_turns=0), limits)
    return frozenset(m.id for m in messages if m.id not in requested and not m.starts_turn)


def joined_run(
    sized: SizedTranscript,
    conversations: Sequence[ConversationRun],
    reach: SizeToReach,
    originals: Mapping[MessageId, tuple[Message, ...]] = MappingProxyType({}),
) -> StageRun:
    """Combine the runs over all conversations of a transcript; ``originals`` are those before."""
    request, meter, before = sized.request, sized.request.meter, sized.transcript.effective
    results = [_as_sent(conversation.result, sized.transcript) for conversation in conversations]
    after = tuple(message for result in results for message in result.view.messages)
    unseen = request.unseen(after) if len(results) == 1 else 0
    requests = [sized_request(result.view.messages, meter, unseen) for result in results]
    largest_before = largest_of(sized_requests(before, meter, sized.size.unseen))
    largest_after = largest_of(requests or [sized_request((), meter, 0)])
    totals_before = totals_of(before, largest_before, meter)
    totals_after = totals_of(after, largest_after, meter)
    not_due = _none_due(conversations)
    outcome = Outcome(
        stages=_add_up_records([result.stages for result in results]),
        before=totals_before,
        after=totals_after,
        conversation=_conversation_size(before, results, meter, originals),
        size=sized.size,
        situation=largest_after.situation(sized.measured.limits),
        target=None if not_due else _target(reach, conversations, totals_before, totals_after),
        cache=cache_use(before, after, request) if len(results) == 1 else None,
        not_due=not_due,
        parts=_parts(before, conversations, results, reach, meter) if len(results) > 1 else (),
    )
    applied = AppliedEdits(
        edits=tuple(edit for result in results for edit in result.edits),
        groups={group: stage for result in results for group, stage in result.groups.items()},
        before=before,
        after=after,
        largest_before=largest_before.messages,
        largest_after=largest_after.messages,
        protected={name: reason for c in conversations for name, reason in c.protected.items()},
    )
    words, preamble_tokens = max(((c.words, c.preamble) for c in conversations), default=(0, 0))
    return StageRun(
        outcome=outcome,
        applied=applied,
        fixed=request.fixed,
        words=words,
        preamble=preamble_tokens,
    )


def _parts(
    before: Sequence[Message],
    conversations: Sequence[ConversationRun],
    results: Sequence[PipelineRun],
    reach: SizeToReach,
    meter: Meter,
) -> tuple[StagedConversation, ...]:
    """Return the outcome of each conversation, whose request holds nothing but its messages."""
    runs = zip(split_conversations(before), conversations, results, strict=True)
    return tuple(
        StagedConversation(
            number=messages[0].conversation,
            stages=result.stages,
            after=totals_of(
                result.view.messages, sized_request(result.view.messages, meter, 0), meter
            ),
            target=None if run.not_due else _own_target(run, reach),
        )
        for messages, run, result in runs
    )


def _own_target(run: ConversationRun, reach: SizeToReach) -> int | None:
    return reach.tokens if run.share_tokens is None else run.share_tokens


def _as_sent(result: PipelineRun, transcript: Transcript) -> PipelineRun:
    """Return a run with what the client sends of the history after its edits.

    The client decides anew what it leaves out: with the first of two calls with one id hidden, it
    would send the second. What belongs to hidden messages is hidden with them.
    """
    messages = result.view.messages
    if not (transcript.with_omitted and result.edits and messages):
        return result
    number = messages[0].conversation
    history, sent = (
        tuple(message for message in every if message.conversation == number)
        for every in (transcript.history, transcript.effective)
    )
    edits = with_omitted_hidden(result.edits, history, sent)
    after = request_of(transcript.format, apply_all(history, edits))
    return replace(result, edits=edits, view=replace(result.view, messages=after))


def _none_due(conversations: Sequence[ConversationRun]) -> str:
    """Return why compaction was due for none of the conversations, "" if it was for one."""
    reasons = [conversation.not_due for conversation in conversations]
    return reasons[0] if reasons and all(reasons) else ""


def _target(
    reach: SizeToReach, conversations: Sequence[ConversationRun], before: Totals, after: Totals
) -> int | None:
    """Return the size to reach in tokens, None if there is none.

    For shares, it is that of the conversation of which most is to be kept. After an overflow, at
    least the excess must be removed.
    """
    shares = [c.share_tokens for c in conversations if c.share_tokens is not None]
    if shares:
        return after.unseen + max(shares)
    if reach.tokens is None or not reach.excess:
        return reach.tokens
    return max(1, min(reach.tokens, before.request_tokens - reach.excess))


def _conversation_size(
    before: Sequence[Message],
    results: Sequence[PipelineRun],
    meter: Meter,
    originals: Mapping[MessageId, tuple[Message, ...]],
) -> ConversationSize:
    split = split_conversations(before)
    return ConversationSize(
        original=sum(_conversation_tokens(messages, meter, originals) for messages in split),
        before=sum(_conversation_tokens(messages, meter) for messages in split),
        after=sum(_conversation_tokens(result.view.messages, meter) for result in results),
    )


def _add_up_records(runs: Sequence[tuple[StageRecord, ...]]) -> tuple[StageRecord, ...]:
    """Add up the records of each stage over the conversations."""
    if len(runs) == 1:
        return runs[0]
    return tuple(_sum(records) for records in zip(*runs, strict=True))


def _sum(records: Sequence[StageRecord]) -> StageRecord:
    # If the stage did nothing anywhere, show its rarest reason: it says the most.
    details = Counter(record.detail for record in records)
    rarest = min(records, key=lambda record: details[record.detail])
    chosen = next((record for record in records if record.outcome == "applied"), rarest)
    applied = [record for record in records if record.outcome == "applied"]
    detail = chosen.detail
    if applied:
        where = f"in {len(applied):,} of {len(records):,} conversations"
        detail = "; ".join(filter(None, (add_up_notes(r.detail for r in applied), where)))
    return replace(
        chosen,
        tokens_before=sum(record.tokens_before for record in records),
        tokens_after=sum(record.tokens_after for record in records),
        hidden=sum(record.hidden for record in records),
        replaced=sum(record.replaced for record in records),
        detail=detail,
        figures=sum_counts(*(record.figures for record in records)),
    )
