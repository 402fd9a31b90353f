"""One file of a batch, from its path to its row; runs in a worker process."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import cast

from compactctl.commands.batch.options import BatchOptions
from compactctl.commands.batch.outputs import make_folder
from compactctl.commands.batch.row import INTERNAL_ERROR, BatchRow, Flag, failed_row
from compactctl.commands.batch.time_limit import TOOK_TOO_LONG, TookTooLongError, time_limit
from compactctl.commands.compact.compact import (
    CompactOptions,
    CompactResult,
    compact,
    compact_for_figures,
)
from compactctl.commands.loading.discover import Input
from compactctl.commands.loading.load import check_strict, scan
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.sizing.context_size import unseen_size
from compactctl.commands.sizing.details import NO_DETAILS, FileDetails, details_of
from compactctl.commands.sizing.figures import Figures, figures_of
from compactctl.commands.sizing.measure import Measure, measure
from compactctl.errors import CompactctlError, NoInputError, is_out_of_memory
from compactctl.model.operation import StageRecord
from compactctl.store.files.lines import sha256_of
from compactctl.tokens.budget import usage_of

GATE = 1
# As for disks.
OUT_OF_MEMORY = 74


@dataclass(frozen=True, slots=True, kw_only=True)
class FileTask:
    """One input and where its compacted transcript goes, None for nowhere."""

    input: Input
    output: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkedFile:
    """What became of one file; ``details`` where they are wanted and there are any."""

    row: BatchRow
    details: FileDetails | None = None


def run_file(options: BatchOptions, task: FileTask) -> WorkedFile:
    """Measure or compact one file. Never raises an Exception: what goes wrong is in the row."""
    started = monotonic()
    outcome = _worked_on(options, task)
    took = round(1000 * (monotonic() - started))
    return replace(outcome, row=replace(outcome.row, milliseconds=took))


def judged(row: BatchRow, options: BatchOptions) -> BatchRow:
    """Return a row with the gate that it does not pass, if any, as its status."""
    if row.status == "failed":
        return row
    if _is_over(row.used, options.fail_over) or _is_over(row.context, options.fail_over_tokens):
        return replace(row, status="over", exit_code=GATE)
    if set(options.fail_on).intersection(row.flags):
        return replace(row, status="flagged", exit_code=GATE)
    return row


def _is_over(found: float | None, limit: float | None) -> bool:
    return limit is not None and found is not None and found > limit


def _worked_on(options: BatchOptions, task: FileTask) -> WorkedFile:
    path = task.input.path
    try:
        with time_limit(options.timeout):
            return _compacted(options, task) if options.compacts else _measured(options, task)
    except TookTooLongError:
        why = f"{path}: took longer than {options.timeout:g} s; give it more with --timeout"
        return _failed(path, "TookTooLong", why, TOOK_TOO_LONG)
    except CompactctlError as error:
        return _failed(path, type(error).__name__, str(error), error.exit_code)
    except Exception as error:  # noqa: BLE001 - a bug that one file meets must not stop the others
        name = type(error).__name__
        if is_out_of_memory(error):
            why = f"{path}: there is not enough memory; give batch fewer --jobs, or the file alone"
            return _failed(path, name, why, OUT_OF_MEMORY)
        return _failed(path, name, f"{path}: {name}: {error}", INTERNAL_ERROR)


def died(task: FileTask) -> WorkedFile:
    """Return what became of a file whose worker process died."""
    path = task.input.path
    why = f"{path}: the worker process died (killed, or out of memory); run it alone to see why"
    return _failed(path, "WorkerDied", why, INTERNAL_ERROR)


def _failed(path: str, name: str, why: str, exit_code: int) -> WorkedFile:
    return WorkedFile(row=failed_row(path, name, why, exit_code))


def _measured(options: BatchOptions, task: FileTask) -> WorkedFile:
    _check_problem(task)
    path = task.input.path
    transcript = scan(path, options.format, options.limits)
    if options.strict:
        check_strict(transcript, path)
    measured = measure(transcript, options.measure)
    measured.meter.prime(transcript.effective)
    figures = figures_of(transcript, measured, unseen_size(transcript, measured).unseen)
    wanted = options.details != NO_DETAILS
    return WorkedFile(
        row=_row(path, transcript.format, measured, figures),
        details=details_of(path, transcript, measured, options.details) if wanted else None,
    )


def _compacted(options: BatchOptions, task: FileTask) -> WorkedFile:
    result = _compact(options, task)
    return WorkedFile(row=_compacted_row(task, result), details=result.details)


def _compacted_row(task: FileTask, result: CompactResult) -> BatchRow:
    # They were asked for.
    figures = cast("Figures", result.figures)
    row = _row(task.input.path, result.format, result.measure, figures)
    budget, limits = result.measure.budget, result.measure.limits
    usage, written = usage_of(result.largest_after, limits.base_tokens), result.written
    return replace(
        row,
        status="unchanged" if result.operation is None else "ok",
        tokens_after=result.tokens_after,
        saved=result.tokens_before - result.tokens_after,
        ratio_after=usage_of(result.largest_after, budget.available).ratio,
        context=result.largest_after,
        used=usage.ratio,
        level=usage.level,
        stages=tuple(record.name for record in result.stages if record.outcome == "applied"),
        saved_by=_saved_by(result.stages),
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
            path=task.input.path,
            format=options.format,
            limits=options.limits,
            measure=options.measure,
            plan=options.plan or PlanOptions(),
            summarizer=options.summarizer,
            protect=options.protect,
            layout=options.layout,
            output=task.output,
            tags=options.tags,
            dry_run=not options.writes,
            force=options.force,
            strict=options.strict,
            require_fit=options.require_fit,
            require_audit=options.require_audit,
            figures=True,
            details=options.details,
        )
    )


def _saved_by(stages: Iterable[StageRecord]) -> dict[str, int]:
    saved: Counter[str] = Counter()
    for record in stages:
        if record.outcome == "applied":
            saved[record.name] += record.tokens_before - record.tokens_after
    return dict(saved)


def _check_problem(task: FileTask) -> None:
    if task.input.problem is not None:
        raise NoInputError(task.input.problem)


def _row(path: str, format_name: str, measured: Measure, figures: Figures) -> BatchRow:
    budget, limits = measured.budget, measured.limits
    usage = usage_of(figures.largest, limits.base_tokens)
    return BatchRow(
        path=path,
        sha256=sha256_of(Path(path)),
        project=figures.project,
        format=format_name,
        client_version=figures.client_version,
        model=measured.model.name,
        counter=measured.counter.id,
        exactness=measured.counter.exactness,
        window=budget.window,
        available=budget.available,
        tokens_before=figures.tokens,
        unseen=figures.unseen,
        ratio_before=usage_of(figures.largest, budget.available).ratio,
        context=figures.largest,
        base=limits.base,
        base_tokens=limits.base_tokens,
        used=usage.ratio,
        level=usage.level,
        messages=figures.messages,
        turns=figures.turns,
        steps=figures.steps,
        lines=figures.lines,
        bytes=figures.n_bytes,
        opaque_lines=figures.opaque_lines,
        tools=figures.tools,
        reread=figures.reread,
        began=figures.began,
        ended=figures.ended,
        orphans=figures.orphans,
        tool_errors=figures.tool_errors,
        flags=tuple(_flags(figures, budget.window)),
        categories=figures.categories,
    )


def _flags(figures: Figures, window: int) -> Iterator[Flag]:
    if figures.opaque_lines:
        yield "opaque"
    if figures.orphans:
        yield "orphans"
    if figures.tool_errors:
        yield "errors"
    if figures.largest > window:
        yield "over-window"
