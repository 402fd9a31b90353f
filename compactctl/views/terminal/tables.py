"""Tables that fit the available width: aligned columns, no frames, readable in a log."""

import textwrap
from collections.abc import Iterable, Sequence
from typing import Literal

from compactctl.records import Record, field, replace
from compactctl.views.terminal.text import share_text

# Not rich.table: if space is short it cuts numbers and titles, shrinks columns to nothing, and cuts
# the end of a path, which distinguishes files. Leaving out columns and cutting at one end would
# still be our own code; it would only save the padding.
CutEnd = Literal["never", "end", "start", "middle", "wrap"]

GAP = "  "
RULE = "─"
_BAR_WIDTH = 24
_EIGHTHS = " ▏▎▍▌▋▊▉"


class Column(Record):
    """One column of a table.

    Attributes:
        title: the title, with the unit of its figures.
        right: whether it is right-aligned.
        cut: the end at which long texts are cut, or their middle; "wrap", in the last column,
            keeps them whole on several lines.
        min_width: minimum width after cutting, in characters.
        comfort: the width that it keeps as long as other columns can be left out instead.
        spare: on a narrow terminal, columns are cut and left out, those with the highest number
            first; 0 is never left out.
    """

    title: str
    right: bool = False
    cut: CutEnd = "never"
    min_width: int = 12
    comfort: int = 0
    spare: int = 0


class Table(Record):
    """Rows of safe one-line cells under titles; ``total`` is the last row."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    total: tuple[str, ...] = field(default=())


def number(title: str, *, spare: int = 0) -> Column:
    """Return a column of numbers."""
    return Column(title=title, right=True, spare=spare)


def text(
    title: str, cut: CutEnd = "never", *, min_width: int = 12, comfort: int = 0, spare: int = 0
) -> Column:
    """Return a column of text."""
    return Column(title=title, cut=cut, min_width=min_width, comfort=comfort, spare=spare)


def table(
    columns: Sequence[Column], rows: Iterable[Sequence[str]], total: Sequence[str] = ()
) -> Table:
    """Return a table of these rows."""
    return Table(columns=tuple(columns), rows=tuple(tuple(row) for row in rows), total=tuple(total))


def table_lines(grid: Table, width: int | None) -> list[str]:
    """Return a table as lines, titles first, at most ``width`` wide; None for any width.

    To fit, texts are cut and spare columns left out. If that is not enough, the lines are wider.
    """
    if width is not None:
        grid = _fitted(_wrapped(grid, width), width)
    widths = _widths(grid)
    titles = tuple(column.title for column in grid.columns)
    lines = [_line(titles, grid, widths), RULE * (_total_width(widths))]
    lines += [_line(row, grid, widths) for row in grid.rows]
    if grid.total:
        lines += [_line(grid.total, grid, widths)]
    return lines


def bar(share: float, width: int = _BAR_WIDTH) -> str:
    """Return a bar of blocks for a share between 0 and 1, at most ``width`` characters wide."""
    eighths = round(min(1.0, max(0.0, share)) * width * 8)
    full, part = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[part] if part else "")


def bar_cell(share: float) -> str:
    """Return a share as a percentage and a bar."""
    return f"{share_text(share):>6} {bar(share)}".rstrip()


def cell_width(shown: str) -> int:
    """Return the width of a text in terminal columns."""
    if shown.isascii():
        return len(shown)
    from rich.cells import cell_len

    return cell_len(shown)


def _wrapped(grid: Table, width: int) -> Table:
    """Break the texts of the last column into rows of their own, if it may be wrapped."""
    *others, last = grid.columns
    if last.cut != "wrap":
        return grid
    room = max(last.min_width, width - sum(size + len(GAP) for size in _widths(grid)[:-1]))
    blank = ("",) * len(others)
    rows: list[tuple[str, ...]] = []
    for *cells, shown in grid.rows:
        first, *more = textwrap.wrap(shown, room, break_on_hyphens=False) or [""]
        rows += [(*cells, first), *((*blank, line) for line in more)]
    return replace(grid, rows=tuple(rows))


def _fitted(grid: Table, width: int) -> Table:
    while True:
        widths = _widths(grid)
        excess = _total_width(widths) - width
        last = max(column.spare for column in grid.columns)
        room = sum(
            _room(column, size, column.comfort if last else 0)
            for column, size in zip(grid.columns, widths, strict=True)
        )
        if excess <= 0:
            return grid
        if room >= excess or not last:
            return _cut(grid, widths, excess)
        grid = _without(grid, [column.spare for column in grid.columns].index(last))


def _widths(grid: Table) -> list[int]:
    lines = [tuple(column.title for column in grid.columns), *grid.rows]
    if grid.total:
        lines.append(grid.total)
    return [max(map(cell_width, cells)) for cells in zip(*lines, strict=True)]


def _total_width(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * (len(widths) - 1)


def _without(grid: Table, index: int) -> Table:
    def remaining_cells(cells: tuple[str, ...]) -> tuple[str, ...]:
        return cells[:index] + cells[index + 1 :]

    return Table(
        columns=grid.columns[:index] + grid.columns[index + 1 :],
        rows=tuple(map(remaining_cells, grid.rows)),
        total=remaining_cells(grid.total),
    )


def _cut(grid: Table, widths: Sequence[int], excess: int) -> Table:
    """Remove ``excess`` characters from columns: from those that are spared first, then the widest.

    A path is cut only when the columns that could be left out are as narrow as they may be.
    """

    def order(index: int) -> tuple[int, int]:
        return -grid.columns[index].spare, -widths[index]

    for index in sorted(range(len(widths)), key=order):
        cut = min(excess, _room(grid.columns[index], widths[index]))
        if cut > 0:
            grid = _cut_column(grid, index, widths[index] - cut)
            excess -= cut
    return grid


def _room(column: Column, width: int, comfort: int = 0) -> int:
    """Return how much a column of this width can be cut without cutting its title."""
    min_width = max(column.min_width, comfort, cell_width(column.title))
    return 0 if column.cut in ("never", "wrap") else max(0, width - min_width)


def _cut_column(grid: Table, index: int, width: int) -> Table:
    cut = grid.columns[index].cut

    def shorter(cells: tuple[str, ...]) -> tuple[str, ...]:
        return (*cells[:index], _cut_text(cells[index], width, cut), *cells[index + 1 :])

    return replace(
        grid,
        rows=tuple(map(shorter, grid.rows)),
        total=shorter(grid.total) if grid.total else (),
    )


def _cut_text(shown: str, width: int, cut: CutEnd) -> str:
    if cell_width(shown) <= width:
        return shown
    if cut == "middle":
        # The end of a path says more than its beginning.
        return _head(shown, width // 3) + _cut_text(shown, width - width // 3, "start")
    while cell_width(shown) > width - 1:
        shown = shown[1:] if cut == "start" else shown[:-1]
    return f"…{shown}" if cut == "start" else f"{shown}…"


def _head(shown: str, width: int) -> str:
    while cell_width(shown) > width:
        shown = shown[:-1]
    return shown


def _line(cells: Sequence[str], grid: Table, widths: Sequence[int]) -> str:
    padded = []
    for shown, column, width in zip(cells, grid.columns, widths, strict=True):
        space = " " * (width - cell_width(shown))
        padded.append(space + shown if column.right else shown + space)
    return GAP.join(padded).rstrip()
