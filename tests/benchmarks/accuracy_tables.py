"""The tables of ``docs/counting.md``."""

from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from benchmarks.accuracy import Result
from benchmarks.estimates.fit import NEW, OLD
from benchmarks.estimates.recorded_session import CODEX, OPENCODE, OTHERS, OURS
from benchmarks.estimates.strict_protocol import BOUNDARY, FIRST, HORIZONS, TEN, Trial
from benchmarks.samples import Summary, summarize
from benchmarks.tables import SUMMARY_COLUMNS, interval_cell, paragraph, summary_cells, table

FAMILIES = (OLD, NEW, CODEX, OPENCODE)


def accuracy_tables(results: Sequence[Result]) -> str:
    """Return all tables with their introductions."""
    return "\n\n".join(
        (
            paragraph(
                "Absolute error in percent of the reported size; a session's figure is the mean"
                " over its requests."
            ),
            table(("Tokens of", "Usage known up to", *SUMMARY_COLUMNS), _error_rows(results)),
            paragraph(
                "The mean error of other estimators on the same requests, without those after a"
                " compaction: each adds its count of the text to the newest known report."
            ),
            table(
                ("Tokens of", "Usage known up to", "Sessions", OURS, *OTHERS), _other_rows(results)
            ),
            paragraph(_ranges(results)),
            paragraph(_windows(results)),
        )
    )


def _error_rows(results: Sequence[Result]) -> Iterator[Sequence[str]]:
    for family in FAMILIES:
        for horizon in HORIZONS:
            summary = _summarize(results, family, horizon, _error, OURS)
            if summary is not None:
                yield family, horizon, *summary_cells(summary, 2)


def _other_rows(results: Sequence[Result]) -> Iterator[Sequence[str]]:
    for family in FAMILIES:
        for horizon in (TEN, FIRST):
            summaries = [
                _summarize(results, family, horizon, _error_without_compaction, estimator)
                for estimator in (OURS, *OTHERS)
            ]
            complete = [summary for summary in summaries if summary is not None]
            if len(complete) == len(summaries):
                yield (
                    family,
                    horizon,
                    f"{complete[0].sessions} / {complete[0].projects}",
                    *(f"{summary.mean:.2f}" for summary in complete),
                )


def _ranges(results: Sequence[Result]) -> str:
    """Return how often the range stated after a compaction held the reported size."""
    parts = []
    for family in FAMILIES:
        summary = _summarize(results, family, BOUNDARY, _is_in_range, OURS)
        if summary is not None:
            held = f"{summary.mean:.0f}% {interval_cell(summary.by_session, 0)}"
            parts.append(f"{family} {held} in {summary.sessions} sessions")
    return f"The range stated after a compaction held the reported size: {'; '.join(parts)}."


def _windows(results: Sequence[Result]) -> str:
    above = sum(result.above_window for result in results)
    return (
        f"Of {sum(result.requests for result in results):,} answered requests, {above} exceeded the"
        " window that was assumed until a larger one had been answered."
    )


def _summarize(
    results: Sequence[Result],
    family: str,
    horizon: str,
    measure: Callable[[Trial], float | None],
    estimator: str,
) -> Summary | None:
    """Sum up the means of sessions over their trials of one kind."""
    kind = (family, horizon, estimator)
    values = []
    for result in results:
        trials = (t for t in result.trials if (t.family, t.horizon, t.estimator) == kind)
        figures = [figure for trial in trials if (figure := measure(trial)) is not None]
        if figures:
            values.append((result.project, fmean(figures)))
    return summarize(values, max)


def _error(trial: Trial) -> float:
    return 100 * abs(trial.guess - trial.truth) / trial.truth


def _error_without_compaction(trial: Trial) -> float | None:
    return None if trial.crosses else _error(trial)


def _is_in_range(trial: Trial) -> float | None:
    if trial.low is None or trial.high is None:
        return None
    return 100.0 if trial.low <= trial.truth <= trial.high else 0.0
