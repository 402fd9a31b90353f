"""Sums and distributions over the rows of reports. Pure."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from compactctl.commands.report.rows import ReportRow
from compactctl.history.categories import Category

PERCENTS = (50, 90, 95, 99)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowGroup:
    """Transcripts that have something in common, such as their project.

    ``tokens`` is their sum, ``context`` the median of their largest requests; ``reread`` and
    ``tools`` are the shares of tokens of files read again later and of tools altogether.
    """

    name: str
    files: int
    tokens: int
    context: int
    reread: float
    tools: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Transcripts whose next request holds at least ``least`` tokens and fewer than ``below``."""

    least: int
    below: int
    files: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSummary:
    """What the rows come to; of files that failed or are not transcripts there are no figures.

    ``percentiles`` are those of the next request's tokens by percent. ``weeks`` are groups named
    by ISO week, of the transcripts that tell when they ended. Where ``counters`` names several,
    ``tokens`` is what shares refer to and no figure to show.
    """

    files: int
    statuses: Mapping[str, int]
    tokens: int
    saved: int
    counters: tuple[str, ...]
    categories: Mapping[Category, int]
    tools: Mapping[str, int]
    percentiles: Mapping[int, int]
    bins: tuple[Bin, ...]
    models: tuple[RowGroup, ...]
    projects: tuple[RowGroup, ...]
    weeks: tuple[RowGroup, ...]

    @property
    def is_summed(self) -> bool:
        """Whether one counter is behind all tokens, so that they have a sum."""
        return len(self.counters) <= 1


def summarised(rows: Sequence[ReportRow]) -> ReportSummary:
    """Add up rows; groups and tools are sorted by their tokens, weeks by time."""
    told = [row for row in rows if row.is_read]
    categories: Counter[Category] = Counter()
    tools: Counter[str] = Counter()
    for row in told:
        categories.update(row.categories)
        tools.update(row.tools)
    sizes = sorted(row.context for row in told)
    return ReportSummary(
        files=len(rows),
        statuses=dict(Counter(row.status for row in rows)),
        tokens=sum(row.tokens for row in told),
        saved=sum(row.saved for row in told),
        counters=tuple(sorted({row.counter for row in told if row.counter})),
        categories=dict(categories),
        tools=dict(tools.most_common()),
        percentiles={percent: percentile(sizes, percent) for percent in PERCENTS if sizes},
        bins=_bins(sizes),
        models=_by_tokens(_named(told, lambda row: row.model)),
        projects=_by_tokens(_named(told, lambda row: row.project)),
        weeks=tuple(sorted(_named(told, _week), key=lambda group: group.name)),
    )


def by_week(rows: Sequence[ReportRow]) -> dict[str, tuple[RowGroup, ...]]:
    """Return what each project came to by ISO week, of files that tell both and did not fail.

    Weeks are in order, projects as they come; a week without any is left out.
    """
    told = [row for row in rows if row.is_read and _week(row)]
    weeks = sorted({_week(row) for row in told})
    return {
        week: _named([row for row in told if _week(row) == week], lambda row: row.project)
        for week in weeks
    }


def groups(rows: Iterable[ReportRow], name: Callable[[ReportRow], str]) -> tuple[RowGroup, ...]:
    """Return a group per name, one of them "" where rows have none."""
    found: dict[str, list[ReportRow]] = defaultdict(list)
    for row in rows:
        found[name(row)].append(row)
    return tuple(_group(each, members) for each, members in found.items())


def _named(rows: Iterable[ReportRow], name: Callable[[ReportRow], str]) -> tuple[RowGroup, ...]:
    return tuple(group for group in groups(rows, name) if group.name)


def percentile(sizes: Sequence[int], percent: int) -> int:
    """Return the nearest-rank percentile of sorted sizes."""
    return sizes[max(0, math.ceil(len(sizes) * percent / 100) - 1)]


def _group(name: str, rows: Sequence[ReportRow]) -> RowGroup:
    tokens = sum(row.tokens for row in rows)
    used = sum(sum(row.tools.values()) for row in rows)
    return RowGroup(
        name=name,
        files=len(rows),
        tokens=tokens,
        context=round(median(row.context for row in rows)),
        reread=sum(row.reread for row in rows) / max(1, tokens),
        tools=used / max(1, tokens),
    )


def _by_tokens(found: Iterable[RowGroup]) -> tuple[RowGroup, ...]:
    return tuple(sorted(found, key=lambda group: (-group.tokens, group.name)))


def _bins(sizes: Sequence[int]) -> tuple[Bin, ...]:
    """Count sizes by powers of two of a thousand tokens, from the smallest to the largest."""
    if not sizes:
        return ()
    counts = Counter(_power(size) for size in sizes)
    return tuple(
        Bin(least=_edge(power), below=_edge(power + 1), files=counts[power])
        for power in range(min(counts), max(counts) + 1)
    )


def _power(size: int) -> int:
    return max(0, (size // 1_000).bit_length())


def _edge(power: int) -> int:
    return 1_000 * (1 << power - 1) if power else 0


def _week(row: ReportRow) -> str:
    if row.ended is None:
        return ""
    try:
        year, week, _ = datetime.fromtimestamp(row.ended, UTC).isocalendar()
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{year}-W{week:02}"
