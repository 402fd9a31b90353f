"""A transcript's archive folder: its operations, and every state that they can restore.

A folder is listed once, and each of its archives is read once for what describes it, so that
everything that a command says about it holds for one moment.
"""

from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from itertools import repeat
from operator import itemgetter
from pathlib import Path

from compactctl.errors import ArchiveError, ChangedError, CompactctlError
from compactctl.model.operation import Digest, DocumentRecords, Operation, OperationId
from compactctl.pipeline.document_records import read_records
from compactctl.store.archive.archive_file import raw_lines, read_numbered
from compactctl.store.archive.contents import FolderContents, read_contents
from compactctl.store.archive.growth import (
    Growth,
    KnownState,
    changed_record,
    find_growth,
    matching_states,
)
from compactctl.store.archive.lock import shared_lock
from compactctl.store.archive.names import (
    STATE_DIGITS,
    SUFFIX,
    ArchiveFile,
    archive_folder,
    archive_name,
    is_lineage,
    transcript_of,
)
from compactctl.store.archive.permissions import check_owner, tamper_warning
from compactctl.store.archive.unrealized import counted_archives
from compactctl.store.files.content import can_follow, ends_mid_line, last_byte_and_rest
from compactctl.store.files.limits import NO_LIMITS, ReadLimits

__all__ = ["Archive", "archive_folder", "read_archive"]

ArchiveTime = tuple[str, int]
"""When an archive was written: as it says, to the second, and as its disk says, in nanoseconds.

A copy of the folder has other times on its disk.
"""
_NEVER: ArchiveTime = ("", 0)


class Archive:
    """A transcript's archive folder as it is at the first access; it need not exist.

    The operations in it have one first state. Those with another one are in a folder of their own
    in it, a lineage, which is an archive with the ``root`` that it is in.

    Raises LargeArchiveError for an archive larger than ``limits``.
    """

    def __init__(
        self, folder: Path, limits: ReadLimits = NO_LIMITS, root: "Archive | None" = None
    ) -> None:
        self.folder = folder
        self.limits = limits
        self.root = root or self

    @cached_property
    def contents(self) -> FolderContents:
        """The files in the folder.

        ArchiveError for a folder that must not be trusted or cannot be read.
        """
        check_owner(self.root.folder)
        try:
            return read_contents(self.folder)
        except OSError as error:
            raise ArchiveError(
                f"{self.folder}: cannot be read ({error.strerror}); check its permissions"
            ) from error

    @cached_property
    def lineages(self) -> tuple["Archive", ...]:
        """The root and the folders in it, each with the operations from one first state."""
        root = self.root
        folders = root.contents.lineages
        lineages = (root, *(Archive(folder, self.limits, root) for folder in folders))
        return tuple(self if lineage.folder == self.folder else lineage for lineage in lineages)

    @property
    def others(self) -> tuple["Archive", ...]:
        """The other lineages; the root is one even if its archives are missing."""
        lineages = (lineage for lineage in self.lineages if lineage is not self)
        return tuple(o for o in lineages if o.files or o is self.root)

    @property
    def first_state(self) -> str:
        """What names the first state: the first digits of its SHA-256; "" without operations."""
        first = self.operations[:1]
        return next((operation.before.sha256[:STATE_DIGITS] for operation in first), "")

    @property
    def missing(self) -> tuple[int, ...]:
        """The numbers up to the newest archive that no archive has.

        There is at least one archive where other lineages are.
        """
        numbers = {file.number for file in self.files}
        newest = max(numbers, default=2 if self.contents.lineages else 1)
        return tuple(sorted({*range(1, newest)} - numbers))

    @cached_property
    def files(self) -> tuple[ArchiveFile, ...]:
        """The archives that count, oldest first; raises as ``contents``."""
        folder = self.root.folder
        folder = folder.parent if is_lineage(folder) else folder
        return counted_archives(self.contents.archives, folder, transcript_of(folder))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before relying on the archives, one line each."""
        warning = tamper_warning(self.folder) if self.files else None
        return (*filter(None, (warning,)), *map(str, self.damaged))

    @cached_property
    def readable(self) -> tuple[tuple[ArchiveFile, Operation], ...]:
        """The archives whose operation can be read, oldest first.

        ArchiveError or IntegrityError if there are archives, but none can be read.
        """
        readable = [(file, item) for file, item in self._results if isinstance(item, Operation)]
        if self.damaged and not readable:
            raise self.damaged[0]
        return tuple(readable)

    @property
    def damaged(self) -> tuple[CompactctlError, ...]:
        """Why the other archives cannot be read: ArchiveError and IntegrityError."""
        unread = (item for _, item in self._results if isinstance(item, CompactctlError))
        return (*unread, *self._strays)

    @cached_property
    def _results(self) -> tuple[tuple[ArchiveFile, Operation | CompactctlError], ...]:
        return tuple((file, _operation(file, self.limits)) for file in self.files)

    @cached_property
    def _strays(self) -> tuple[ArchiveError, ...]:
        """The archives whose names are not those of any archive."""
        names = {file.path.name for file in self.files}
        named = ((path, _own_name(path, self.limits)) for path in self.contents.misnamed)
        return tuple(_misnamed(path, name) for path, name in named if name and name not in names)

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations of the readable archives, oldest first."""
        return tuple(operation for _, operation in self.readable)

    @property
    def all_ids(self) -> frozenset[OperationId]:
        """The operations of all lineages, as far as they can be read."""
        ids: set[OperationId] = set()
        for lineage in self.lineages:
            with suppress(CompactctlError):
                ids |= {operation.id for operation in lineage.operations}
        return frozenset(ids)

    @property
    def states(self) -> frozenset[Digest]:
        """The states before and after its operations."""
        return frozenset(state for op in self.operations for state in (op.before, op.after))

    def holds(self, sha256: str) -> bool:
        """Return whether the state with this digest is restored from an archive, by doing it."""
        for file, operation in self.readable:
            with suppress(CompactctlError, OSError):
                if operation.before.sha256 == sha256:
                    deque(raw_lines(file.path, self.limits), maxlen=0)
                    return True
        return False

    @cached_property
    def times(self) -> tuple[ArchiveTime, ...]:
        """When the readable archives were written, in their order; raises as ``readable``."""
        return tuple(_time(file, operation) for file, operation in self.readable)

    @property
    def is_newest(self) -> bool:
        """Whether no other lineage has an archive that was written after its newest one."""
        newest = _newest_time(self)
        return all(_newest_time(other) <= newest for other in self.others)

    @property
    def next_number(self) -> int:
        """The number of the next archive."""
        return self.files[-1].number + 1 if self.files else 1

    @cached_property
    def outcomes(self) -> tuple[KnownState, ...]:
        """The first state, and the state after each operation, oldest first."""
        first = self.operations[:1]
        return (
            *(KnownState(digest=op.before, records=self._first_records) for op in first),
            *map(KnownState.after, self.operations),
        )

    @cached_property
    def _first_records(self) -> DocumentRecords | None:
        """The records of the first state if it is a document that can be restored."""
        records = self.operations[0].records
        if records is None:
            return None
        with suppress(CompactctlError):
            return read_records(raw_lines(self.readable[0][0].path, self.limits), records.path)
        return None

    def match_transcript(self, chunks: Iterable[bytes]) -> tuple[Operation | None, Growth]:
        """Return the operation whose outcome a transcript grew from, and what was added to it.

        The operation is None if the transcript is still in its first state. ``chunks`` are its
        bytes; they can be iterated more than once. Raises ChangedError if the transcript grew from
        no known state, or if an unterminated last line was continued.
        """
        if not self.operations:
            return None, Growth()
        match = find_growth(chunks, self.outcomes)
        if match is None:
            raise self._changed(chunks)
        index, growth = match
        return (self.operations[index - 1] if index else None), growth

    def _changed(self, chunks: Iterable[bytes]) -> ChangedError:
        reached = matching_states(chunks, self.states)
        published = [op for op in self.operations if op.after in reached]
        newest = (published or self.operations)[-1]
        outcome = KnownState(digest=newest.after, records=newest.records)
        record = None if published else changed_record(chunks, outcome)
        what = "was edited" if record is None else f"record {record:,} was edited"
        if published:
            end, rest = last_byte_and_rest(chunks, newest.after.n_bytes)
            if not can_follow(rest, is_mid_line=ends_mid_line(end)):
                what = "was continued on its unterminated last line"
        folder = self.root.folder
        name = folder.name.removesuffix(SUFFIX)
        when = f" ({newest.recorded_at})" if newest.recorded_at else ""
        return ChangedError(
            f"{name}: {what} since operation {newest.id}{when}; undo the edit, or move "
            f"{folder} away to start over"
        )


def read_archive(folder: Path, chunks: Iterable[bytes], limits: ReadLimits = NO_LIMITS) -> Archive:
    """Read what describes the archives of a transcript, while no run writes there.

    Of several lineages, return the one that the transcript grew from, and if there is none, the one
    with the newest archive.
    """
    root = Archive(folder, limits)
    with shared_lock(folder), suppress(CompactctlError):
        for lineage in root.lineages:
            with suppress(CompactctlError):
                _ = lineage.readable
        return lineage_behind(root, chunks)
    return root


def archive_at(folder: Path) -> Archive:
    """Return the archive in a folder, which may be that of a lineage."""
    return Archive(folder, root=Archive(folder.parent) if is_lineage(folder) else None)


def lineage_behind(root: Archive, chunks: Iterable[bytes]) -> Archive:
    """Return the lineage of a transcript; see ``read_archive``."""
    if len(root.lineages) == 1:
        return root
    return lineage_of(root, chunks) or max(root.lineages, key=_last_written)


def lineage_of(root: Archive, chunks: Iterable[bytes]) -> Archive | None:
    """Return the lineage that a state grew from, None if it grew from none."""
    return origin_among(root.lineages, chunks)


def origin_among(lineages: Iterable[Archive], chunks: Iterable[bytes]) -> Archive | None:
    """Return the lineage that a state grew from, None if it grew from none.

    The outcomes of all lineages compete as those of one do, the last written being the last: a
    state that is exactly an outcome is not taken for another one with the same records.
    """
    outcomes: list[tuple[ArchiveTime, KnownState, Archive]] = []
    for lineage in lineages:
        with suppress(CompactctlError):
            # The first state was there before the first operation.
            times = (*lineage.times[:1], *lineage.times)
            outcomes += zip(times, lineage.outcomes, repeat(lineage))
    outcomes.sort(key=itemgetter(0))
    match = find_growth(chunks, [outcome for _, outcome, _ in outcomes])
    return None if match is None else outcomes[match[0]][2]


def lineage_from(root: Archive, first: Digest, chunks: Iterable[bytes]) -> Archive | None:
    """Return the lineage of operations that begin with ``first``, None if it is a new one.

    It has that first state, or else another one that the chunks grew from.
    """
    grown: list[Archive] = []
    for lineage in root.lineages:
        with suppress(CompactctlError):
            if first in [state.digest for state in lineage.outcomes[:1]]:
                return lineage
            match = find_growth(chunks, lineage.outcomes)
            grown += [lineage] if match is not None and match[0] == 0 else []
    return next(iter(grown), None)


def _last_written(archive: Archive) -> int:
    """Return when the newest archive was written, in nanoseconds; 0 if there is none."""
    with suppress(CompactctlError, OSError):
        return max((file.path.stat().st_mtime_ns for file in archive.files), default=0)
    return 0


def _newest_time(archive: Archive) -> ArchiveTime:
    """Return when the newest archive was written that can be read; the earliest time if none."""
    with suppress(CompactctlError):
        return max(archive.times, default=_NEVER)
    return _NEVER


def _time(file: ArchiveFile, operation: Operation) -> ArchiveTime:
    """Return when an archive was written."""
    with suppress(OSError):
        return operation.recorded_at, file.path.stat().st_mtime_ns
    return operation.recorded_at, 0


def _operation(file: ArchiveFile, limits: ReadLimits) -> Operation | CompactctlError:
    """Return the operation of an archive, or why it cannot be read."""
    try:
        number, operation = read_numbered(file.path, limits)
    except CompactctlError as error:
        return error
    own_name = archive_name(number or file.number, operation)
    return operation if own_name == file.path.name else _misnamed(file.path, own_name)


def _own_name(path: Path, limits: ReadLimits) -> str:
    """Return the name that a file should have, "" if it is not an archive with a number."""
    with suppress(CompactctlError):
        number, operation = read_numbered(path, limits)
        return archive_name(number, operation) if number else ""
    return ""


def _misnamed(path: Path, own_name: str) -> ArchiveError:
    return ArchiveError(
        f"{path}: is archive {own_name} under another name; run compactctl verify --repair, or "
        "put back the archive that belongs there"
    )
