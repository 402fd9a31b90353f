"""The tables of ``docs/evaluation.md``."""

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.quality import KEPT, REFEREE, RIVALS, SHARES, Result, Shares
from benchmarks.samples import Summary, summarize
from benchmarks.tables import (
    SUMMARY_COLUMNS,
    interval_cell,
    paragraph,
    summary_cells,
    table,
)
from compactctl.lab.score import MEASURES
from compactctl.profiles.registry import DEFAULT_PROFILE

# The first and the last request are not shown, because the default profile always keeps them, nor
# is recall for the next ten requests, which is part of recall.
_MEASURES: Mapping[str, str] = {
    KEPT: "Kept",
    "recall": "Recall",
    REFEREE: "Referee",
    **{name: MEASURES[name] for name in MEASURES if name not in {"first", "last", "soon"}},
}
_MAIN = (KEPT, "recall", REFEREE)
# The sizes at which every measure is shown.
_ALL_MEASURES_AT = (0.3, 0.1)


def quality_tables(results: Sequence[Result]) -> str:
    """Return both tables with their introductions."""
    defaults = [result for result in results if result.policy == DEFAULT_PROFILE]
    return "\n\n".join(
        (
            paragraph(
                "The default profile, in percent, of sessions and projects with any demand."
            ),
            table(("Size", "Measure", *SUMMARY_COLUMNS), _default_rows(defaults)),
            paragraph(
                "Rivals, and the default profile at the size that each of them came to."
                " Differences are in points; more than 0 means that the default profile keeps more."
            ),
            table(
                (
                    "Rival, asked", "Sessions", "Kept", "Recall", "Default", "Difference",
                    "Referee", "Default", "Difference",
                ),
                _rival_rows(results),
            ),
        )
    )  # fmt: skip


def _default_rows(results: Sequence[Result]) -> Iterator[Sequence[str]]:
    for share in SHARES:
        measures = _MEASURES if share in _ALL_MEASURES_AT else _MAIN
        for measure in measures:
            summary = summarize(
                (
                    (result.project, 100 * result.shares[measure])
                    for result in results
                    if result.asked == share and measure in result.shares
                ),
                max if measure == KEPT else min,
            )
            if summary is not None:
                yield f"{share:.0%}", _MEASURES[measure], *summary_cells(summary, 1)


def _rival_rows(results: Sequence[Result]) -> Iterator[Sequence[str]]:
    for policy, asked in RIVALS:
        pairs = [
            (result.project, result.shares, result.default)
            for result in results
            if (result.policy, result.asked) == (policy, asked) and result.default is not None
        ]
        size = summarize(((project, 100 * rival[KEPT]) for project, rival, _ in pairs), max)
        if size is not None:
            yield (
                f"{policy}, {asked:.0%}",
                f"{size.sessions} / {size.projects}",
                f"{size.mean:.1f}",
                *_comparison(pairs, "recall"),
                *_comparison(pairs, REFEREE),
            )


def _comparison(pairs: Sequence[tuple[str, Shares, Shares]], measure: str) -> tuple[str, str, str]:
    """Return the means of rival and default, and their difference with its interval."""
    compared = [
        (project, 100 * rival[measure], 100 * default[measure])
        for project, rival, default in pairs
        if measure in rival and measure in default
    ]
    rivals = summarize(((project, rival) for project, rival, _ in compared), min)
    defaults = summarize(((project, default) for project, _, default in compared), min)
    differences = summarize(((p, default - rival) for p, rival, default in compared), min)
    return _mean(rivals), _mean(defaults), _difference(differences)


def _mean(summary: Summary | None) -> str:
    return "" if summary is None else f"{summary.mean:.1f}"


def _difference(summary: Summary | None) -> str:
    if summary is None:
        return ""
    return f"{summary.mean:+.1f} {interval_cell(summary.by_project, 1)}".rstrip()
