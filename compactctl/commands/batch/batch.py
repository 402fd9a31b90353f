"""Measures or compacts many transcripts."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar, get_args

from compactctl.commands.batch.columns import table_values
from compactctl.commands.batch.one_file import run_file, worker_died
from compactctl.commands.batch.options import BatchGates, BatchOptions, check_options
from compactctl.commands.batch.pool import Pool, workers_for
from compactctl.commands.batch.report import (
    BaselineComparison,
    ReportRow,
    compare_with_baseline,
    read_report,
    report_row,
)
from compactctl.commands.batch.report_format import Status
from compactctl.commands.batch.row import BatchRow
from compactctl.commands.batch.row_cache import cached_rows
from compactctl.commands.batch.tasks import (
    FileTask,
    WorkedFile,
    make_folder,
    output_names,
    tasks_of,
)
from compactctl.commands.measuring.figures import FileDetails
from compactctl.commands.output_files import WrittenFile, check_report
from compactctl.commands.progress import FilesProgress, ProgressTally
from compactctl.commands.reading.discover import InputFile, discover
from compactctl.errors import GATE_FAILED, NoInputError
from compactctl.store.cache import ResultCache, cache_path
from compactctl.store.client_folders import this_machine

__all__ = ["BatchOptions", "BatchResult", "BatchRow", "BatchTotals", "batch"]

Value = TypeVar("Value")
TakeDetails = Callable[[FileDetails], object]
"""Called once for each file with rows about it, in the order of the files."""
MUCH_BYTES = 32 << 20
"""From so much for each worker on, a counter that takes longer to load pays: it saves some .01
seconds in a megabyte of sessions, and takes .3 seconds longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTotals:
    """Sums over the rows that were read; how many files there are of each status.

    ``tokens_after`` and ``saved`` are None when files were only measured. ``counters`` are those
    behind the figures, sorted. Tokens of different counters have no sum: then ``tokens_before``,
    ``tokens_after`` and ``saved`` are None.
    """

    files: int
    statuses: Mapping[Status, int]
    tokens_before: int | None
    tokens_after: int | None
    saved: int | None
    messages: int
    lines: int
    bytes: int
    opaque_lines: int
    categories: Mapping[str, int]
    counters: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchResult:
    """What became of all files, in input order.

    ``growth`` is what grew since the baseline, None without one; ``written`` are the files
    that were written about it.
    """

    options: BatchOptions
    rows: tuple[BatchRow, ...]
    totals: BatchTotals
    growth: BaselineComparison | None = None
    written: tuple[WrittenFile, ...] = ()

    @property
    def exit_code(self) -> int:
        """The highest code among the files that failed, else 1 if a gate is not passed, else 0.

        Codes rise with severity, so files that fail in one way give their own code and a file
        that failed is never hidden by the gate. Where no file is a transcript there is no input.
        """
        if self.is_empty:
            return NoInputError.exit_code
        fails = self.growth is not None and self.growth.fails
        return max((row.exit_code for row in self.rows), default=0) or GATE_FAILED * fails

    @property
    def is_empty(self) -> bool:
        """Whether no file is a transcript, and nobody allowed for that."""
        files = self.options.files
        # A part of the files may well be without a transcript.
        is_allowed = files.skip_unknown or files.shard is not None
        are_skipped = all(row.status == "skipped" for row in self.rows)
        return are_skipped and bool(self.rows) and not is_allowed


def batch(
    options: BatchOptions,
    progress: FilesProgress | None = None,
    take: TakeDetails | None = None,
) -> BatchResult:
    """Work on all files; one that fails becomes a row and does not stop the others.

    ``take`` is given the details of each file that are wanted, in the order of the files.

    Raises before any work: UsageError for options, and for outputs that overwrite each other or
    an input; NoInputError when there is nothing to do; DiskError when ``out`` cannot be created.
    """
    check_options(options)
    inputs = discover(options.files, data_sets=True)
    gates = options.gates
    baseline = None if gates.baseline is None else read_report(gates.baseline)
    tasks = _tasks(options, inputs)
    with _cache_for(options) as cache:
        rows = tuple(with_gates(row, gates) for row in _run(options, tasks, cache, progress, take))
    return BatchResult(
        options=options,
        rows=rows,
        totals=_totals(rows, compacted=options.compacts),
        growth=None if baseline is None else _growth(rows, baseline, gates.tolerance),
    )


def _growth(
    rows: Sequence[BatchRow], baseline: Sequence[ReportRow], tolerance: float
) -> BaselineComparison:
    return compare_with_baseline(
        [report_row(table_values(row)) for row in rows], baseline, tolerance
    )


def with_gates(row: BatchRow, gates: BatchGates) -> BatchRow:
    """Return a row with the gate that it does not pass, if any, as its status."""
    if not row.is_read:
        return row
    if _is_over(row.used, gates.fail_over) or _is_over(row.context, gates.fail_over_tokens):
        return replace(row, status="over")
    if set(gates.fail_on).intersection(row.flags):
        return replace(row, status="flagged")
    return row


def _is_over(size: float | None, limit: float | None) -> bool:
    return limit is not None and size is not None and size > limit


def _tasks(options: BatchOptions, inputs: Sequence[InputFile]) -> tuple[FileTask, ...]:
    folder = options.output.path
    outputs = {} if folder is None else output_names(inputs, folder)
    if folder is not None and options.writes:
        make_folder(folder)
    taken = [*(item.path for item in inputs), *outputs.values()]
    for path in options.written_paths:
        check_report(path, taken, force=options.output.force)
        taken.append(path)
    return tasks_of(options, inputs, outputs)


def _run(
    options: BatchOptions,
    tasks: Sequence[FileTask],
    cache: ResultCache,
    progress: FilesProgress | None,
    take: TakeDetails | None,
) -> tuple[BatchRow, ...]:
    known = cached_rows(options, tasks, cache)
    rows = dict(known.rows)
    tally = ProgressTally([(task.input.path, task.n_bytes) for task in tasks], progress)
    for index in rows:
        tally.done(tasks[index].input.path, tasks[index].n_bytes)
    left = [index for index in range(len(tasks)) if index not in rows]
    turns = InOrder(take)
    for place, outcome in _worked_on(options, [tasks[index] for index in left]):
        index = left[place]
        rows[index] = outcome.rows
        known.store(index, outcome.rows)
        turns.add(place, outcome.details)
        tally.done(tasks[index].input.path, tasks[index].n_bytes)
    return tuple(row for index in range(len(tasks)) for row in rows[index])


class InOrder(Generic[Value]):
    """Passes values on by their places, once those of all places before are there.

    What is kept meanwhile is what was done while the slowest one was waited for.
    """

    def __init__(self, take: Callable[[Value], object] | None) -> None:
        self._take = take
        self._waiting: dict[int, Sequence[Value]] = {}
        self._turn = 0

    def add(self, place: int, values: Sequence[Value]) -> None:
        """Take in the values of a place, from 0; each place comes once."""
        if self._take is None:
            return
        self._waiting[place] = values
        while self._turn in self._waiting:
            due = self._waiting.pop(self._turn)
            self._turn += 1
            for value in due:
                self._take(value)


def _worked_on(
    options: BatchOptions, tasks: Sequence[FileTask]
) -> Iterator[tuple[int, WorkedFile]]:
    sizes = [task.n_bytes for task in tasks]
    workers = workers_for(options.jobs, sizes)
    if sum(sizes) >= workers * MUCH_BYTES:
        measure = replace(options.recipe.measure, worth_loading=0)
        options = replace(options, recipe=replace(options.recipe, measure=measure))
    # Every task is sent with the options; those of a long command line are not sent again.
    sent = replace(options, files=replace(options.files, paths=()))
    pool = Pool(partial(run_file, sent), worker_died)
    with closing(pool.run(tasks, sizes, workers)) as finished:
        yield from finished


def _cache_for(options: BatchOptions) -> AbstractContextManager[ResultCache]:
    """Return the user's cache, or one that is never opened and so holds nothing."""
    cache = ResultCache(cache_path(this_machine()))
    return cache if options.cached else nullcontext(cache)


def _totals(rows: Sequence[BatchRow], *, compacted: bool) -> BatchTotals:
    statuses = Counter(row.status for row in rows)
    figures = [row.figures for row in rows if row.figures is not None]
    outcomes = [row.outcome for row in rows if row.outcome is not None]
    categories: Counter[str] = Counter()
    for figure in figures:
        categories.update(figure.categories)
    counters = tuple(sorted({row.measure.counter for row in rows if row.measure is not None}))
    is_summed = len(counters) <= 1
    return BatchTotals(
        files=len(rows),
        statuses={status: statuses[status] for status in get_args(Status)},
        tokens_before=sum(figure.totals.tokens for figure in figures) if is_summed else None,
        tokens_after=sum(outcome.after.tokens for outcome in outcomes)
        if compacted and is_summed
        else None,
        saved=sum(row.saved or 0 for row in rows) if compacted and is_summed else None,
        messages=sum(figure.totals.messages for figure in figures),
        lines=sum(figure.file.n_lines for figure in figures),
        bytes=sum(figure.file.n_bytes for figure in figures),
        opaque_lines=sum(figure.file.opaque_lines for figure in figures),
        categories=dict(categories),
        counters=counters,
    )
