"""Run stages in order on one conversation; keep the edits that make it smaller."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic

from compactctl.history.apply import apply
from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import find_orphans
from compactctl.history.provider_edits import cleared_tool_parts
from compactctl.model.edit import (
    CorrectRecord,
    Edit,
    Hide,
    PartEdit,
    Proposal,
    RecordEdit,
    RemoveUnsent,
    Replace,
    SkippedStage,
    groups_of,
)
from compactctl.model.message import GroupId, Message, MessageId
from compactctl.model.operation import StageRecord
from compactctl.model.transcript import RecordStats, RefusedRecord
from compactctl.model.unsent import UnsentKind
from compactctl.pipeline.gaps import fill_gaps
from compactctl.records import Record, asdict, replace
from compactctl.stages.support.condensation import originals_after, with_ranks
from compactctl.stages.support.stage import Options, Stage
from compactctl.stages.support.user_media import with_user_media
from compactctl.tokens.meter import Meter

# Without a stub, others may have to be dropped, and the result of one stage can give an earlier one
# new work. Real files took up to seven passes until nothing changed.
_MAX_PASSES = 10
# If a stage that fills its target leaves a larger share of it empty, it is asked again, so often.
_MAX_EMPTY, _MAX_REFILLS = 0.04, 3
# If it exceeds the target, it is moved by a little more, since fewer messages lower it again.
_OVERSHOOT, _MAX_SHRINKS = 1.05, 5
# "messages hidden: 2, messages shortened: 1; still over the target" has three clauses.
_CLAUSES = re.compile(r"; |(?<=\d), (?=[a-z])")
_COUNT = re.compile(r"(.+): ([\d,]+)")


class StageStep(Record, Generic[Options]):
    """A stage and the options it runs with.

    Attributes:
        stage: the stage.
        options: its options.
        falls_back: whether the next step is an alternative, tried if this one misses the target.
            Of such a row, the first that reaches the target wins, else the one that leaves the
            fewest tokens; the others are rolled back.
        always: whether it runs even if the view fits the target.
        extra_tokens: how far the step's own target is above that of the run.
        requested_name: the name the user asked for, "" if it is the stage's own.
        is_implied: whether nobody asked for it; it is reported only if it did something.
    """

    stage: Stage[Options]
    options: Options
    falls_back: bool = False
    always: bool = False
    extra_tokens: int = 0
    requested_name: str = ""
    is_implied: bool = False

    @property
    def name(self) -> str:
        """The name used in reports."""
        return self.requested_name or self.stage.name


class PipelineRun(Record):
    """The outcome of a run.

    Attributes:
        stages: what each step did.
        edits: all edits, in the order in which to apply them.
        groups: the stage that made each group of edits.
        view: the conversation after the edits.
    """

    stages: tuple[StageRecord, ...]
    edits: tuple[Edit, ...]
    groups: Mapping[str, str]
    view: ConversationView


def run(view: ConversationView, steps: Sequence[StageStep[Any]], meter: Meter) -> PipelineRun:
    """Run ``steps`` in order; once the view fits a target, only those that always run.

    If the view is to settle, repeat the steps until nothing changes, so that a second run is a
    no-op. Roll back a step that grows the view or separates a tool call from its result; repair
    stages may grow it, and run even within the target. A stub must not refer to content that a
    later step removed: run everything again without such stubs.
    """
    return _with_lasting_clearings(
        view, _run_without_dangling_stubs(with_ranks(view), steps, meter)
    )


def _run_without_dangling_stubs(
    view: ConversationView, steps: Sequence[StageStep[Any]], meter: Meter
) -> PipelineRun:
    no_stubs: frozenset[MessageId] = frozenset()
    for _ in range(_MAX_PASSES):
        first_pass = _run_once(replace(view, no_stubs=no_stubs), steps, meter)
        result = _run_until_stable(
            replace(first_pass, view=replace(first_pass.view, no_stubs=frozenset())), steps, meter
        )
        dangling = _dangling_stubs(result)
        if not dangling:
            return result
        no_stubs |= dangling
    view = replace(view, no_stubs=frozenset(message.id for message in view.messages))
    return _run_until_stable(_run_once(view, steps, meter), steps, meter)


def _with_lasting_clearings(view: ConversationView, result: PipelineRun) -> PipelineRun:
    """Write into the file what the provider had cleared, if a stage changed the conversation.

    The provider decides anew for each request what to clear. Of a smaller one it might clear
    nothing, and old content would come back.
    """
    changes = tuple(edit for edit in result.edits if not isinstance(edit, RecordEdit))
    texts = cleared_tool_parts(view.messages) if changes else {}
    if not texts:
        return result
    first = groups_of(changes)[0]
    group = GroupId(hashlib.sha256(f"cleared {first}".encode()).hexdigest()[:12])
    visible_ids = {message.id for message in result.view.messages}
    rewritten = {(edit.id, edit.part) for edit in changes if isinstance(edit, Replace)}
    places = ((view.messages[index.message].id, index.part, texts[index]) for index in texts)
    edits = tuple(
        Replace(id=name, part=part, text=text, group=group, reason="cleared by the provider")
        for name, part, text in places
        if name in visible_ids and (name, part) not in rewritten
    )
    return replace(
        result,
        edits=(*result.edits, *edits),
        groups={**result.groups, group: result.groups[first]} if edits else result.groups,
        view=replace(result.view, messages=apply(result.view.messages, edits)),
    )


def not_needed_run(
    view: ConversationView, steps: Sequence[StageStep[Any]], meter: Meter, reason: str
) -> PipelineRun:
    """Return a run in which no step was needed, for the reason given."""
    tokens = meter.total(view.messages)
    records = tuple(_not_needed(step, tokens, reason) for step in steps)
    return PipelineRun(stages=records, edits=(), groups={}, view=view)


def _not_needed(step: StageStep[Any], tokens: int, detail: str = "") -> StageRecord:
    return StageRecord(
        name=step.name,
        options=asdict(step.options),
        outcome="not-needed",
        tokens_before=tokens,
        tokens_after=tokens,
        detail=detail,
    )


def _run_until_stable(
    result: PipelineRun, steps: Sequence[StageStep[Any]], meter: Meter
) -> PipelineRun:
    for _ in range(_MAX_PASSES if result.view.settles else 0):
        next_pass = _run_once(result.view, steps, meter)
        if not next_pass.edits:
            break
        result = _merge_runs(result, next_pass)
    return result


def _merge_runs(first: PipelineRun, second: PipelineRun) -> PipelineRun:
    return PipelineRun(
        stages=tuple(map(_merge_records, first.stages, second.stages)),
        edits=first.edits + second.edits,
        groups={**first.groups, **second.groups},
        view=second.view,
    )


def _merge_records(first: StageRecord, second: StageRecord) -> StageRecord:
    """Merge the records of one stage in two passes; what other stages did in between is left out.

    100 -> 80 tokens in the first pass and 70 -> 60 in the second: 100 -> 70.
    """
    if second.outcome != "applied":
        return first
    if first.outcome != "applied":
        return replace(second, options=first.options)
    return replace(
        first,
        tokens_after=first.tokens_after - second.tokens_saved,
        hidden=first.hidden + second.hidden,
        replaced=first.replaced + second.replaced,
        detail=add_up_notes((first.detail, second.detail)),
        figures=sum_counts(first.figures, second.figures),
    )


def add_up_notes(notes: Iterable[str]) -> str:
    """Join the notes of several passes or conversations; equal counts are added up.

    messages hidden: 2, messages shortened: 1   and   messages hidden: 3
    messages hidden: 5, messages shortened: 1
    """
    counts: Counter[str] = Counter()
    others: dict[str, None] = {}
    for clause in (clause for note in notes if note for clause in _CLAUSES.split(note)):
        if match := _COUNT.fullmatch(clause):
            counts[match[1]] += int(match[2].replace(",", ""))
        else:
            others[clause] = None
    counted = ", ".join(f"{what}: {count:,}" for what, count in counts.items())
    return "; ".join(filter(None, (counted, *others)))


def sum_counts(*figures: Mapping[str, int]) -> Mapping[str, int]:
    """Add up figures by name."""
    total: Counter[str] = Counter()
    for counts in figures:
        total.update(counts)
    return dict(total)


def _run_once(view: ConversationView, steps: Sequence[StageStep[Any]], meter: Meter) -> PipelineRun:
    """Run each step once; steps before a summary do not rewrite what it summarizes.

    Otherwise the summary would have to be smaller than placeholders, and could say nothing. What
    steps before one that fills its target would rewrite, that one mostly hides or shortens anyway,
    if it is needed at all. So it runs without their rewrites first; only if it leaves one of these
    messages as it is, all run again.
    """
    n_before = _steps_before_filling(steps)
    before = _in_order(view, steps[:n_before], meter)
    rewritten = frozenset[MessageId]()
    if not _is_within_target(before.view, meter):
        rewritten = _rewritten_ids(before.edits)
    held_back = _held_back(view, steps[:n_before], meter) if rewritten else before
    first = _continued(held_back, steps[n_before:], meter)
    stages = (*before.stages, *first.stages[n_before:])
    if rewritten and rewritten <= _changed_ids(first.edits):
        return replace(first, stages=tuple(map(_with_reason, stages, first.stages)))
    to_be_summarized = _rewritten_then_summarized((*before.edits, *first.edits))
    if not (rewritten or to_be_summarized):
        return first
    second = _in_order(replace(view, to_be_summarized=to_be_summarized), steps, meter)
    records = tuple(map(_with_reason, stages, second.stages))
    return replace(
        second, stages=records, view=replace(second.view, to_be_summarized=view.to_be_summarized)
    )


def _is_within_target(view: ConversationView, meter: Meter) -> bool:
    target = view.with_current_target().target
    return target is not None and meter.total(view.messages) <= target


def _steps_before_filling(steps: Sequence[StageStep[Any]]) -> int:
    """Return the number of steps before the first that fills its target; 0 if none does."""
    n_before = next((n for n, step in enumerate(steps) if step.stage.fills_target), 0)
    return 0 if n_before and steps[n_before - 1].falls_back else n_before


def _held_back(
    view: ConversationView, steps: Sequence[StageStep[Any]], meter: Meter
) -> PipelineRun:
    """Run steps that do not rewrite anything."""
    ids = frozenset(message.id for message in view.messages)
    result = _in_order(replace(view, to_be_summarized=ids), steps, meter)
    return replace(result, view=replace(result.view, to_be_summarized=view.to_be_summarized))


def _continued(result: PipelineRun, steps: Sequence[StageStep[Any]], meter: Meter) -> PipelineRun:
    """Return a run with further steps."""
    further = _in_order(result.view, steps, meter)
    return PipelineRun(
        stages=result.stages + further.stages,
        edits=result.edits + further.edits,
        groups={**result.groups, **further.groups},
        view=further.view,
    )


def _rewritten_ids(edits: Sequence[Edit]) -> frozenset[MessageId]:
    return frozenset(edit.id for edit in edits if isinstance(edit, PartEdit))


def _changed_ids(edits: Sequence[Edit]) -> frozenset[MessageId]:
    hidden = (edit.ids for edit in edits if isinstance(edit, Hide))
    return _rewritten_ids(edits).union(*hidden)


def _with_reason(first: StageRecord, second: StageRecord) -> StageRecord:
    """Explain in the record why a stage that had work at first is skipped now."""
    if first.outcome != "applied" or second.outcome != "skipped":
        return second
    return replace(second, detail="a later stage hides what it would replace")


def _rewritten_then_summarized(edits: Sequence[Edit]) -> frozenset[MessageId]:
    """Return the messages that one step rewrote before a later one summarized them."""
    rewritten: set[MessageId] = set()
    summarized: set[MessageId] = set()
    for edit in edits:
        if isinstance(edit, PartEdit):
            rewritten.add(edit.id)
        if isinstance(edit, Hide) and edit.kind == "condense":
            summarized |= rewritten.intersection(edit.ids)
    return frozenset(summarized)


class _Attempt(Record):
    """The outcome of a step, and the view after it; without a proposal nothing changes."""

    step: StageStep[Any]
    record: StageRecord
    proposal: Proposal | None
    view: ConversationView


def _in_order(view: ConversationView, steps: Sequence[StageStep[Any]], meter: Meter) -> PipelineRun:
    attempts: list[_Attempt] = []
    for alternatives in _alternatives(steps):
        step_attempts = _first_fitting(view, alternatives, meter)
        view = next(
            (attempt.view for attempt in step_attempts if attempt.proposal is not None),
            step_attempts[-1].view,
        )
        attempts += step_attempts
    proposals = [
        (attempt.step, attempt.proposal) for attempt in attempts if attempt.proposal is not None
    ]
    groups: dict[str, str] = {
        group: step.stage.name
        for step, proposal in proposals
        for group in groups_of(proposal.edits)
    }
    return PipelineRun(
        stages=tuple(attempt.record for attempt in attempts),
        edits=tuple(edit for _, proposal in proposals for edit in proposal.edits),
        groups=groups,
        view=view,
    )


def _alternatives(steps: Sequence[StageStep[Any]]) -> Iterator[tuple[StageStep[Any], ...]]:
    """Yield the steps in order, grouped with the alternatives of which one is to win."""
    alternatives: tuple[StageStep[Any], ...] = ()
    for step in steps:
        alternatives = (*alternatives, step)
        if not step.falls_back:
            yield alternatives
            alternatives = ()
    if alternatives:
        yield alternatives


def _first_fitting(
    view: ConversationView, steps: Sequence[StageStep[Any]], meter: Meter
) -> tuple[_Attempt, ...]:
    """Try steps on the same view until one fits the target; keep at most one proposal.

    [prune falls_back, truncate falls_back, summarize]: prune leaves 90k, truncate 60k of a target
    of 70k; so prune is rolled back, truncate applied, and summarize is not needed.
    """
    attempts: list[_Attempt] = []
    for step in steps:
        attempt = _run_stage(view, step, meter)
        attempts.append(attempt)
        if attempt.proposal is not None and _fits(attempt):
            break
    effective = [attempt for attempt in attempts if attempt.proposal is not None]
    if not effective:
        return tuple(attempts)
    chosen = min(effective, key=lambda attempt: (not _fits(attempt), attempt.record.tokens_after))
    settled = (
        attempt if attempt is chosen else _rolled_back(attempt, chosen) for attempt in attempts
    )
    return (*settled, *(_not_needed_attempt(step, chosen) for step in steps[len(attempts) :]))


def _fits(attempt: _Attempt) -> bool:
    target = attempt.view.with_current_target().target
    return target is None or attempt.record.tokens_after <= target + attempt.step.extra_tokens


def _rolled_back(attempt: _Attempt, chosen: _Attempt) -> _Attempt:
    """Return the attempt as rolled back in favor of ``chosen``."""
    if attempt.proposal is None:
        return attempt
    record, tokens = attempt.record, attempt.record.tokens_after
    detail = f"it does not fit with {tokens:,} tokens; {chosen.step.name} leaves "
    detail += f"{chosen.record.tokens_after:,}"
    record = _not_needed(attempt.step, record.tokens_before, detail)
    return replace(
        attempt, record=replace(record, outcome="rolled-back"), proposal=None, view=chosen.view
    )


def _not_needed_attempt(step: StageStep[Any], chosen: _Attempt) -> _Attempt:
    record = _not_needed(step, chosen.record.tokens_after, f"{chosen.step.name} fits")
    return _Attempt(step=step, record=record, proposal=None, view=chosen.view)


def _run_stage(view: ConversationView, step: StageStep[Any], meter: Meter) -> _Attempt:
    stage_view = view.with_current_target(step.extra_tokens)
    before = meter.total(stage_view.messages)
    record = _not_needed(step, before)
    unchanged = _Attempt(step=step, record=record, proposal=None, view=view)
    is_free = step.stage.repairs or step.stage.only_trims_file
    runs_anyway = is_free or step.always
    if stage_view.target is not None and before <= stage_view.target and not runs_anyway:
        detail = f"the context is {before:,} tokens, within the target of {stage_view.target:,}"
        return replace(unchanged, record=replace(record, detail=detail))
    proposal = _propose(view, step, meter)
    if isinstance(proposal, SkippedStage):
        detail = "; ".join(filter(None, (proposal.reason, proposal.detail)))
        return replace(unchanged, record=replace(record, outcome="skipped", detail=detail))
    after = apply(view.messages, proposal.edits)
    tokens = meter.total(after)
    if tokens >= before and not is_free:
        refusal = f"would not shrink the context ({tokens - before:+,} tokens)"
    else:
        refusal = "" if step.stage.repairs else _separated_pairs(view.messages, after, proposal)
    if refusal:
        return replace(unchanged, record=replace(record, outcome="rolled-back", detail=refusal))
    originals = originals_after(view, proposal.edits)
    new_view = replace(
        view,
        messages=after,
        stored=apply(view.stored, proposal.edits),
        originals=originals,
        unsent=unsent_after(view, proposal),
        refused=refused_after(view, proposal),
    )
    return _Attempt(
        step=step, record=_applied(record, proposal, tokens), proposal=proposal, view=new_view
    )


def _propose(view: ConversationView, step: StageStep[Any], meter: Meter) -> Proposal | SkippedStage:
    """Return a stage's proposal, with the messages that the API needs between those that remain.

    If these exceed the target, or if lighter messages remain than the target was computed for, ask
    again with the target moved by as much. That is only done without an external summarizer, which
    would be called twice.

        target 60,000 tokens, 20% of them beside the text: 48,000
        those that remain have 10% beside the text: again with 54,000
    """
    stage_view = view.with_current_target(step.extra_tokens)
    proposal = _first_proposal(stage_view, step, meter)
    if isinstance(proposal, SkippedStage):
        return proposal
    filled = fill_gaps(view, proposal)
    if stage_view.target is None or view.summarizer:
        return filled
    if filled is not proposal:
        after = meter.total(apply(view.messages, filled.edits))
        if after > stage_view.target:
            added = after - meter.total(apply(view.messages, proposal.edits))
            return _proposed_again(view, step, meter, -added) or filled
    return _filling_target(view, step, meter, filled) if step.stage.fills_target else filled


def _first_proposal(
    view: ConversationView, step: StageStep[Any], meter: Meter
) -> Proposal | SkippedStage:
    """Return what a stage proposes for a view; of media, those that fit stay beside a summary."""
    if step.stage.keeps_lasting_words:
        view = with_user_media(view, meter)
    return step.stage.propose(view, meter, step.options)


def _proposed_again(
    view: ConversationView, step: StageStep[Any], meter: Meter, more: int
) -> Proposal | None:
    """Return a stage's proposal for a target with ``more`` tokens, None if it has none."""
    view_again = view.with_current_target(step.extra_tokens + more)
    proposal = _first_proposal(view_again, step, meter)
    return None if isinstance(proposal, SkippedStage) else fill_gaps(view, proposal)


def _filling_target(
    view: ConversationView, step: StageStep[Any], meter: Meter, proposal: Proposal
) -> Proposal:
    """Return the proposal of a stage that comes closest to the target without exceeding it.

    ``proposal`` is the first one. If heavier messages remain than the target was computed for, it
    is moved by what is too much. Else, if the view is to settle, it is moved by what is left empty,
    then by less: by as much as fits if the result grows evenly between a proposal that fits and one
    that does not, then by half.
    """
    stage_view = view.with_current_target(step.extra_tokens)
    room, target = _room_and_target(view, step, meter, proposal)
    if not view.settles and room >= -target * _MAX_EMPTY:
        return proposal
    if room < 0:
        return _within_target(view, step, meter, proposal)
    fits, more, misses = 0, target - (stage_view.target or 0), 0
    for _ in range(_MAX_REFILLS):
        if more <= fits or room <= target * _MAX_EMPTY:
            break
        second = _proposed_again(view, step, meter, more)
        second_room, second_target = _room_and_target(view, step, meter, second)
        if second is not None and second_room >= 0:
            proposal, room, target = second, second_room, second_target
            fits, more, misses = more, more + room, 0
        else:
            share = 0.5 if misses else room / (room - second_room)
            more, misses = fits + int((more - fits) * share), misses + 1
    return proposal


def _within_target(
    view: ConversationView, step: StageStep[Any], meter: Meter, proposal: Proposal
) -> Proposal:
    """Return a proposal that does not exceed the target, if one is among a few attempts.

    Fewer messages lower the target again, so that one attempt may not be enough. If it leaves much
    empty, and the view is to settle, one halfway to the last that exceeds the target may fit, too.
    """
    exceeds, more = 0, 0
    room, target = _room_and_target(view, step, meter, proposal)
    for _ in range(_MAX_SHRINKS):
        if room >= 0:
            break
        exceeds, more = more, more + int(room * _OVERSHOOT)
        again = _proposed_again(view, step, meter, more)
        if again is None:
            return proposal
        proposal = again
        room, target = _room_and_target(view, step, meter, proposal)
    for _ in range(_MAX_REFILLS if view.settles and room >= 0 else 0):
        if room <= target * _MAX_EMPTY:
            break
        halfway = (more + exceeds) // 2
        again = _proposed_again(view, step, meter, halfway)
        again_room, again_target = _room_and_target(view, step, meter, again)
        if again is None or again_room < 0:
            exceeds = halfway
        else:
            proposal, room, target, more = again, again_room, again_target, halfway
    return proposal


def _room_and_target(
    view: ConversationView, step: StageStep[Any], meter: Meter, proposal: Proposal | None
) -> tuple[int, int]:
    """Return what a proposal leaves empty of the target for the messages that remain, and this."""
    messages = apply(view.messages, proposal.edits) if proposal else view.messages
    target = replace(view, messages=messages).with_current_target(step.extra_tokens).target or 0
    return target - meter.total(messages), target


def unsent_after(
    view: ConversationView, proposal: Proposal
) -> Mapping[UnsentKind, RecordStats] | None:
    """Return the counts of unsent records after a proposal; None if the view counts none."""
    removed_kinds = {
        kind for edit in proposal.edits if isinstance(edit, RemoveUnsent) for kind in edit.kinds
    }
    if view.unsent is None:
        return None
    return {kind: stats for kind, stats in view.unsent.items() if kind not in removed_kinds}


def refused_after(view: ConversationView, proposal: Proposal) -> tuple[RefusedRecord, ...]:
    """Return the refused records that a proposal does not correct."""
    corrected = {
        (edit.line, edit.path) for edit in proposal.edits if isinstance(edit, CorrectRecord)
    }
    return tuple(r for r in view.refused if (r.line, r.path) not in corrected)


def _separated_pairs(
    before: Sequence[Message], after: Sequence[Message], proposal: Proposal
) -> str:
    """Return why a proposal would separate tool calls from their results, "" if it does not."""
    if all(isinstance(edit, Replace | RecordEdit) for edit in proposal.edits):
        return ""
    new = find_orphans(after) - find_orphans(before)
    return f"it would separate {len(new)} tool calls from their results" if new else ""


def _applied(record: StageRecord, proposal: Proposal, tokens: int) -> StageRecord:
    hidden = sum(len(edit.ids) for edit in proposal.edits if isinstance(edit, Hide))
    replaced = len({edit.id for edit in proposal.edits if isinstance(edit, PartEdit)})
    return replace(
        record,
        outcome="applied",
        tokens_after=tokens,
        group=groups_of(proposal.edits)[0],
        hidden=hidden,
        replaced=replaced,
        detail="; ".join(proposal.notes),
        figures=proposal.figures,
    )


def _dangling_stubs(result: PipelineRun) -> frozenset[MessageId]:
    """Return the visible stubs that refer to content which is hidden, or was rewritten later.

    Edits 5 := "x", 2 := "see 5", 5 := "y": the stub in message 2 dangles because of the last edit.
    The first does not count, since it was there when the stub was made.
    """
    rewrites = [edit for edit in result.edits if isinstance(edit, Replace)]
    newest = {(edit.id, edit.part): index for index, edit in enumerate(rewrites)}
    groups: dict[str, dict[str, int]] = {}
    for index, edit in enumerate(rewrites):
        groups.setdefault(edit.id, {})[edit.group] = index
    visible_ids = {message.id for message in result.view.messages}

    def is_dangling(index: int, stub: Replace) -> bool:
        others = groups.get(stub.refers_to or "", {}).items()
        is_rewritten = any(n > index and group != stub.group for group, n in others)
        return is_rewritten or stub.refers_to not in visible_ids

    stubs = ((index, rewrites[index]) for index in newest.values())
    return frozenset(
        stub.id
        for index, stub in stubs
        if stub.refers_to is not None and stub.id in visible_ids and is_dangling(index, stub)
    )
