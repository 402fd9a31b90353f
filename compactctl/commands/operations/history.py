"""The history of a transcript: what led to it, and the states that can be restored."""

from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Self

from compactctl.commands.operations.inline import (
    may_name_operation,
    missing_archive_text,
    named_operations,
)
from compactctl.commands.operations.steps import ArchivedStep, OperationStep
from compactctl.commands.operations.timeline import (
    InlineSteps,
    OperationTimeline,
    in_order,
    inline_steps,
    timeline_of,
)
from compactctl.errors import (
    ChangedError,
    ChangedMeanwhileError,
    CompactctlError,
    MissingArchiveError,
)
from compactctl.model.operation import Operation, OperationId
from compactctl.records import Record
from compactctl.store.archive.archive import Archive, archive_folder
from compactctl.store.archive.displaced import (
    LateBytes,
    ends_of,
    late_bytes,
    read_displaced,
)
from compactctl.store.archive.growth import KnownState, find_growth, matching_states
from compactctl.store.archive.names import STATE_DIGITS
from compactctl.store.files.content import last_byte_and_rest
from compactctl.store.files.source import digest_of
from compactctl.store.publish.overwrite import is_same_place


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
    IntegrityError if none of them can be read. ``restorable`` goes to its past states.
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
        """The operations and the periods between them.

        Raises ArchiveError or IntegrityError for archives that cannot be read, ChangedError if the
        transcript is in no known state, and MissingArchiveError if records in it belong to an
        operation whose archive is missing.
        """
        inside = inline_steps(self.lines, lambda: self.data, self.where, self.format_name)
        try:
            current = self._current(inside)
        except (ChangedError, MissingArchiveError):
            if self.archive and self.archive.damaged:
                raise self.archive.damaged[-1] from None
            raise
        return timeline_of(self.archived, inside, current, self.lines, self.where)

    def _current(self, inside: InlineSteps) -> Operation | None:
        """Return the current operation, as in a timeline; raises as ``timeline``."""
        by_id = {step.id: step for step in self.archived}
        steps: tuple[OperationStep, ...] = (*by_id.values(), *inside.values())
        try:
            current = _current_of(self.matched, by_id, inside)
        except ChangedError:
            self._require_archives(steps, self.lines)
            raise
        _, rest = last_byte_and_rest(self.lines, _n_outcome_bytes(self.lines, current))
        self._require_archives(steps, (rest,))
        return current

    def _require_archives(self, steps: Iterable[OperationStep], pieces: Iterable[bytes]) -> None:
        """Raise MissingArchiveError if records in some pieces name an unknown operation.

        Parents of known operations count as known, as they are below the chain, and so do
        operations of other lineages. If none is known at all, an unknown one cannot be mistaken for
        another.
        """
        if not any(map(may_name_operation, pieces)):
            return
        known_ids = {operation_id for step in steps for operation_id in (step.id, step.parent)}
        known_ids |= self.archive.all_ids if self.archive else frozenset()
        if not known_ids:
            return
        unknown_ids = named_operations(self.lines, self.where, self.format_name) - known_ids
        if unknown_ids:
            text = missing_archive_text(self.where, unknown_ids)
            folder = self.archive.folder if self.archive else self.where
            end = "".join(f", which ends with operation {step.id}," for step in self.archived[-1:])
            raise MissingArchiveError(f"{text}, or move {folder}{end} away to start over")

    @property
    def chain(self) -> tuple[OperationStep, ...]:
        """The compactions in effect, oldest first. Raises as ``timeline``."""
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

    @cached_property
    def replaced(self) -> tuple[ReplacedState, ...]:
        """The states that had grown when they were overwritten, newest first."""
        archive = self.archive
        return () if archive is None else tuple(_replaced(archive))

    def is_around(self, step: ArchivedStep) -> bool:
        """Return whether the transcript is in the state after a step, or still in that before."""
        if self.timeline.current == step.operation:
            return True
        records = self.timeline.records_in(step.before())
        before = KnownState(digest=step.operation.before, records=records)
        return find_growth(self.lines, (before,)) is not None


def _current_of(
    matched: Operation | ChangedError | None, archived: Container[OperationId], inside: InlineSteps
) -> Operation | None:
    """Return the current operation; raises ChangedError if the transcript is in no known state."""
    top = next(reversed(inside.values()), None)
    is_alone = top is not None and top.id not in archived
    if isinstance(matched, ChangedError):
        if is_alone:
            return None
        raise matched
    if matched and top and is_alone and top.operation.line >= matched.after.n_lines:
        return None
    return matched


def _n_outcome_bytes(lines: Sequence[bytes], current: Operation | None) -> int:
    """Return how many bytes of the transcript are an outcome, 0 if its client rewrote it."""
    if current is None:
        return 0
    is_document = current.records is not None
    if is_document and not matching_states(lines, (current.after,)):
        return 0
    return current.after.n_bytes


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
