"""What grew since an earlier report, project by project. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from compactctl.commands.report.rows import ReportRow
from compactctl.commands.report.summary import RowGroup, groups
from compactctl.model.exact import exact

TOLERANCE = 0.1
"""By how much a figure may be larger than in the baseline, as a share of that."""
# What is too little to be called growth: tokens of a request, a share of all tokens.
_LEAST_TOKENS, _LEAST_SHARE = 1_000, 0.01

Figure = Literal["context", "reread", "tools"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """A figure of a project that grew too much: median tokens, or a share of all tokens."""

    project: str
    figure: Figure
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineComparison:
    """What comes of comparing with a baseline, by project; "" are all files without one.

    ``recounted`` are projects that are counted with something else now, so that their figures
    say nothing about growth; ``added`` are not in the baseline, ``gone`` are only there.
    """

    rises: tuple[Rise, ...]
    compared: tuple[str, ...]
    recounted: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether something grew too much, or cannot be told to have not."""
        return bool(self.rises or self.recounted or not self.compared)


def grown(
    rows: Sequence[ReportRow], baseline: Sequence[ReportRow], tolerance: float = TOLERANCE
) -> BaselineComparison:
    """Compare the projects that both have; files that failed are left out."""
    now, before = _projects(rows), _projects(baseline)
    both = [name for name in now if name in before]
    counters, earlier = _counters(rows), _counters(baseline)
    recounted = tuple(name for name in both if _differ(counters[name], earlier[name]))
    compared = tuple(name for name in both if name not in recounted)
    return BaselineComparison(
        rises=tuple(
            rise for name in compared for rise in _growths(now[name], before[name], tolerance)
        ),
        compared=compared,
        recounted=recounted,
        added=tuple(name for name in now if name not in before),
        gone=tuple(name for name in before if name not in now),
    )


def _counters(rows: Sequence[ReportRow]) -> Mapping[str, set[str]]:
    """Return by project what its tokens were counted with, as far as the rows tell."""
    found: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.is_read and row.counter:
            found[row.project].add(row.counter)
    return found


def _differ(now: set[str], before: set[str]) -> bool:
    return bool(now and before) and now.isdisjoint(before)


def _projects(rows: Sequence[ReportRow]) -> dict[str, RowGroup]:
    told = [row for row in rows if row.is_read]
    found = sorted(groups(told, lambda row: row.project), key=lambda group: group.name)
    return {group.name: group for group in found}


def _growths(now: RowGroup, before: RowGroup, tolerance: float) -> Iterator[Rise]:
    pairs: tuple[tuple[Figure, float, float, float], ...] = (
        ("context", before.context, now.context, _LEAST_TOKENS),
        ("reread", before.reread, now.reread, _LEAST_SHARE),
        ("tools", before.tools, now.tools, _LEAST_SHARE),
    )
    for figure, old, new, least in pairs:
        if exact(new) - exact(old) > max(exact(least), exact(tolerance) * exact(old)):
            yield Rise(project=now.name, figure=figure, before=old, after=new)
