"""Runs stages in order on one conversation and keeps what makes it smaller."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Generic

from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import find_orphans
from compactctl.model.edit import Edit, Hide, Proposal, RemoveUnsent, Replace, Skipped, groups_of
from compactctl.model.message import Message, MessageId
from compactctl.model.operation import StageRecord
from compactctl.model.transcript import RecordStats
from compactctl.model.unsent import UnsentKind
from compactctl.pipeline.apply import apply
from compactctl.pipeline.gaps import with_gaps_filled
from compactctl.stages.support.condensation import originals_after, with_ranks
from compactctl.stages.support.stage import Options, Stage
from compactctl.tokens.meter import Meter

# Undoing stubs can make room for others to be dropped, and what one stage leaves can give an
# earlier one work again; real files have taken up to seven rounds to settle.
_MAX_PASSES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class StageStep(Generic[Options]):
    """A stage and the options it runs with.

    ``falls_back`` steps in a row and the one behind them are alternatives: the first one that gets
    down to the target wins, else the one that leaves least, and the others are taken back.
    ``extra_tokens`` are the tokens by which the step's own target is above that of the run;
    ``requested_name`` is the name it was asked for by, where that is another than the stage's.
    """

    stage: Stage[Options]
    options: Options
    falls_back: bool = False
    extra_tokens: int = 0
    requested_name: str = ""

    @property
    def name(self) -> str:
        """What the step is reported as."""
        return self.requested_name or self.stage.name


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineRun:
    """What the stages came to: their records, the edits to carry out, and the view left.

    ``groups`` names the stage behind each group of edits.
    """

    stages: tuple[StageRecord, ...]
    edits: tuple[Edit, ...]
    groups: Mapping[str, str]
    view: ConversationView


def run(view: ConversationView, steps: Sequence[StageStep[Any]], meter: Meter) -> PipelineRun:
    """Run ``steps`` in order; with a target, stop as soon as the view fits it.

    They are run until they find nothing more to do, so that a second run changes nothing. A stage
    that would make the view larger or leave a tool call without its result is rolled back; one
    that repairs may make it larger and runs within the target too. A stub
    never refers to content that a later stage dropped: such stubs are not made.
    """
    view = with_ranks(view)
    no_stubs: frozenset[MessageId] = frozenset()
    for _ in range(_MAX_PASSES):
        first = _run_once(replace(view, no_stubs=no_stubs), steps, meter)
        result = _run_until_stable(
            replace(first, view=replace(first.view, no_stubs=frozenset())), steps, meter
        )
        dangling = _dangling_stubs(result)
        if not dangling:
            return result
        no_stubs |= dangling
    view = replace(view, no_stubs=frozenset(message.id for message in view.messages))
    return _run_until_stable(_run_once(view, steps, meter), steps, meter)


def not_needed_run(
    view: ConversationView, steps: Sequence[StageStep[Any]], meter: Meter, why: str
) -> PipelineRun:
    """Return the run of stages that are not needed, with the reason."""
    tokens = meter.total(view.messages)
    records = tuple(_not_needed(step, tokens, why) for step in steps)
    return PipelineRun(stages=records, edits=(), groups={}, view=view)


def _not_needed(step: StageStep[Any], tokens: int, why: str = "") -> StageRecord:
    return StageRecord(
        name=step.name,
        options=asdict(step.options),
        outcome="not-needed",
        tokens_before=tokens,
        tokens_after=tokens,
        detail=why,
    )


def _run_until_stable(
    result: PipelineRun, steps: Sequence[StageStep[Any]], meter: Meter
) -> PipelineRun:
    for _ in range(_MAX_PASSES):
        again = _run_once(result.view, steps, meter)
        if not again.edits:
            break
        result = _merge_runs(result, again)
    return result


def _merge_runs(first: PipelineRun, second: PipelineRun) -> PipelineRun:
    return PipelineRun(
        stages=tuple(map(_merge_records, first.stages, second.stages)),
        edits=first.edits + second.edits,
        groups={**first.groups, **second.groups},
        view=second.view,
    )


def _merge_records(first: StageRecord, second: StageRecord) -> StageRecord:
    """Return what a stage did in two rounds; what other stages did between them is left out."""
    if second.outcome != "applied":
        return first
    if first.outcome != "applied":
        return replace(second, options=first.options)
    return replace(
        first,
        tokens_after=first.tokens_after - second.tokens_saved,
        hidden=first.hidden + second.hidden,
        replaced=first.replaced + second.replaced,
        detail="; ".join(filter(None, (first.detail, second.detail))),
        figures=sum_counts(first.figures, second.figures),
    )


def sum_counts(*figures: Mapping[str, int]) -> Mapping[str, int]:
    """Add figures up by name."""
    total: Counter[str] = Counter()
    for each in figures:
        total.update(each)
    return dict(total)


def _run_once(view: ConversationView, steps: Sequence[StageStep[Any]], meter: Meter) -> PipelineRun:
    """Run each step once; what a step summarizes, those before it leave as it is.

    A summary would else have to be smaller than placeholders, and could tell nothing.
    """
    result = _in_order(view, steps, meter)
    spared = _rewritten_then_summarized(result.edits)
    if not spared:
        return result
    again = _in_order(replace(view, to_be_summarized=spared), steps, meter)
    records = tuple(map(_with_reason, result.stages, again.stages))
    return replace(
        again, stages=records, view=replace(again.view, to_be_summarized=view.to_be_summarized)
    )


def _with_reason(first: StageRecord, second: StageRecord) -> StageRecord:
    """Say why a stage that had something to do has nothing to do any more."""
    if first.outcome != "applied" or second.outcome != "skipped":
        return second
    return replace(second, detail="what it would rewrite is summarized by a later stage")


def _rewritten_then_summarized(edits: Sequence[Edit]) -> frozenset[MessageId]:
    """Return the messages that were rewritten before they went behind a summary."""
    rewritten: set[MessageId] = set()
    found: set[MessageId] = set()
    for edit in edits:
        if isinstance(edit, Replace):
            rewritten.add(edit.id)
        if isinstance(edit, Hide) and edit.kind == "condense":
            found |= rewritten.intersection(edit.ids)
    return frozenset(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Attempt:
    """What a step came to, and the view it leaves; ``proposal`` None changes nothing."""

    step: StageStep[Any]
    record: StageRecord
    proposal: Proposal | None
    view: ConversationView


def _in_order(view: ConversationView, steps: Sequence[StageStep[Any]], meter: Meter) -> PipelineRun:
    done: list[_Attempt] = []
    for alternatives in _alternatives(steps):
        tries = _first_fitting(view, alternatives, meter)
        view = next((each.view for each in tries if each.proposal is not None), tries[-1].view)
        done += tries
    proposals = [(each.step, each.proposal) for each in done if each.proposal is not None]
    groups: dict[str, str] = {
        name: step.stage.name for step, found in proposals for name in groups_of(found.edits)
    }
    return PipelineRun(
        stages=tuple(each.record for each in done),
        edits=tuple(edit for _, found in proposals for edit in found.edits),
        groups=groups,
        view=view,
    )


def _alternatives(steps: Sequence[StageStep[Any]]) -> Iterator[tuple[StageStep[Any], ...]]:
    """Yield the steps in order, those together of which one is to do."""
    together: tuple[StageStep[Any], ...] = ()
    for step in steps:
        together = (*together, step)
        if not step.falls_back:
            yield together
            together = ()
    if together:
        yield together


def _first_fitting(
    view: ConversationView, steps: Sequence[StageStep[Any]], meter: Meter
) -> tuple[_Attempt, ...]:
    """Try steps on the same view until one of them fits; at most one proposal is left."""
    tries: list[_Attempt] = []
    for step in steps:
        found = _run_stage(view, step, meter)
        tries.append(found)
        if found.proposal is not None and _fits(found):
            break
    changing = [each for each in tries if each.proposal is not None]
    if not changing:
        return tuple(tries)
    chosen = min(changing, key=lambda each: (not _fits(each), each.record.tokens_after))
    tried = (each if each is chosen else _rolled_back(each, chosen) for each in tries)
    return (*tried, *(_not_needed_attempt(step, chosen) for step in steps[len(tries) :]))


def _fits(tried: _Attempt) -> bool:
    target = tried.view.with_current_target().target
    return target is None or tried.record.tokens_after <= target + tried.step.extra_tokens


def _rolled_back(tried: _Attempt, chosen: _Attempt) -> _Attempt:
    """Return the step without what it did, as another one is better."""
    if tried.proposal is None:
        return tried
    record, left = tried.record, tried.record.tokens_after
    detail = f"it does not fit with {left:,} tokens; {chosen.step.name} leaves "
    detail += f"{chosen.record.tokens_after:,}"
    record = _not_needed(tried.step, record.tokens_before, detail)
    return replace(
        tried, record=replace(record, outcome="rolled-back"), proposal=None, view=chosen.view
    )


def _not_needed_attempt(step: StageStep[Any], chosen: _Attempt) -> _Attempt:
    record = _not_needed(step, chosen.record.tokens_after, f"{chosen.step.name} fits")
    return _Attempt(step=step, record=record, proposal=None, view=chosen.view)


def _run_stage(view: ConversationView, step: StageStep[Any], meter: Meter) -> _Attempt:
    seen = view.with_current_target(step.extra_tokens)
    before = meter.total(seen.messages)
    record = _not_needed(step, before)
    unchanged = _Attempt(step=step, record=record, proposal=None, view=view)
    is_free = step.stage.repairs or step.stage.only_trims_file
    if seen.target is not None and before <= seen.target and not is_free:
        detail = f"the context is {before:,} tokens, within the target of {seen.target:,}"
        return replace(unchanged, record=replace(record, detail=detail))
    proposal = _proposed(view, step, meter)
    if isinstance(proposal, Skipped):
        detail = "; ".join(filter(None, (proposal.reason, proposal.detail)))
        return replace(unchanged, record=replace(record, outcome="skipped", detail=detail))
    after = apply(view.messages, proposal.edits)
    tokens = meter.total(after)
    if tokens >= before and not is_free:
        refusal = f"it would not make the context smaller ({tokens - before:+,} tokens)"
    else:
        refusal = _separated_pairs(view.messages, after, proposal)
    if refusal:
        return replace(unchanged, record=replace(record, outcome="rolled-back", detail=refusal))
    known = originals_after(view, proposal.edits)
    left = replace(view, messages=after, originals=known, unsent=unsent_after(view, proposal))
    return _Attempt(
        step=step, record=_applied(record, proposal, tokens), proposal=proposal, view=left
    )


def _proposed(view: ConversationView, step: StageStep[Any], meter: Meter) -> Proposal | Skipped:
    """Return what a stage proposes, with what has to stand between the messages that it leaves.

    Where that is too much for the target, a stage that asks nobody for a summary is to leave room
    for it.
    """
    seen = view.with_current_target(step.extra_tokens)
    found = step.stage.propose(seen, meter, step.options)
    if isinstance(found, Skipped):
        return found
    filled = with_gaps_filled(view, found)
    if filled is found or seen.target is None or view.summarizer:
        return filled
    after = meter.total(apply(view.messages, filled.edits))
    if after <= seen.target:
        return filled
    added = after - meter.total(apply(view.messages, found.edits))
    again = step.stage.propose(
        view.with_current_target(step.extra_tokens - added), meter, step.options
    )
    return filled if isinstance(again, Skipped) else with_gaps_filled(view, again)


def unsent_after(
    view: ConversationView, proposal: Proposal
) -> Mapping[UnsentKind, RecordStats] | None:
    """Return what a proposal leaves in the file of what is never sent."""
    gone = {
        kind for edit in proposal.edits if isinstance(edit, RemoveUnsent) for kind in edit.kinds
    }
    if view.unsent is None:
        return None
    return {kind: volume for kind, volume in view.unsent.items() if kind not in gone}


def _separated_pairs(
    before: Sequence[Message], after: Sequence[Message], proposal: Proposal
) -> str:
    """Say what calls and results are parted; rewritten content alone parts none."""
    if all(isinstance(edit, Replace | RemoveUnsent) for edit in proposal.edits):
        return ""
    new = find_orphans(after) - find_orphans(before)
    return f"it would separate {len(new)} tool calls from their results" if new else ""


def _applied(record: StageRecord, proposal: Proposal, tokens: int) -> StageRecord:
    hidden = sum(len(edit.ids) for edit in proposal.edits if isinstance(edit, Hide))
    replaced = len({edit.id for edit in proposal.edits if isinstance(edit, Replace)})
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
    """Return the stubs that are still shown though the content they refer to is not.

    What was rewritten before a stub was made is what the stub refers to.
    """
    rewrites = [edit for edit in result.edits if isinstance(edit, Replace)]
    newest = {(edit.id, edit.part): place for place, edit in enumerate(rewrites)}
    groups: dict[str, dict[str, int]] = {}
    for place, edit in enumerate(rewrites):
        groups.setdefault(edit.id, {})[edit.group] = place
    shown = {message.id for message in result.view.messages}

    def is_gone(place: int, stub: Replace) -> bool:
        others = groups.get(stub.refers_to or "", {}).items()
        later = any(at > place and group != stub.group for group, at in others)
        return later or stub.refers_to not in shown

    stubs = ((place, rewrites[place]) for place in newest.values())
    return frozenset(
        stub.id
        for place, stub in stubs
        if stub.refers_to is not None and stub.id in shown and is_gone(place, stub)
    )
