"""Find the archives of operations that never took place.

A run writes its archives before its output. They are left behind if it is killed in between, and
in an object store, which has no locks, also if another run is faster.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from compactctl.errors import ArchiveError, CompactctlError
from compactctl.model.operation import Digest, Operation
from compactctl.store.archive.archive_file import read_operation
from compactctl.store.archive.growth import matching_states
from compactctl.store.archive.names import (
    DISPLACED,
    ArchiveFile,
    archive_files,
    archives_below,
)
from compactctl.store.archive.parquet import open_regular

_CHUNK = 1 << 20


def counted_archives(
    archives: Sequence[ArchiveFile], folder: Path, transcript: Path
) -> tuple[ArchiveFile, ...]:
    """Return the archives of a lineage without those that share a number for no reason.

    Of several with one number only those count whose operation took place and has no archive with
    a number of its own; if there are none, all of them. ``folder`` is the archive folder.
    """
    if len({file.number for file in archives}) == len(archives):
        return tuple(archives)
    all_files = archives_below(folder)
    places = Counter((file.path.parent, file.number) for file in all_files)
    shared = {file for file in all_files if places[file.path.parent, file.number] > 1}
    alone = {file.id for file in all_files if file not in shared}
    unrealized = {*unrealized_archives(folder, transcript)}
    needless = {file for file in shared if file.id in alone or file.path in unrealized}
    numbers = {file.number for file in archives if file not in needless}
    return tuple(file for file in archives if file not in needless or file.number not in numbers)


def unrealized_archives(folder: Path, transcript: Path) -> tuple[Path, ...]:
    """Return the archives of a transcript whose operations never took place, newest first.

    The outcome of such an operation is in no file, and no other operation builds upon it. The
    transcript may be missing. An archive that cannot be read counts as one that is needed.
    """
    operations: dict[Path, Operation] = {}
    for file in reversed(archives_below(folder)):
        with suppress(CompactctlError):
            operations[file.path] = read_operation(file.path)
    if not operations:
        return ()
    outcomes = {operation.after for operation in operations.values()}
    files = (transcript, *folder.glob(f"{DISPLACED}*"))
    reached = frozenset().union(*(_states_in(path, outcomes) for path in files))
    unrealized = []
    # Newest first: what only those build upon that never took place did not take place either.
    for path, operation in tuple(operations.items()):
        is_needed = any(_builds_upon(other, operation) for other in operations.values())
        if operation.after not in reached and not is_needed:
            del operations[path]
            unrealized.append(path)
    return tuple(unrealized)


def leaves_gap(path: Path) -> bool:
    """Return whether a number would be missing among the archives if this one were deleted."""
    files = archive_files(path.parent)
    number = next(file.number for file in files if file.path == path)
    others = {file.number for file in files if file.path != path}
    return number not in others and number < max(others, default=0)


def _states_in(path: Path, states: Collection[Digest]) -> frozenset[Digest]:
    """Return those of ``states`` that a file begins with, none if it cannot be read."""
    with suppress(OSError, ArchiveError), open_regular(path) as stream:
        return matching_states(iter(partial(stream.read, _CHUNK), b""), states)
    return frozenset()


def _builds_upon(operation: Operation, earlier: Operation) -> bool:
    # A compaction is the head of itself, in each of its archives.
    is_named = earlier.id in {operation.parent, operation.head} - {operation.id}
    return is_named or operation.before == earlier.after
