"""The chain of operations behind a transcript, and every state it was ever in."""

import hashlib
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
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
    """A transcript's archive folder, as it is when first looked at; it need not exist.

    LargeArchiveError for one that holds more than ``limits``.
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
        """What is to be known before its archives are relied upon, one line each."""
        way = tamper_warning(self.folder) if self.files else None
        return (way,) if way else ()

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """The operations, oldest first; ArchiveError or IntegrityError if one is unreadable."""
        return tuple(_operation(file, self.limits) for file in self.files)

    @property
    def states(self) -> frozenset[Digest]:
        """The states before and after its operations."""
        return frozenset(state for each in self.operations for state in (each.before, each.after))

    def unarchived_outcome(self, sha256: str) -> OperationId | None:
        """Return the operation that wrote a state which no archive holds, None where there is none.

        ``sha256`` is the digest of the state.
        """
        if any(each.before.sha256 == sha256 for each in self.operations):
            return None
        return next((each.id for each in self.operations if each.after.sha256 == sha256), None)

    @property
    def next_number(self) -> int:
        """The number of the next archive."""
        return self.files[-1].number + 1 if self.files else 1

    def newest_file(self, operation: OperationId) -> Path:
        """Return the newest archive of an operation; ArchiveError when there is none."""
        for file in reversed(self.files):
            if file.id == operation:
                return file.path
        raise ArchiveError(
            f"{self.folder}: has no operation {operation}; restore the folder from a backup"
        )

    def match_transcript(self, data: bytes | Iterable[bytes]) -> tuple[Operation | None, bytes]:
        """Return the operation a transcript is in the state after, and what was appended since.

        The operation is None when the transcript is still in its first state. An operation whose
        outcome was never published is passed over. ``data`` are its bytes, or pieces that can be
        gone through again. ChangedError when it is in no known
        state, or was continued on an unterminated last line.
        """
        if not self.operations:
            return None, b""
        pieces = (data,) if isinstance(data, bytes) else data
        prefixes = _Prefixes(pieces, self.states)
        published = [each for each in self.operations if _was_published(each, prefixes)]
        for operation in reversed(published):
            end, suffix = last_byte_and_rest(pieces, operation.after.n_bytes)
            if can_follow(suffix, is_mid_line=ends_mid_line(end)):
                return operation, suffix
        if not published and prefixes.matches(self.operations[0].before):
            return None, b""
        raise self._changed(published)

    def state_before(self, operation: OperationId) -> bytes:
        """Return the state before an operation, proven by digest."""
        return restore(self.newest_file(operation), self.limits)

    def state_after(self, operation: Operation, data: bytes) -> bytes:
        """Return the state after an operation, without what was appended later.

        ``data`` is the transcript as it is now. ArchiveError when neither it nor the state before
        a later operation nor a displaced file begins with that state.
        """
        if _Prefixes((data,), [operation.after]).matches(operation.after):
            return data[: operation.after.n_bytes]
        steps = zip(self.files, self.operations, strict=True)
        for file, each in sorted(steps, key=lambda step: step[1].parent != operation.head):
            if each.before.n_bytes < operation.after.n_bytes:
                continue
            before = restore(file.path, self.limits)
            if _Prefixes((before,), [operation.after]).matches(operation.after):
                return before[: operation.after.n_bytes]
        displaced = displaced_state(displaced_files(self.folder), operation.after)
        if displaced is not None:
            return displaced
        raise ArchiveError(
            f"{self.folder}: the state after operation {operation.id} was not kept; "
            "go to another operation"
        )

    def _changed(self, published: list[Operation]) -> ChangedError:
        name = self.folder.name.removesuffix(SUFFIX)
        newest = (published or self.operations)[-1]
        what = "was continued on its unterminated last line" if published else "was edited by hand"
        when = f" ({newest.recorded_at})" if newest.recorded_at else ""
        return ChangedError(
            f"{name}: {what} since operation {newest.id}{when}; take the edit back, "
            f"or move {self.folder} away to start afresh"
        )


def _was_published(operation: Operation, prefixes: "_Prefixes") -> bool:
    """Tell whether the data begins with the state after an operation.

    Where the state before begins with the state after, data that still begins with all of the
    former shows that the outcome was never published.
    """
    is_undone = operation.before.n_bytes > operation.after.n_bytes and prefixes.matches(
        operation.before
    )
    return prefixes.matches(operation.after) and not is_undone


def _operation(file: ArchiveFile, limits: ReadLimits) -> Operation:
    operation = read_operation(file.path, limits)
    if operation.id != file.id:
        raise ArchiveError(
            f"{file.path}: holds operation {operation.id}; give the file its own name back"
        )
    return operation


class _Prefixes:
    """Which of some states the bytes of a file begin with; they are gone through once."""

    def __init__(self, pieces: Iterable[bytes], states: Iterable[Digest]) -> None:
        self._sha256 = dict(_digests(pieces, sorted({state.n_bytes for state in states})))

    def matches(self, digest: Digest) -> bool:
        """Tell whether the bytes begin with what ``digest`` is the digest of."""
        return self._sha256.get(digest.n_bytes) == digest.sha256


def _digests(pieces: Iterable[bytes], sizes: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield the digest of the first so many bytes, for each of the ascending sizes there are."""
    digest, at = hashlib.sha256(), 0
    waiting = deque(sizes)
    for piece in chain(pieces, (b"",)):
        while waiting and waiting[0] <= at + len(piece):
            head, piece = piece[: waiting[0] - at], piece[waiting[0] - at :]  # noqa: PLW2901
            digest.update(head)
            at = waiting.popleft()
            yield at, digest.hexdigest()
        if not waiting:
            return
        digest.update(piece)
        at += len(piece)


def matching_states(blocks: Iterable[bytes], states: Collection[Digest]) -> frozenset[Digest]:
    """Return those of ``states`` that the blocks, joined, begin with; all blocks are read once."""
    found = dict(_prefix_digests(blocks, {state.n_bytes for state in states}))
    return frozenset(state for state in states if found.get(state.n_bytes) == state.sha256)


def _prefix_digests(blocks: Iterable[bytes], sizes: Collection[int]) -> Iterator[tuple[int, str]]:
    """Yield the SHA-256 of the beginning of each size that the blocks reach."""
    digest, at = hashlib.sha256(), 0
    waiting = sorted(sizes, reverse=True)
    for block in chain((b"",), blocks):
        rest = memoryview(block)
        while waiting and waiting[-1] <= at + len(rest):
            cut = waiting.pop() - at
            digest.update(rest[:cut])
            rest, at = rest[cut:], at + cut
            yield at, digest.hexdigest()
        digest.update(rest)
        at += len(rest)
