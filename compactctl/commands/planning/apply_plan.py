"""Carries out a plan that stands in a file: exactly its fates, or a reason why they cannot be."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from compactctl.commands.measuring.measure import Measurement
from compactctl.commands.planning.plan_file import PlanFile, PlannedMessage
from compactctl.commands.planning.run_stages import (
    AppliedEdits,
    SizedTranscript,
    StageRun,
    joined_run,
    view_of,
)
from compactctl.errors import ChangedError, UsageError
from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import atomic_units, cut_points, find_orphans
from compactctl.history.protection import ProtectOptions, lines_of, reasons_to_stay
from compactctl.history.turns import leading_system_count, split_conversations
from compactctl.model.edit import Edit, Hide, Insert, Proposal, RemoveUnsent, Replace, groups_of
from compactctl.model.message import (
    GroupId,
    Message,
    MessageId,
    Part,
    Synthetic,
    ToolCallPart,
    is_replaceable,
)
from compactctl.model.operation import Digest, StageRecord
from compactctl.model.transcript import RecordStats, Transcript
from compactctl.model.unsent import UnsentKind
from compactctl.pipeline.apply import apply
from compactctl.pipeline.gaps import with_gaps_filled
from compactctl.pipeline.run import PipelineRun, StageStep, run
from compactctl.stages.registry import stage_named
from compactctl.stages.span import NAME as BY_HAND
from compactctl.stages.span import SpanOptions
from compactctl.stages.support.replacement import is_alike
from compactctl.stages.support.truncation import Marker, hide_behind, insertion_point
from compactctl.stages.unsent import STAGE as UNSENT
from compactctl.stages.unsent import UnsentOptions
from compactctl.tokens.meter import Meter

_DROPPED = "taken out by hand"
_PINNED = "kept by hand"
_STANDING = ("summary", "marker")


def check_input(plan: PlanFile, digest: Digest, path: str) -> None:
    """Raise ChangedError unless a plan was made for what was read."""
    if plan.input != digest:
        raise ChangedError(
            f"{path}: is not what the plan was made for ({plan.path}, {plan.input.n_lines:,} lines "
            f"with SHA-256 {plan.input.sha256[:12]}), or has changed since; make a new plan with "
            "compactctl compact -n --plan-out"
        )


def apply_plan(
    transcript: Transcript,
    plan: PlanFile,
    measured: Measurement,
    *,
    unsent: Mapping[UnsentKind, RecordStats] | None = None,
    renamed: bool = False,
) -> StageRun:
    """Return what a transcript comes to by a plan; it is the one that the plan was made for.

    ``unsent`` is what the file holds that is never sent, None where every record stays in it.
    With ``renamed`` it is that under a new id, and so are messages that have none of their own.
    Raises ChangedError where the plan lists other messages, and UsageError for fates that may not
    be: a part of what belongs together, what must stay, what nothing would stand for.
    """
    sized = SizedTranscript.of(transcript, measured)
    found = _matched(plan, transcript.effective, renamed=renamed)
    runs: list[PipelineRun] = []
    for messages in split_conversations(transcript.effective):
        alone = ProtectOptions(keep_turns=0)
        view = view_of(messages, transcript, measured, alone)
        names = {message.id for message in messages}
        runs.append(_run(_Decided(view, [each for each in found if each.before in names])))
    reasons = {each.before: each.row.explained.reason for each in found if each.row.fate == "kept"}
    pinned = {each.before: _PINNED for each in found if each.is_pinned}
    unloading: tuple[StageRecord, ...] = ()
    if runs and plan.unsent:
        runs[0], unloading = _without_unsent(runs[0], plan, unsent, measured.meter)
    done = joined_run(sized, runs, {**reasons, **pinned})
    before = done.outcome.before.tokens
    stages = [replace(each, tokens_before=before, tokens_after=before) for each in unloading]
    outcome = replace(
        done.outcome,
        stages=(*stages, *_records(done.applied, before, measured.meter)),
        target=plan.target,
    )
    return replace(done, outcome=outcome)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matched:
    """A row of a plan, and the message it is about, or that it is written before."""

    row: PlannedMessage
    before: MessageId

    @property
    def is_pinned(self) -> bool:
        return self.row.fate == "kept" and self.row.group is not None

    @property
    def is_dropped(self) -> bool:
        row = self.row
        return row.fate == "hidden" and (row.group is None or bool(row.texts))


def _matched(plan: PlanFile, messages: Sequence[Message], *, renamed: bool) -> tuple[_Matched, ...]:
    """Return the rows with the messages they are about, which have all to be there, in order."""
    rows = [row for row in plan.messages if row.written is None]
    for row, message in zip(rows, messages, strict=False):
        if row.explained.line != message.line + 1 or (row.id != message.id and not renamed):
            raise ChangedError(
                f"the plan lists message {row.id} where line {message.line + 1:,} has "
                f"{message.id}; leave its messages in their order and change fates alone"
            )
    if len(rows) != len(messages):
        raise ChangedError(
            f"the plan lists {len(rows):,} of {len(messages):,} messages; leave all of them in it, "
            "and change fates alone"
        )
    left = [message.id for message in messages]
    found: list[_Matched] = []
    for row in plan.messages:
        if not left:
            raise UsageError(f"the plan writes {row.id} behind the last message; put it before one")
        found.append(_Matched(row=row, before=left[0]))
        if row.written is None:
            left.pop(0)
    _check_names(plan)
    return tuple(found)


def _check_names(plan: PlanFile) -> None:
    """Raise UsageError where two entries have one id."""
    names: set[MessageId] = set()
    for row in plan.messages:
        if row.id in names:
            raise UsageError(f"the plan has two entries {row.id}; take one of them out")
        names.add(row.id)


class _Decided:
    """The fates of one conversation."""

    def __init__(self, view: ConversationView, found: Sequence[_Matched]) -> None:
        self.view, self.found = view, found
        self.names = {each.row.id: each.before for each in found if each.row.written is None}
        self.messages = {message.id: message for message in view.messages}
        self.units = atomic_units(view.messages)
        self.front = {
            message.id for message in view.messages[: leading_system_count(view.messages)]
        }

    def unit_of(self, name: MessageId, others: Container[MessageId]) -> list[Message]:
        """Return those of ``others`` that have to go or stay together with a message."""
        messages = self.view.messages
        unit = next(unit for unit in self.units if any(messages[at].id == name for at in unit))
        return [messages[at] for at in unit if messages[at].id in others]

    def where(self, name: MessageId) -> str:
        return f"the message on line {self.messages[name].line + 1:,} ({name})"


def _run(decided: _Decided) -> PipelineRun:
    _check_hidden(decided)
    edits, stages = tuple(_edits(decided)), dict(_stages(decided.found))
    dropped = tuple(_dropped(decided))
    stages |= dict.fromkeys(groups_of(dropped), BY_HAND)
    edits = (*edits, *dropped)
    groups: dict[str, str] = {group: stages[group] for group in groups_of(edits)}
    _check_written(decided, edits)
    if edits:
        edits = with_gaps_filled(decided.view, Proposal(stage=BY_HAND, edits=edits)).edits
    after = apply(decided.view.messages, edits)
    _check_references(decided)
    _check_pairs(decided, after)
    return PipelineRun(
        stages=(), edits=edits, groups=groups, view=replace(decided.view, messages=after)
    )


def _without_unsent(
    done: PipelineRun, plan: PlanFile, unsent: Mapping[UnsentKind, RecordStats] | None, meter: Meter
) -> tuple[PipelineRun, tuple[StageRecord, ...]]:
    """Return a run that takes out what the plan says, and the stage that does so.

    It is of the whole file, and so for one of its conversations.
    """
    chosen = None if unsent is None else {k: unsent[k] for k in plan.unsent if k in unsent}
    options = UnsentOptions(snapshots="snapshots" in plan.unsent)
    step = StageStep(stage=UNSENT, options=options)
    taking = run(replace(done.view, unsent=chosen), [step], meter)
    edits, groups = (*taking.edits, *done.edits), {**taking.groups, **done.groups}
    return replace(done, edits=edits, groups=groups), taking.stages


def _stages(found: Sequence[_Matched]) -> Iterator[tuple[GroupId, str]]:
    for each in found:
        if each.row.group is not None:
            yield each.row.group, stage_named(each.row.explained.stage or BY_HAND).name


def _edits(decided: _Decided) -> Iterator[Edit]:
    """Yield what is written, what is hidden behind it, and what is rewritten."""
    written = [(each, each.row.written) for each in decided.found if each.row.written is not None]
    for each, item in written:
        through = item.through and decided.names.get(item.through, item.through)
        yield Insert(before=each.before, message=replace(item, through=through))
    standing = {item.group: item for _, item in written if item.kind in _STANDING}
    kinds = {item.group for item in standing.values() if item.kind == "summary"}
    behind: dict[GroupId, list[_Matched]] = {}
    for each in decided.found:
        if each.row.fate == "hidden" and each.row.group is not None and not each.is_dropped:
            behind.setdefault(each.row.group, []).append(each)
    _check_standing(decided, standing, behind)
    for group, hidden in behind.items():
        yield Hide(
            ids=tuple(each.before for each in hidden),
            group=group,
            kind="condense" if group in kinds else "truncate",
            reason=hidden[0].row.explained.reason,
        )
    for each in decided.found:
        if each.row.fate == "rewritten":
            yield from _rewriting(each, decided)


def _check_standing(
    decided: _Decided,
    standing: Mapping[GroupId, Synthetic],
    behind: Mapping[GroupId, Sequence[_Matched]],
) -> None:
    """Raise UsageError for messages that nothing stands for, and for what stands for none."""
    for group, hidden in behind.items():
        if group not in standing:
            raise UsageError(
                f"{decided.where(hidden[0].before)} is hidden behind {group}, which the plan does "
                "not write; write it, keep the message, or take its group out"
            )
    for group, item in standing.items():
        if group not in behind:
            raise UsageError(
                f"the {item.kind} {item.id} stands for no message any more; take it out of the plan"
            )


def _rewriting(each: _Matched, decided: _Decided) -> Iterator[Replace]:
    row, message = each.row, decided.messages[each.before]
    if row.group is None or not row.texts:
        raise UsageError(
            f"{decided.where(each.before)} is to be rewritten without a text; keep or hide it"
        )
    why = message.locks.immutable_reason or ("system prompt" if message.id in decided.front else "")
    if why:
        raise UsageError(f"{decided.where(each.before)} may not be rewritten: {why}")
    for new in row.texts:
        if new.part >= len(message.parts) or not _takes(message.parts[new.part], new.text):
            raise UsageError(
                f"{decided.where(each.before)} has no part {new.part} that can be rewritten to "
                "this text"
            )
        yield Replace(
            id=each.before,
            part=new.part,
            text=new.text,
            group=row.group,
            reason=row.explained.reason,
            refers_to=new.refers_to and decided.names.get(new.refers_to, new.refers_to),
        )


def _takes(part: Part, text: str) -> bool:
    """Tell whether a text may take the place of a part: JSON alone that of arguments."""
    if isinstance(part, ToolCallPart):
        return is_replaceable(part) and is_alike(part.arguments, text)
    return is_replaceable(part)


def _dropped(decided: _Decided) -> Iterator[Edit]:
    """Yield the edits that hide what was taken out by hand, those side by side together."""
    original = [each for each in decided.found if each.row.written is None]
    for is_dropped, side_by_side in groupby(original, lambda each: each.is_dropped):
        if is_dropped:
            ids = [each.before for each in side_by_side]
            options = SpanOptions(first=ids[0], last=ids[-1])
            marker = Marker(
                stage=BY_HAND, prefix="truncation", template=options.marker, reason=_DROPPED
            )
            yield from hide_behind(decided.view, marker, ids, options, ()).edits


def _check_hidden(decided: _Decided) -> None:
    """Raise UsageError where a plan hides what must stay, or a part of what belongs together."""
    hidden = [each.before for each in decided.found if each.row.fate == "hidden"]
    for each in decided.found:
        others = decided.unit_of(each.before, hidden) if each.is_pinned else []
        if others:
            raise UsageError(
                f"{decided.where(each.before)} may not be kept alone: it belongs with "
                f"{lines_of(others)}, which the plan hides; keep both or hide both"
            )
    for name, reason in reasons_to_stay(decided.view, hidden).items():
        raise UsageError(f"{decided.where(name)} may not be hidden: {reason}")


def _check_written(decided: _Decided, edits: Sequence[Edit]) -> None:
    """Raise UsageError for a summary or marker in a place where no record can be written.

    Right before the first message that it stands for is always one.
    """
    messages = decided.view.messages
    cuts = {messages[at].id for at in cut_points(messages)[:-1]}
    first = {e.group: e.ids[0] for e in reversed(edits) if isinstance(e, Hide)}
    for edit in edits:
        if not isinstance(edit, Insert) or edit.message.kind not in _STANDING:
            continue
        group = edit.message.group
        if group in first and edit.before == insertion_point(messages, first[group]):
            continue
        before = decided.messages[edit.before]
        why = (
            before.locks.unmovable_reason
            or before.locks.immutable_reason
            or (before.id in decided.front and "it is the system prompt")
        )
        why = why or (before.id not in cuts and "that is between a call and its result")
        if why:
            raise UsageError(
                f"the {edit.message.kind} {edit.message.id} may not stand before "
                f"{decided.where(edit.before)}: {why}"
            )


def _check_references(decided: _Decided) -> None:
    """Raise UsageError for a text that points the reader to what is hidden."""
    fates = {each.row.id: each for each in decided.found if each.row.written is None}
    for each in decided.found:
        targets = [new.refers_to for new in each.row.texts if each.row.fate == "rewritten"]
        gone = next(
            (fates[t] for t in targets if t in fates and fates[t].row.fate == "hidden"), None
        )
        if gone is not None:
            raise UsageError(
                f"{decided.where(each.before)} is rewritten to point to "
                f"{decided.where(gone.before)}, which is hidden; keep one of them"
            )


def _check_pairs(decided: _Decided, after: Sequence[Message]) -> None:
    new = find_orphans(after) - find_orphans(decided.view.messages)
    if new:
        orphan = min(new)
        other = "result" if orphan.kind == "call" else "call"
        raise UsageError(
            f"message {orphan.message} would keep a tool {orphan.kind} without its {other}; "
            "give both one fate"
        )


def _records(applied: AppliedEdits, before: int, meter: Meter) -> tuple[StageRecord, ...]:
    """Return what each stage adds to the edits of those before it, from ``before`` tokens on."""
    found: list[StageRecord] = []
    made: tuple[Edit, ...] = ()
    changes = [edit for edit in applied.edits if not isinstance(edit, RemoveUnsent)]
    for stage in dict.fromkeys(applied.groups.values()):
        edits = tuple(e for e in changes if applied.groups[groups_of([e])[0]] == stage)
        if edits:
            made += edits
            after = meter.total(apply(applied.before, made))
            found.append(_record(stage, edits, before, after))
            before = after
    return tuple(found)


def _record(stage: str, edits: Sequence[Edit], before: int, after: int) -> StageRecord:
    return StageRecord(
        name=stage,
        options={},
        outcome="applied",
        tokens_before=before,
        tokens_after=after,
        group=groups_of(edits)[0],
        hidden=sum(len(edit.ids) for edit in edits if isinstance(edit, Hide)),
        replaced=len({edit.id for edit in edits if isinstance(edit, Replace)}),
        detail="as the plan says",
    )
