"""Runs one task of a batch in a worker process, from its path to its rows."""

from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from compactctl.clients.databases import is_in_database
from compactctl.commands.batch.attempts import attempt
from compactctl.commands.batch.measured_rows import (
    compacted_rows,
    conversation_details,
    conversation_rows,
    measured_row,
)
from compactctl.commands.batch.options import BatchOptions
from compactctl.commands.batch.row import (
    BatchRow,
    RowMeasure,
    RowOutcome,
    RowOutput,
    failed_row,
)
from compactctl.commands.batch.staging import is_remote, run_staged
from compactctl.commands.batch.tasks import FileTask, WorkedFile, make_folder
from compactctl.commands.measuring.figures import details_of
from compactctl.commands.measuring.measure import NO_DETAILS, measure
from compactctl.commands.reading.transcript import check_strict, open_transcript, scan
from compactctl.errors import (
    INTERNAL_ERROR,
    NoInputError,
    NotATranscriptError,
)
from compactctl.records import replace
from compactctl.store.files.source import sha256_of

if TYPE_CHECKING:
    from compactctl.commands.client_sessions.write import Written
    from compactctl.commands.compact.result import CompactOptions


def run_file(options: BatchOptions, task: FileTask) -> WorkedFile:
    """Measure or compact one file. Never raises an Exception: failures become rows."""
    path = task.input.path
    if is_remote(task) and task.input.problem is None:
        # The limit is for copying, too.
        untimed = replace(options, timeout=None)
        work = partial(run_staged, task, partial(run_file, untimed), options.input.limits)
        return _as_file(attempt(path, options, work))
    if task.is_data_set and task.input.problem is None:
        # Each of its conversations is timed and limited separately.
        untimed = replace(options, timeout=None)
        return _as_file(attempt(path, untimed, partial(_data_set, options, task)))
    started = monotonic()
    process = _compacted_file if options.compacts else _measured_file
    outcome = _as_file(
        _skipped(attempt(path, options, partial(process, options, task)), options, task)
    )
    took = round(1000 * (monotonic() - started))
    rows = tuple(replace(row, milliseconds=took) for row in outcome.rows)
    return replace(outcome, rows=rows)


def worker_died(task: FileTask) -> WorkedFile:
    """Return the outcome of a file whose worker process died."""
    path = task.input.path
    why = f"{path}: the worker process died (killed, or out of memory); run it alone to see why"
    return _as_file(failed_row(path, "WorkerDied", why, INTERNAL_ERROR))


def _skipped(
    outcome: WorkedFile | BatchRow, options: BatchOptions, task: FileTask
) -> WorkedFile | BatchRow:
    """Mark the row of a file found in a folder that is not a transcript as skipped, not failed."""
    is_expected = options.input.strict or (task.input.is_named and not options.files.skip_unknown)
    if (
        is_expected
        or isinstance(outcome, WorkedFile)
        or outcome.failure is None
        or outcome.failure.error_class != NotATranscriptError.__name__
    ):
        return outcome
    return replace(outcome, is_skipped=True)


def _as_file(outcome: WorkedFile | BatchRow) -> WorkedFile:
    return WorkedFile(rows=(outcome,)) if isinstance(outcome, BatchRow) else outcome


def _data_set(options: BatchOptions, task: FileTask) -> WorkedFile:
    # Imported late: it loads pyarrow, which other batches do not need.
    from compactctl.commands.batch.data_set import run_data_set

    return run_data_set(options, task)


def _measured_file(options: BatchOptions, task: FileTask) -> WorkedFile:
    _check_problem(task)
    path, input_options = task.input.path, options.input.at(task.input.path)
    transcript = scan(input_options)
    check_strict(transcript, input_options)
    measured = measure(transcript, options.recipe.measure)
    measured.meter.prime(transcript.effective)
    rows = conversation_rows(path, transcript, options) or (
        measured_row(path, _digest(path), transcript, measured, options),
    )
    if options.details == NO_DETAILS:
        return WorkedFile(rows=rows)
    details = details_of(path, transcript, measured, options.details)
    return WorkedFile(rows=rows, details=conversation_details(path, transcript, details))


def _compacted_file(options: BatchOptions, task: FileTask) -> WorkedFile:
    from compactctl.commands.compact.compact import compact, compact_for_figures

    _check_problem(task)
    if options.writes and task.output is not None:
        make_folder(Path(task.output).parent)
    run = compact if options.writes else compact_for_figures
    result = run(_compact_options(options, task))
    row = BatchRow(
        path=task.input.path,
        sha256=_digest(task.input.path),
        measure=RowMeasure.of(result.format, result.measure),
        figures=result.requested.figures,
        outcome=RowOutcome.of(
            result.outcome,
            result.change.operation,
            is_refused=result.judgment.is_refused,
            is_unchanged=result.change.operation is None,
        ),
        target=result.outcome.target,
        output=None if result.written is None else _output(result.written),
    )
    rows = compacted_rows(row, result.outcome, result.remaining, options)
    details = result.requested.details
    if details is None:
        return WorkedFile(rows=rows)
    if rows == (row,):
        return WorkedFile(rows=rows, details=(details,))
    transcript = scan(options.input.at(task.input.path))
    return WorkedFile(rows=rows, details=conversation_details(task.input.path, transcript, details))


def _compact_options(options: BatchOptions, task: FileTask) -> "CompactOptions":
    from compactctl.commands.compact.result import CompactOptions

    return CompactOptions(
        input=options.input.at(task.input.path),
        recipe=options.recipe,
        output=replace(options.output, path=task.output, url=task.url, dry_run=not options.writes),
        require_fit=options.require_fit,
        require_audit=options.require_audit,
        figures=True,
        details=options.details,
    )


def _output(written: "Written") -> RowOutput:
    sha256 = sha256_of(Path(written.output))
    return RowOutput(path=written.output, sha256=sha256, archive=written.archive)


def _digest(path: str) -> str:
    """Return the SHA-256 of the input: of a file's bytes, or of what a database returned."""
    if is_in_database(path):
        return open_transcript(path).digest.sha256
    return sha256_of(Path(path))


def _check_problem(task: FileTask) -> None:
    if task.input.problem is not None:
        raise NoInputError(task.input.problem)
