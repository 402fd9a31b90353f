"""A transcript's archive folder: its operations, and every state that they can restore."""

import hashlib
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import chain
from pathlib import Path

from compactctl.errors import ArchiveError, ChangedError
from compactctl.model.operation import Digest, Operation, OperationId
from compactctl.store.archive.archive_file import read_operation, restore
from compactctl.store.archive.displaced import displaced_files, displaced_state
from compactctl.store.archive.names import SUFFIX, ArchiveFile, archive_files, archive_folder
from compactctl.store.archive.permissions import check_owner, tamper_warning
from compactctl.store.files.content import can_follow, ends_mid_line, last_byte_and_rest
from compactctl.store.files.limits import NO_LIMITS, ReadLimits

__all__ = ["Archive", "archive_folder"]


class Archive:
    """A transcript's archive folder as it is at the first access; it need not exist.

    Raises LargeArchiveError for an archive larger than ``limits``.
    """

    def __init__(self, folder: Path, limits: ReadLimits = NO_LIMITS) -> None:
        self.folder = folder
        self.limits = limits

    @cached_property
    def files(self) -> tuple[ArchiveFile, ...]:
        """The archives, oldest first; ArchiveError for a folder that must not be trusted."""
        check_owner(self.folder)
        return archive_files(self.folder)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before relying on the archives, one line each."""
        warning = tamper_warning(self.folder) if self.files else None
        return (warning,) if warning else ()

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """The operations, oldest first; ArchiveError or IntegrityError if one is unreadable."""
        return tuple(_operation(file, self.limits) for file in self.files)

    @property
    def states(self) -> frozenset[Digest]:
        """The states before and after its operations."""
        return frozenset(state for op in self.operations for state in (op.before, op.after))

    def unarchived_outcome(self, sha256: str) -> OperationId | None:
        """Return the operation that wrote the state with this digest, if no archive holds it.

        None if an archive does, or if no operation wrote it.
        """
        if any(operation.before.sha256 == sha256 for operation in self.operations):
            return None
        return next((op.id for op in self.operations if op.after.sha256 == sha256), None)

    @property
    def next_number(self) -> int:
        """The number of the next archive."""
        return self.files[-1].number + 1 if self.files else 1

    def newest_file(self, operation: OperationId) -> Path:
        """Return the newest archive of an operation; ArchiveError if there is none."""
        for file in reversed(self.files):
            if file.id == operation:
                return file.path
        raise ArchiveError(
            f"{self.folder}: has no operation {operation}; restore the folder from a backup"
        )

    def match_transcript(self, data: bytes | Iterable[bytes]) -> tuple[Operation | None, bytes]:
        """Return the newest operation whose outcome a transcript begins with, and what follows it.

        The operation is None if the transcript is still in its first state. Operations whose
        outcome was never published are skipped. ``data`` are its bytes, or chunks of them that can
        be iterated more than once. Raises ChangedError if the transcript begins with no known
        state, or if an unterminated last line was continued.
        """
        if not self.operations:
            return None, b""
        chunks = (data,) if isinstance(data, bytes) else data
        reached = matching_states(chunks, self.states)
        published = [
            operation for operation in self.operations if _was_published(operation, reached)
        ]
        for operation in reversed(published):
            end, suffix = last_byte_and_rest(chunks, operation.after.n_bytes)
            if can_follow(suffix, is_mid_line=ends_mid_line(end)):
                return operation, suffix
        if not published and self.operations[0].before in reached:
            return None, b""
        raise self._changed(published)

    def state_before(self, operation: OperationId) -> bytes:
        """Return the state before an operation, verified by its digest."""
        return restore(self.newest_file(operation), self.limits)

    def state_after(self, operation: Operation, data: bytes) -> bytes:
        """Return the state after an operation, without what was appended later.

        ``data`` is the current transcript. No archive holds the outcome of its operation, but a
        state that was appended to begins with it. Raises ArchiveError if neither the transcript nor
        the state before another operation nor a displaced file begins with it.
        """
        if matching_states((data,), [operation.after]):
            return data[: operation.after.n_bytes]
        archives = zip(self.files, self.operations, strict=True)
        # The operation that followed is the likeliest.
        for file, other in sorted(archives, key=lambda pair: pair[1].parent != operation.head):
            if other.before.n_bytes < operation.after.n_bytes:
                continue
            before = restore(file.path, self.limits)
            if matching_states((before,), [operation.after]):
                return before[: operation.after.n_bytes]
        displaced = displaced_state(displaced_files(self.folder), operation.after)
        if displaced is not None:
            return displaced
        raise ArchiveError(
            f"{self.folder}: the state after operation {operation.id} was not archived; choose "
            "another operation"
        )

    def _changed(self, published: list[Operation]) -> ChangedError:
        name = self.folder.name.removesuffix(SUFFIX)
        newest = (published or self.operations)[-1]
        what = "was continued on its unterminated last line" if published else "was edited by hand"
        when = f" ({newest.recorded_at})" if newest.recorded_at else ""
        return ChangedError(
            f"{name}: {what} since operation {newest.id}{when}; undo the edit, or move "
            f"{self.folder} away to start over"
        )


def _was_published(operation: Operation, reached: Collection[Digest]) -> bool:
    """Whether a transcript that begins with the states ``reached`` has an operation's outcome.

    If the outcome is only the beginning of the state before, a transcript that still begins with
    all of the latter shows that the outcome was never published.
    """
    is_unchanged = (
        operation.before.n_bytes > operation.after.n_bytes and operation.before in reached
    )
    return operation.after in reached and not is_unchanged


def _operation(file: ArchiveFile, limits: ReadLimits) -> Operation:
    operation = read_operation(file.path, limits)
    if operation.id != file.id:
        raise ArchiveError(f"{file.path}: holds operation {operation.id}; rename the file back")
    return operation


def matching_states(chunks: Iterable[bytes], states: Collection[Digest]) -> frozenset[Digest]:
    """Return those of ``states`` that the joined chunks begin with; iterates the chunks once."""
    digests = dict(_prefix_digests(chunks, {state.n_bytes for state in states}))
    return frozenset(state for state in states if digests.get(state.n_bytes) == state.sha256)


def _prefix_digests(chunks: Iterable[bytes], sizes: Collection[int]) -> Iterator[tuple[int, str]]:
    """Yield size and SHA-256 of each prefix, the shortest first, as far as the chunks reach.

    Chunks b"abc", b"de" and sizes {2, 4, 9}: those of b"ab" and b"abcd".
    """
    digest, pos = hashlib.sha256(), 0
    pending = sorted(sizes, reverse=True)
    for chunk in chain((b"",), chunks):
        rest = memoryview(chunk)
        while pending and pending[-1] <= pos + len(rest):
            cut = pending.pop() - pos
            digest.update(rest[:cut])
            rest, pos = rest[cut:], pos + cut
            yield pos, digest.hexdigest()
        # Read on without pending sizes: some callers collect from their chunks what passes.
        if pending:
            digest.update(rest)
            pos += len(rest)
