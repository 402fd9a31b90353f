"""The history of a transcript: its operations in all layouts, and those in effect."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path

from compactctl.commands.loading.load import Loaded
from compactctl.commands.operations.archive_elsewhere import archive_of
from compactctl.commands.operations.inline import (
    carried_operations,
    may_carry,
    may_name_operation,
    missing_archive_text,
    named_operations,
)
from compactctl.commands.operations.steps import ArchivedStep, InlineStep, OperationStep
from compactctl.errors import ArchiveError, ChangedError, MissingArchiveError
from compactctl.model.operation import Digest, Operation, OperationId
from compactctl.store.archive.archive import Archive, archive_folder
from compactctl.store.files.content import parted
from compactctl.store.files.lines import STANDARD_INPUT, Source, split_lines
from compactctl.store.publish.overwrite import is_same_place

_Inside = dict[OperationId, InlineStep]
_Start = tuple[OperationId | None, _Inside]


def history_of(
    source: Source, where: str, format_name: str | None = None, folder: Path | None = None
) -> "OperationHistory":
    """Return the history behind what was read; ``where`` is its name for messages.

    ``folder`` is its archive where that is not in its place.
    """
    folder = folder or archive_of(source)
    archive = None if folder is None else Archive(folder, source.limits)
    return OperationHistory(archive, source.lines, where, format_name)


def history_behind(loaded: Loaded, folder: Path | None = None) -> "OperationHistory":
    """Return the history behind a transcript that is read already; ``folder`` as above."""
    where = str(loaded.source.path or STANDARD_INPUT)
    return history_of(loaded.source, where, loaded.format.name, folder)


class OperationHistory:
    """The operations behind a transcript.

    A step is in its archive or inside the transcript; one that is in both counts once. Everything
    is looked up when it is first asked for, which raises ArchiveError or IntegrityError for an
    unreadable archive, and ChangedError when the transcript is in no state that is known.
    """

    def __init__(
        self,
        archive: Archive | None,
        lines: Sequence[bytes],
        where: str,
        format_name: str | None = None,
    ) -> None:
        self.archive, self.lines, self.where = archive, lines, where
        self._format = format_name
        self._found: dict[int, _Start] = {}

    def is_in_place_of(self, path: Path) -> bool:
        """Whether the archive, if there is one, is where that of a transcript at ``path`` is."""
        return self.archive is None or is_same_place(self.archive.folder, archive_folder(path))

    @cached_property
    def data(self) -> bytes:
        """The transcript as it is, all of it at once."""
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
        pairs = zip(self.archive.operations, self.archive.files, strict=True)
        return tuple(
            ArchivedStep(archive=self.archive, operation=operation, file=file)
            for operation, file in pairs
        )

    @property
    def states(self) -> frozenset[Digest]:
        """The states before and after the operations with an archive."""
        return self.archive.states if self.archive else frozenset()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be known before the archives are relied upon, one line each."""
        return self.archive.warnings if self.archive else ()

    @cached_property
    def steps(self) -> tuple[OperationStep, ...]:
        """All operations, oldest first; rewinds are among them."""
        steps: list[OperationStep] = []
        known: set[OperationId] = set()
        for step in (*self.archived, None):
            start = self._start if step is None else self._before(step)
            inline = [each for each in self._walk(*start) if isinstance(each, InlineStep)]
            new = [each for each in reversed(inline) if each.id not in known]
            known |= {each.id for each in new}
            steps += new if step is None else (*new, step)
        return tuple(steps)

    @cached_property
    def chain(self) -> tuple[OperationStep, ...]:
        """The compactions in effect, oldest first."""
        return tuple(reversed(tuple(self._walk(*self._start))))

    def chain_to(self, step: OperationStep) -> tuple[OperationStep, ...]:
        """Return the compactions in effect after one of the steps, oldest first."""
        head = step.operation.head if isinstance(step, ArchivedStep) else step.id
        inside = {each.id: each for each in self.steps if isinstance(each, InlineStep)}
        return tuple(reversed(tuple(self._walk(head, inside))))

    @property
    def missing(self) -> OperationId | None:
        """The compaction under the chain whose archive is not here, None when there is none."""
        return self.chain[0].parent if self.chain else self._start[0]

    @property
    def missing_archives(self) -> tuple[int, ...]:
        """The numbers up to the newest archive that no file in the folder has."""
        numbers = {step.file.number for step in self.archived}
        return tuple(sorted({*range(1, max(numbers, default=0))} - numbers))

    def require_first_state(self) -> None:
        """Raise ArchiveError unless the chain leads back to the first state."""
        if self.missing is not None:
            raise self.no_first_state(f" (operation {self.missing})")

    def no_first_state(self, what: str = "") -> ArchiveError:
        """Return the error for archives that are missing before the oldest one there."""
        folder = self.archive.folder if self.archive else self.where
        numbers = [f"{number:04}" for number in self.missing_archives]
        return ArchiveError(
            f"{folder}: has no archive {', '.join(numbers) or 'of the first operation'}{what}; "
            "put it back to restore the first state, or undo one compaction at a time without --all"
        )

    @cached_property
    def current(self) -> Operation | None:
        """The archived operation whose outcome the transcript begins with.

        None when it is in its first state, or in that after a compaction inside it that has no
        archive. ChangedError when it is in no state that is known; MissingArchiveError when later
        records are those of an operation whose archive is not here.
        """
        try:
            current = self._reached()
        except ChangedError:
            self._require_archives(self.lines)
            raise
        _, suffix = parted(self.lines, current.after.n_bytes if current else 0)
        self._require_archives((suffix,))
        return current

    def _require_archives(self, pieces: Iterable[bytes]) -> None:
        """Raise MissingArchiveError where records in some pieces name an unknown operation.

        One that a known operation builds upon is below the chain, which ends there. Where no
        operation is known at all, there is nothing that it could be mistaken for.
        """
        if not any(map(may_name_operation, pieces)):
            return
        steps: tuple[OperationStep, ...] = (*self._by_id.values(), *self._inside.values())
        known = {name for step in steps for name in (step.id, step.parent)}
        names = named_operations(self.lines, self.where, self._format) - known if known else ()
        if names:
            text = missing_archive_text(self.where, names)
            folder = self.archive.folder if self.archive else self.where
            raise MissingArchiveError(f"{text}, or move {folder} away to start afresh")

    def _reached(self) -> Operation | None:
        if self.archive is None or not self.archived:
            return None
        top = self._inside.get(self._newest_inside or OperationId(""))
        is_alone = top is not None and top.id not in self._by_id
        try:
            current, _ = self.archive.current(self.lines)
        except ChangedError:
            if is_alone:
                return None
            raise
        if current and top and is_alone and top.inside.line >= current.after.n_lines:
            return None
        return current

    @property
    def place(self) -> int:
        """Where the operation whose outcome the transcript begins with stands among the steps.

        That of the newest one when it is in none of their outcomes.
        """
        head = self._start[0]
        for place in reversed(range(len(self.steps))):
            step = self.steps[place]
            if isinstance(step, ArchivedStep) and step.operation == self.current:
                return place
            if self.current is None and step.id == head:
                return place
        return len(self.steps) - 1

    @cached_property
    def _start(self) -> _Start:
        """The newest compaction in effect, and those inside the transcript."""
        if self.current is not None:
            # A rewind to the first state by version 0.1.0 knew nothing of what is inside it.
            return self.current.head or self._newest_inside, self._inside
        return self._newest_inside, self._inside

    @cached_property
    def _inside(self) -> _Inside:
        return self._inline_steps(self.lines, lambda: self.data, self._format)

    @property
    def _newest_inside(self) -> OperationId | None:
        return next(reversed(self._inside), None)

    def _before(self, step: ArchivedStep) -> _Start:
        """Return the newest compaction before an archived step, and those inside that state."""
        if step.parent in self._by_id:
            return step.parent, {}
        if step.file.number not in self._found:
            self._found[step.file.number] = self._look_into(step)
        return self._found[step.file.number]

    def _look_into(self, step: ArchivedStep) -> _Start:
        holder = partial(_state, step)
        if not any(map(may_carry, step.before())):
            return step.parent, {}
        inside = self._inline_steps(split_lines(holder()), holder, step.format or None)
        # Version 0.1.0 did not record a parent that is inside the transcript.
        return step.parent or next(reversed(inside), None), inside

    def _walk(self, head: OperationId | None, inside: _Inside) -> Iterator[OperationStep]:
        """Yield a compaction and those it builds upon, newest first.

        ArchiveError when they build upon one another in a circle, as no run writes it.
        """
        seen: set[OperationId] = set()
        while head is not None:
            if head in seen:
                raise ArchiveError(
                    f"{self.where}: operation {head} builds upon itself; "
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
        """Return the steps inside a state, oldest first; ``holder`` gives all of it at once."""
        found, chosen = carried_operations(lines, self.where, format_name)
        steps: list[InlineStep] = []
        for place, operation in reversed(tuple(enumerate(found))):
            step = InlineStep(
                inside=operation,
                parent=operation.parent or (found[place - 1].id if place else None),
                format=chosen,
                where=self.where,
                holder=holder,
            )
            steps.append(step)
            holder = partial(_state, step)
        return {step.id: step for step in reversed(steps)}


def _state(step: OperationStep) -> bytes:
    """Return the state before a step."""
    return b"".join(step.before())
