"""The conversations of a Parquet data set: a row for each, and the file with them compacted."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import Any

from compactctl.commands.batch.attempt import attempted
from compactctl.commands.batch.data_set_output import WrittenDataSet, write_data_set
from compactctl.commands.batch.figures_row import compacted_row, figures_row
from compactctl.commands.batch.options import BatchOptions
from compactctl.commands.batch.row import BatchRow
from compactctl.commands.batch.task import FileTask, WorkedFile
from compactctl.commands.compact.audits import audits_of, require_audit
from compactctl.commands.compact.column import lines_of, value_of
from compactctl.commands.compact.in_memory import CompactedLines, compact_lines
from compactctl.commands.compact.summing_up import left_of
from compactctl.commands.loading.load import check_strict, loaded_from
from compactctl.commands.sizing.context_size import unseen_size
from compactctl.commands.sizing.details import NO_DETAILS, FileDetails, details_of
from compactctl.commands.sizing.figures import figures_of
from compactctl.commands.sizing.measure import Measure, measure
from compactctl.errors import DoesNotFitError
from compactctl.llm.choice import summarizer_for
from compactctl.model.operation import StageRecord
from compactctl.model.transcript import Transcript
from compactctl.store.files.data_set import DataSet, data_set_at
from compactctl.store.files.lines import Source, digest_of


@dataclass(frozen=True, slots=True, kw_only=True)
class _Worked:
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
    data = data_set_at(task.input.path, options.column)
    work = _Conversations(options, data)
    if options.writes and task.output is not None:
        return _written(work, task.output)
    groups = task.groups or range(len(data.groups))
    first = data.groups[groups[0]].first if groups else 1
    worked = list(work.each(data.values(groups, options.input.limits), first))
    return _as_file(worked)


def _written(work: "_Conversations", output: str) -> WorkedFile:
    worked: list[_Worked] = []

    def replaced(values: list[Any]) -> list[Any]:
        done = list(work.each(values, len(worked) + 1))
        worked.extend(replace(each, value=None) for each in done)
        return [each.value for each in done]

    def stages() -> list[tuple[StageRecord, ...]]:
        return [each.stages for each in worked if each.row.status == "ok"]

    made = write_data_set(work.data, output, replaced, stages, work.options)
    return _as_file([replace(each, row=_placed(each.row, made)) for each in worked])


def _placed(row: BatchRow, made: WrittenDataSet) -> BatchRow:
    """Return the row of a conversation with where it is now."""
    return replace(
        row,
        sha256_after=made.sha256,
        output=made.output,
        archive=made.archive,
        operation=made.operation if row.status == "ok" else None,
    )


def _as_file(worked: Sequence[_Worked]) -> WorkedFile:
    details = tuple(each.details for each in worked if each.details is not None)
    return WorkedFile(rows=tuple(each.row for each in worked), details=details)


class _Conversations:
    """Measures or compacts conversations of one data set."""

    def __init__(self, options: BatchOptions, data: DataSet) -> None:
        self.options, self.data = options, data
        # Many conversations follow one another.
        self._measure = replace(options.recipe.measure, worth_loading=0)
        self._recipe = replace(options.recipe, measure=self._measure)
        self._summarizer = summarizer_for(options.recipe.summarizer) if options.compacts else None

    def each(self, values: Iterator[Any] | Sequence[Any], first: int) -> Iterator[_Worked]:
        """Yield what became of each; ``first`` is the number of the first one's row."""
        for number, value in enumerate(values, first):
            yield self._one(f"{self.data.path}#{number}", number, value)

    def _one(self, name: str, number: int, value: Any) -> _Worked:  # noqa: ANN401
        started = monotonic()
        work: Callable[[], _Worked] = partial(
            self._compacted if self.options.compacts else self._measured, name, value
        )
        if not value:
            work = partial(self._empty, name, value)
        found = attempted(name, self.options.timeout, work)
        done = _Worked(row=found, value=value) if isinstance(found, BatchRow) else found
        took = round(1000 * (monotonic() - started))
        return replace(done, row=replace(done.row, row=number, milliseconds=took))

    def _empty(self, name: str, value: Any) -> _Worked:  # noqa: ANN401
        """Return what becomes of a row without a conversation: it counts nothing."""
        row = BatchRow(path=name, tokens_before=0, messages=0, lines=0, bytes=0, opaque_lines=0)
        if self.options.compacts:
            row = replace(row, status="unchanged", tokens_after=0, saved=0)
        return _Worked(row=row, value=value)

    def _measured(self, name: str, value: Any) -> _Worked:  # noqa: ANN401
        source = _source(value, self.data.kind)
        asked = self.options.input
        transcript = loaded_from(source, name, asked.format, asked.limits).transcript
        check_strict(transcript, self.options.input.at(name))
        measured = measure(transcript, self._measure)
        measured.meter.prime(transcript.effective)
        row = _row(name, source, transcript, measured)
        wanted = self.options.details != NO_DETAILS
        details = details_of(name, transcript, measured, self.options.details) if wanted else None
        return _Worked(row=row, value=value, details=details)

    def _compacted(self, name: str, value: Any) -> _Worked:  # noqa: ANN401
        source = _source(value, self.data.kind)
        made = compact_lines(
            source.lines, self.options.input.at(name), self._recipe, self._summarizer
        )
        self._check(name, made)
        outcome, measured = made.outcome, made.measured
        left = value_of(value, self.data.kind, made) if outcome.edits else value
        is_same = left == value
        row = compacted_row(
            _row(name, source, made.transcript, measured),
            measured,
            outcome.stages,
            (outcome.tokens_before, outcome.tokens_after),
            made.largest_after,
        )
        return _Worked(
            row=replace(row, status="unchanged" if is_same else "ok"),
            value=value if is_same else left,
            stages=outcome.stages,
            details=self._details(name, made),
        )

    def _check(self, name: str, made: CompactedLines) -> None:
        """Raise for what the user does not want to be written."""
        check_strict(made.transcript, self.options.input.at(name))
        outcome, meter = made.outcome, made.measured.meter
        if self.options.require_audit:
            cwd = made.transcript.cwd
            require_audit(name, audits_of(outcome, {}, meter, cwd, own=True))
        if self.options.require_fit and not made.fits:
            raise DoesNotFitError(
                f"{name}: {made.largest_after:,} tokens are left after all stages, over the limit "
                f"of {made.limit:,}; it stays as it is, add a stage or keep less"
            )

    def _details(self, name: str, made: CompactedLines) -> FileDetails | None:
        if self.options.details == NO_DETAILS:
            return None
        left = left_of(made.outcome, made.measured.meter)
        return details_of(name, made.transcript, made.measured, self.options.details, left)


def _source(value: Any, kind: Any) -> Source:  # noqa: ANN401
    lines = lines_of(value, kind)
    return Source(path=None, lines=lines, digest=digest_of(lines))


def _row(name: str, source: Source, transcript: Transcript, measured: Measure) -> BatchRow:
    size = unseen_size(transcript, measured)
    figures = figures_of(transcript, measured, size)
    return figures_row(name, source.digest.sha256, transcript.format, measured, figures)
