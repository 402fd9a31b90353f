"""Parts of charts and lists on a page: stacked areas and bars.

A chart is stretched to the width of the page. A column of an area is one unit wide, and a chart is
``HEIGHT`` high. Positions of parts that are not stretched, such as text, are percentages of the
chart.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from compactctl.records import Record
from compactctl.views.terminal.graph import round_values

HEIGHT = 1_000
# Above this there is no space for the label on a line.
_MAX_LINE_SHARE = 0.87
# The number of colors in the style sheet for series.
SERIES = 6


class Area(Record):
    """The area of one category over the columns; ``path`` is an SVG path."""

    name: str
    path: str


class ChartLine(Record):
    """A labeled line; ``at`` is its distance from the top or from the left in percent.

    ``kind`` is the kind of a limit or mark; "" for a line of the scale.
    """

    label: str
    at: float
    kind: str = ""


class Chart(Record):
    """Stacked areas over the requests, their scale, and horizontal and vertical lines."""

    label: str
    columns: int
    areas: tuple[Area, ...]
    grid: tuple[ChartLine, ...]
    limits: tuple[ChartLine, ...] = ()
    marks: tuple[ChartLine, ...] = ()


class Bar(Record):
    """A row of a list: its name, its size, and a link to details."""

    label: str
    figure: str
    width: float
    name: str = ""
    note: str = ""
    target: str = ""


class BarList(Record):
    """Rows, largest first, and a note on omitted ones; ``paths`` are cut at their start."""

    title: str
    note: str
    rows: tuple[Bar, ...]
    rest: str = ""
    paths: bool = False


def areas(columns: Sequence[Mapping[str, int]], order: Sequence[str], top: float) -> list[Area]:
    """Return the areas of the categories that occur; ``top`` is the value at the upper edge.

    ``order`` is from the bottom up. Each area reaches down to the base line, so they must be drawn
    in the returned order, the highest first: lower ones cover it.
    """
    names = [name for name in order if any(column.get(name) for column in columns)]
    heights = [list(accumulate(column.get(name, 0) for name in names)) for column in columns]
    stacked = [
        Area(name=name, path=_path([column[index] for column in heights], top))
        for index, name in enumerate(names)
    ]
    return stacked[::-1]


def _path(values: Sequence[int], top: float) -> str:
    """Return the steps over the columns and back along the base line."""
    before = HEIGHT
    moves = [f"M0 {HEIGHT}"]
    for column, value in enumerate(values):
        height = round(HEIGHT * (1 - min(1.0, value / top)))
        if height != before:
            moves.append(f"H{column}V{height}")
            before = height
    return "".join((*moves, f"H{len(values)}V{HEIGHT}Z"))


def grid(top: float, label: Callable[[float], str], limit: int = 5) -> tuple[ChartLine, ...]:
    """Return lines at round values, without the base line."""
    values = round_values(_MAX_LINE_SHARE * top, limit)
    return tuple(ChartLine(label=label(value), at=down(value, top)) for value in values)


def down(value: float, top: float) -> float:
    """Return the distance of a value from the top, in percent."""
    return round(100 * (1 - value / top), 2)


def across(column: float, columns: int) -> float:
    """Return the distance of a column from the left, in percent."""
    return round(100 * column / columns, 3)


def class_of(name: str) -> str:
    """Return the CSS class with the color of a category."""
    return f"c-{name.replace(' ', '-')}"


def dollars(amount: float) -> str:
    """Return an amount in US dollars."""
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:,.4f}"


def percent(part: float, whole: float) -> float:
    """Return a part in percent; 0 if the whole is 0."""
    return round(100 * part / whole, 3) if whole else 0.0


def series(index: int) -> str:
    """Return the CSS class with the color of the series with this index."""
    return f"s-{index % SERIES}"
