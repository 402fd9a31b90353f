"""What projects came to, week by week, on a drawing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from compactctl.commands.batch.columns import ReportRow
from compactctl.commands.batch.report import RowGroup, by_week
from compactctl.reports.html.areas import areas, grid
from compactctl.reports.html.curve_chart import SERIES, series
from compactctl.reports.html.figures import Chart
from compactctl.reports.html.texts import PageNames
from compactctl.reports.rendering.scale import short_count

# Two years; what is older is left out.
MOST_WEEKS = 104
_HEADROOM = 1.14
_OTHERS = "others"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectWeeks:
    """Tokens by week, those of the largest projects each, and the same as rows of a table.

    ``classes`` are those of the areas by their names; ``titles`` begin with the week, its files
    and their median request.
    """

    chart: Chart
    classes: Mapping[str, str]
    first: str
    last: str
    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def class_of(self, name: str) -> str:
        """Return the class of an area."""
        return self.classes[name]


def project_weeks(
    rows: Sequence[ReportRow], whole: Sequence[RowGroup], names: PageNames
) -> ProjectWeeks | None:
    """Return the weeks from the first to the last; None unless there are two.

    ``whole`` are the weeks of all projects together.
    """
    found = by_week(rows)
    weeks = _all_weeks(list(found))
    if len(weeks) < 2:  # noqa: PLR2004 - nothing grows in one
        return None
    shown = _largest(group for week in weeks for group in found.get(week, ()))
    medians = {group.name: group for group in whole}
    labels = {project: names.project(project) for project in shown}
    columns = [_column(found.get(week, ()), labels) for week in weeks]
    order = [*labels.values(), _OTHERS]
    order = [name for name in order if any(column.get(name) for column in columns)]
    top = _HEADROOM * max(sum(column.values()) for column in columns)
    return ProjectWeeks(
        chart=Chart(
            label="tokens by week and project, also in the table below",
            columns=len(weeks),
            areas=tuple(areas(columns, order, top)),
            grid=grid(top, short_count),
        ),
        classes={
            name: "c-other" if name == _OTHERS else series(at) for at, name in enumerate(order)
        },
        first=weeks[0],
        last=weeks[-1],
        titles=("Week", "Files", "Median request", *order),
        rows=tuple(
            _row(medians.get(week), week, column, order)
            for week, column in zip(weeks, columns, strict=True)
        )[::-1],
    )


def _row(
    whole: RowGroup | None, week: str, column: Mapping[str, int], order: Sequence[str]
) -> tuple[str, ...]:
    told = ("", "") if whole is None else (f"{whole.files:,}", f"{whole.context:,}")
    return (week, *told, *(f"{column.get(name, 0):,}" for name in order))


def _all_weeks(known: Sequence[str]) -> list[str]:
    """Return all weeks from the first known one to the last, the newest at most."""
    if not known:
        return []
    last = _monday(known[-1])
    first = max(_monday(known[0]), last - timedelta(weeks=MOST_WEEKS - 1))
    return list(_weeks(first, last))


def _weeks(day: date, last: date) -> Iterator[str]:
    while day <= last:
        year, week, _ = day.isocalendar()
        yield f"{year}-W{week:02}"
        day += timedelta(weeks=1)


def _monday(week: str) -> date:
    year, number = week.split("-W")
    return date.fromisocalendar(int(year), int(number), 1)


def _largest(groups: Iterator[RowGroup]) -> list[str]:
    sizes: dict[str, int] = {}
    for group in groups:
        sizes[group.name] = sizes.get(group.name, 0) + group.tokens
    return sorted(sizes, key=lambda name: (-sizes[name], name))[:SERIES]


def _column(found: Sequence[RowGroup], labels: Mapping[str, str]) -> dict[str, int]:
    column: dict[str, int] = {}
    for group in found:
        name = labels.get(group.name, _OTHERS)
        column[name] = column.get(name, 0) + group.tokens
    return column
