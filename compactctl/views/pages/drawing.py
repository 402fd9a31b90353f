"""What drawings and lists on a page are made of: areas one upon the other, curves, bars.

A drawing is stretched to the width of the page. Across, a column of an area is one unit wide;
down, everything is ``HEIGHT`` high. Places of what is not stretched, such as text, are shares of
the whole in per cent.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from compactctl.commands.lab.eval_figures import EvalFigures
from compactctl.views.results.evaluate import Curve
from compactctl.views.terminal.graph import round_values

HEIGHT = 1_000
# Above there is no room for what stands on a line.
_HIGHEST_LINE = 0.87
# Colours of the style sheet for what has none of its own.
SERIES = 6
_LINES = 5
# Above and to the right there is room for what stands at a point.
_TOP, _RIGHT = 96.0, 96.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """What one kind takes of each column; ``path`` is that of an SVG path."""

    name: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartLine:
    """A named line, so many per cent from the top or from the left.

    ``kind`` is what a limit or mark is of; "" for a line of the scale.
    """

    label: str
    at: float
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """Stacked areas over the requests, their scale, and lines across and down."""

    label: str
    columns: int
    areas: tuple[Area, ...]
    grid: tuple[ChartLine, ...]
    limits: tuple[ChartLine, ...] = ()
    marks: tuple[ChartLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A row of a list: what it is called, how large it is, and where more is told of it."""

    label: str
    figure: str
    width: float
    name: str = ""
    note: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BarList:
    """Rows, the largest first, and what is not among them; ``paths`` are cut at their start."""

    title: str
    note: str
    rows: tuple[Bar, ...]
    rest: str = ""
    paths: bool = False


def areas(columns: Sequence[Mapping[str, int]], order: Sequence[str], top: float) -> list[Area]:
    """Return the areas of what occurs, ``order`` from the bottom up, for a drawing up to ``top``.

    Each reaches down to the ground; they are to be drawn in this order, the highest first, so that
    the lower ones cover it.
    """
    names = [name for name in order if any(column.get(name) for column in columns)]
    heights = [list(accumulate(column.get(name, 0) for name in names)) for column in columns]
    stacked = [
        Area(name=name, path=_path([column[index] for column in heights], top))
        for index, name in enumerate(names)
    ]
    return stacked[::-1]


def _path(values: Sequence[int], top: float) -> str:
    """Return the steps over the columns and back along the ground."""
    before = HEIGHT
    moves = [f"M0 {HEIGHT}"]
    for column, value in enumerate(values):
        height = round(HEIGHT * (1 - min(1.0, value / top)))
        if height != before:
            moves.append(f"H{column}V{height}")
            before = height
    return "".join((*moves, f"H{len(values)}V{HEIGHT}Z"))


def grid(top: float, label: Callable[[float], str], limit: int = 5) -> tuple[ChartLine, ...]:
    """Return at most so many lines at round values, the ground left out."""
    values = round_values(_HIGHEST_LINE * top, limit)
    return tuple(ChartLine(label=label(value), at=down(value, top)) for value in values)


def down(value: float, top: float) -> float:
    """Return how far from the top a value is, in per cent."""
    return round(100 * (1 - value / top), 2)


def across(column: float, columns: int) -> float:
    """Return how far from the left a column begins, in per cent."""
    return round(100 * column / columns, 3)


def class_of(name: str) -> str:
    """Return the class that has the colour of a category."""
    return f"c-{name.replace(' ', '-')}"


def dollars(amount: float) -> str:
    """Return an amount in US dollars."""
    return f"$ {amount:,.2f}" if amount >= 1 else f"$ {amount:,.4f}"


def percent(part: float, whole: float) -> float:
    """Return a part in per cent, 0 of nothing."""
    return round(100 * part / whole, 3) if whole else 0.0


def series(index: int) -> str:
    """Return the class with the colour of the so manieth thing."""
    return f"s-{index % SERIES}"


def recall_chart(curves: Sequence[Curve], labels: Sequence[str]) -> dict[str, object] | None:
    """Return the drawing of curves under these names; None without any.

    Lines go across for recall, and down for the tokens that are kept.
    """
    shares = [point.kept.value for curve in curves for point in curve.points]
    if not shares:
        return None
    widest = max(0.05, *shares)
    return {
        "curves": [
            _curve(index, curve, label, widest)
            for index, (curve, label) in enumerate(zip(curves, labels, strict=True))
        ],
        "across": [ChartLine(label=f"{n * 20} %", at=_y(n / _LINES)) for n in range(1, 6)],
        "down": [
            ChartLine(label=f"{100 * value:.3g} %", at=_x(value, widest))
            for value in round_values(widest, _LINES)
        ],
    }


def _curve(index: int, curve: Curve, label: str, widest: float) -> dict[str, object]:
    """Return a named curve: its class, an SVG path over 100 by 100, and its points."""
    dots = [_dot(point, label, widest) for point in curve.points]
    return {
        "label": label,
        "name": series(index),
        "is_control": curve.is_control,
        "path": "M" + "L".join(f"{dot['x']} {dot['y']}" for dot in dots),
        "dots": dots,
    }


def _dot(point: EvalFigures, label: str, widest: float) -> dict[str, object]:
    """Return a point, how far its interval reaches down the drawing, and what it says."""
    mean = point.measures["recall"]
    says = f"{label}: {100 * mean.value:.1f} % recall at {100 * point.kept.value:.1f} % kept"
    if mean.sessions > 1:
        says += f", 95 % from {100 * mean.low:.1f} to {100 * mean.high:.1f}"
    return {
        "x": _x(point.kept.value, widest),
        "y": _y(mean.value),
        "low": _y(mean.low),
        "high": _y(mean.high),
        "says": says,
    }


def _x(share: float, widest: float) -> float:
    return round(_RIGHT * share / widest, 2)


def _y(recall: float) -> float:
    return round(100 - _TOP * recall, 2)
