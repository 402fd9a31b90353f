"""What grew since an earlier report, project by project. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from compactctl.commands.report.rows import ReportRow
from compactctl.commands.report.summary import RowGroup, groups

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


def grown(
    rows: Sequence[ReportRow], baseline: Sequence[ReportRow], tolerance: float = TOLERANCE
) -> tuple[Rise, ...]:
    """Compare the projects that both have; files that failed are left out."""
    before = {group.name: group for group in _projects(baseline)}
    both = (group for group in _projects(rows) if group.name in before)
    return tuple(
        growth for group in both for growth in _growths(group, before[group.name], tolerance)
    )


def _projects(rows: Sequence[ReportRow]) -> Sequence[RowGroup]:
    told = [row for row in rows if row.is_read]
    return sorted(groups(told, lambda row: row.project), key=lambda group: group.name)


def _growths(now: RowGroup, before: RowGroup, tolerance: float) -> Iterator[Rise]:
    pairs: tuple[tuple[Figure, float, float, float], ...] = (
        ("context", before.context, now.context, _LEAST_TOKENS),
        ("reread", before.reread, now.reread, _LEAST_SHARE),
        ("tools", before.tools, now.tools, _LEAST_SHARE),
    )
    for figure, old, new, least in pairs:
        if new - old > max(least, tolerance * old):
            yield Rise(project=now.name, figure=figure, before=old, after=new)
