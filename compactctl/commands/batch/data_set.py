"""The conversations of a Parquet data set: a row for each, and the file with them compacted."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from typing import TYPE_CHECKING, Any

from compactctl import __version__
from compactctl.commands.batch.one_file import attempt, measured_row
from compactctl.commands.batch.options import BatchOptions
from compactctl.commands.batch.row import BatchRow, RowOutcome, RowOutput
from compactctl.commands.batch.tasks import FileTask, WorkedFile, make_folder
from compactctl.commands.compact.audits import require_audit, summaries_of
from compactctl.commands.compact.in_memory import CompactedLines, compact_lines, lines_of, value_of
from compactctl.commands.compact.summing_up import fates_by_id
from compactctl.commands.measuring.figures import NO_DETAILS, FileDetails, details_of
from compactctl.commands.measuring.measure import measure
from compactctl.commands.measuring.next_request import Totals
from compactctl.commands.reading.transcript import check_strict, loaded_from
from compactctl.errors import DoesNotFitError
from compactctl.llm.summarizer_options import summarizer_for
from compactctl.model.operation import Digest, Operation, OperationId, StageRecord
from compactctl.pipeline.archive_rows import rewind_rows
from compactctl.pipeline.run import sum_counts
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.archive.names import archive_folder
from compactctl.store.files.content import Content, StreamPieces, rechunk
from compactctl.store.files.filesystem import FileSystem, disk_errors
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.parquet_dataset import FORMAT, ParquetDataset, open_dataset
from compactctl.store.files.source import FileLines, Source, digest_of
from compactctl.store.publish.publish import publish

if TYPE_CHECKING:
    from compactctl.commands.batch.report_format import Status

# What is sent of a conversation without messages.
_NOTHING = Totals(messages=0, tokens=0, largest_counted=0, unseen=0)
RunStages = Sequence[tuple[StageRecord, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneConversation:
    """What became of one conversation, which is ``value`` now."""

    row: BatchRow
    value: Any
    stages: tuple[StageRecord, ...] = ()
    details: FileDetails | None = None


def run_data_set(options: BatchOptions, task: FileTask) -> WorkedFile:
    """Measure or compact the conversations of a data set, or of some of its row groups.

    Raises NoInputError, NotUnderstoodError and UsageError for the file, and what writing does; a
    conversation that fails is a failed row and stays as it is.
    """
    data = open_dataset(task.input.path, options.files.column)
    work = _Conversations(options, data)
    if options.writes and task.output is not None:
        return _written(work, task.output)
    groups = task.groups or range(len(data.groups))
    first = data.groups[groups[0]].first if groups else 1
    return _as_file(list(work.done(data.values(groups, options.input.limits), first)))


def _written(work: "_Conversations", output: str) -> WorkedFile:
    done: list[DoneConversation] = []

    def replaced(values: list[Any]) -> list[Any]:
        conversations = list(work.done(values, len(done) + 1))
        # Of what is in the new file already only the rows are needed.
        done.extend(replace(conversation, value=None) for conversation in conversations)
        return [conversation.value for conversation in conversations]

    def stages() -> list[tuple[StageRecord, ...]]:
        return [conversation.stages for conversation in done if conversation.row.status == "ok"]

    written, operation = write_data_set(work.data, output, replaced, stages, work.options)
    return _as_file([replace(each, row=_placed(each.row, written, operation)) for each in done])


def _placed(row: BatchRow, written: RowOutput, operation: str | None) -> BatchRow:
    """Return the row of a conversation with where it is now, and by which operation."""
    if row.status == "ok" and row.outcome is not None:
        row = replace(row, outcome=replace(row.outcome, operation=operation))
    return replace(row, output=written)


def _as_file(done: Sequence[DoneConversation]) -> WorkedFile:
    details = tuple(each.details for each in done if each.details is not None)
    return WorkedFile(rows=tuple(each.row for each in done), details=details)


class _Conversations:
    """Measures or compacts conversations of one data set."""

    def __init__(self, options: BatchOptions, data: ParquetDataset) -> None:
        self.options, self.data = options, data
        # Many conversations follow one another.
        self._measure = replace(options.recipe.measure, worth_loading=0)
        self._recipe = replace(options.recipe, measure=self._measure)
        self._summarizer = summarizer_for(options.recipe.summarizer) if options.compacts else None

    def done(self, values: Iterator[Any] | Sequence[Any], first: int) -> Iterator[DoneConversation]:
        """Yield what became of each; ``first`` is the number of the first one's row."""
        for number, value in enumerate(values, first):
            yield self._one(f"{self.data.path}#{number}", number, value)

    def _one(self, name: str, number: int, value: object) -> DoneConversation:
        started = monotonic()
        work: Callable[[], DoneConversation] = partial(
            self._compacted if self.options.compacts else self._measured, name, value
        )
        if not value:
            work = partial(self._empty, name, value)
        found = attempt(name, self.options.timeout, work)
        done = DoneConversation(row=found, value=value) if isinstance(found, BatchRow) else found
        took = round(1000 * (monotonic() - started))
        return replace(done, row=replace(done.row, row=number, milliseconds=took))

    def _empty(self, name: str, value: object) -> DoneConversation:
        """Return what becomes of a row without a conversation: it counts nothing."""
        row = BatchRow(path=name)
        if self.options.compacts:
            row = replace(row, status="unchanged", outcome=RowOutcome(after=_NOTHING))
        return DoneConversation(row=row, value=value)

    def _measured(self, name: str, value: object) -> DoneConversation:
        source = _source(value, self.data.kind)
        asked = self.options.input
        transcript = loaded_from(source, name, asked.format, asked.limits).transcript
        check_strict(transcript, self.options.input.at(name))
        measured = measure(transcript, self._measure)
        measured.meter.prime(transcript.effective)
        row = measured_row(name, source.digest.sha256, transcript, measured)
        wanted = self.options.details != NO_DETAILS
        details = details_of(name, transcript, measured, self.options.details) if wanted else None
        return DoneConversation(row=row, value=value, details=details)

    def _compacted(self, name: str, value: object) -> DoneConversation:
        source = _source(value, self.data.kind)
        made = compact_lines(
            source.lines, self.options.input.at(name), self._recipe, self._summarizer
        )
        self._check(name, made)
        outcome = made.run.outcome
        compacted = value_of(value, self.data.kind, made) if made.run.applied.edits else value
        is_same = compacted == value
        row = measured_row(name, source.digest.sha256, made.transcript, made.measured)
        status: Status = "unchanged" if is_same else "ok"
        return DoneConversation(
            row=replace(row, status=status, outcome=RowOutcome.of(outcome)),
            value=value if is_same else compacted,
            stages=outcome.stages,
            details=self._details(name, made),
        )

    def _check(self, name: str, made: CompactedLines) -> None:
        """Raise for what the user does not want to be written."""
        check_strict(made.transcript, self.options.input.at(name))
        applied, meter = made.run.applied, made.measured.meter
        if self.options.require_audit:
            cwd = made.transcript.session.cwd
            require_audit(name, summaries_of(applied, {}, meter, cwd, include_built_in=True))
        if self.options.require_fit and not made.fits:
            raise DoesNotFitError(
                f"{name}: {made.largest_after:,} tokens are left after all stages, over the limit "
                f"of {made.limit:,}; it stays as it is, add a stage or keep less"
            )

    def _details(self, name: str, made: CompactedLines) -> FileDetails | None:
        if self.options.details == NO_DETAILS:
            return None
        left = fates_by_id(made.run.applied, made.measured.meter)
        return details_of(name, made.transcript, made.measured, self.options.details, left)


def _source(value: object, kind: object) -> Source:
    lines = lines_of(value, kind)
    return Source(path=None, lines=lines, digest=digest_of(lines))


def write_data_set(
    data: ParquetDataset,
    output: str,
    replaced: Callable[[list[Any]], list[Any]],
    stages: Callable[[], RunStages],
    options: BatchOptions,
) -> tuple[RowOutput, OperationId | None]:
    """Write a data set with the conversations that ``replaced`` makes of those of a row group.

    ``stages`` are those of the conversations that were changed, known when all is done. Without
    any the old file is written as it is, and there is no operation. Raises as ``publish`` and
    ``ParquetDataset.write_with`` do.

    The archive holds the bytes of the old file, as it does of any transcript: a Parquet file that
    is written again is never the same.
    """
    place = Path(output)
    make_folder(place.parent)
    source = _file_source(data.path, options.input.limits)
    with (
        disk_errors(place, "nothing was written there"),
        TemporaryFile(dir=place.parent) as stream,
    ):
        data.write_with(stream, replaced, options.input.limits)
        changed = stages()
        content = Content.from_chunks(StreamPieces(stream)) if changed else source.content
        # What cannot be read again could not be rewound either.
        _check(content, options.input.limits, output)
        deposits = [_deposit(source, content.digest, changed)] if changed else []
        publish(
            FileSystem(),
            source=source,
            target=place,
            deposits=deposits,
            content=content,
            force=options.output.force,
        )
    archive = str(archive_folder(place)) if deposits else None
    written = RowOutput(path=output, sha256=content.digest.sha256, archive=archive)
    return written, deposits[0].operation.id if deposits else None


def _file_source(path: Path, limits: ReadLimits) -> Source:
    """Return the file's bytes in pieces that end where lines do, as states are described by lines.

    Nothing that is appended to it belongs to it: it has no identity to compare.
    """
    pieces = FileLines(path)
    with path.open("rb") as stream:
        content = Content.from_chunks(
            pieces.record(rechunk(limits.limited_lines(stream, str(path))))
        )
    return Source(path=None, lines=pieces, digest=content.digest, limits=limits)


def _check(content: Content, limits: ReadLimits, output: str) -> None:
    """Raise NoInputError for more than ``rewind`` would read."""
    limits.check_size(content.digest.n_bytes, output)
    limits.check_lines(content.digest.n_lines, output)


def _deposit(source: Source, after: Digest, changed: RunStages) -> ArchiveDraft:
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
    return ArchiveDraft(operation, rewind_rows(source.lines))


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
            figures=sum_counts(*(record.figures for record in records)),
        )
