"""A data set with compacted conversations, published with the archive that gives the old one back.

The archive holds the bytes of the old file, as it does of any transcript: a Parquet file that is
written again is never the same.
"""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from compactctl import __version__
from compactctl.commands.batch.options import BatchOptions
from compactctl.commands.batch.outputs import make_folder
from compactctl.model.operation import Digest, Operation, OperationId, StageRecord
from compactctl.pipeline.archive_rows import plain_rows
from compactctl.pipeline.run import summed
from compactctl.store.archive.deposit import Deposit
from compactctl.store.archive.names import archive_folder
from compactctl.store.files.content import Content, StreamPieces, blocks_of
from compactctl.store.files.data_set import FORMAT, DataSet
from compactctl.store.files.disk_errors import disk_errors
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.lines import Source
from compactctl.store.files.stored_lines import StoredLines
from compactctl.store.publish.publish import publish

RunStages = Sequence[tuple[StageRecord, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenDataSet:
    """Where a data set is now, and its digest.

    ``archive`` and ``operation`` are None where no conversation was changed.
    """

    output: str
    sha256: str
    archive: str | None
    operation: str | None


def write_data_set(
    data: DataSet,
    output: str,
    replaced: Callable[[list[Any]], list[Any]],
    stages: Callable[[], RunStages],
    options: BatchOptions,
) -> WrittenDataSet:
    """Write a data set with the conversations that ``replaced`` makes of those of a row group.

    ``stages`` are those of the conversations that were changed, known when all is done. Without
    any the old file is written as it is. Raises as ``publish`` and ``DataSet.write_with`` do.
    """
    place = Path(output)
    make_folder(place.parent)
    source = _source(data.path, options.input.limits)
    with (
        disk_errors(place, "nothing was written there"),
        TemporaryFile(dir=place.parent) as stream,
    ):
        data.write_with(stream, replaced, options.input.limits)
        changed = stages()
        content = Content.of(StreamPieces(stream)) if changed else source.content
        # What cannot be read again could not be rewound either.
        _check(content, options.input.limits, output)
        archives = [_deposit(source, content.digest, changed)] if changed else []
        publish(
            FileSystem(),
            source=source,
            target=place,
            archives=archives,
            content=content,
            force=options.force,
        )
    return WrittenDataSet(
        output=output,
        sha256=content.digest.sha256,
        archive=str(archive_folder(place)) if archives else None,
        operation=archives[0][0].id if archives else None,
    )


def _source(path: Path, limits: ReadLimits) -> Source:
    """Return the file's bytes in pieces that end where lines do, as states are described by lines.

    Nothing that is appended to it belongs to it: it has no identity to compare.
    """
    pieces = StoredLines(path)
    with path.open("rb") as stream:
        content = Content.of(pieces.taken(blocks_of(limits.lines_of(stream, str(path)))))
    return Source(path=None, lines=pieces, digest=content.digest, limits=limits)


def _check(content: Content, limits: ReadLimits, output: str) -> None:
    """Raise NoInputError for more than ``rewind`` would read."""
    limits.check_size(content.digest.n_bytes, output)
    limits.check_lines(content.digest.n_lines, output)


def _deposit(source: Source, after: Digest, changed: RunStages) -> Deposit:
    told = f"{source.digest.sha256} {after.sha256} {__version__}"
    name = OperationId(hashlib.sha256(told.encode()).hexdigest()[:12])
    operation = Operation(
        id=name,
        parent=None,
        head=name,
        kind="compact",
        before=source.digest,
        after=after,
        format=FORMAT,
        counter="",
        stages=tuple(_summed(changed)),
        tool_version=__version__,
        recorded_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return operation, plain_rows(source.lines)


def _summed(changed: RunStages) -> Iterable[StageRecord]:
    """Yield one record per stage, in the order of the first run, over all conversations."""
    by_name: dict[str, list[StageRecord]] = {}
    for record in chain.from_iterable(changed):
        by_name.setdefault(record.name, []).append(record)
    for name, records in by_name.items():
        is_applied = any(record.outcome == "applied" for record in records)
        yield StageRecord(
            name=name,
            options=records[0].options,
            outcome="applied" if is_applied else records[0].outcome,
            tokens_before=sum(record.tokens_before for record in records),
            tokens_after=sum(record.tokens_after for record in records),
            hidden=sum(record.hidden for record in records),
            replaced=sum(record.replaced for record in records),
            detail="" if is_applied else records[0].detail,
            figures=summed(*(record.figures for record in records)),
        )
