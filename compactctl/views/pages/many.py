"""``batch`` and ``report`` as a page: sizes of sessions, the worst ones, and growth."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import takewhile

from compactctl.commands.batch.batch import BatchResult
from compactctl.commands.batch.columns import table_values
from compactctl.commands.batch.report import (
    ReportOptions,
    ReportResult,
    ReportRow,
    ReportSummary,
    RowGroup,
    by_week,
    report_row,
    summarize,
)
from compactctl.commands.batch.report_format import SOUND
from compactctl.commands.page_choice import PageChoice
from compactctl.views.facts import BEFORE_AND_AFTER, status_text
from compactctl.views.growth import growth_lines
from compactctl.views.pages.drawing import (
    SERIES,
    Bar,
    BarList,
    Chart,
    areas,
    class_of,
    grid,
    percent,
    series,
)
from compactctl.views.pages.page import PageNames, page_contents_of_many, page_of
from compactctl.views.terminal.graph import short_count
from compactctl.views.terminal.text import plural, share_text

_FAILURES = 50
_OTHERS = "others"
_HEADROOM = 1.14
# Two years; older weeks are left out.
_MAX_WEEKS = 104
_ROWS = 20


def report_page(result: ReportResult, choice: PageChoice) -> str:
    """Return the page of a report of batches."""
    names, summary, growth = PageNames(choice), result.summary, result.growth
    failed = [row for row in result.rows if row.status == "failed"]
    return page_of(
        "many",
        {
            "title": plural(summary.files - summary.statuses.get("skipped", 0), "transcript"),
            "facts": [
                f"{count:,} {names.line(status_text(name))}"
                for name, count in summary.statuses.items()
            ]
            + [BEFORE_AND_AFTER] * bool(summary.saved),
            "holds": list(page_contents_of_many(choice)),
            "is_summed": summary.is_summed,
            "tokens": summary.tokens,
            "saved": summary.saved,
            "share": share_text(summary.saved / summary.tokens) if summary.tokens else "",
            "percentiles": list(summary.percentiles.items()),
            "sizes": _sizes(summary),
            "weeks": _project_weeks(result.rows, summary.weeks, names),
            "worst": _worst(result.rows, choice, names),
            "lists": [
                bars
                for bars in (
                    _shares("By category", summary.categories.items(), summary.tokens),
                    _shares("By tool", _tools(summary, names), summary.tokens),
                )
                if bars.rows
            ],
            "groups": [group for group in _groups(summary, names) if group["rows"]],
            "growth": None
            if growth is None
            else list(growth_lines(growth, result.options.tolerance, names.project)),
            "is_grown": growth is not None and growth.fails,
            "failures": [_failed(row, choice, names) for row in failed[:_FAILURES]],
            "more_failures": max(0, len(failed) - _FAILURES),
        },
    )


def batch_page(result: BatchResult, choice: PageChoice) -> str:
    """Return the page of a batch, which is the page of its report."""
    rows = tuple(report_row(table_values(row)) for row in result.rows)
    options = ReportOptions(paths=(), tolerance=result.options.gates.tolerance)
    report = ReportResult(options=options, rows=rows, summary=summarize(rows), growth=result.growth)
    return report_page(report, choice)


def _sizes(summary: ReportSummary) -> BarList:
    """Return the number of files by size."""
    largest = max((size_bin.files for size_bin in summary.bins), default=1)
    return BarList(
        title="Size of the next request",
        note="Transcripts by tokens of their next request.",
        rows=tuple(
            Bar(
                label=f"{size_bin.least:,} to {size_bin.below:,}",
                figure=f"{size_bin.files:,}",
                width=percent(size_bin.files, largest),
                name="s-0",
            )
            for size_bin in summary.bins
        ),
    )


def _project_weeks(
    rows: Sequence[ReportRow], whole: Sequence[RowGroup], names: PageNames
) -> dict[str, object] | None:
    """Return all weeks as a chart and as rows; None unless there are at least two.

    The largest projects have an area and a column each; ``whole`` are the weeks of all projects.
    """
    groups_by_week = by_week(rows)
    weeks = _all_weeks(list(groups_by_week))
    if len(weeks) < 2:  # noqa: PLR2004 - nothing grows in one
        return None
    shown = _largest(group for week in weeks for group in groups_by_week.get(week, ()))
    medians = {group.name: group for group in whole}
    labels = {project: names.project(project) for project in shown}
    columns = [_column(groups_by_week.get(week, ()), labels) for week in weeks]
    order = [*labels.values(), _OTHERS]
    order = [name for name in order if any(column.get(name) for column in columns)]
    top = _HEADROOM * max(sum(column.values()) for column in columns)
    classes = {name: "c-other" if name == _OTHERS else series(at) for at, name in enumerate(order)}
    return {
        "chart": Chart(
            label="tokens by week and project, also in the table below",
            columns=len(weeks),
            areas=tuple(areas(columns, order, top)),
            grid=grid(top, short_count),
        ),
        "class_of": classes.__getitem__,
        "first": weeks[0],
        "last": weeks[-1],
        "titles": ("Week", "Files", "Median request", *order),
        "rows": [
            _row(medians.get(week), week, column, order)
            for week, column in zip(weeks, columns, strict=True)
        ][::-1],
    }


def _all_weeks(weeks: Sequence[str]) -> list[str]:
    """Return all weeks from the first one with data to the last, at most the newest."""
    if not weeks:
        return []
    last = _monday(weeks[-1])
    first = max(_monday(weeks[0]), last - timedelta(weeks=_MAX_WEEKS - 1))
    return list(_weeks(first, last))


def _monday(week: str) -> date:
    year, number = week.split("-W")
    return date.fromisocalendar(int(year), int(number), 1)


def _weeks(day: date, last: date) -> Iterator[str]:
    while day <= last:
        year, week, _ = day.isocalendar()
        yield f"{year}-W{week:02}"
        day += timedelta(weeks=1)


def _largest(groups: Iterator[RowGroup]) -> list[str]:
    sizes: dict[str, int] = {}
    for group in groups:
        sizes[group.name] = sizes.get(group.name, 0) + group.tokens
    return sorted(sizes, key=lambda name: (-sizes[name], name))[:SERIES]


def _column(groups: Sequence[RowGroup], labels: Mapping[str, str]) -> dict[str, int]:
    column: dict[str, int] = {}
    for group in groups:
        name = labels.get(group.name, _OTHERS)
        column[name] = column.get(name, 0) + group.tokens
    return column


def _row(
    whole: RowGroup | None, week: str, column: Mapping[str, int], order: Sequence[str]
) -> tuple[str, ...]:
    totals = ("", "") if whole is None else (f"{whole.files:,}", f"{whole.context:,}")
    return (week, *totals, *(f"{column.get(name, 0):,}" for name in order))


def _worst(rows: Sequence[ReportRow], choice: PageChoice, names: PageNames) -> BarList:
    """Return the files with the largest requests; names are paths below the shared folder."""
    ranked = sorted(rows, key=lambda row: (-row.context, row.path))
    ranked = [row for row in ranked if row.context]
    largest = max((row.context for row in ranked), default=1)
    folder = "" if choice.redact else _shared_folder([row.path for row in ranked])
    below = f", below {names.line(folder)}" if folder else ""
    return BarList(
        title="Largest",
        note=f"Tokens of the next request{below}",
        rows=tuple(
            Bar(
                label=names.file(row.path.removeprefix(folder)),
                figure=f"{row.context:,}",
                width=percent(row.context, largest),
                name="s-0" if row.status in SOUND and not row.exit_code else "s-1",
                note="" if row.status in SOUND else names.line(row.status),
            )
            for row in ranked[:_ROWS]
        ),
        rest=f"{plural(len(ranked) - _ROWS, 'smaller transcript')}" if len(ranked) > _ROWS else "",
        paths=True,
    )


def _shared_folder(paths: Sequence[str]) -> str:
    """Return the folder that all paths begin with."""
    first, last = min(paths, default=""), max(paths, default="")
    pairs = zip(first, last, strict=False)
    start = first[: sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))]
    return start[: max(start.rfind("/"), start.rfind("\\")) + 1]


def _shares(title: str, sizes: Iterable[tuple[str, int]], whole: int) -> BarList:
    ranked = sorted(((size, name) for name, size in sizes if size), reverse=True)
    largest = max((size for size, _ in ranked), default=1)
    is_kind = title != "By tool"
    return BarList(
        title=title,
        note="Tokens in all transcripts.",
        rows=tuple(
            Bar(
                label=name,
                figure=f"{size:,}",
                width=percent(size, largest),
                name=class_of(name) if is_kind else class_of("tool results"),
                note=share_text(size / whole) if whole else "",
            )
            for size, name in ranked[:_ROWS]
        ),
        rest=plural(len(ranked) - _ROWS, "other") if len(ranked) > _ROWS else "",
    )


def _tools(summary: ReportSummary, names: PageNames) -> Iterable[tuple[str, int]]:
    """Return the tokens by tool; if redacted, by kind of tool."""
    tokens_by_name: dict[str, int] = {}
    for tool, tokens in summary.tools.items():
        name = names.tool(tool)
        tokens_by_name[name] = tokens_by_name.get(name, 0) + tokens
    return tokens_by_name.items()


def _groups(summary: ReportSummary, names: PageNames) -> Iterator[dict[str, object]]:
    yield _table("Projects", summary.projects[:_ROWS], len(summary.projects), names.project)
    yield _table("Models", summary.models[:_ROWS], len(summary.models), names.model)


def _table(
    title: str, groups: Sequence[RowGroup], count: int, name: Callable[[str], str]
) -> dict[str, object]:
    """Return groups of files as rows, and the number of omitted groups."""
    return {
        "title": title,
        "noun": title.removesuffix("s"),
        "rows": [
            (
                name(group.name),
                f"{group.files:,}",
                f"{group.tokens:,}",
                f"{group.context:,}",
                share_text(group.reread),
                share_text(group.tools),
            )
            for group in groups
        ],
        "more": count - len(groups),
    }


def _failed(row: ReportRow, choice: PageChoice, names: PageNames) -> dict[str, object]:
    why = "" if choice.redact else names.line(row.error)
    return {"name": names.file(row.path), "code": row.exit_code, "why": why}
