"""Areas, one upon the other: places on a drawing that is stretched to the width of the page.

Across, a column is one unit wide; down, everything is ``HEIGHT`` high. Places of what is not
stretched, such as text, are shares of the whole in per cent.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from compactctl.reports.rendering.scale import round_values

HEIGHT = 1_000
# Above there is no room for what stands on a line.
_HIGHEST_LINE = 0.87


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """What one kind takes of each column; ``path`` is that of an SVG path."""

    name: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GridLine:
    """A line across, so many per cent from the top, and what it stands for."""

    label: str
    at: float


def areas(columns: Sequence[Mapping[str, int]], order: Sequence[str], top: float) -> list[Area]:
    """Return the areas of what occurs, ``order`` from the bottom up, for a drawing up to ``top``.

    Each reaches down to the ground; they are to be drawn in this order, the highest first, so that
    the lower ones cover it.
    """
    names = [name for name in order if any(column.get(name) for column in columns)]
    heights = [list(accumulate(column.get(name, 0) for name in names)) for column in columns]
    found = [
        Area(name=name, path=_path([each[index] for each in heights], top))
        for index, name in enumerate(names)
    ]
    return found[::-1]


def grid(top: float, label: Callable[[float], str], most: int = 5) -> tuple[GridLine, ...]:
    """Return at most so many lines at round values, the ground left out."""
    values = round_values(_HIGHEST_LINE * top, most)
    return tuple(GridLine(label=label(value), at=down(value, top)) for value in values)


def down(value: float, top: float) -> float:
    """Return how far from the top a value is, in per cent."""
    return round(100 * (1 - value / top), 2)


def across(column: float, columns: int) -> float:
    """Return how far from the left a column begins, in per cent."""
    return round(100 * column / columns, 3)


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
