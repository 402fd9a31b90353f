"""Text graphs: stacked layers, and lines of small bars."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from compactctl.records import Record

_MIN_STEP = 1e-6
# Times a power of ten: easy to divide in the head.
_STEPS = (1, 2, 2.5, 5)
_THOUSAND, _MILLION = 1_000, 1_000_000
_LABELS = 4
# The width of a graph if none is set, and the maximum width.
_WIDTH, _MOST = 80, 120
_AXIS = " ┤"
_HEIGHT = 14
# From the bottom up; distinguishable without colors.
SHADES = "█▓▒░"
_EIGHTHS = "▁▂▃▄▅▆▇█"


class Graph(Record, kw_only=False):
    """Stacked layers over at least one column.

    Attributes:
        columns: the sizes of the layers in each column, from the bottom up; at most as many as
            there are shades.
        top: the value at the upper edge.
        limits: values at which a horizontal line is drawn.
        marks: the columns that get a mark below.
    """

    columns: tuple[tuple[float, ...], ...]
    top: float
    limits: tuple[float, ...] = ()
    marks: tuple[int, ...] = ()


def round_values(top: float, limit: int) -> tuple[float, ...]:
    """Return evenly spaced round values up to ``top``, without 0, at most ``limit``."""
    step = next(step for step in _round_steps() if top / step < limit + 1)
    return tuple(step * number for number in range(1, limit + 1) if step * number <= top)


def _round_steps() -> Iterator[float]:
    power = _MIN_STEP
    while True:
        yield from (step * power for step in _STEPS)
        power *= 10


def short_count(value: float) -> str:
    """Return a round number of tokens in a few characters: 250k, 1M."""
    if value >= _MILLION:
        return f"{value / _MILLION:g}M"
    return f"{value / _THOUSAND:g}k" if value >= _THOUSAND else f"{value:g}"


def graph_lines(graph: Graph, width: int | None) -> Iterator[str]:
    """Yield the lines of a graph that is at most ``width`` characters wide; None for any width.

    If several columns share a character, the highest is drawn.
    """
    labels = {
        _row(value, graph.top): short_count(value) for value in round_values(graph.top, _LABELS)
    }
    margin = max(map(len, labels.values()), default=0)
    spans = _spans(len(graph.columns), min(width or _WIDTH, _MOST) - margin - len(_AXIS))
    shown = [max(graph.columns[first:last], key=sum) for first, last in spans]
    limits = {_row(limit, graph.top) for limit in graph.limits if limit <= graph.top}
    for row in reversed(range(_HEIGHT)):
        empty = "─" if row in limits else " "
        drawn = "".join(_letter(column, row, graph.top, empty) for column in shown)
        yield f"{labels.get(row, ''):>{margin}}{_AXIS}{drawn}".rstrip()
    marked = ["▲" if set(range(*span)) & set(graph.marks) else " " for span in spans]
    if "▲" in marked:
        yield f"{'':>{margin + len(_AXIS)}}{''.join(marked)}".rstrip()


def _row(value: float, top: float) -> int:
    """Return the row of a value, counted from the bottom."""
    return min(_HEIGHT - 1, int(value / top * _HEIGHT))


def _spans(count: int, width: int, *, widest: int = _MOST) -> list[tuple[int, int]]:
    """Return the columns of each character: several, or one that several characters share."""
    letters = min(max(1, width), count * widest)
    edges = [count * letter // letters for letter in range(letters + 1)]
    return [(first, max(last, first + 1)) for first, last in pairwise(edges)]


def _letter(column: Sequence[float], row: int, top: float, empty: str) -> str:
    """Return the character for the value at the middle of a row."""
    reached, middle = 0.0, (row + 0.5) * top / _HEIGHT
    for shade, size in zip(SHADES, column, strict=False):
        reached += size
        if middle < reached:
            return shade
    return empty


def small_bars(values: Sequence[float], top: float, width: int) -> str:
    """Return a bar character for each value; values that share one get that of the largest."""
    shown = [max(values[first:last]) for first, last in _spans(len(values), width, widest=1)]
    highest = len(_EIGHTHS) - 1
    return "".join(_EIGHTHS[min(highest, max(0, round(highest * value / top)))] for value in shown)
