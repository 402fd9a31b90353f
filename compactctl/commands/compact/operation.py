"""The operation that a compaction is: its id, the new file, and what the archive is to hold."""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime

from compactctl import __version__
from compactctl.commands.appending.block import with_block
from compactctl.commands.compact.job import CompactionJob
from compactctl.commands.operations.inline import own_fields
from compactctl.model.operation import Digest, Operation, OperationId
from compactctl.pipeline.apply import fold
from compactctl.pipeline.archive_rows import archive_rows
from compactctl.pipeline.edit_codec import content_of
from compactctl.pipeline.layout import LayoutStyle, lay_out
from compactctl.pipeline.new_file import NewFile
from compactctl.store.archive.deposit import Deposit


def operation_id(job: CompactionJob) -> OperationId:
    """Return the id of the operation, which follows from its content."""
    content = {
        "before": job.loaded.source.digest.sha256,
        "stages": [(record.name, _plain(record.options)) for record in job.outcome.stages],
        "edits": content_of(job.outcome.edits),
        "format": job.loaded.format.name,
        "tool": __version__,
        "layout": job.options.output.layout,
        "tags": job.options.output.tags,
        "own": job.own_fields,
        "restated": job.restated.tokens if job.restated else None,
    }
    text = json.dumps(content, sort_keys=True)
    return OperationId(hashlib.sha256(text.encode()).hexdigest()[:12])


def new_file(job: CompactionJob, operation: OperationId) -> NewFile:
    """Lay out the new transcript; inline it carries the operation itself.

    Where records are appended, these are laid out behind all that is there.
    """
    inline = job.options.output.layout == "inline"
    loaded, own = job.loaded, job.own_fields
    if inline:
        own |= own_fields(loaded.lines, loaded.transcript, loaded.source.digest, job.parent)
    style = LayoutStyle(
        layout="inline" if inline else "split",
        operation=operation,
        tags=inline or (job.options.output.tags and not job.options.output.messages_only),
        own=own,
        restated=job.restated,
    )
    folded = fold(job.outcome.edits)
    lines = lay_out(loaded.lines, loaded.transcript, folded, loaded.format, style)
    if job.whole is None:
        return NewFile(loaded.lines, lines)
    return with_block(job.whole, [line.data for line in lines], operation)


def deposit_of(job: CompactionJob, operation: OperationId, new: NewFile, after: Digest) -> Deposit:
    """Return the operation and the rows that lead back, for the archive."""
    loaded, meter = job.whole or job.loaded, job.measured.meter
    sizes = {message.id: meter.message(message) for message in job.outcome.before}
    record = Operation(
        id=operation,
        parent=job.parent,
        head=operation,
        kind="compact",
        before=loaded.source.digest,
        after=after,
        format=loaded.format.name,
        counter=job.measured.counter.id,
        stages=job.outcome.stages,
        appended=job.whole is not None,
        tool_version=__version__,
        recorded_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return record, archive_rows(loaded.lines, new, loaded.transcript, job.outcome, sizes)


def _plain(options: Mapping[str, object]) -> dict[str, object]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in options.items()}
