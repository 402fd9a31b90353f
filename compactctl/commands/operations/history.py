"""The history of a transcript: what led to it, and the states that can be restored."""

from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Self

from compactctl.commands.operations.inline import named_operations
from compactctl.commands.operations.periods import Reached, state_after
from compactctl.commands.operations.steps import ArchivedStep, OperationStep
from compactctl.commands.operations.timeline import (
    Chain,
    OperationTimeline,
    in_order,
    timeline_of,
)
from compactctl.errors import (
    ArchiveError,
    ChangedError,
    ChangedMeanwhileError,
    CompactctlError,
    IntegrityError,
)
from compactctl.model.operation import Digest, DocumentRecords, Operation, OperationId
from compactctl.pipeline.document_records import read_records
from compactctl.records import Record
from compactctl.store.archive.archive import Archive, archive_folder
from compactctl.store.archive.displaced import (
    LateBytes,
    displaced_files,
    displaced_state,
    ends_of,
    late_bytes,
    read_displaced,
)
from compactctl.store.archive.growth import Growth, KnownState, find_growth, known_state_in
from compactctl.store.archive.names import STATE_DIGITS
from compactctl.store.files.source import digest_of
from compactctl.store.publish.overwrite import is_same_place


class LostState(Record):
    """A state that cannot be restored, and why; ``operation`` led to it, if that is known."""

    why: str
    operation: OperationId | None = None


class ReplacedState(Record):
    """A state that had grown when it was overwritten, and the only copy of it.

    ``name`` are the first digits of its SHA-256; ``operation`` is what it grew from, None if that
    is the first state.
    """

    name: str
    path: Path
    operation: OperationId | None


class OperationHistory(Record, kw_only=False, dict=True, gc=True):
    """A transcript and its archives, as both were read once.

    ``where`` names the transcript in errors. What it says about archives raises ArchiveError or
    IntegrityError if none of them can be read.
    """

    archive: Archive | None
    lines: Sequence[bytes]
    where: str
    format_name: str | None = None
    path: Path | None = None

    def is_in_place_of(self, path: Path) -> bool:
        """Whether the archive, if any, is at the default location for a transcript at ``path``."""
        if self.archive is None:
            return True
        return is_same_place(self.archive.root.folder, archive_folder(path))

    @cached_property
    def data(self) -> bytes:
        """The whole transcript."""
        return b"".join(self.lines)

    @cached_property
    def archived(self) -> tuple[ArchivedStep, ...]:
        """The operations with an archive, in the order of ``in_order``."""
        if self.archive is None:
            return ()
        steps = tuple(
            ArchivedStep(archive=self.archive, operation=operation, file=file)
            for file, operation in self.archive.readable
        )
        current = None if isinstance(self.matched, ChangedError) else self.matched
        return in_order(steps, current, self.lines)

    @cached_property
    def matched(self) -> Operation | ChangedError | None:
        """The archived operation that led to the transcript; else why it is in no known state.

        None in the first state.
        """
        if self.archive is None:
            return None
        try:
            return self.archive.match_transcript(self.lines)[0]
        except ChangedMeanwhileError:
            raise
        except ChangedError as error:
            return error

    @cached_property
    def timeline(self) -> OperationTimeline:
        """The operations and the periods between them. Raises as ``timeline_of``."""
        return timeline_of(self)

    @property
    def chain(self) -> tuple[OperationStep, ...]:
        """The compactions in effect, oldest first. Raises as ``timeline_of``."""
        return self.timeline.chain

    @property
    def archived_chain(self) -> tuple[ArchivedStep, ...]:
        """The operations in effect that have an archive, oldest first."""
        return tuple(step for step in self.chain if isinstance(step, ArchivedStep))

    @property
    def archived_inside(self) -> tuple[ArchivedStep, ...]:
        """The archived operations that a copy of the transcript needs, oldest first.

        They are those in effect, or all of them if it still has records of an undone one.
        """
        in_effect = self.archived_chain
        appended = {step.id for step in self.archived if step.is_appended}
        undone = appended - {step.id for step in in_effect}
        if undone and undone & named_operations(self.lines, self.where, self.format_name):
            return self.archived
        return in_effect

    @property
    def first_state(self) -> str:
        """What names the first state with an archive: the first digits of its SHA-256."""
        return self.archive.first_state if self.archive else ""

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

    @property
    def displaced(self) -> tuple[Path, ...]:
        """The displaced files of the transcript."""
        return self.archive.root.contents.displaced if self.archive else ()

    @property
    def before_newest(self) -> Self:
        """The history as if the transcript were still in the state before the newest operation."""
        lines = tuple(self.archived[-1].before())
        return type(self)(self.archive, lines, self.where, path=self.path)

    @property
    def lost_before_newest(self) -> tuple[LostState, ...]:
        """The lost states of a transcript that was edited since its newest operation.

        The outcome of that operation is not among them: it is what was edited.
        """
        if not self.archived:
            return ()
        newest = self.archived[-1].id
        return tuple(state for state in self.before_newest.lost if state.operation != newest)

    @cached_property
    def replaced(self) -> tuple[ReplacedState, ...]:
        """The states that had grown when they were overwritten, newest first."""
        archive = self.archive
        return () if archive is None else tuple(_replaced(archive))

    def records_in(self, state: Iterable[bytes]) -> DocumentRecords | None:
        """Return the records of a state if one of the steps left a document."""
        records = (step.records for step in self.timeline.steps)
        path = next((document.path for document in records if document), None)
        return read_records(state, path)

    def growths_since(self, step: OperationStep) -> tuple[Growth, ...]:
        """Return what others added since one of the steps; raises as ``Period.growth`` does."""
        later = self.timeline.periods[self.timeline.steps.index(step) + 1 :]
        return tuple(period.growth for period in later)

    def reach(self, chain: Chain, after: OperationStep | None = None) -> Reached:
        """Return the state with exactly these compactions in effect, and what was added since.

        It is the end of the newest period with this chain, if possible one that grew from the
        outcome of the step ``after``. Periods that another appended rewind began do not count, as
        they still hold what it undid. Raises ArchiveError if no such state was kept.
        """
        moments, periods = self.timeline.moments, self.timeline.periods
        in_time = [
            index
            for index, period in enumerate(periods)
            if period.chain == chain and not (index < len(moments) and moments[index].is_put)
        ]
        exact = [i for i in reversed(in_time) if periods[i].appended_by in (None, after)]
        grown = (index for index in exact if after and self._has_grown(index, after))
        index = next(grown, None)
        if index is None and after is not None:
            reached = self._displaced_after(after)
            if reached is not None:
                return reached
        if index is None:
            index = next(iter((*exact, *in_time)), None)
        if index is None:
            return self._reach_displaced(chain)
        return Reached(base=periods[index].end, later=periods[index + 1 :])

    def _has_grown(self, index: int, step: OperationStep) -> bool:
        """Return whether the end of a period grew from the outcome of a step."""
        return find_growth(self.timeline.periods[index].end, (state_after(step),)) is not None

    def _reach_displaced(self, chain: Chain) -> Reached:
        """Return an outcome that only a displaced file holds."""
        steps = [moment.step for moment in self.timeline.moments if moment.after == chain]
        for step in reversed(steps):
            reached = self._displaced_after(step)
            if reached is not None:
                return reached
        if not steps:
            raise self._no_first_state()
        raise ArchiveError(
            f"{self.archive.folder if self.archive else self.where}: the state after operation "
            f"{steps[-1].id} was not archived; choose another operation"
        )

    def _displaced_after(self, step: OperationStep) -> Reached | None:
        """Return the outcome of a step that a displaced file holds."""
        state = self._displaced_with_growth(step) or displaced_state(self.displaced, step.after)
        if state is None:
            return None
        index = self.timeline.steps.index(step)
        return Reached(base=(state,), later=self.timeline.periods[index + 1 :])

    def _displaced_with_growth(self, step: OperationStep) -> bytes | None:
        """Return the newest only copy of a state that others continued after a step."""
        for link in ends_of(self.archive) if self.archive else ():
            data = read_displaced(link)
            if find_growth((data,), (state_after(step),)) is not None:
                return data
        return None

    def _no_first_state(self) -> ArchiveError:
        why = next((lost.why for lost in self.lost), "")
        return ArchiveError(
            f"{self.where}: the first state is lost: {why}; undo one compaction at a time "
            "without --all"
        )

    def outcome(self, step: OperationStep) -> bytes:
        """Return the state right after a step; of a document that its client rewrote, its records.

        Raises ArchiveError if it was not kept.
        """
        chain, outcome = self.timeline.moment_of(step).after, state_after(step)
        for period in self.timeline.periods:
            if period.chain == chain:
                state = known_state_in(period.end, outcome)
                if state is not None:
                    return state
        return b"".join(self._reach_displaced(chain).base)

    def is_kept(self, step: ArchivedStep) -> bool:
        """Return whether the state after a step can be restored; reads other archives for it."""
        chain, outcome = self.timeline.moment_of(step).after, state_after(step)
        try:
            reached = self.reach(chain, step)
            if find_growth(reached.base, (outcome,)) is not None:
                return True
            # A rewind carries over what others had added.
            return find_growth(reached.content.chunks, (outcome,)) is not None
        except (ArchiveError, IntegrityError):
            return False

    def is_around(self, step: ArchivedStep) -> bool:
        """Return whether the transcript is in the state after a step, or still in that before."""
        if self.timeline.current == step.operation:
            return True
        before = KnownState(digest=step.operation.before, records=self.records_in(step.before()))
        return find_growth(self.lines, (before,)) is not None

    @cached_property
    def lost(self) -> tuple[LostState, ...]:
        """The states that cannot be restored, as far as the metadata of the archives shows.

        Lines in an archive may be damaged, too; ``verify`` reads them all.
        """
        without_archive = (*self._without_archive(),) or (*self._without_operation(),)
        return (*without_archive, *self._edited_inside(), *self._not_kept(), *self.written_anew)

    def doubtful(self, outcomes: Container[Digest] = ()) -> Iterator[LostState]:
        """Yield the outcomes that no file holds, and that may never have been written.

        ``outcomes`` are those that some file is known to hold. Reads other archives, as ``is_kept``
        does.
        """
        lost = {state.operation for state in self.lost}
        for step in self.archived:
            is_kept = step.operation.after in outcomes or self.is_kept(step)
            if step.id not in lost and not is_kept:
                why = f"operation {step.id}: its outcome was never written here, or was replaced"
                yield LostState(operation=step.id, why=why)

    def _without_archive(self) -> Iterator[LostState]:
        """Yield the states before operations whose archive is missing or cannot be read."""
        if self.archive is None:
            return
        for error in self.archive.damaged:
            yield LostState(why=str(error))
        if self.archive.missing:
            names = ", ".join(f"{number:04}" for number in self.archive.missing)
            yield LostState(
                why=f"{self.archive.folder}: has no archive {names}; put it back to restore the "
                "state before"
            )

    def _without_operation(self) -> Iterator[LostState]:
        """Yield the operations that known ones build upon and that are in no archive."""
        steps = self.timeline.steps
        named = {name for step in steps for name in (step.parent, step.head)}
        named |= {*self.timeline.in_effect}
        for operation in sorted(filter(None, named - {step.id for step in steps})):
            yield LostState(
                operation=operation,
                why=f"{self.where}: builds upon operation {operation}, whose archive is not here; "
                "put it back beside the transcript to restore what was before",
            )

    def _edited_inside(self) -> Iterator[LostState]:
        """Yield the steps inside the transcript whose originals were edited."""
        for step in self.timeline.inside.values():
            try:
                step.rows()
            except CompactctlError as error:
                yield LostState(operation=step.parent, why=str(error))

    @property
    def written_anew(self) -> tuple[LostState, ...]:
        """The replaced files that a program wrote anew since, so that no lines can be told."""
        paths: list[Path] = []
        with suppress(ArchiveError):
            paths += [late.file.path for late in self.late if late.data is None]
        what = "was written anew after it was replaced; look at it, and move it out of the folder"
        return tuple(LostState(why=f"{path}: {what}") for path in paths)

    def _not_kept(self) -> Iterator[LostState]:
        """Yield the outcomes that were there and are in no file now.

        They were there if others build upon them, or if they replaced a file.
        """
        builders = [step for step in self.archived if not step.is_rewind]
        files = displaced_files(self.displaced)
        replaced = {file.operation for file in files if file.size is not None}
        for step in self.archived:
            upon = any(step.id in (s.parent, s.head) for s in builders if s.id != step.id)
            if (upon or step.id in replaced) and not self.is_kept(step):
                yield LostState(
                    operation=step.id, why=f"operation {step.id}: the state after it was not kept"
                )


def _replaced(archive: Archive) -> Iterator[ReplacedState]:
    for link in ends_of(archive):
        with suppress(CompactctlError):
            data = read_displaced(link)
            digest = digest_of(data)
            operation, _ = archive.match_transcript((data,))
            origin = None if operation is None else operation.id
            if digest not in archive.states:
                name = digest.sha256[:STATE_DIGITS]
                yield ReplacedState(name=name, path=link, operation=origin)
