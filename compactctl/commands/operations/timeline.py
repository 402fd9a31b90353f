"""From what is archived and the lines of a transcript to its operations and the time in between."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from compactctl.commands.operations.inline import (
    may_hold_operation,
    may_name_operation,
    missing_archive_text,
    named_operations,
    operations_inside,
)
from compactctl.commands.operations.periods import (
    Period,
    PeriodStart,
    state_after,
    state_before,
)
from compactctl.commands.operations.steps import ArchivedStep, InlineStep, OperationStep
from compactctl.errors import (
    ArchiveError,
    ChangedError,
    IntegrityError,
    MissingArchiveError,
)
from compactctl.model.operation import Operation, OperationId
from compactctl.records import Record
from compactctl.store.archive.growth import matching_states
from compactctl.store.files.content import ChunksAndTail, last_byte_and_rest
from compactctl.store.files.source import split_lines

if TYPE_CHECKING:
    from compactctl.commands.operations.history import OperationHistory

Chain = tuple[OperationId, ...]
_Inside = dict[OperationId, InlineStep]
_Start = tuple[OperationId | None, _Inside]


class Moment(Record):
    """A step, and the ids of the compactions in effect before and after it, oldest first.

    If the oldest known compaction builds upon a missing one, that one's id comes first. ``is_put``
    means that the step was part of the outcome of a rewind.
    """

    step: OperationStep
    before: Chain
    after: Chain
    is_put: bool = False


class OperationTimeline(Record):
    """The operations of a transcript and the periods between them, oldest first.

    Attributes:
        moments: the operations, rewinds included.
        chain: the compactions in effect.
        current: the archived operation whose outcome the transcript begins with; None in the first
            state, or after a compaction inside the transcript that has no archive.
        periods: each but the last ends with the moment of the same index.
        inside: the compactions that are in no archive, also those inside earlier states.
    """

    moments: tuple[Moment, ...]
    chain: tuple[OperationStep, ...]
    current: Operation | None
    periods: tuple[Period, ...]
    inside: _Inside

    @property
    def steps(self) -> tuple[OperationStep, ...]:
        """The operations, rewinds included."""
        return tuple(moment.step for moment in self.moments)

    @property
    def in_effect(self) -> Chain:
        """The ids of the compactions in effect, as in a moment."""
        return self.periods[-1].chain

    def moment_of(self, step: OperationStep) -> Moment:
        """Return the moment of one of the steps."""
        return next(moment for moment in self.moments if moment.step == step)


def in_order(
    steps: tuple[ArchivedStep, ...], current: Operation | None, lines: Iterable[bytes]
) -> tuple[ArchivedStep, ...]:
    """Return the operations in an archive, oldest first.

    Operations that never took place come before the one in effect even if their archives are newer:
    they neither build upon it nor start from the transcript. Their runs were killed or, in an
    object store, slower than another one.
    """
    if current is None:
        return steps
    index = max(index for index, step in enumerate(steps) if step.operation == current)
    befores = matching_states(lines, {step.operation.before for step in steps[index + 1 :]})
    heads: set[OperationId | None] = {current.head}
    unrealized, later = [], []
    for step in steps[index + 1 :]:
        if step.parent in heads or step.operation.before in befores:
            heads.add(step.head)
            later.append(step)
        else:
            unrealized.append(step)
    return (*steps[:index], *unrealized, steps[index], *later)


def timeline_of(history: "OperationHistory") -> OperationTimeline:
    """Return the timeline of a transcript.

    Raises ArchiveError or IntegrityError for archives that cannot be read, ChangedError if the
    transcript is in no known state, and MissingArchiveError if records in it belong to an operation
    whose archive is missing.
    """
    archived, lines, where = history.archived, history.lines, history.where
    inside = _inline_steps(lines, lambda: history.data, where, history.format_name)
    by_id = {step.id: step for step in archived}
    walk = _Walk(
        by_id=by_id,
        starts={step.file.path: _before(step, by_id, where) for step in archived},
        where=where,
    )
    try:
        current = _current(history, by_id, inside)
    except (ChangedError, MissingArchiveError):
        if history.archive and history.archive.damaged:
            raise history.archive.damaged[-1] from None
        raise
    newest_inside = next(reversed(inside), None)
    below = archived[0].parent if archived and current is None else None
    # A rewind to the first state by version 0.1.0 did not record operations inside it.
    head = (current and current.head) or newest_inside or below
    steps, put = _ordered(archived, lines, walk, (head, inside))
    all_inside = {step.id: step for step in steps if isinstance(step, InlineStep)}
    moments = tuple(
        Moment(
            step=step,
            before=walk.ids(*walk.before(step, all_inside)),
            after=walk.ids(step.head, all_inside),
            is_put=step.id in put,
        )
        for step in steps
    )
    return OperationTimeline(
        moments=moments,
        chain=tuple(reversed(tuple(walk.back(head, inside)))),
        current=current,
        periods=_periods(moments, walk.ids(head, inside), lines, where),
        inside=all_inside,
    )


class _Walk(Record):
    """The way from a compaction back to those that it builds upon.

    ``by_id`` are the newest archives, ``starts`` the newest compaction before each archived step
    and the compactions inside that state, by the path of the archive.
    """

    by_id: Mapping[OperationId, ArchivedStep]
    starts: Mapping[Path, _Start]
    where: str

    def before(self, step: OperationStep, inside: _Inside) -> _Start:
        """Return the newest compaction before a step, and the ones inside that state."""
        if isinstance(step, ArchivedStep):
            return self.starts[step.file.path]
        return step.parent, inside

    def back(self, head: OperationId | None, inside: _Inside) -> Iterator[OperationStep]:
        """Yield a compaction and those it builds upon, newest first.

        Raises ArchiveError if they form a cycle, which no run writes.
        """
        seen: set[OperationId] = set()
        while head is not None:
            if head in seen:
                raise ArchiveError(
                    f"{self.where}: operation {head} refers to itself; "
                    "restore its archive folder from a backup"
                )
            seen.add(head)
            step = self.by_id.get(head) or inside.get(head)
            if step is None:
                return
            yield step
            head, inside = self.before(step, inside)

    def ids(self, head: OperationId | None, inside: _Inside) -> Chain:
        """Return the ids of a compaction and of those it builds upon, as in a ``Moment``."""
        chain = tuple(reversed(tuple(self.back(head, inside))))
        lowest = self.before(chain[0], inside)[0] if chain else head
        return (*filter(None, (lowest,)), *(step.id for step in chain))


def _before(step: ArchivedStep, by_id: Container[OperationId], where: str) -> _Start:
    """Return the newest compaction before a step, and the ones inside that state.

    They are looked for if no archive holds its parent.
    """
    if step.parent in by_id:
        return step.parent, {}
    holder = partial(_state, step)
    try:
        if not may_hold_operation(step.before()):
            return step.parent, {}
        inside = _inline_steps(split_lines(holder()), holder, where, step.format or None)
    except (ArchiveError, IntegrityError):
        # Other states may not need this one.
        return step.parent, {}
    # Version 0.1.0 did not record a parent that is inside the transcript.
    return step.parent or next(reversed(inside), None), inside


def _inline_steps(
    lines: Sequence[bytes], holder: Callable[[], bytes], where: str, format_name: str | None
) -> _Inside:
    """Return the steps inside a state, oldest first; ``holder`` returns the whole state."""
    operations, format_name_read = operations_inside(lines, where, format_name)
    steps: list[InlineStep] = []
    for index, operation in reversed(tuple(enumerate(operations))):
        step = InlineStep(
            operation=operation,
            parent=operation.parent or (operations[index - 1].id if index else None),
            format=format_name_read,
            where=where,
            read_state=holder,
        )
        steps.append(step)
        holder = partial(_state, step)
    return {step.id: step for step in reversed(steps)}


def _current(
    history: "OperationHistory", by_id: Mapping[OperationId, ArchivedStep], inside: _Inside
) -> Operation | None:
    """Return the current operation, as in a timeline; raises as ``timeline_of``."""
    lines = history.lines
    steps: tuple[OperationStep, ...] = (*by_id.values(), *inside.values())
    try:
        current = _reached(history, by_id, inside)
    except ChangedError:
        _require_archives(history, steps, lines)
        raise
    _, rest = last_byte_and_rest(lines, _n_outcome_bytes(lines, current))
    _require_archives(history, steps, (rest,))
    return current


def _require_archives(
    history: "OperationHistory", steps: Iterable[OperationStep], pieces: Iterable[bytes]
) -> None:
    """Raise MissingArchiveError if records in some pieces name an unknown operation.

    Parents of known operations count as known, as they are below the chain, and so do operations of
    other lineages. If none is known at all, an unknown one cannot be mistaken for another.
    """
    if not any(map(may_name_operation, pieces)):
        return
    where, archive = history.where, history.archive
    known_ids = {operation_id for step in steps for operation_id in (step.id, step.parent)}
    known_ids |= archive.all_ids if archive else frozenset()
    if not known_ids:
        return
    unknown_ids = named_operations(history.lines, where, history.format_name) - known_ids
    if unknown_ids:
        text = missing_archive_text(where, unknown_ids)
        folder = archive.folder if archive else where
        end = "".join(f", which ends with operation {step.id}," for step in history.archived[-1:])
        raise MissingArchiveError(f"{text}, or move {folder}{end} away to start over")


def _reached(
    history: "OperationHistory", by_id: Container[OperationId], inside: _Inside
) -> Operation | None:
    """Return the current operation; raises ChangedError if the transcript is in no known state."""
    top = next(reversed(inside.values()), None)
    is_alone = top is not None and top.id not in by_id
    current = history.matched
    if isinstance(current, ChangedError):
        if is_alone:
            return None
        raise current
    if current and top and is_alone and top.operation.line >= current.after.n_lines:
        return None
    return current


def _n_outcome_bytes(lines: Sequence[bytes], current: Operation | None) -> int:
    """Return how many bytes of the transcript are an outcome, 0 if its client rewrote it."""
    if current is None:
        return 0
    is_document = current.records is not None
    if is_document and not matching_states(lines, (current.after,)):
        return 0
    return current.after.n_bytes


def _ordered(
    archived: Sequence[ArchivedStep],
    lines: Sequence[bytes],
    walk: _Walk,
    start: _Start,
) -> tuple[tuple[OperationStep, ...], frozenset[OperationId]]:
    """Return all operations, oldest first, and those that a rewind put into its outcome."""
    steps: list[OperationStep] = []
    seen_ids: set[OperationId] = set()
    put_ids: set[OperationId] = set()
    for step in (*archived, None):
        way = walk.back(*(start if step is None else walk.before(step, {})))
        inline = [s for s in way if isinstance(s, InlineStep)]
        new = [s for s in reversed(inline) if s.id not in seen_ids]
        seen_ids |= {s.id for s in new}
        if new and steps:
            state = lines if step is None else step.before()
            put = [s for s in new if _is_inside(s, steps[-1], state)]
            put_ids |= {s.id for s in put}
            steps[-1:] = [*put, steps[-1]]
            new = [s for s in new if s not in put]
        steps += new if step is None else (*new, step)
    return tuple(steps), frozenset(put_ids)


def _is_inside(step: InlineStep, latest: OperationStep, state: Iterable[bytes]) -> bool:
    """Return whether the latest step, a rewind, put a step into its outcome.

    A state begins with that outcome then, and the step did not follow the rewind.
    """
    if step.operation.line >= latest.after.n_lines:
        return False
    return bool(matching_states(state, (latest.after,)))


def _periods(
    moments: Sequence[Moment], in_effect: Chain, lines: Sequence[bytes], where: str
) -> tuple[Period, ...]:
    chains = (*(moment.before for moment in moments), in_effect)
    ends: Iterable[Iterable[bytes]]
    ends = (*(ChunksAndTail(moment.step.before) for moment in moments), lines)
    periods: list[Period] = []
    for chain, end in zip(chains, ends, strict=True):
        starts = tuple(_starts(moments, periods, chain))
        periods.append(
            Period(chain=chain, end=end, starts=starts, is_oldest=not periods, where=where)
        )
    return tuple(periods)


def _starts(
    moments: Iterable[Moment], periods: Iterable[Period], chain: Chain
) -> Iterator[PeriodStart]:
    """Yield what may have led to the start of a period: the earlier ones and what ended them.

    Those count, too, as the step in between may never have taken place.
    """
    for moment, period in zip(moments, periods, strict=False):
        step = moment.step
        if moment.before == chain:
            yield PeriodStart(origin=period, state=partial(state_before, step))
        if moment.after == chain:
            yield PeriodStart(origin=step, state=partial(state_after, step))


def _state(step: OperationStep) -> bytes:
    return b"".join(step.before())
