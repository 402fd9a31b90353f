"""``batch`` and ``report`` as a page: how large sessions are, which are the worst, what grows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from compactctl.commands.batch.batch import BatchResult
from compactctl.commands.batch.columns import ReportRow, report_row, table_values
from compactctl.commands.batch.report import (
    BaselineComparison,
    ReportResult,
    ReportSummary,
    RowGroup,
    summarize,
)
from compactctl.reports.html.choice import PageChoice
from compactctl.reports.html.figures import Bar, BarList, class_of, percent
from compactctl.reports.html.page import page_of
from compactctl.reports.html.texts import PageNames, holds_names
from compactctl.reports.html.weeks import project_weeks
from compactctl.reports.rendering.batch_rows import status_text
from compactctl.reports.rendering.growth import growth_lines
from compactctl.reports.rendering.text import plural, share_text
from compactctl.reports.rendering.wording import BEFORE_AND_AFTER

_ROWS = 20
_FAILURES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedRow:
    """A file that failed, and why."""

    name: str
    code: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupTable:
    """Groups of files as rows, and how many there are beside those."""

    title: str
    noun: str
    rows: tuple[tuple[str, ...], ...]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesFound:
    """What a page is made of, whichever command found it."""

    rows: Sequence[ReportRow]
    summary: ReportSummary
    growth: BaselineComparison | None
    tolerance: float


def report_page(result: ReportResult, choice: PageChoice) -> str:
    """Return the page of a report of batches."""
    return _page(
        FilesFound(
            rows=result.rows,
            summary=result.summary,
            growth=result.growth,
            tolerance=result.tolerance,
        ),
        choice,
    )


def batch_page(result: BatchResult, choice: PageChoice) -> str:
    """Return the page of a batch."""
    rows = tuple(report_row(table_values(row)) for row in result.rows)
    return _page(
        FilesFound(
            rows=rows,
            summary=summarize(rows),
            growth=result.growth,
            tolerance=result.tolerance,
        ),
        choice,
    )


def _page(found: FilesFound, choice: PageChoice) -> str:
    names, summary = PageNames(choice), found.summary
    failed = [row for row in found.rows if row.status == "failed"]
    return page_of(
        "many",
        {
            "title": plural(summary.files - summary.statuses.get("skipped", 0), "transcript"),
            "facts": [
                f"{count:,} {names.line(status_text(name))}"
                for name, count in summary.statuses.items()
            ]
            + [BEFORE_AND_AFTER] * bool(summary.saved),
            "holds": list(holds_names(choice)),
            "is_summed": summary.is_summed,
            "tokens": summary.tokens,
            "saved": summary.saved,
            "share": share_text(summary.saved / summary.tokens) if summary.tokens else "",
            "percentiles": list(summary.percentiles.items()),
            "sizes": _sizes(summary),
            "weeks": project_weeks(found.rows, summary.weeks, names),
            "worst": _worst(found.rows, choice, names),
            "lists": [
                each
                for each in (
                    _shares("What it is made of", summary.categories.items(), summary.tokens),
                    _shares("Tools", _tools(summary, names), summary.tokens),
                )
                if each.rows
            ],
            "groups": [each for each in _groups(summary, names) if each.rows],
            "growth": None
            if found.growth is None
            else list(growth_lines(found.growth, found.tolerance, names.project)),
            "is_grown": found.growth is not None and found.growth.fails,
            "failures": [_failed(row, choice, names) for row in failed[:_FAILURES]],
            "more_failures": max(0, len(failed) - _FAILURES),
        },
    )


def _sizes(summary: ReportSummary) -> BarList:
    """Return how many files there are of each size."""
    most = max((each.files for each in summary.bins), default=1)
    return BarList(
        title="Size of the next request",
        note="transcripts by the tokens of their next request",
        rows=tuple(
            Bar(
                label=f"{each.least:,} to {each.below:,}",
                figure=f"{each.files:,}",
                width=percent(each.files, most),
                name="s-0",
            )
            for each in summary.bins
        ),
    )


def _worst(rows: Sequence[ReportRow], choice: PageChoice, names: PageNames) -> BarList:
    """Return the files with the largest requests, called by their paths below what all share."""
    told = sorted(rows, key=lambda row: (-row.context, row.path))
    told = [row for row in told if row.context]
    most = max((row.context for row in told), default=1)
    folder = "" if choice.redact else _shared_folder([row.path for row in told])
    below = f", of files below {names.line(folder)}" if folder else ""
    return BarList(
        title="The largest",
        note=f"tokens of the next request{below}",
        rows=tuple(
            Bar(
                label=names.file(row.path.removeprefix(folder)),
                figure=f"{row.context:,}",
                width=percent(row.context, most),
                name="s-1" if row.status in {"over", "flagged"} else "s-0",
                note="" if row.status in {"ok", "unchanged"} else names.line(row.status),
            )
            for row in told[:_ROWS]
        ),
        rest=f"and {plural(len(told) - _ROWS, 'smaller one')}" if len(told) > _ROWS else "",
        paths=True,
    )


def _shared_folder(paths: Sequence[str]) -> str:
    """Return how all paths begin, up to the end of a folder's name."""
    first, last = min(paths, default=""), max(paths, default="")
    pairs = zip(first, last, strict=False)
    start = first[: sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))]
    return start[: max(start.rfind("/"), start.rfind("\\")) + 1]


def _tools(summary: ReportSummary, names: PageNames) -> Iterable[tuple[str, int]]:
    """Return the tokens by tool; redacted, those of one kind together."""
    found: dict[str, int] = {}
    for tool, tokens in summary.tools.items():
        name = names.tool(tool)
        found[name] = found.get(name, 0) + tokens
    return found.items()


def _shares(title: str, sizes: Iterable[tuple[str, int]], whole: int) -> BarList:
    found = sorted(((size, name) for name, size in sizes if size), reverse=True)
    most = max((size for size, _ in found), default=1)
    is_kind = title != "Tools"
    return BarList(
        title=title,
        note="tokens of all transcripts",
        rows=tuple(
            Bar(
                label=name,
                figure=f"{size:,}",
                width=percent(size, most),
                name=class_of(name) if is_kind else class_of("tool results"),
                note=share_text(size / whole) if whole else "",
            )
            for size, name in found[:_ROWS]
        ),
        rest=f"and {plural(len(found) - _ROWS, 'other')}" if len(found) > _ROWS else "",
    )


def _groups(summary: ReportSummary, names: PageNames) -> Iterator[GroupTable]:
    yield _table("Projects", summary.projects[:_ROWS], len(summary.projects), names.project)
    yield _table("Models", summary.models[:_ROWS], len(summary.models), names.model)


def _table(
    title: str, groups: Sequence[RowGroup], count: int, name: Callable[[str], str]
) -> GroupTable:
    return GroupTable(
        title=title,
        noun=title.removesuffix("s"),
        rows=tuple(
            (
                name(group.name),
                f"{group.files:,}",
                f"{group.tokens:,}",
                f"{group.context:,}",
                share_text(group.reread),
                share_text(group.tools),
            )
            for group in groups
        ),
        more=count - len(groups),
    )


def _failed(row: ReportRow, choice: PageChoice, names: PageNames) -> FailedRow:
    why = "" if choice.redact else names.line(row.error)
    return FailedRow(name=names.file(row.path), code=row.exit_code, why=why)
