"""From what is archived and the lines of a transcript to its operations and the time in between."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from compactctl.commands.operations.inline import (
    may_hold_operation,
    operations_inside,
)
from compactctl.commands.operations.periods import (
    Period,
    PeriodStart,
    Reached,
    state_after,
    state_before,
)
from compactctl.commands.operations.steps import ArchivedStep, InlineStep, OperationStep
from compactctl.errors import (
    ArchiveError,
    IntegrityError,
)
from compactctl.model.operation import DocumentRecords, Operation, OperationId
from compactctl.pipeline.document_records import read_records
from compactctl.records import Record
from compactctl.store.archive.growth import matching_states
from compactctl.store.files.content import ChunksAndTail
from compactctl.store.files.source import split_lines

Chain = tuple[OperationId, ...]
InlineSteps = dict[OperationId, InlineStep]
_Start = tuple[OperationId | None, InlineSteps]


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
    inside: InlineSteps

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

    def periods_with(self, chain: Chain) -> tuple[int, ...]:
        """Return the indices of the periods with these compactions in effect, oldest first.

        A period that ends with a step which a rewind put there is none: it was inside that rewind.
        """
        ends = (*(moment.is_put for moment in self.moments), False)
        return tuple(
            index
            for index, (period, is_put) in enumerate(zip(self.periods, ends, strict=True))
            if period.chain == chain and not is_put
        )

    def reached(self, index: int) -> Reached:
        """Return the end of the period at ``index``, and the periods since."""
        return Reached(base=self.periods[index].end, later=self.periods[index + 1 :])

    def periods_since(self, step: OperationStep) -> tuple[Period, ...]:
        """Return the periods after one of the steps."""
        return self.periods[self.steps.index(step) + 1 :]

    def records_in(self, state: Iterable[bytes]) -> DocumentRecords | None:
        """Return the records of a state if one of the steps left a document."""
        records = (step.records for step in self.steps)
        path = next((document.path for document in records if document), None)
        return read_records(state, path)


def inline_steps(
    lines: Sequence[bytes], holder: Callable[[], bytes], where: str, format_name: str | None
) -> InlineSteps:
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


def timeline_of(
    archived: Sequence[ArchivedStep],
    inside: InlineSteps,
    current: Operation | None,
    lines: Sequence[bytes],
    where: str,
) -> OperationTimeline:
    """Return the timeline of a transcript with these lines.

    ``archived`` are its operations with an archive, oldest first, ``inside`` those in its lines.
    ``current`` is as in the timeline. Raises ArchiveError or IntegrityError for archives that
    cannot be read.
    """
    by_id = {step.id: step for step in archived}
    walk = _Walk(
        by_id=by_id,
        starts={step.file.path: _before(step, by_id, where) for step in archived},
        where=where,
    )
    newest_inside = next(reversed(inside), None)
    below = archived[0].parent if archived and current is None else None
    # A rewind to the first state by version 0.1.0 did not record operations inside it.
    head = (current and current.head) or newest_inside or below
    placed = tuple(_placed_steps(archived, lines, walk, (head, inside)))
    all_inside = {step.id: step for step, _ in placed if isinstance(step, InlineStep)}
    moments = tuple(
        Moment(
            step=step,
            before=walk.ids(*walk.before(step, all_inside)),
            after=walk.ids(step.head, all_inside),
            is_put=is_put,
        )
        for step, is_put in placed
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

    def before(self, step: OperationStep, inside: InlineSteps) -> _Start:
        """Return the newest compaction before a step, and the ones inside that state."""
        if isinstance(step, ArchivedStep):
            return self.starts[step.file.path]
        return step.parent, inside

    def back(self, head: OperationId | None, inside: InlineSteps) -> Iterator[OperationStep]:
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

    def ids(self, head: OperationId | None, inside: InlineSteps) -> Chain:
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
        inside = inline_steps(split_lines(holder()), holder, where, step.format or None)
    except (ArchiveError, IntegrityError):
        # Other states may not need this one.
        return step.parent, {}
    # Version 0.1.0 did not record a parent that is inside the transcript.
    return step.parent or next(reversed(inside), None), inside


def _placed_steps(
    archived: Iterable[ArchivedStep], lines: Sequence[bytes], walk: _Walk, start: _Start
) -> Iterator[tuple[OperationStep, bool]]:
    """Yield all operations, oldest first, and whether a rewind put them into its outcome.

    The state before each archived step, and the transcript, may hold compactions that are in no
    earlier one. Those that the step before put there come before that step.
    """
    seen_ids: set[OperationId] = set()
    latest: ArchivedStep | None = None
    for step in (*archived, None):
        way = tuple(walk.back(*(start if step is None else walk.before(step, {}))))
        new = [s for s in reversed(way) if isinstance(s, InlineStep) and s.id not in seen_ids]
        seen_ids |= {s.id for s in new}
        put: list[InlineStep] = []
        if latest is not None:
            put = _put_by(latest, new, lines if step is None else step.before())
            yield from ((s, True) for s in put)
            yield latest, False
        yield from ((s, False) for s in new if s not in put)
        latest = step


def _put_by(
    latest: ArchivedStep, steps: Iterable[InlineStep], state: Iterable[bytes]
) -> list[InlineStep]:
    """Return those of the steps inside a state that the latest step, a rewind, put there.

    The state begins with the outcome of the rewind then, and they did not follow it.
    """
    put = [step for step in steps if step.operation.line < latest.after.n_lines]
    return put if put and matching_states(state, (latest.after,)) else []


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
