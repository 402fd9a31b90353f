"""The chain of operations behind a transcript, and every state it was ever in."""

import hashlib
from functools import cached_property
from pathlib import Path

from compactctl.errors import ArchiveError, ChangedError
from compactctl.model.operation import Digest, Operation, OperationId
from compactctl.store.archive import read_operation, restore
from compactctl.store.folder import SUFFIX, ArchiveFile, archive_files, archive_folder

__all__ = ["Archive", "archive_folder"]


class Archive:
    """A transcript's archive folder, as it is when first looked at; it need not exist."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def files(self) -> tuple[ArchiveFile, ...]:
        """The archives, oldest first."""
        return archive_files(self.folder)

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """The operations, oldest first; ArchiveError or IntegrityError if one is unreadable."""
        return tuple(_operation(file) for file in self.files)

    @property
    def next_number(self) -> int:
        """The number of the next archive."""
        return self.files[-1].number + 1 if self.files else 1

    def file_of(self, operation: OperationId) -> Path:
        """Return the newest archive of an operation; ArchiveError when there is none."""
        for file in reversed(self.files):
            if file.id == operation:
                return file.path
        raise ArchiveError(
            f"{self.folder}: has no operation {operation}; restore the folder from a backup"
        )

    def current(self, data: bytes) -> tuple[Operation | None, bytes]:
        """Return the operation a transcript is in the state after, and what was appended since.

        The operation is None when the transcript is still in its first state. An operation whose
        outcome was never published is passed over. ChangedError when ``data`` is in no known
        state, or was continued on an unterminated last line.
        """
        if not self.operations:
            return None, b""
        prefixes = _Prefixes(data)
        reached = [each for each in self.operations if _took_place(each, prefixes)]
        for operation in reversed(reached):
            suffix = data[operation.after.n_bytes :]
            if can_carry(data[: operation.after.n_bytes], suffix):
                return operation, suffix
        if not reached and prefixes.include(self.operations[0].before):
            return None, b""
        raise self._changed(reached)

    def undo(self, operation: OperationId) -> bytes:
        """Return the state before an operation, proven by digest."""
        return restore(self.file_of(operation))

    def state_after(self, operation: Operation, data: bytes) -> bytes:
        """Return the state after an operation, without what was appended later.

        ``data`` is the transcript as it is now. ArchiveError when neither it nor the state before
        a later operation begins with that state.
        """
        if _Prefixes(data).include(operation.after):
            return data[: operation.after.n_bytes]
        steps = zip(self.files, self.operations, strict=True)
        for file, each in sorted(steps, key=lambda step: step[1].parent != operation.head):
            if each.before.n_bytes < operation.after.n_bytes:
                continue
            before = restore(file.path)
            if _Prefixes(before).include(operation.after):
                return before[: operation.after.n_bytes]
        raise ArchiveError(
            f"{self.folder}: the state after operation {operation.id} was not kept; "
            "go to another operation"
        )

    def _changed(self, reached: list[Operation]) -> ChangedError:
        name = self.folder.name.removesuffix(SUFFIX)
        newest = (reached or self.operations)[-1]
        what = "was continued on its unterminated last line" if reached else "was edited by hand"
        when = f" ({newest.recorded_at})" if newest.recorded_at else ""
        return ChangedError(
            f"{name}: {what} since operation {newest.id}{when}; take the edit back, "
            f"or move {self.folder} away to start afresh"
        )


def can_carry(state: bytes, suffix: bytes) -> bool:
    """Tell whether ``suffix`` can follow ``state`` without growing into its last line."""
    return not suffix or not state or state.endswith(b"\n")


def _took_place(operation: Operation, prefixes: "_Prefixes") -> bool:
    """Tell whether the data begins with the state after an operation.

    Where the state before begins with the state after, data that still begins with all of the
    former shows that the outcome was never published.
    """
    is_undone = operation.before.n_bytes > operation.after.n_bytes and prefixes.include(
        operation.before
    )
    return prefixes.include(operation.after) and not is_undone


def _operation(file: ArchiveFile) -> Operation:
    operation = read_operation(file.path)
    if operation.id != file.id:
        raise ArchiveError(
            f"{file.path}: holds operation {operation.id}; give the file its own name back"
        )
    return operation


class _Prefixes:
    """Digests of the beginnings of some bytes, each computed once."""

    def __init__(self, data: bytes) -> None:
        self._view = memoryview(data)
        self._sha256: dict[int, str] = {}

    def include(self, digest: Digest) -> bool:
        """Tell whether the bytes begin with what ``digest`` is the digest of."""
        size = digest.n_bytes
        if size > len(self._view):
            return False
        if size not in self._sha256:
            self._sha256[size] = hashlib.sha256(self._view[:size]).hexdigest()
        return self._sha256[size] == digest.sha256
