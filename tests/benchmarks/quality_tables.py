"""The tables of ``docs/quality.md``."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from benchmarks.quality import (
    EARLIER,
    KEPT,
    REACHED,
    RIVALS,
    SHARES,
    VISIBLE,
    Checkout,
    Result,
    Shares,
)
from benchmarks.samples import Summary, summarize
from benchmarks.tables import interval_cell, paragraph, table
from compactctl.lab.score import MEASURES
from compactctl.profiles.registry import DEFAULT_PROFILE

# The first and the last request are not shown, because the default profile always keeps them, nor
# is recall for the next ten requests, which is part of recall.
_HIDDEN = {"first", "last", "soon"}
_TITLES: Mapping[str, str] = {
    KEPT: "Kept",
    REACHED: "Size reached",
    VISIBLE: "Kept of the visible text",
    **{name: title for name, title in MEASURES.items() if name not in _HIDDEN},
}
_REUSE = ("recall", "words", "statements", "lines", "edits", "rereads")


def quality_tables(results: Sequence[Result], earlier: Checkout | None = None) -> str:
    """Return the tables with their introductions."""
    blocks = [
        paragraph(
            "The default profile, in percent, with 95% intervals over projects. *Size reached* is"
            " the share of cuts at which 92 to 100% of the size asked for is kept."
        ),
        table(("Measure", "Sessions", *(f"{s:.0%}" for s in SHARES)), _default_rows(results)),
        paragraph(
            "Rivals, and how many points more the default profile keeps at the size that each of"
            " them came to."
        ),
        table(
            ("Rival, asked", "Sessions", "Kept", *(_TITLES[name] for name in _REUSE)),
            _rival_rows(results),
        ),
    ]
    if earlier is not None:
        blocks += [
            paragraph(
                f"The default profile of commit {earlier.commit} and the difference since, in"
                " points. Both are asked for the same size."
            ),
            table(("Measure", "Sessions", *(f"{s:.0%}" for s in SHARES)), _earlier_rows(results)),
        ]
    return "\n\n".join(blocks)


def _default_rows(results: Sequence[Result]) -> Iterator[Sequence[str]]:
    for measure, title in _TITLES.items():
        summaries = [
            summarize_sessions(
                (result, 100 * result.shares[measure])
                for result in results
                if (result.policy, result.asked) == (DEFAULT_PROFILE, share)
                and measure in result.shares
            )
            for share in SHARES
        ]
        if summaries[0] is not None:
            yield title, _size(summaries[0]), *map(_mean, summaries)


def _rival_rows(results: Sequence[Result]) -> Iterator[Sequence[str]]:
    for policy, asked in RIVALS:
        pairs = _pairs(results, policy, asked)
        size = summarize_sessions((result, 100 * result.shares[KEPT]) for result, _ in pairs)
        if size is not None:
            yield (
                f"{policy}, {asked:.0%}",
                _size(size),
                f"{size.mean:.1f}",
                *(_comparison(pairs, measure) for measure in _REUSE),
            )


def _earlier_rows(results: Sequence[Result]) -> Iterator[Sequence[str]]:
    pairs_by_share = [_pairs(results, EARLIER, share) for share in SHARES]
    for measure in (VISIBLE, *(name for name in _TITLES if name in MEASURES)):
        sessions = summarize_sessions(
            (result, 0.0)
            for result, default in pairs_by_share[0]
            if measure in result.shares and measure in default
        )
        if sessions is not None:
            cells = (_comparison(pairs, measure) for pairs in pairs_by_share)
            yield _TITLES[measure], _size(sessions), *cells


def _pairs(results: Sequence[Result], policy: str, asked: float) -> Sequence[tuple[Result, Shares]]:
    """Return the results of a policy that the default profile is compared with."""
    return [
        (result, result.default)
        for result in results
        if (result.policy, result.asked) == (policy, asked) and result.default is not None
    ]


def _comparison(pairs: Sequence[tuple[Result, Shares]], measure: str) -> str:
    """Return a policy's mean, and by how much the default profile's differs, with its interval."""
    compared = [
        (result, 100 * result.shares[measure], 100 * default[measure])
        for result, default in pairs
        if measure in result.shares and measure in default
    ]
    policies = summarize_sessions((result, value) for result, value, _ in compared)
    differences = summarize_sessions(
        (result, default - value) for result, value, default in compared
    )
    if policies is None or differences is None:
        return ""
    return f"{policies.mean:.1f} {differences.mean:+.1f} {_interval(differences)}".rstrip()


def summarize_sessions(values: Iterable[tuple[Result, float]]) -> Summary | None:
    """Summarize values by session: each is the mean over its cuts."""
    by_session: dict[tuple[str, str], list[float]] = {}
    for result, value in values:
        by_session.setdefault((result.project, result.session), []).append(value)
    return summarize(((project, fmean(values)) for (project, _), values in by_session.items()), min)


def _size(summary: Summary) -> str:
    return f"{summary.sessions} / {summary.projects}"


def _mean(summary: Summary | None) -> str:
    return "" if summary is None else f"{summary.mean:.1f} {_interval(summary)}".rstrip()


def _interval(summary: Summary) -> str:
    """Return the interval over projects, over sessions if there are few projects."""
    return interval_cell(summary.by_project or summary.by_session, 1)
