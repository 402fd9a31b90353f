"""Measures or compacts many transcripts."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from functools import partial
from typing import Generic, TypeVar

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
from compactctl.commands.batch.report_format import STATUSES, GateOption, Status
from compactctl.commands.batch.row import BatchRow, severity
from compactctl.commands.batch.row_cache import cached_rows
from compactctl.commands.batch.tasks import (
    FileTask,
    WorkedFile,
    make_folder,
    output_names,
    tasks_of,
)
from compactctl.commands.measuring.figures import FileDetails
from compactctl.commands.output_files import WrittenFile, check_not_reserved, check_report
from compactctl.commands.progress import FilesProgress, ProgressTally
from compactctl.commands.reading.discover import discover
from compactctl.commands.reading.trees import InputFile
from compactctl.errors import GATE_FAILED, NoInputError
from compactctl.records import Record, replace
from compactctl.store.cache import ResultCache, cache_path
from compactctl.store.client_folders import this_machine
from compactctl.store.files.objects import is_object
from compactctl.tokens.budget import share_of
from compactctl.tokens.counters.bpe import expect_text

__all__ = ["BatchOptions", "BatchResult", "BatchRow", "BatchTotals", "batch"]

# A session of Claude Code has 8 bytes for each character that is sent, most others have 2 to 4.
_BYTES_PER_CHAR = 5
Value = TypeVar("Value")
TakeDetails = Callable[[FileDetails], object]
"""Called once for each file with rows about it, in the order of the files."""


class BatchTotals(Record):
    """Sums over the rows with figures, and the number of files by status.

    ``tokens_after`` and ``saved`` are None if files were only measured. ``counters`` are those
    behind the figures, sorted. Tokens of different counters are not added: then ``tokens_before``,
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


class BatchResult(Record):
    """The rows of all files in input order.

    ``growth`` compares them with the baseline, None without one; ``written`` are the files written
    about the batch; ``warnings`` are about the cache.
    """

    options: BatchOptions
    rows: tuple[BatchRow, ...]
    totals: BatchTotals
    growth: BaselineComparison | None = None
    written: tuple[WrittenFile, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """The most severe code of the files and of the baseline, see ``severity``.

        If no file has a conversation, there is no input.
        """
        if self.is_empty:
            return NoInputError.exit_code
        return min(self.exit_codes, key=severity, default=0)

    @property
    def exit_codes(self) -> Mapping[int, int]:
        """The codes other than 0 -> the number of files that have them, 0 for the baseline."""
        codes = Counter(row.exit_code for row in self.rows if row.exit_code)
        if self.has_grown and GATE_FAILED not in codes:
            codes[GATE_FAILED] = 0
        return codes

    @property
    def has_grown(self) -> bool:
        """Whether the batch fails because of ``--baseline``."""
        return self.growth is not None and self.growth.fails

    @property
    def worst_first(self) -> tuple[BatchRow, ...]:
        """All rows, in the order of their exit codes, then their statuses, then their fullness."""
        return tuple(sorted(self.rows, key=_badness))

    @property
    def is_empty(self) -> bool:
        """Whether no file has a conversation although options require one."""
        files = self.options.files
        # A shard may well have no transcript.
        is_allowed = files.skip_unknown or files.shard is not None
        return not is_allowed and all(row.is_skipped or row.is_empty for row in self.rows)


def batch(
    options: BatchOptions,
    progress: FilesProgress | None = None,
    take: TakeDetails | None = None,
) -> BatchResult:
    """Process all files; one that fails becomes a row and does not stop the others.

    ``take`` is called with the details of each file, if requested, in the order of the files.

    Raises before any work: UsageError for options, and for outputs that overwrite each other or an
    input; NoInputError if there are no files; DiskError if ``out`` cannot be created.
    """
    check_options(options)
    inputs = discover(options.files, data_sets=True)
    gates = options.gates
    baseline = None if gates.baseline is None else read_report(gates.baseline)
    tasks = _tasks(options, inputs)
    with _cache_for(options) as cache:
        rows = tuple(
            with_gates(row, gates, require_fit=options.require_fit)
            for row in _run(options, tasks, cache, progress, take)
        )
    return BatchResult(
        options=options,
        rows=rows,
        totals=add_up(rows, compacted=options.compacts),
        growth=None if baseline is None else _growth(rows, baseline, gates.tolerance),
        warnings=(cache.problem,) if cache.problem else (),
    )


def _growth(
    rows: Sequence[BatchRow], baseline: Sequence[ReportRow], tolerance: float
) -> BaselineComparison:
    return compare_with_baseline(
        [report_row(table_values(row)) for row in rows], baseline, tolerance
    )


def _badness(row: BatchRow) -> tuple[tuple[int, int], int, float]:
    return severity(row.exit_code), STATUSES.index(row.status), -(row.used or 0)


def with_gates(row: BatchRow, gates: BatchGates, *, require_fit: bool = False) -> BatchRow:
    """Return a row with the limit that the gates set, and the gates that it does not pass."""
    if row.context is None or row.measure is None:
        return row
    limits: dict[GateOption, int] = {}
    if gates.fail_over is not None:
        limits["fail-over"] = share_of(gates.fail_over, row.measure.base_tokens)
    if gates.fail_over_tokens is not None:
        limits["fail-over-tokens"] = gates.fail_over_tokens
    # What was read may be within a limit, but what is sent may not be.
    is_unsure = row.unread is not None
    failed = [gate for gate, limit in limits.items() if is_unsure or row.context > limit]
    if set(gates.fail_on).intersection(row.flags):
        failed.append("fail-on")
    if require_fit and (is_unsure or (row.target is not None and row.context > row.target)):
        failed.append("require-fit")
    return replace(row, limit=min(limits.values(), default=None), gates=tuple(failed))


def _tasks(options: BatchOptions, inputs: Sequence[InputFile]) -> tuple[FileTask, ...]:
    folder = options.output.path
    outputs = {} if folder is None else output_names(inputs, folder)
    if folder is not None and options.writes and not is_object(folder):
        make_folder(folder)
    reserved = [*(item.path for item in inputs), *outputs.values()]
    for path in options.written_paths:
        if is_object(path):
            # Its copy is checked when it is fetched.
            check_not_reserved(path, reserved)
        else:
            check_report(path, reserved, force=options.output.force)
        reserved.append(path)
    return tasks_of(options, inputs, outputs)


def _run(
    options: BatchOptions,
    tasks: Sequence[FileTask],
    cache: ResultCache,
    progress: FilesProgress | None,
    take: TakeDetails | None,
) -> tuple[BatchRow, ...]:
    cached = cached_rows(options, tasks, cache)
    rows = dict(cached.rows)
    tally = ProgressTally([(task.input.path, task.n_bytes) for task in tasks], progress)
    for index in rows:
        tally.done(tasks[index].input.path, tasks[index].n_bytes)
    pending = [index for index in range(len(tasks)) if index not in rows]
    turns = InOrder(take)
    for position, outcome in _worked_on(options, [tasks[index] for index in pending]):
        index = pending[position]
        rows[index] = outcome.rows
        cached.store(index, outcome.rows)
        turns.add(position, outcome.details)
        tally.done(tasks[index].input.path, tasks[index].n_bytes)
    return tuple(row for index in range(len(tasks)) for row in rows[index])


class InOrder(Generic[Value]):
    """Passes values on in the order of their positions, although they arrive in any order.

    Values that arrive early wait in memory until all positions before them have arrived.
    """

    def __init__(self, take: Callable[[Value], object] | None) -> None:
        self._take = take
        self._waiting: dict[int, Sequence[Value]] = {}
        self._turn = 0

    def add(self, position: int, values: Sequence[Value]) -> None:
        """Add the values of a position, from 0; each position comes once."""
        if self._take is None:
            return
        self._waiting[position] = values
        while self._turn in self._waiting:
            values_due = self._waiting.pop(self._turn)
            self._turn += 1
            for value in values_due:
                self._take(value)


def _worked_on(
    options: BatchOptions, tasks: Sequence[FileTask]
) -> Iterator[tuple[int, WorkedFile]]:
    sizes = [task.n_bytes for task in tasks]
    # Every task is pickled with the options; do not repeat a long list of paths in each.
    sent = replace(options, files=replace(options.files, paths=()))
    if options.engine == "ray":
        from compactctl.commands.batch.ray_pool import RayPool

        results = RayPool(partial(run_file, sent), worker_died).run(tasks, sizes, options.jobs)
    else:
        workers = workers_for(options.jobs, sizes)
        n_chars = sum(sizes) // workers // _BYTES_PER_CHAR
        work = partial(_run_one_of_many, n_chars, sent)
        results = Pool(work, worker_died).run(tasks, sizes, workers)
    with closing(results) as finished:
        yield from finished


def _run_one_of_many(n_chars: int, options: BatchOptions, task: FileTask) -> WorkedFile:
    """Run a task in a process that will count about ``n_chars`` in all of its tasks."""
    expect_text(n_chars)
    return run_file(options, task)


def _cache_for(options: BatchOptions) -> AbstractContextManager[ResultCache]:
    """Return the user's cache, or one that is never opened, which holds nothing."""
    cache = ResultCache(cache_path(this_machine()))
    return cache if options.cached else nullcontext(cache)


def add_up(rows: Sequence[BatchRow], *, compacted: bool) -> BatchTotals:
    """Return the sums over rows; ``compacted`` adds those of the sizes after stages."""
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
        statuses={status: statuses[status] for status in STATUSES},
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
