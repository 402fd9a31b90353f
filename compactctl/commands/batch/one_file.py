"""One task of a batch, from its path to its rows; runs in a worker process."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import cast

from compactctl.commands.batch.attempt import attempted
from compactctl.commands.batch.figures_row import compacted_row, figures_row
from compactctl.commands.batch.options import BatchOptions
from compactctl.commands.batch.outputs import make_folder
from compactctl.commands.batch.row import INTERNAL_ERROR, BatchRow, failed_row
from compactctl.commands.batch.task import FileTask, WorkedFile
from compactctl.commands.compact.compact import (
    CompactOptions,
    CompactResult,
    compact,
    compact_for_figures,
)
from compactctl.commands.forking.written import OutputOptions
from compactctl.commands.loading.database_path import is_in_database
from compactctl.commands.loading.load import check_strict, open_transcript, scan
from compactctl.commands.sizing.context_size import unseen_size
from compactctl.commands.sizing.details import NO_DETAILS, details_of
from compactctl.commands.sizing.figures import Figures, figures_of
from compactctl.commands.sizing.measure import measure
from compactctl.errors import NoInputError, NotATranscriptError
from compactctl.store.files.lines import sha256_of

GATE = 1


def run_file(options: BatchOptions, task: FileTask) -> WorkedFile:
    """Measure or compact one file. Never raises an Exception: what goes wrong is in the row."""
    path = task.input.path
    if task.is_data_set and task.input.problem is None:
        # Each conversation of it takes its own time, and has its own limit.
        return _as_file(attempted(path, None, partial(_data_set, options, task)))
    started = monotonic()
    work = _compacted if options.compacts else _measured
    outcome = _as_file(
        _skipped(attempted(path, options.timeout, partial(work, options, task)), options, task)
    )
    took = round(1000 * (monotonic() - started))
    rows = tuple(replace(row, milliseconds=took) for row in outcome.rows)
    return replace(outcome, rows=rows)


def judged(row: BatchRow, options: BatchOptions) -> BatchRow:
    """Return a row with the gate that it does not pass, if any, as its status."""
    if not row.is_read:
        return row
    if _is_over(row.used, options.fail_over) or _is_over(row.context, options.fail_over_tokens):
        return replace(row, status="over", exit_code=GATE)
    if set(options.fail_on).intersection(row.flags):
        return replace(row, status="flagged", exit_code=GATE)
    return row


def _skipped(
    outcome: WorkedFile | BatchRow, options: BatchOptions, task: FileTask
) -> WorkedFile | BatchRow:
    """Return the row of other data that merely lies in a folder as one that does not fail."""
    is_expected = options.input.strict or (task.input.is_named and not options.skip_unknown)
    if (
        is_expected
        or isinstance(outcome, WorkedFile)
        or outcome.error_class != NotATranscriptError.__name__
    ):
        return outcome
    return replace(outcome, status="skipped", exit_code=0)


def _is_over(found: float | None, limit: float | None) -> bool:
    return limit is not None and found is not None and found > limit


def died(task: FileTask) -> WorkedFile:
    """Return what became of a file whose worker process died."""
    path = task.input.path
    why = f"{path}: the worker process died (killed, or out of memory); run it alone to see why"
    return _as_file(failed_row(path, "WorkerDied", why, INTERNAL_ERROR))


def _as_file(outcome: WorkedFile | BatchRow) -> WorkedFile:
    return WorkedFile(rows=(outcome,)) if isinstance(outcome, BatchRow) else outcome


def _data_set(options: BatchOptions, task: FileTask) -> WorkedFile:
    # With what reads Parquet, which other batches have no use for.
    from compactctl.commands.batch.data_set import run_data_set

    return run_data_set(options, task)


def _measured(options: BatchOptions, task: FileTask) -> WorkedFile:
    _check_problem(task)
    path = task.input.path
    asked = options.input.at(path)
    transcript = scan(asked)
    check_strict(transcript, asked)
    measured = measure(transcript, options.recipe.measure)
    measured.meter.prime(transcript.effective)
    size = unseen_size(transcript, measured)
    figures = figures_of(transcript, measured, size)
    row = figures_row(path, _digest(path), transcript.format, measured, figures)
    if options.details == NO_DETAILS:
        return WorkedFile(rows=(row,))
    details = details_of(path, transcript, measured, options.details)
    return WorkedFile(rows=(row,), details=(details,))


def _compacted(options: BatchOptions, task: FileTask) -> WorkedFile:
    result = _compact(options, task)
    details = () if result.details is None else (result.details,)
    return WorkedFile(rows=(_compacted_row(task.input.path, result),), details=details)


def _compacted_row(path: str, result: CompactResult) -> BatchRow:
    # They were asked for.
    figures = cast("Figures", result.figures)
    before = figures_row(path, _digest(path), result.format, result.measure, figures)
    tokens = (result.tokens_before, result.tokens_after)
    row = compacted_row(before, result.measure, result.stages, tokens, result.largest_after)
    written = result.written
    return replace(
        row,
        status="unchanged" if result.operation is None else "ok",
        sha256_after=sha256_of(Path(written.output)) if written else None,
        output=written.output if written else None,
        archive=written.archive if written else None,
        operation=result.operation,
    )


def _compact(options: BatchOptions, task: FileTask) -> CompactResult:
    _check_problem(task)
    if options.writes and task.output is not None:
        make_folder(Path(task.output).parent)
    run = compact if options.writes else compact_for_figures
    return run(
        CompactOptions(
            input=options.input.at(task.input.path),
            recipe=options.recipe,
            output=OutputOptions(
                path=task.output,
                layout=options.layout,
                tags=options.tags,
                dry_run=not options.writes,
                force=options.force,
            ),
            require_fit=options.require_fit,
            require_audit=options.require_audit,
            figures=True,
            details=options.details,
        )
    )


def _digest(path: str) -> str:
    """Return the digest of what was read: a file's own bytes, or what a database gave."""
    if is_in_database(path):
        return open_transcript(path).digest.sha256
    return sha256_of(Path(path))


def _check_problem(task: FileTask) -> None:
    if task.input.problem is not None:
        raise NoInputError(task.input.problem)
