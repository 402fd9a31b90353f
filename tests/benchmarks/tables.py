"""Markdown tables, and the blocks of documents that hold them."""

import re
from collections.abc import Iterable
from textwrap import fill

from benchmarks.samples import Summary

SUMMARY_COLUMNS = ("Sessions", "Mean", "By session", "By project", "Tail", "Worst")


def renew(document: str, tables: str, mark: str = "measured") -> str:
    """Return a document with other tables in its marked block."""
    block = re.compile(rf"(?<=<!-- {mark} -->\n).*?(?=<!-- end of {mark} -->)", re.DOTALL)
    return block.sub(lambda _: f"\n{tables}\n\n", document, count=1)


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table; columns but the first are aligned to the right."""
    names = list(head)
    lines = [names, ["---"] + ["---:"] * (len(names) - 1), *rows]
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)


def paragraph(text: str) -> str:
    """Return prose in lines of a hundred characters."""
    return fill(text, 100, break_on_hyphens=False, break_long_words=False)


def summary_cells(summary: Summary, decimals: int) -> tuple[str, ...]:
    """Return the cells below ``SUMMARY_COLUMNS``."""
    return (
        f"{summary.sessions} / {summary.projects}",
        f"{summary.mean:.{decimals}f}",
        interval_cell(summary.by_session, decimals),
        interval_cell(summary.by_project, decimals),
        f"{summary.tail:.{decimals}f}",
        f"{summary.worst:.{decimals}f}",
    )


def interval_cell(ends: tuple[float, float] | None, decimals: int) -> str:
    """Return an interval as text, "" without one."""
    return "" if ends is None else f"[{ends[0]:.{decimals}f}, {ends[1]:.{decimals}f}]"
