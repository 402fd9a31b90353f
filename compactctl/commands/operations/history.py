"""The history of a transcript: its operations in all layouts, and those in effect."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path

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
    Reached,
    state_after,
    state_before,
)
from compactctl.commands.operations.steps import ArchivedStep, InlineStep, OperationStep
from compactctl.errors import (
    ArchiveError,
    ChangedError,
    CompactctlError,
    IntegrityError,
    MissingArchiveError,
)
from compactctl.model.operation import DocumentRecords, Operation, OperationId
from compactctl.pipeline.document_records import read_records
from compactctl.records import dataclass
from compactctl.store.archive.archive import Archive, archive_folder
from compactctl.store.archive.displaced import (
    LateBytes,
    displaced_files,
    displaced_state,
    late_bytes,
)
from compactctl.store.archive.growth import (
    Growth,
    KnownState,
    find_growth,
    known_state_in,
    matching_states,
)
from compactctl.store.archive.names import STATE_DIGITS
from compactctl.store.files.content import (
    ChunksAndTail,
    last_byte_and_rest,
)
from compactctl.store.files.source import split_lines
from compactctl.store.publish.overwrite import is_same_place

_Inside = dict[OperationId, InlineStep]
_Start = tuple[OperationId | None, _Inside]


@dataclass(frozen=True, slots=True, kw_only=True)
class LostState:
    """A state that cannot be restored, and why; ``operation`` led to it, if that is known."""

    why: str
    operation: OperationId | None = None


class OperationHistory:
    """The operations behind a transcript.

    A step is stored in its archive or inside the transcript; one in both counts once. Everything is
    computed on first access, which raises ArchiveError or IntegrityError for an unreadable archive,
    and ChangedError if the transcript is in no known state.
    """

    def __init__(
        self,
        archive: Archive | None,
        lines: Sequence[bytes],
        where: str,
        format_name: str | None = None,
        path: Path | None = None,
    ) -> None:
        self.archive, self.lines, self.where, self.path = archive, lines, where, path
        self._format = format_name
        self._found: dict[int, _Start] = {}
        self._put: set[OperationId] = set()

    def is_in_place_of(self, path: Path) -> bool:
        """Whether the archive, if any, is at the default location for a transcript at ``path``."""
        if self.archive is None:
            return True
        return is_same_place(self.archive.root.folder, archive_folder(path))

    @cached_property
    def data(self) -> bytes:
        """The whole transcript."""
        return b"".join(self.lines)

    @property
    def archived_chain(self) -> tuple[ArchivedStep, ...]:
        """The operations in effect that have an archive, oldest first."""
        return tuple(step for step in self.chain if isinstance(step, ArchivedStep))

    @cached_property
    def archived(self) -> tuple[ArchivedStep, ...]:
        """The operations with an archive, oldest first."""
        if self.archive is None:
            return ()
        return tuple(
            ArchivedStep(archive=self.archive, operation=operation, file=file)
            for file, operation in self.archive.readable
        )

    @property
    def first_state(self) -> str:
        """What names the first state with an archive: the first digits of its SHA-256."""
        first = self.archived[:1]
        return next((step.operation.before.sha256[:STATE_DIGITS] for step in first), "")

    @property
    def warnings(self) -> tuple[str, ...]:
        """Problems with the archives that do not prevent their use."""
        return self.archive.warnings if self.archive else ()

    @property
    def late(self) -> tuple[LateBytes, ...]:
        """What programs wrote to files after the transcript had replaced them.

        Raises ArchiveError as ``late_bytes`` does.
        """
        if self.archive is None or self.path is None:
            return ()
        return tuple(late_bytes(self.archive, self.path, self.lines))

    @cached_property
    def steps(self) -> tuple[OperationStep, ...]:
        """All operations including rewinds, oldest first."""
        steps: list[OperationStep] = []
        seen_ids: set[OperationId] = set()
        for step in (*self.archived, None):
            start = self._start if step is None else self._before(step)
            inline = [s for s in self._walk(*start) if isinstance(s, InlineStep)]
            new = [s for s in reversed(inline) if s.id not in seen_ids]
            seen_ids |= {s.id for s in new}
            if new and steps:
                state = self.lines if step is None else step.before()
                put = [s for s in new if _is_inside(s, steps[-1], state)]
                self._put |= {s.id for s in put}
                steps[-1:] = [*put, steps[-1]]
                new = [s for s in new if s not in put]
            steps += new if step is None else (*new, step)
        return tuple(steps)

    @cached_property
    def chain(self) -> tuple[OperationStep, ...]:
        """The compactions in effect, oldest first."""
        return tuple(reversed(tuple(self._walk(*self._start))))

    def chain_to(self, step: OperationStep) -> tuple[OperationId, ...]:
        """Return the ids of the compactions in effect after one of the steps, oldest first.

        If the oldest known compaction builds upon a missing one, that one's id comes first.
        """
        return self._ids(step.head, self._all_inside)

    def chain_before(self, step: OperationStep) -> tuple[OperationId, ...]:
        """Return the ids of the compactions in effect before one of the steps, as ``chain_to``."""
        return self._ids(*self._before(step))

    @cached_property
    def periods(self) -> tuple[Period, ...]:
        """The periods, oldest first; each but the last ends with the step of the same index."""
        periods: list[Period] = []
        for index, step in enumerate((*self.steps, None)):
            chain = self._ids(*self._start) if step is None else self.chain_before(step)
            periods.append(
                Period(
                    chain=chain,
                    end=self.lines if step is None else ChunksAndTail(step.before),
                    starts=tuple(self._starts(index, chain)),
                    is_oldest=index == 0,
                    where=self.where,
                )
            )
        return tuple(periods)

    def _starts(self, index: int, chain: tuple[OperationId, ...]) -> Iterator[PeriodStart]:
        """Yield what may have led to the start of the period that ends with a step.

        That includes the ends of earlier periods: a step in between may never have taken place.
        """
        for step in self.steps[:index]:
            if self.chain_before(step) == chain:
                yield PeriodStart(step=None, state=partial(state_before, step))
            if self.chain_to(step) == chain:
                yield PeriodStart(step=step, state=partial(state_after, step))

    @property
    def in_effect(self) -> tuple[OperationId, ...]:
        """The ids of the compactions in effect, as in ``chain_to``."""
        return self.periods[-1].chain

    def reach(self, chain: tuple[OperationId, ...]) -> Reached:
        """Return the state with exactly these compactions in effect, and what was added since.

        It is the end of the newest period with this chain. Periods that an appended rewind began
        do not count, as they still hold what it undid. Raises ArchiveError if no such state was
        kept.
        """
        in_time = (period for i, period in enumerate(self.periods) if not self._ends_in_put(i))
        periods = [period for period in in_time if period.chain == chain]
        exact = (period for period in reversed(periods) if not period.is_begun_by_appending)
        period = next(exact, periods[0] if periods else None)
        if period is None:
            return self._reach_displaced(chain)
        later = self.periods[self.periods.index(period) + 1 :]
        return Reached(base=period.end, later=later)

    def _ends_in_put(self, index: int) -> bool:
        """Return whether the step that ends a period was part of the outcome of a rewind."""
        return index < len(self.steps) and self.steps[index].id in self._put

    def records_in(self, state: Iterable[bytes]) -> DocumentRecords | None:
        """Return the records of a state if one of the steps left a document."""
        records = (step.records for step in self.steps)
        path = next((document.path for document in records if document), None)
        return read_records(state, path)

    def growths_since(self, step: OperationStep) -> tuple[Growth, ...]:
        """Return what others added since one of the steps; raises as ``Period.growth`` does."""
        later = self.periods[self.steps.index(step) + 1 :]
        return tuple(period.growth for period in later)

    def _reach_displaced(self, chain: tuple[OperationId, ...]) -> Reached:
        """Return an outcome that only a displaced file holds."""
        indices = [i for i, step in enumerate(self.steps) if self.chain_to(step) == chain]
        links = self.archive.root.contents.displaced if self.archive else ()
        for index in reversed(indices):
            state = displaced_state(links, self.steps[index].after)
            if state is not None:
                return Reached(base=(state,), later=self.periods[index + 1 :])
        if not indices:
            raise self.no_first_state()
        raise ArchiveError(
            f"{self.archive.folder if self.archive else self.where}: the state after operation "
            f"{self.steps[indices[-1]].id} was not archived; choose another operation"
        )

    def outcome(self, step: OperationStep) -> bytes:
        """Return the state right after a step; of a document that its client rewrote, its records.

        Raises ArchiveError if it was not kept.
        """
        chain, outcome = self.chain_to(step), state_after(step)
        for period in self.periods:
            if period.chain == chain:
                state = known_state_in(period.end, outcome)
                if state is not None:
                    return state
        return b"".join(self._reach_displaced(chain).base)

    @cached_property
    def lost(self) -> tuple[LostState, ...]:
        """The states that cannot be restored, as far as the metadata of the archives shows.

        Lines in an archive may be damaged, too; ``verify`` reads them all.
        """
        without_archive = (*self._without_archive(),) or (*self._without_operation(),)
        return (*without_archive, *self._edited_inside(), *self._not_kept())

    def _without_archive(self) -> Iterator[LostState]:
        """Yield the states before operations whose archive is missing or cannot be read."""
        if self.archive is None:
            return
        for error in self.archive.damaged:
            yield LostState(why=str(error))
        numbers = {file.number for file in self.archive.files}
        missing = sorted({*range(1, max(numbers, default=0))} - numbers)
        if missing:
            names = ", ".join(f"{number:04}" for number in missing)
            yield LostState(
                why=f"{self.archive.folder}: has no archive {names}; put it back to restore the "
                "state before"
            )

    def _without_operation(self) -> Iterator[LostState]:
        """Yield the operations that known ones build upon and that are in no archive."""
        steps = self.steps
        named = {*self.in_effect, *(name for step in steps for name in (step.parent, step.head))}
        for operation in sorted(filter(None, named - {step.id for step in steps})):
            yield LostState(
                operation=operation,
                why=f"{self.where}: builds upon operation {operation}, whose archive is not here; "
                "put it back beside the transcript to restore what was before",
            )

    def _edited_inside(self) -> Iterator[LostState]:
        """Yield the steps inside the transcript whose originals were edited."""
        for step in self._all_inside.values():
            try:
                step.rows()
            except CompactctlError as error:
                yield LostState(operation=step.parent, why=str(error))

    def _not_kept(self) -> Iterator[LostState]:
        """Yield the outcomes that were there, as others build upon them or as they replaced a file.

        They are in no file now.
        """
        builders = [step for step in self.archived if not step.is_rewind]
        links = self.archive.root.contents.displaced if self.archive else ()
        replaced = {file.operation for file in displaced_files(links) if file.size is not None}
        for step in self.archived:
            upon = any(step.id in (s.parent, s.head) for s in builders if s.id != step.id)
            if (upon or step.id in replaced) and not self.is_kept(step):
                yield LostState(
                    operation=step.id, why=f"operation {step.id}: the state after it was not kept"
                )

    def is_kept(self, step: ArchivedStep) -> bool:
        """Return whether the state after a step can be restored; reads other archives for it."""
        chain, outcome = self.chain_to(step), state_after(step)
        try:
            for period in self.periods:
                if period.chain == chain and find_growth(period.end, (outcome,)) is not None:
                    return True
            self._reach_displaced(chain)
        except (ArchiveError, IntegrityError):
            return False
        return True

    def is_around(self, step: ArchivedStep) -> bool:
        """Return whether the transcript is in the state after a step, or still in that before."""
        if self.current == step.operation:
            return True
        before = KnownState(digest=step.operation.before, records=self.records_in(step.before()))
        return find_growth(self.lines, (before,)) is not None

    def no_first_state(self) -> ArchiveError:
        """Return the error that archives before the oldest existing one are missing."""
        why = next((lost.why for lost in self.lost), "")
        return ArchiveError(
            f"{self.where}: the first state is lost: {why}; undo one compaction at a time "
            "without --all"
        )

    @cached_property
    def current(self) -> Operation | None:
        """The archived operation whose outcome the transcript begins with.

        None in the first state, or after a compaction inside the transcript that has no archive.
        Raises ChangedError in an unknown state, MissingArchiveError if later records belong to an
        operation whose archive is missing, and why it cannot be read if it is there.
        """
        try:
            return self._current()
        except (ChangedError, MissingArchiveError):
            if self.archive and self.archive.damaged:
                raise self.archive.damaged[-1] from None
            raise

    def _current(self) -> Operation | None:
        try:
            current = self._reached()
        except ChangedError:
            self._require_archives(self.lines)
            raise
        _, rest = last_byte_and_rest(self.lines, self._known_bytes(current))
        self._require_archives((rest,))
        return current

    def _known_bytes(self, current: Operation | None) -> int:
        """Return how many bytes of the transcript are an outcome, 0 if its client rewrote it."""
        if current is None:
            return 0
        is_document = current.records is not None
        if is_document and not matching_states(self.lines, (current.after,)):
            return 0
        return current.after.n_bytes

    def _require_archives(self, pieces: Iterable[bytes]) -> None:
        """Raise MissingArchiveError if records in some pieces name an unknown operation.

        Parents of known operations count as known, as they are below the chain. If no operation is
        known at all, an unknown one cannot be mistaken for another.
        """
        if not any(map(may_name_operation, pieces)):
            return
        steps: tuple[OperationStep, ...] = (*self._by_id.values(), *self._inside.values())
        known_ids = {operation_id for step in steps for operation_id in (step.id, step.parent)}
        unknown_ids = (
            named_operations(self.lines, self.where, self._format) - known_ids if known_ids else ()
        )
        if unknown_ids:
            text = missing_archive_text(self.where, unknown_ids)
            folder = self.archive.folder if self.archive else self.where
            raise MissingArchiveError(f"{text}, or move {folder} away to start over")

    def _reached(self) -> Operation | None:
        if self.archive is None or not self.archive.operations:
            return None
        top = self._inside.get(self._newest_inside or OperationId(""))
        is_alone = top is not None and top.id not in self._by_id
        try:
            current, _ = self.archive.match_transcript(self.lines)
        except ChangedError:
            if is_alone:
                return None
            raise
        if current and top and is_alone and top.operation.line >= current.after.n_lines:
            return None
        return current

    @cached_property
    def _start(self) -> _Start:
        """The newest compaction in effect, and the compactions inside the transcript."""
        if self.current is not None:
            # A rewind to the first state by version 0.1.0 did not record operations inside it.
            return self.current.head or self._newest_inside, self._inside
        below = self.archived[0].parent if self.archived else None
        return self._newest_inside or below, self._inside

    @cached_property
    def _inside(self) -> _Inside:
        return self._inline_steps(self.lines, lambda: self.data, self._format)

    @property
    def _newest_inside(self) -> OperationId | None:
        return next(reversed(self._inside), None)

    def _before(self, step: OperationStep) -> _Start:
        """Return the newest compaction before a step, and the ones inside that state."""
        if not isinstance(step, ArchivedStep):
            return step.parent, self._all_inside
        if step.parent in self._by_id:
            return step.parent, {}
        if step.file.number not in self._found:
            self._found[step.file.number] = self._look_into(step)
        return self._found[step.file.number]

    @cached_property
    def _all_inside(self) -> _Inside:
        """All compactions that are in no archive, also those inside earlier states."""
        return {step.id: step for step in self.steps if isinstance(step, InlineStep)}

    def _ids(self, head: OperationId | None, inside: _Inside) -> tuple[OperationId, ...]:
        """Return the ids of a compaction and of those it builds upon, oldest first."""
        chain = tuple(reversed(tuple(self._walk(head, inside))))
        lowest = self._before(chain[0])[0] if chain else head
        return (*filter(None, (lowest,)), *(step.id for step in chain))

    def _look_into(self, step: ArchivedStep) -> _Start:
        holder = partial(_state, step)
        try:
            if not may_hold_operation(step.before()):
                return step.parent, {}
        except (ArchiveError, IntegrityError):
            # Other states may not need this one.
            return step.parent, {}
        inside = self._inline_steps(split_lines(holder()), holder, step.format or None)
        # Version 0.1.0 did not record a parent that is inside the transcript.
        return step.parent or next(reversed(inside), None), inside

    def _walk(self, head: OperationId | None, inside: _Inside) -> Iterator[OperationStep]:
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
            step = self._by_id.get(head) or inside.get(head)
            if step is None:
                return
            yield step
            if isinstance(step, ArchivedStep):
                head, inside = self._before(step)
            else:
                head = step.parent

    @cached_property
    def _by_id(self) -> Mapping[OperationId, ArchivedStep]:
        """The newest archive of each compaction."""
        return {step.id: step for step in self.archived}

    def _inline_steps(
        self, lines: Sequence[bytes], holder: Callable[[], bytes], format_name: str | None
    ) -> _Inside:
        """Return the steps inside a state, oldest first; ``holder`` returns the whole state."""
        operations, format_name_read = operations_inside(lines, self.where, format_name)
        steps: list[InlineStep] = []
        for index, operation in reversed(tuple(enumerate(operations))):
            step = InlineStep(
                operation=operation,
                parent=operation.parent or (operations[index - 1].id if index else None),
                format=format_name_read,
                where=self.where,
                read_state=holder,
            )
            steps.append(step)
            holder = partial(_state, step)
        return {step.id: step for step in reversed(steps)}


def _is_inside(step: InlineStep, latest: OperationStep, state: Iterable[bytes]) -> bool:
    """Return whether the latest step, a rewind, put a step into its outcome.

    A state begins with that outcome then, and the step did not follow the rewind.
    """
    if step.operation.line >= latest.after.n_lines:
        return False
    return bool(matching_states(state, (latest.after,)))


def _state(step: OperationStep) -> bytes:
    return b"".join(step.before())
