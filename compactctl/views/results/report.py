"""The combined figures of several batch reports."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from compactctl.commands.batch.report import ReportResult, ReportRow, RowGroup
from compactctl.commands.batch.row import severity
from compactctl.views.encode import record, tokens_by
from compactctl.views.facts import BEFORE_AND_AFTER, status_text, warning_lines
from compactctl.views.growth import growth_fields, growth_lines
from compactctl.views.terminal.screen import Accent, Fact, Facts, ScreenItem, TextStyle
from compactctl.views.terminal.tables import Table, bar_cell, number, table, text
from compactctl.views.terminal.text import line_text, one_line, percent_text, plural, share_text


def report_terminal(result: ReportResult) -> Iterator[ScreenItem]:
    """Yield the output: totals, distributions, groups, the largest and the failing files."""
    yield Accent(_answer(result), "bold")
    facts = tuple(_facts(result))
    if facts:
        yield Facts(facts)
    top = result.options.top
    if not result.summary.tokens:
        yield from _failing(result)
        yield from _growth(result)
        return
    yield from _titled("Tokens by category", _shares(result, result.summary.categories.items()))
    yield from _titled("Tokens by tool", _shares(result, result.summary.tools.items()))
    yield from _titled("Size of the next request", _sizes(result))
    for title, groups in (
        ("Models", result.summary.models),
        ("Projects", result.summary.projects),
        ("Weeks", result.summary.weeks),
    ):
        yield from _titled(
            title,
            _groups(
                title,
                groups[-top:] if title == "Weeks" else groups[:top],
            ),
        )
    yield from _titled("Largest", _largest(result))
    yield from _failing(result)
    yield from _growth(result)


def report_document(result: ReportResult) -> dict[str, Any]:
    """Return sums, distributions and groups over all files."""
    summary = result.summary
    return {
        "schema": "compactctl.report/1",
        "reports": list(result.options.paths),
        "exitCode": result.exit_code,
        **record(summary),
        **({} if summary.is_summed else {"tokens": None, "saved": None}),
        "statuses": [{"status": key, "files": n} for key, n in summary.statuses.items()],
        "percentiles": [{"percent": key, "tokens": n} for key, n in summary.percentiles.items()],
        "tools": tokens_by(summary.tools),
        "baseline": result.options.baseline,
        "tolerance": result.options.tolerance,
        **growth_fields(result.growth),
    }


def report_messages(result: ReportResult) -> Iterator[str]:
    """Yield the lines for standard error: warnings, written files, and growth."""
    for file in result.written:
        yield from warning_lines(file.warnings)
        yield f"wrote {line_text(file.path)} ({plural(file.rows, 'row')})"
    if result.growth is not None and result.growth.findings:
        figures, share = (
            plural(len(result.growth.findings), "figure"),
            share_text(result.options.tolerance),
        )
        yield f"{figures} grew by more than {share}"


def _answer(result: ReportResult) -> str:
    """Return the number of files and tokens, and what was saved."""
    summary = result.summary
    counts = ", ".join(
        f"{count:,} {one_line(status_text(name))}" for name, count in summary.statuses.items()
    )
    answer = f"{plural(summary.files, _noun(result))}: {counts}"
    if not (summary.is_summed and summary.tokens):
        return answer
    saved = f", {summary.saved:,} saved ({percent_text(summary.saved / summary.tokens)})"
    return f"{answer}; {summary.tokens:,} tokens{saved if summary.saved else ''}"


def _noun(result: ReportResult) -> str:
    """Return the noun for what rows represent."""
    is_data_set = any(row.values.get("row") is not None for row in result.rows)
    return "conversation" if is_data_set else "file"


def _facts(result: ReportResult) -> Iterator[Fact]:
    summary = result.summary
    counters = ", ".join(map(one_line, summary.counters))
    if not summary.is_summed:
        yield Fact("tokens", f"not added up: counted with {counters}")
    elif counters:
        yield Fact("counted with", counters)
    if summary.percentiles:
        percentiles = ", ".join(
            f"p{percent} {size:,}" for percent, size in summary.percentiles.items()
        )
        yield Fact("next request", percentiles)
    if summary.saved:
        yield Fact("compacted", BEFORE_AND_AFTER)


def _failing(result: ReportResult) -> Iterator[ScreenItem]:
    failing = [row for row in result.rows if row.exit_code and row.status != "skipped"]
    failing.sort(key=lambda row: (severity(row.exit_code), -row.context))
    if failing:
        top = result.options.top
        yield ""
        yield f"{plural(len(failing), _noun(result))} failed or did not pass a gate"
        yield from (Accent(_failure(row), "yellow") for row in failing[:top])
        if len(failing) > top:
            yield f"and {len(failing) - top:,} more; --top {len(failing)} shows all"


def _failure(row: ReportRow) -> str:
    return f"exit {row.exit_code}: {one_line(row.error or f'{row.path}: {row.status}')}"


def _growth(result: ReportResult) -> Iterator[ScreenItem]:
    if result.growth is None:
        return
    yield ""
    yield Accent(f"Since {one_line(result.options.baseline or '')}", "bold")
    style: TextStyle = "yellow" if result.growth.fails else ""
    yield from (
        Accent(line, style) for line in growth_lines(result.growth, result.options.tolerance)
    )


def _titled(title: str, grid: Table) -> Iterator[ScreenItem]:
    if grid.rows:
        yield ""
        yield Accent(title, "bold")
        yield grid


def _shares(result: ReportResult, sizes: Iterable[tuple[str, int]]) -> Table:
    ranked = sorted(((size, name) for name, size in sizes if size), reverse=True)
    return table(
        (text("Of", "end"), number("Tokens"), text("Share of all", spare=1)),
        [
            (one_line(name), f"{size:,}", bar_cell(size / result.summary.tokens))
            for size, name in ranked[: result.options.top]
        ],
    )


def _sizes(result: ReportResult) -> Table:
    total = sum(size_bin.files for size_bin in result.summary.bins)
    return table(
        (number("From"), number("Below"), number("Files"), text("Share", spare=1)),
        [
            (
                f"{size_bin.least:,}",
                f"{size_bin.below:,}",
                f"{size_bin.files:,}",
                bar_cell(size_bin.files / total),
            )
            for size_bin in result.summary.bins
        ],
    )


def _groups(title: str, groups: Sequence[RowGroup]) -> Table:
    columns = (
        text(title.removesuffix("s"), "start"),
        number("Files", spare=1),
        number("Tokens"),
        number("Median request"),
        number("Read again", spare=2),
        number("Tools", spare=3),
    )
    return table(
        columns,
        [
            (
                one_line(group.name),
                f"{group.files:,}",
                f"{group.tokens:,}",
                f"{group.context:,}",
                share_text(group.reread),
                share_text(group.tools),
            )
            for group in groups
        ],
    )


def _largest(result: ReportResult) -> Table:
    measured = [row for row in result.rows if row.status != "skipped"]
    rows = sorted(measured, key=lambda row: (-row.context, row.path))[: result.options.top]
    return table(
        (text("File", "start", min_width=16), number("Next request"), text("Status")),
        [(one_line(row.path), f"{row.context:,}", one_line(row.status)) for row in rows],
    )
