"""Applies a plan from a file: exactly its fates, or an error that says why they are impossible."""

from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import groupby

from compactctl.commands.measuring.measure import Measurement
from compactctl.commands.planning.plan import SizeToReach
from compactctl.commands.planning.plan_file import PlanFile, PlannedMessage
from compactctl.commands.planning.run_stages import (
    AppliedEdits,
    ConversationRun,
    SizedTranscript,
    StageInputs,
    StageRun,
    joined_run,
    view_of,
)
from compactctl.errors import ChangedError, UsageError
from compactctl.history.apply import apply
from compactctl.history.conversation_view import ConversationView
from compactctl.history.pairs import atomic_units, cut_points, find_orphans
from compactctl.history.protection import ProtectOptions, lines_of, reasons_to_stay
from compactctl.history.turns import leading_system_count, split_conversations
from compactctl.model.edit import (
    Edit,
    Hide,
    Insert,
    PartEdit,
    Proposal,
    RecordEdit,
    Replace,
    groups_of,
)
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
from compactctl.pipeline.gaps import fill_gaps
from compactctl.pipeline.run import PipelineRun, StageStep, run
from compactctl.records import Record, replace
from compactctl.stages.registry import stage_named
from compactctl.stages.repair import STAGE as REPAIR
from compactctl.stages.span import NAME as BY_HAND
from compactctl.stages.span import SpanOptions
from compactctl.stages.support.replacement import is_same_json_type
from compactctl.stages.support.truncation import Marker, hide_behind_marker, insertion_point
from compactctl.stages.unsent import STAGE as UNSENT
from compactctl.stages.unsent import UnsentOptions
from compactctl.tokens.meter import Meter

_DROPPED = "hidden by hand"
_PINNED = "kept by hand"
_NO_INPUTS = StageInputs(unsent=None)
_STANDING = ("summary", "marker")


def check_input(plan: PlanFile, digest: Digest, path: str) -> None:
    """Raise ChangedError unless the plan was made for the transcript that was read."""
    if plan.input != digest:
        raise ChangedError(
            f"{path}: does not match the plan ({plan.path}, {plan.input.n_lines:,} lines "
            f"with SHA-256 {plan.input.sha256[:12]}), or has changed since; make a new plan with "
            "compactctl compact -n --plan-out"
        )


def apply_plan(
    transcript: Transcript,
    plan: PlanFile,
    measured: Measurement,
    inputs: StageInputs = _NO_INPUTS,
    *,
    renamed: bool = False,
) -> StageRun:
    """Apply a plan to the transcript that it was made for.

    ``renamed`` means that the transcript has a new id, so ids derived from it differ from the plan.
    Raises ChangedError if the plan lists other messages, and UsageError for impossible fates: a
    tool call hidden without its result, a message hidden that must stay, or hidden behind nothing.
    """
    sized = SizedTranscript.of(transcript, measured)
    matched_rows = _matched(plan, transcript.effective, renamed=renamed)
    runs = [
        _run_conversation(messages, matched_rows, sized)
        for messages in split_conversations(transcript.effective)
    ]
    if plan.repair:
        # What is refused of the file is corrected with its first conversation.
        runs = [
            _repaired(
                conversation,
                replace(inputs, refused=() if number else transcript.refused),
                measured.meter,
            )
            for number, conversation in enumerate(runs)
        ]
    unloading: tuple[StageRecord, ...] = ()
    if runs and plan.unsent:
        runs[0], unloading = _without_unsent(runs[0], plan, inputs.unsent, measured.meter)
    stage_run = joined_run(sized, runs, SizeToReach(tokens=plan.target))
    before = stage_run.outcome.before.tokens
    # Records that are never sent take no tokens of a context.
    stages = [replace(record, tokens_before=before, tokens_after=before) for record in unloading]
    outcome = replace(
        stage_run.outcome,
        stages=(*stages, *_records(stage_run.applied, before, measured.meter)),
    )
    return replace(stage_run, outcome=outcome)


class _Matched(Record):
    """A row of a plan, and the message it describes, or before which its new message goes."""

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
    """Pair the rows with the transcript's messages, all of which must be listed in order."""
    rows = [row for row in plan.messages if row.written is None]
    for row, message in zip(rows, messages, strict=False):
        if row.explained.line != message.line + 1 or (row.id != message.id and not renamed):
            raise ChangedError(
                f"the plan lists message {row.id} where line {message.line + 1:,} has "
                f"{message.id}; keep the order of messages and change only fates"
            )
    if len(rows) != len(messages):
        raise ChangedError(
            f"the plan lists {len(rows):,} of {len(messages):,} messages; keep all of them and "
            "change only fates"
        )
    remaining_ids = [message.id for message in messages]
    matched_rows: list[_Matched] = []
    for row in plan.messages:
        if not remaining_ids:
            raise UsageError(
                f"the plan writes {row.id} after the last message; put it before a message"
            )
        matched_rows.append(_Matched(row=row, before=remaining_ids[0]))
        if row.written is None:
            remaining_ids.pop(0)
    _check_names(plan)
    return tuple(matched_rows)


def _check_names(plan: PlanFile) -> None:
    """Raise UsageError if two entries have the same id."""
    names: set[MessageId] = set()
    for row in plan.messages:
        if row.id in names:
            raise UsageError(f"the plan has two entries for {row.id}; remove one of them")
        names.add(row.id)


class _Decided:
    """The planned fates of one conversation."""

    def __init__(self, view: ConversationView, rows: Sequence[_Matched]) -> None:
        self.view, self.found = view, rows
        self.names = {
            matched.row.id: matched.before for matched in rows if matched.row.written is None
        }
        self.messages = {message.id: message for message in view.messages}
        self.units = atomic_units(view.messages)
        self.front = {
            message.id for message in view.messages[: leading_system_count(view.messages)]
        }

    def unit_of(self, message_id: MessageId, others: Container[MessageId]) -> list[Message]:
        """Return those of ``others`` in the same unit as a message: tool calls and results."""
        messages = self.view.messages
        unit = next(unit for unit in self.units if any(messages[i].id == message_id for i in unit))
        return [messages[i] for i in unit if messages[i].id in others]

    def where(self, message_id: MessageId) -> str:
        return f"the message on line {self.messages[message_id].line + 1:,} ({message_id})"


def _run_conversation(
    messages: tuple[Message, ...], matched_rows: Sequence[_Matched], sized: SizedTranscript
) -> ConversationRun:
    no_turns = ProtectOptions(keep_turns=0)
    view = view_of(messages, sized.transcript, sized.measured, no_turns)
    names = {message.id for message in messages}
    rows = [matched for matched in matched_rows if matched.before in names]
    reasons = {
        matched.before: matched.row.explained.reason
        for matched in rows
        if matched.row.fate == "kept"
    }
    pinned = {matched.before: _PINNED for matched in rows if matched.is_pinned}
    return ConversationRun(result=_run(_Decided(view, rows)), protected={**reasons, **pinned})


def _run(decided: _Decided) -> PipelineRun:
    _check_hidden(decided)
    edits, stages = tuple(_edits(decided)), dict(_stages(decided.found))
    dropped = tuple(_dropped(decided))
    stages |= dict.fromkeys(groups_of(dropped), BY_HAND)
    edits = (*edits, *dropped)
    groups: dict[str, str] = {group: stages[group] for group in groups_of(edits)}
    _check_written(decided, edits)
    if edits:
        edits = fill_gaps(decided.view, Proposal(stage=BY_HAND, edits=edits)).edits
    after = apply(decided.view.messages, edits)
    _check_references(decided)
    _check_pairs(decided, after)
    return PipelineRun(
        stages=(), edits=edits, groups=groups, view=replace(decided.view, messages=after)
    )


def _repaired(conversation: ConversationRun, inputs: StageInputs, meter: Meter) -> ConversationRun:
    """Add the repair of what is refused to a run."""
    result = conversation.result
    stored = apply(result.view.stored, result.edits)
    view = replace(
        result.view,
        stored=stored,
        refused=inputs.refused,
        keeps_originals=inputs.keeps_originals,
    )
    repair = run(view, [StageStep(stage=REPAIR, options=REPAIR.options())], meter)
    result = replace(
        result,
        edits=(*result.edits, *repair.edits),
        groups={**result.groups, **repair.groups},
        view=repair.view,
    )
    return replace(conversation, result=result)


def _without_unsent(
    conversation: ConversationRun,
    plan: PlanFile,
    unsent: Mapping[UnsentKind, RecordStats] | None,
    meter: Meter,
) -> tuple[ConversationRun, tuple[StageRecord, ...]]:
    """Add the removal of unsent records to a run; return it and the records of that stage.

    The removal concerns the whole file, so it belongs to only one of its conversations.
    """
    chosen = None if unsent is None else {k: unsent[k] for k in plan.unsent if k in unsent}
    options = UnsentOptions(snapshots="snapshots" in plan.unsent)
    step = StageStep(stage=UNSENT, options=options)
    result = conversation.result
    removal = run(replace(result.view, unsent=chosen), [step], meter)
    edits, groups = (*removal.edits, *result.edits), {**removal.groups, **result.groups}
    result = replace(result, edits=edits, groups=groups)
    return replace(conversation, result=result), removal.stages


def _stages(rows: Sequence[_Matched]) -> Iterator[tuple[GroupId, str]]:
    for matched in rows:
        if matched.row.group is not None:
            yield matched.row.group, stage_named(matched.row.explained.stage or BY_HAND).name


def _edits(decided: _Decided) -> Iterator[Edit]:
    """Yield the insertions, what is hidden behind them, and the rewritten parts."""
    written = [
        (matched, matched.row.written)
        for matched in decided.found
        if matched.row.written is not None
    ]
    for matched, item in written:
        through = item.through and decided.names.get(item.through, item.through)
        yield Insert(before=matched.before, message=replace(item, through=through))
    standing = {item.group: item for _, item in written if item.kind in _STANDING}
    kinds = {item.group for item in standing.values() if item.kind == "summary"}
    behind: dict[GroupId, list[_Matched]] = {}
    for matched in decided.found:
        if (
            matched.row.fate == "hidden"
            and matched.row.group is not None
            and not matched.is_dropped
        ):
            behind.setdefault(matched.row.group, []).append(matched)
    _check_standing(decided, standing, behind)
    for group, hidden in behind.items():
        yield Hide(
            ids=tuple(matched.before for matched in hidden),
            group=group,
            kind="condense" if group in kinds else "truncate",
            reason=hidden[0].row.explained.reason,
        )
    for matched in decided.found:
        if matched.row.fate == "rewritten":
            yield from _rewriting(matched, decided)


def _check_standing(
    decided: _Decided,
    standing: Mapping[GroupId, Synthetic],
    behind: Mapping[GroupId, Sequence[_Matched]],
) -> None:
    """Raise UsageError for messages hidden behind nothing, and for summaries that hide nothing."""
    for group, hidden in behind.items():
        if group not in standing:
            raise UsageError(
                f"{decided.where(hidden[0].before)} is hidden behind {group}, which is not in the "
                "plan; add it, keep the message, or remove its group"
            )
    for group, item in standing.items():
        if group not in behind:
            raise UsageError(
                f"the {item.kind} {item.id} no longer replaces any message; remove it from the plan"
            )


def _rewriting(matched: _Matched, decided: _Decided) -> Iterator[Replace]:
    planned, message = matched.row, decided.messages[matched.before]
    if planned.group is None or not planned.texts:
        raise UsageError(
            f"{decided.where(matched.before)} has no replacement text; keep or hide it"
        )
    why = message.locks.immutable_reason or ("system prompt" if message.id in decided.front else "")
    if why:
        raise UsageError(f"{decided.where(matched.before)} cannot be rewritten: {why}")
    for new in planned.texts:
        if new.part >= len(message.parts) or not _takes(message.parts[new.part], new.text):
            raise UsageError(
                f"{decided.where(matched.before)} has no part {new.part} that can be rewritten to "
                "this text"
            )
        yield Replace(
            id=matched.before,
            part=new.part,
            text=new.text,
            group=planned.group,
            reason=planned.explained.reason,
            refers_to=new.refers_to and decided.names.get(new.refers_to, new.refers_to),
        )


def _takes(part: Part, new_text: str) -> bool:
    """Whether a text may replace a part; arguments are only replaced by JSON of their kind."""
    if isinstance(part, ToolCallPart):
        return is_replaceable(part) and is_same_json_type(part.arguments, new_text)
    return is_replaceable(part)


def _dropped(decided: _Decided) -> Iterator[Edit]:
    """Yield the edits that hide what the user removed; adjacent messages share a marker."""
    rows = [matched for matched in decided.found if matched.row.written is None]
    for is_dropped, side_by_side in groupby(rows, lambda matched: matched.is_dropped):
        if is_dropped:
            ids = [matched.before for matched in side_by_side]
            options = SpanOptions(first=ids[0], last=ids[-1])
            marker = Marker(
                stage=BY_HAND, prefix="truncation", template=options.marker, reason=_DROPPED
            )
            yield from hide_behind_marker(decided.view, marker, ids, options, ()).edits


def _check_hidden(decided: _Decided) -> None:
    """Raise UsageError if the plan hides a message that must stay, or half of a tool pair."""
    hidden = [matched.before for matched in decided.found if matched.row.fate == "hidden"]
    for matched in decided.found:
        others = decided.unit_of(matched.before, hidden) if matched.is_pinned else []
        if others:
            raise UsageError(
                f"{decided.where(matched.before)} cannot be kept alone: it belongs with "
                f"{lines_of(others)}, which the plan hides; keep both or hide both"
            )
    for name, reason in reasons_to_stay(decided.view, hidden).items():
        raise UsageError(f"{decided.where(name)} cannot be hidden: {reason}")


def _check_written(decided: _Decided, edits: Sequence[Edit]) -> None:
    """Raise UsageError for a summary or marker at a position where no record can be inserted.

    The position right before the first message that it replaces is always possible.
    """
    messages = decided.view.messages
    cuts = {messages[i].id for i in cut_points(messages)[:-1]}
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
                f"the {edit.message.kind} {edit.message.id} cannot be placed before "
                f"{decided.where(edit.before)}: {why}"
            )


def _check_references(decided: _Decided) -> None:
    """Raise UsageError for a rewritten text that refers to a hidden message."""
    fates = {matched.row.id: matched for matched in decided.found if matched.row.written is None}
    for matched in decided.found:
        targets = [new.refers_to for new in matched.row.texts if matched.row.fate == "rewritten"]
        hidden_target = next(
            (fates[t] for t in targets if t in fates and fates[t].row.fate == "hidden"), None
        )
        if hidden_target is not None:
            raise UsageError(
                f"{decided.where(matched.before)} is rewritten to point to "
                f"{decided.where(hidden_target.before)}, which is hidden; keep one of them"
            )


def _check_pairs(decided: _Decided, after: Sequence[Message]) -> None:
    new = find_orphans(after) - find_orphans(decided.view.messages)
    if new:
        orphan = min(new)
        other = "result" if orphan.kind == "call" else "call"
        raise UsageError(
            f"message {orphan.message} would keep a tool {orphan.kind} without its {other}; give "
            "both the same fate"
        )


def _records(applied: AppliedEdits, before: int, meter: Meter) -> tuple[StageRecord, ...]:
    """Return a record per stage, with its tokens after the edits of all stages up to it."""
    records: list[StageRecord] = []
    applied_edits: tuple[Edit, ...] = ()
    changes = [edit for edit in applied.edits if not isinstance(edit, RecordEdit)]
    for stage in dict.fromkeys(applied.groups.values()):
        edits = tuple(e for e in changes if applied.groups[groups_of([e])[0]] == stage)
        if edits:
            # Cumulative: a later stage may edit what an earlier one inserted.
            applied_edits += edits
            after = meter.total(apply(applied.before, applied_edits))
            records.append(_record(stage, edits, before, after))
            before = after
    return tuple(records)


def _record(stage: str, edits: Sequence[Edit], before: int, after: int) -> StageRecord:
    return StageRecord(
        name=stage,
        options={},
        outcome="applied",
        tokens_before=before,
        tokens_after=after,
        group=groups_of(edits)[0],
        hidden=sum(len(edit.ids) for edit in edits if isinstance(edit, Hide)),
        replaced=len({edit.id for edit in edits if isinstance(edit, PartEdit)}),
        detail="as the plan says",
    )
