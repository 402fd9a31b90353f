"""An operation in the history of a transcript, whether its originals are archived or inline."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate

from compactctl.commands.operations.inline import InlineOperation
from compactctl.commands.reading.transcript import parse, split
from compactctl.errors import IntegrityError
from compactctl.model.operation import (
    ArchivedLine,
    Digest,
    DocumentRecords,
    Operation,
    OperationId,
)
from compactctl.pipeline.document_records import (
    array_path,
    fingerprint,
    first_records,
    read_records,
)
from compactctl.pipeline.inline import lines_without_groups
from compactctl.records import Record, replace
from compactctl.store.archive.archive import Archive
from compactctl.store.archive.archive_file import archived_lines, raw_lines
from compactctl.store.archive.names import ArchiveFile
from compactctl.store.files.content import ends_mid_line
from compactctl.store.files.source import digest_of, split_lines


class ArchivedStep(Record, dict=True, gc=True):
    """A step whose state before is in an archive."""

    archive: Archive
    operation: Operation
    file: ArchiveFile

    @property
    def id(self) -> OperationId:
        """The id of the operation."""
        return self.operation.id

    @property
    def parent(self) -> OperationId | None:
        """The compaction in effect before, as recorded."""
        return self.operation.parent

    @property
    def head(self) -> OperationId | None:
        """The compaction in effect afterwards."""
        return self.operation.head

    @property
    def is_rewind(self) -> bool:
        """Whether it leads back to an earlier state."""
        return self.operation.kind == "rewind"

    @property
    def is_appended(self) -> bool:
        """Whether it appended records and changed nothing before them."""
        return self.operation.appended

    @property
    def records(self) -> DocumentRecords | None:
        """The records of the state after it, if that is a document."""
        return self.operation.records

    @property
    def format(self) -> str:
        """The format of the transcript."""
        return self.operation.format

    @property
    def counter(self) -> str:
        """The counter of the tokens."""
        return self.operation.counter

    @property
    def where(self) -> str:
        """The path of its archive."""
        return str(self.file.path)

    @property
    def before_digest(self) -> Digest:
        """The digest of the state before it."""
        return self.operation.before

    @property
    def after(self) -> Digest:
        """The digest of the state after it."""
        return self.operation.after

    @property
    def is_without_stages(self) -> bool:
        """Whether it removed records without a stage, as its record says."""
        return self.operation.kind in ("undo", "end")

    def before(self) -> Iterator[bytes]:
        """Yield the lines of the state before it, with one row group in memory at a time."""
        return raw_lines(self.file.path, self.archive.limits)

    def rows(self) -> Iterator[ArchivedLine]:
        """Yield the lines of the state before it with their fates."""
        return archived_lines(self.file.path, self.archive.limits)


class _Undone(Record):
    """The rows of the state before an inline step, and its outcome without what was added since.

    ``path`` leads to the records of a document.
    """

    rows: tuple[ArchivedLine, ...]
    outcome: bytes
    path: tuple[str, ...] | None


class InlineStep(Record, dict=True, gc=True):
    """A step whose records are in the transcript itself, beside the originals they hide.

    ``read_state`` returns a state that begins with the outcome of the step; ``where`` names it in
    errors. ``parent`` is the compaction in effect before.
    """

    operation: InlineOperation
    parent: OperationId | None
    format: str
    where: str
    read_state: Callable[[], bytes]
    counter: str = ""
    is_rewind: bool = False
    is_appended: bool = False
    is_without_stages: bool = False

    @property
    def id(self) -> OperationId:
        """The id of the operation."""
        return self.operation.id

    @property
    def head(self) -> OperationId:
        """The compaction in effect afterwards: itself."""
        return self.operation.id

    @property
    def before_digest(self) -> Digest:
        """The digest of the state before it, with no lines."""
        return Digest(sha256=self.operation.sha256, n_bytes=self.operation.n_bytes, n_lines=0)

    @property
    def after(self) -> Digest:
        """The digest of the state after it; IntegrityError when its originals were edited."""
        return digest_of(self._undone.outcome)

    @property
    def records(self) -> DocumentRecords | None:
        """The records of the state after it, if that is a document."""
        return read_records((self._undone.outcome,), self._undone.path)

    def before(self) -> Iterator[bytes]:
        """Yield the lines of the state before it; raises IntegrityError first if any was edited."""
        return (row.raw for row in self.rows())

    def rows(self) -> Iterator[ArchivedLine]:
        """Yield the lines of the state before it with their fates."""
        return iter(self._undone.rows)

    @cached_property
    def _undone(self) -> _Undone:
        state = self.read_state()
        lines, chosen = split(split_lines(state), self.where, self.format or None)
        transcript = parse(lines, chosen)
        restored = lines_without_groups(lines, transcript, self.operation.groups)
        rows = tuple(
            ArchivedLine(
                raw=raw, fate="kept" if raw == lines[index] else "replaced", after_line=index
            )
            for index, raw in enumerate(restored)
            if raw is not None
        )
        path = array_path(lines, transcript)
        undone = _undo_lines(self.operation, state, rows, path)
        undone = undone or _undo_records(self.operation, state, rows, path)
        if undone is None:
            raise IntegrityError(
                f"{self.where}: undoing operation {self.id} does not restore the recorded bytes; "
                "the file was edited since; restore it from a backup, or undo its groups one by "
                "one"
            )
        return undone


def _undo_lines(
    operation: InlineOperation,
    state: bytes,
    rows: Sequence[ArchivedLine],
    path: tuple[str, ...] | None,
) -> _Undone | None:
    """Return what undoing leads to if ``rows`` begin with the recorded bytes, else None."""
    data = b"".join(row.raw for row in rows)
    before, appended = data[: operation.n_bytes], data[operation.n_bytes :]
    if hashlib.sha256(before).hexdigest() != operation.sha256:
        return None
    size = len(state) - len(appended)
    # The line end that a compaction adds to the last line is part of its outcome.
    if appended.startswith(b"\n") and ends_mid_line(before):
        size += 1
    ends = accumulate(len(row.raw) for row in rows)
    cut = (
        replace(row, raw=row.raw[: len(row.raw) - max(0, end - operation.n_bytes)])
        for row, end in zip(rows, ends, strict=True)
        if end - len(row.raw) < operation.n_bytes
    )
    return _Undone(rows=tuple(cut), outcome=state[:size], path=path)


def _undo_records(
    operation: InlineOperation,
    state: bytes,
    rows: Sequence[ArchivedLine],
    path: tuple[str, ...] | None,
) -> _Undone | None:
    """Return what undoing leads to if a document begins with the recorded records, else None."""
    before = read_records((row.raw for row in rows), path)
    after = read_records((state,), path)
    count = operation.n_records
    if path is None or before is None or after is None or not count:
        return None
    if fingerprint(before.digests[:count]) != operation.records_sha256:
        return None
    n_added = len(before.digests) - count
    document = first_records(b"".join(row.raw for row in rows), path, count)
    return _Undone(
        rows=(ArchivedLine(raw=document, fate="replaced", after_line=0),),
        outcome=first_records(state, path, len(after.digests) - n_added),
        path=path,
    )


OperationStep = ArchivedStep | InlineStep
"""An operation, and the states before and after it, wherever its originals are."""
