"""The history of a transcript: its operations in all layouts, and those in effect."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial, reduce
from glob import escape
from itertools import islice, pairwise
from pathlib import Path

from compactctl.commands.operations.inline import (
    may_hold_operation,
    may_name_operation,
    missing_archive_text,
    named_operations,
    operations_inside,
)
from compactctl.commands.operations.steps import ArchivedStep, InlineStep, OperationStep
from compactctl.commands.reading.transcript import TranscriptFile
from compactctl.errors import ArchiveError, ChangedError, CompactctlError, MissingArchiveError
from compactctl.model.operation import Digest, Operation, OperationId
from compactctl.store.archive.archive import Archive, archive_folder
from compactctl.store.archive.names import SUFFIX, folders_for
from compactctl.store.client_folders import archives_folder, store_containing, this_machine
from compactctl.store.files.content import (
    can_follow,
    canonical_suffix,
    ends_mid_line,
    join_suffixes,
    last_byte_and_rest,
)
from compactctl.store.files.source import STANDARD_STREAM, Source, digest_of, split_lines
from compactctl.store.publish.overwrite import is_same_place

# More archives than a folder of sessions has; each is opened.
_MAX_FOLDERS = 1_000
# The suffix that Codex adds to a session that it compresses.
_PACKED = ".zst"
_Inside = dict[OperationId, InlineStep]
_Start = tuple[OperationId | None, _Inside]


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
    ) -> None:
        self.archive, self.lines, self.where = archive, lines, where
        self._format = format_name
        self._found: dict[int, _Start] = {}

    def is_in_place_of(self, path: Path) -> bool:
        """Whether the archive, if any, is at the default location for a transcript at ``path``."""
        return self.archive is None or is_same_place(self.archive.folder, archive_folder(path))

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
        """Problems with the archives that do not prevent their use."""
        return self.archive.warnings if self.archive else ()

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
            steps += new if step is None else (*new, step)
        return tuple(steps)

    @cached_property
    def chain(self) -> tuple[OperationStep, ...]:
        """The compactions in effect, oldest first."""
        return tuple(reversed(tuple(self._walk(*self._start))))

    def chain_to(self, step: OperationStep) -> tuple[OperationStep, ...]:
        """Return the compactions in effect after one of the steps, oldest first."""
        head = step.operation.head if isinstance(step, ArchivedStep) else step.id
        inside = {
            inline_step.id: inline_step
            for inline_step in self.steps
            if isinstance(inline_step, InlineStep)
        }
        return tuple(reversed(tuple(self._walk(head, inside))))

    @property
    def missing_operation(self) -> OperationId | None:
        """The compaction below the chain whose archive is missing, None if complete."""
        return self.chain[0].parent if self.chain else self._start[0]

    @property
    def missing_archives(self) -> tuple[int, ...]:
        """The numbers up to that of the newest archive that no file in the folder has."""
        numbers = {step.file.number for step in self.archived}
        return tuple(sorted({*range(1, max(numbers, default=0))} - numbers))

    def require_first_state(self) -> None:
        """Raise ArchiveError unless the chain leads back to the first state."""
        if self.missing_operation is not None:
            raise self.no_first_state(f" (operation {self.missing_operation})")

    def no_first_state(self, what: str = "") -> ArchiveError:
        """Return the error that archives before the oldest existing one are missing."""
        folder = self.archive.folder if self.archive else self.where
        numbers = [f"{number:04}" for number in self.missing_archives]
        return ArchiveError(
            f"{folder}: has no archive {', '.join(numbers) or 'of the first operation'}{what}; "
            "put it back to restore the first state, or undo one compaction at a time without --all"
        )

    @cached_property
    def current(self) -> Operation | None:
        """The archived operation whose outcome the transcript begins with.

        None in the first state, or after a compaction inside the transcript that has no archive.
        Raises ChangedError in an unknown state, and MissingArchiveError if later records belong to
        an operation whose archive is missing.
        """
        try:
            current = self._reached()
        except ChangedError:
            self._require_archives(self.lines)
            raise
        _, suffix = last_byte_and_rest(self.lines, current.after.n_bytes if current else 0)
        self._require_archives((suffix,))
        return current

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
        if self.archive is None or not self.archived:
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

    @property
    def current_index(self) -> int:
        """The index among the steps of the operation whose outcome the transcript begins with.

        That of the newest step if it begins with no outcome.
        """
        head = self._start[0]
        for index in reversed(range(len(self.steps))):
            step = self.steps[index]
            if isinstance(step, ArchivedStep) and step.operation == self.current:
                return index
            if self.current is None and step.id == head:
                return index
        return len(self.steps) - 1

    @cached_property
    def _start(self) -> _Start:
        """The newest compaction in effect, and the compactions inside the transcript."""
        if self.current is not None:
            # A rewind to the first state by version 0.1.0 did not record operations inside it.
            return self.current.head or self._newest_inside, self._inside
        return self._newest_inside, self._inside

    @cached_property
    def _inside(self) -> _Inside:
        return self._inline_steps(self.lines, lambda: self.data, self._format)

    @property
    def _newest_inside(self) -> OperationId | None:
        return next(reversed(self._inside), None)

    def _before(self, step: ArchivedStep) -> _Start:
        """Return the newest compaction before an archived step, and the ones inside that state."""
        if step.parent in self._by_id:
            return step.parent, {}
        if step.file.number not in self._found:
            self._found[step.file.number] = self._look_into(step)
        return self._found[step.file.number]

    def _look_into(self, step: ArchivedStep) -> _Start:
        holder = partial(_state, step)
        if not any(map(may_hold_operation, step.before())):
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


def history_of(
    source: Source, where: str, format_name: str | None = None, folder: Path | None = None
) -> "OperationHistory":
    """Return the history behind a source; ``where`` names it in errors.

    ``folder`` is its archive folder if that is not at the default location.
    """
    folder = folder or _archive_of(source)
    archive = None if folder is None else Archive(folder, source.limits)
    return OperationHistory(archive, source.lines, where, format_name)


def history_behind(loaded: TranscriptFile, folder: Path | None = None) -> "OperationHistory":
    """Return the history behind a transcript that was read; see ``history_of`` for ``folder``."""
    where = str(loaded.source.path or STANDARD_STREAM)
    return history_of(loaded.source, where, loaded.format.name, folder)


def archive_advice(source: Source, path: str) -> str:
    """Return what the user can do if the archive of a compacted transcript is not in its place."""
    if source.path is None or path == STANDARD_STREAM:
        return "name the file instead"
    archive = _matching_archive(source)
    if archive is not None:
        return f"{archive} matches; pass it with --archive"
    return f"put {archive_folder(source.path)} back, or pass --archive DIR"


def read_appended(history: OperationHistory, step: OperationStep) -> bytes:
    """Return the carry: everything appended since a step in effect, in the order it was appended.

    Raises as reading the states in between does, and ChangedError if an unterminated line was
    continued.
    """
    later = history.chain[history.chain.index(step) :]
    pieces = [carry_behind(earlier, following.before()) for earlier, following in pairwise(later)]
    return reduce(join_suffixes, (*pieces, carry_behind(later[-1], history.lines)))


def read_appended_since(history: OperationHistory, step: OperationStep) -> bytes:
    """Return the carry of everything appended after a step that is no longer in effect.

    Raises as ``read_appended`` does.
    """
    if history.current is None and history.archived and not history.chain:
        oldest = history.archived[0].operation
        return _carry(history.lines, oldest.before.n_bytes, "after the first state")
    steps, last = history.steps, history.current_index
    newest = carry_behind(steps[last], history.lines)
    # The same step may occur twice, even with the same recorded time (to the second).
    first = max((i for i in range(last + 1) if steps[i].id == step.id), default=last)
    pieces: list[bytes] = []
    earlier = steps[first]
    for following in steps[first + 1 : last + 1]:
        before = b"".join(following.before())
        if _begins_with(before, earlier):
            pieces.append(carry_behind(earlier, (before,)))
            earlier = following
        elif not isinstance(following, InlineStep):
            return newest
        # Else it is inside a state restored by a rewind, and did not follow that rewind.
    return reduce(join_suffixes, (*pieces, newest))


def carry_behind(step: OperationStep, state: Iterable[bytes]) -> bytes:
    """Return the carry of what follows the outcome of a step in a state that begins with it.

    ``state`` is given in pieces. Raises ChangedError if an unterminated line was continued.
    """
    return _carry(state, step.after.n_bytes, f"after operation {step.id}")


def _state(step: OperationStep) -> bytes:
    return b"".join(step.before())


def _archive_of(source: Source) -> Path | None:
    """Return the archive folder of a transcript, which need not exist; None for a pipe.

    If a client moved, compressed or renamed its session, the matching archive nearby is used.
    """
    if source.path is None:
        return None
    folder = archive_folder(source.path)
    if folder.exists() or store_containing(source.path, this_machine()) is None:
        return folder
    is_compacted = any(map(may_name_operation, source.lines))
    return (_matching_archive(source) if is_compacted else None) or folder


def _matching_archive(source: Source) -> Path | None:
    """Return the archive folder whose digests match a transcript, None if there is none nearby.

    Checks the folders beside the file, and those of the same name in the user's state folder.
    """
    if source.path is None:
        return None
    nearby = islice(_nearby_archives(source.path), _MAX_FOLDERS)
    return next((folder for folder in nearby if _fits(folder, source)), None)


def _nearby_archives(path: Path) -> Iterator[Path]:
    for parent in folders_for(path.absolute().parent):
        yield from sorted(parent.glob(f"*{SUFFIX}"))
    yield from sorted(
        archives_folder(this_machine()).rglob(f"{escape(path.name.removesuffix(_PACKED))}{SUFFIX}")
    )


def _fits(folder: Path, source: Source) -> bool:
    """Whether a transcript begins with an outcome of an archive; False if that is damaged."""
    with suppress(CompactctlError, OSError):
        operation, _ = Archive(folder, source.limits).match_transcript(source.lines)
        return operation is not None
    return False


def _carry(state: Iterable[bytes], n_bytes: int, when: str) -> bytes:
    end, suffix = last_byte_and_rest(state, n_bytes)
    if not can_follow(suffix, is_mid_line=ends_mid_line(end)):
        raise ChangedError(
            f"text was appended to the unterminated last line {when} and would be cut off; "
            "remove it first, or choose another operation"
        )
    return canonical_suffix(suffix, is_mid_line=ends_mid_line(end))


def _begins_with(state: bytes, step: OperationStep) -> bool:
    return digest_of(state[: step.after.n_bytes]) == step.after
