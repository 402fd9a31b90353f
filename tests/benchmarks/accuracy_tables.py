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
                "The same requests by other estimators, without those behind a compaction: the"
                " newest known report plus what they count of the text since."
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
            found = _summarize(results, family, horizon, _error, OURS)
            if found is not None:
                yield family, horizon, *summary_cells(found, 2)


def _other_rows(results: Sequence[Result]) -> Iterator[Sequence[str]]:
    for family in FAMILIES:
        for horizon in (TEN, FIRST):
            summaries = [
                _summarize(results, family, horizon, _error_without_compaction, estimator)
                for estimator in (OURS, *OTHERS)
            ]
            found = [summary for summary in summaries if summary is not None]
            if len(found) == len(summaries):
                yield (
                    family,
                    horizon,
                    f"{found[0].sessions} / {found[0].projects}",
                    *(f"{each.mean:.2f}" for each in found),
                )


def _ranges(results: Sequence[Result]) -> str:
    """Return how often the range stated after a compaction held the reported size."""
    parts = []
    for family in FAMILIES:
        found = _summarize(results, family, BOUNDARY, _is_in_range, OURS)
        if found is not None:
            held = f"{found.mean:.0f}% {interval_cell(found.by_session, 0)}"
            parts.append(f"{family} {held} in {found.sessions} sessions")
    return f"The range stated after a compaction held the reported size: {'; '.join(parts)}."


def _windows(results: Sequence[Result]) -> str:
    answered = sum(result.judged.answered for result in results)
    before = sum(result.judged.before for result in results)
    return (
        f"Of {answered:,} answered requests, {before} exceeded the window that was assumed until a"
        " larger one had been answered."
    )


def _summarize(
    results: Sequence[Result],
    family: str,
    horizon: str,
    measure: Callable[[Trial], float | None],
    estimator: str,
) -> Summary | None:
    """Sum up the means of sessions over their trials of one kind."""
    wanted = (family, horizon, estimator)
    values = []
    for result in results:
        trials = (t for t in result.trials if (t.family, t.horizon, t.estimator) == wanted)
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
