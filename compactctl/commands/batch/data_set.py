"""Processes the conversations of a Parquet data set: a row for each, and a compacted copy."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from typing import Any

from compactctl import __version__
from compactctl.commands.batch.attempts import attempt
from compactctl.commands.batch.measured_rows import measured_row
from compactctl.commands.batch.options import BatchOptions
from compactctl.commands.batch.row import BatchRow, RowOutcome, RowOutput
from compactctl.commands.batch.tasks import FileTask, WorkedFile, make_folder
from compactctl.commands.compact.audits import require_audit, summaries_of
from compactctl.commands.compact.in_memory import CompactedLines, compact_lines
from compactctl.commands.compact.stored_request import StoredRequest
from compactctl.commands.compact.summing_up import fates_by_id
from compactctl.commands.measuring.acceptance import faults_of
from compactctl.commands.measuring.figures import FileDetails, details_of
from compactctl.commands.measuring.measure import NO_DETAILS, measure
from compactctl.commands.measuring.next_request import Totals
from compactctl.commands.reading.transcript import check_strict, loaded_from
from compactctl.errors import DoesNotFitError
from compactctl.history.faults import refused_among
from compactctl.llm.summarizer_options import summarizer_for
from compactctl.model.operation import Digest, Operation, OperationId, StageRecord
from compactctl.pipeline.archive_rows import rewind_rows
from compactctl.pipeline.run import sum_counts
from compactctl.records import Record, replace
from compactctl.store.archive.archive_writer import ArchiveDraft
from compactctl.store.archive.names import archive_folder
from compactctl.store.files.content import Content, StreamPieces, rechunk
from compactctl.store.files.filesystem import FileSystem, disk_errors
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.parquet_dataset import FORMAT, ParquetDataset, open_dataset
from compactctl.store.files.source import FileLines, Source, digest_of
from compactctl.store.publish.publish import publish

# The totals of a conversation without messages.
_NOTHING = Totals(messages=0, tokens=0, largest_counted=0, unseen=0)
RunStages = Sequence[tuple[StageRecord, ...]]


class ConversationOutcome(Record):
    """The row of a processed conversation, and its ``value`` in the new file."""

    row: BatchRow
    value: Any
    stages: tuple[StageRecord, ...] = ()
    details: FileDetails | None = None


def run_data_set(options: BatchOptions, task: FileTask) -> WorkedFile:
    """Measure or compact the conversations of a data set, or of some of its row groups.

    A conversation that fails becomes a failed row and stays unchanged. Raises NoInputError,
    NotUnderstoodError and UsageError for the file, and as writing does.
    """
    data = open_dataset(task.input.path, options.files.column)
    work = _Conversations(options, data)
    if options.writes and task.output is not None:
        return _write_conversations(work, task.output)
    if not task.groups:
        data.check(options.input.limits)
        for column in data.tools:
            column.check(options.input.limits)
    groups = task.groups or range(len(data.groups))
    first = data.groups[groups[0]].first if groups else 1
    values = data.values(groups, options.input.limits)
    tools = data.tool_values(groups, options.input.limits)
    measured = work.process(values, tools, first)
    # A value may have the size of a line: only one is in memory.
    return _as_file([replace(conversation, value=None) for conversation in measured])


def _write_conversations(work: "_Conversations", output: str) -> WorkedFile:
    done: list[ConversationOutcome] = []
    all_groups = range(len(work.data.groups))
    tools = work.data.tool_values(all_groups, work.options.input.limits)

    def replaced(values: list[Any]) -> list[Any]:
        conversations = list(work.process(values, tools, len(done) + 1))
        # Values already in the new file need not stay in memory.
        done.extend(replace(conversation, value=None) for conversation in conversations)
        return [conversation.value for conversation in conversations]

    def stages() -> list[tuple[StageRecord, ...]]:
        return [conversation.stages for conversation in done if conversation.row.is_changed]

    written, operation = write_data_set(work.data, output, replaced, stages, work.options)
    return _as_file(
        [
            replace(conversation, row=_with_output(conversation.row, written, operation))
            for conversation in done
        ]
    )


def _with_output(row: BatchRow, written: RowOutput, operation: str | None) -> BatchRow:
    """Add the file that a conversation was written to, and the operation, to its row."""
    if row.outcome is not None and row.is_changed:
        row = replace(row, outcome=replace(row.outcome, operation=operation))
    return replace(row, output=written)


def _as_file(done: Sequence[ConversationOutcome]) -> WorkedFile:
    details = tuple(
        conversation.details for conversation in done if conversation.details is not None
    )
    return WorkedFile(rows=tuple(conversation.row for conversation in done), details=details)


_Tools = tuple[object, ...]
"""The values of a row that may be its tools."""


class _Conversations:
    """Measures or compacts conversations of one data set."""

    def __init__(self, options: BatchOptions, data: ParquetDataset) -> None:
        self.options, self.data = options, data
        self._summarizer = summarizer_for(options.recipe.summarizer) if options.compacts else None

    def process(
        self, values: Iterable[Any], tools: Iterator[_Tools], first: int
    ) -> Iterator[ConversationOutcome]:
        """Process conversations; ``first`` is the row number of the first one.

        The next values of ``tools`` are those of the same rows.
        """
        for index, value in enumerate(values, first):
            yield self._one(f"{self.data.path}#{index}", index, value, next(tools))

    def _one(self, name: str, index: int, value: object, tools: _Tools) -> ConversationOutcome:
        started = monotonic()
        work: Callable[[], ConversationOutcome] = partial(
            self._compacted if self.options.compacts else self._measured, name, value, tools
        )
        if not value:
            work = partial(self._empty, name, value)
        outcome = attempt(name, self.options, work)
        done = (
            ConversationOutcome(row=outcome, value=value)
            if isinstance(outcome, BatchRow)
            else outcome
        )
        took = round(1000 * (monotonic() - started))
        return replace(done, row=replace(done.row.numbered(index, index - 1), milliseconds=took))

    def _empty(self, name: str, value: object) -> ConversationOutcome:
        """Return the outcome of a row without a conversation."""
        row = BatchRow(path=name)
        if self.options.compacts:
            row = replace(row, outcome=RowOutcome(after=_NOTHING, is_unchanged=True))
        return ConversationOutcome(row=row, value=value)

    def _measured(self, name: str, value: object, tools: _Tools) -> ConversationOutcome:
        source = _source(self._request(value, tools))
        input_options = self.options.input
        transcript = loaded_from(
            source, name, input_options.format, input_options.limits
        ).transcript
        check_strict(transcript, self.options.input.at(name))
        measured = measure(transcript, self.options.recipe.measure)
        measured.meter.prime(transcript.effective)
        row = measured_row(name, source.digest.sha256, transcript, measured, self.options)
        has_details = self.options.details != NO_DETAILS
        details = (
            details_of(name, transcript, measured, self.options.details) if has_details else None
        )
        return ConversationOutcome(row=row, value=value, details=details)

    def _compacted(self, name: str, value: object, tools: _Tools) -> ConversationOutcome:
        request = self._request(value, tools)
        source = _source(request)
        compacted = compact_lines(
            source.lines, self.options.input.at(name), self.options.recipe, self._summarizer
        )
        self._check(name, compacted)
        outcome = compacted.run.outcome
        new_value = request.new_value(compacted) if compacted.run.applied.edits else value
        is_same = new_value == value
        measured = compacted.measured
        row = measured_row(name, source.digest.sha256, compacted.transcript, measured, self.options)
        row_outcome = RowOutcome.of(
            outcome,
            is_refused=bool(refused_among(faults_of(compacted.written, measured))),
            is_unchanged=is_same,
        )
        return ConversationOutcome(
            row=replace(row, outcome=row_outcome, target=outcome.target),
            value=value if is_same else new_value,
            stages=outcome.stages,
            details=self._details(name, compacted),
        )

    def _request(self, value: object, tools: _Tools) -> StoredRequest:
        return StoredRequest.of(
            value, self.data.kind, *tools, format_name=self.options.input.format
        )

    def _check(self, name: str, compacted: CompactedLines) -> None:
        """Raise if ``--strict``, ``--require-audit`` or ``--require-fit`` forbids the result."""
        check_strict(compacted.transcript, self.options.input.at(name))
        applied, meter = compacted.run.applied, compacted.measured.meter
        if self.options.require_audit:
            cwd = compacted.transcript.session.cwd
            require_audit(name, summaries_of(applied, {}, meter, cwd, include_built_in=True))
        if self.options.require_fit and not compacted.judgment.is_within:
            raise DoesNotFitError(
                f"{name}: {compacted.largest_after:,} tokens after all stages, over the limit of "
                f"{compacted.limit:,}; not changed; add a stage or protect less"
            )

    def _details(self, name: str, compacted: CompactedLines) -> FileDetails | None:
        if self.options.details == NO_DETAILS:
            return None
        effects = fates_by_id(compacted.run.applied, compacted.measured.meter)
        return details_of(
            name,
            compacted.transcript,
            compacted.measured,
            self.options.details,
            effects,
        )


def _source(request: StoredRequest) -> Source:
    return Source(path=None, lines=request.lines, digest=digest_of(request.lines))


def write_data_set(
    data: ParquetDataset,
    output: str,
    replaced: Callable[[list[Any]], list[Any]],
    stages: Callable[[], RunStages],
    options: BatchOptions,
) -> tuple[RowOutput, OperationId | None]:
    """Write a data set with the conversations of each row group replaced by ``replaced``.

    ``stages`` returns the records of changed conversations once all are done. If there are none,
    the old file is copied, and there is no operation. Raises as ``publish`` and
    ``ParquetDataset.write_with`` do.

    The archive holds the bytes of the old file, as for any transcript: rewriting a Parquet file
    never gives the same bytes.
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
        # A file too large to be read again could not be rewound either.
        _check(content, options.input.limits, output)
        deposits = [_deposit(source, content.digest, changed)] if changed else []
        publish(
            FileSystem(),
            source=source,
            target=place,
            drafts=deposits,
            content=content,
            force=options.output.force,
        )
    archive = str(archive_folder(place)) if deposits else None
    written = RowOutput(path=output, sha256=content.digest.sha256, archive=archive)
    return written, deposits[0].operation.id if deposits else None


def _file_source(path: Path, limits: ReadLimits) -> Source:
    """Return the file's bytes in chunks that end at line ends, since digests count lines.

    The source has no path, so nothing appended to the file is carried over.
    """
    pieces = FileLines(path)
    with path.open("rb") as stream:
        content = Content.from_chunks(
            pieces.record(rechunk(limits.limited_lines(stream, str(path))))
        )
    return Source(path=None, lines=pieces, digest=content.digest, limits=limits)


def _check(content: Content, limits: ReadLimits, output: str) -> None:
    """Raise NoInputError for a file that ``rewind`` would refuse to read."""
    limits.check_size(content.digest.n_bytes, output)
    limits.check_lines(content.digest.n_lines, output)


def _deposit(source: Source, after: Digest, changed: RunStages) -> ArchiveDraft:
    content = f"{source.digest.sha256} {after.sha256} {__version__}"
    operation_id = OperationId(hashlib.sha256(content.encode()).hexdigest()[:12])
    operation = Operation(
        id=operation_id,
        parent=None,
        head=operation_id,
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
    """Yield one record per stage over all conversations, in the order of their first run."""
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
