"""Graphs of letters: layers one upon the other, and lines of small bars."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

_LEAST = 1e-6
# Times a power of ten: people can divide by them in their heads.
_STEPS = (1, 2, 2.5, 5)
_THOUSAND, _MILLION = 1_000, 1_000_000
_LABELS = 4
# As wide as a graph is where nothing says how wide it may be, and at most.
_WIDTH, _MOST = 80, 120
_AXIS = " ┤"
_HEIGHT = 14
# From the bottom up; a terminal without colours tells them apart.
SHADES = "█▓▒░"
_EIGHTHS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Graph:
    """Layers over columns, of which there is at least one.

    Attributes:
        columns: the sizes of the layers in each column, from the bottom up; at most as many as
            there are shades.
        top: what the upper edge stands for.
        limits: sizes at which a line goes across.
        marks: the columns below which something happened.
    """

    columns: tuple[tuple[float, ...], ...]
    top: float
    limits: tuple[float, ...] = ()
    marks: tuple[int, ...] = ()


def round_values(top: float, limit: int) -> tuple[float, ...]:
    """Return at most so many round values up to ``top``, evenly apart, without 0."""
    step = next(step for step in _round_steps() if top / step < limit + 1)
    return tuple(step * number for number in range(1, limit + 1) if step * number <= top)


def _round_steps() -> Iterator[float]:
    power = _LEAST
    while True:
        yield from (step * power for step in _STEPS)
        power *= 10


def short_count(value: float) -> str:
    """Return a round number of tokens in a few letters: 250k, 1M."""
    if value >= _MILLION:
        return f"{value / _MILLION:g}M"
    return f"{value / _THOUSAND:g}k" if value >= _THOUSAND else f"{value:g}"


def graph_lines(graph: Graph, width: int | None) -> Iterator[str]:
    """Yield the lines of a graph that is at most ``width`` letters wide; None is any width.

    Of columns that share a letter the highest is drawn.
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
    """Return the row, from the bottom, in which a value lies."""
    return min(_HEIGHT - 1, int(value / top * _HEIGHT))


def _spans(count: int, width: int, *, widest: int = _MOST) -> list[tuple[int, int]]:
    """Return which columns each letter stands for: several, or several letters for one."""
    letters = min(max(1, width), count * widest)
    edges = [count * letter // letters for letter in range(letters + 1)]
    return [(first, max(last, first + 1)) for first, last in pairwise(edges)]


def _letter(column: Sequence[float], row: int, top: float, empty: str) -> str:
    """Return what stands at the middle of a row."""
    reached, middle = 0.0, (row + 0.5) * top / _HEIGHT
    for shade, size in zip(SHADES, column, strict=False):
        reached += size
        if middle < reached:
            return shade
    return empty


def small_bars(values: Sequence[float], top: float, width: int) -> str:
    """Return a letter for each value, of several that share one for the largest."""
    shown = [max(values[first:last]) for first, last in _spans(len(values), width, widest=1)]
    highest = len(_EIGHTHS) - 1
    return "".join(_EIGHTHS[min(highest, max(0, round(highest * value / top)))] for value in shown)
