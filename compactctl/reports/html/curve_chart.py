"""Curves on a drawing: places in per cent from the left and from the top, so that it stretches."""

from collections.abc import Sequence
from dataclasses import dataclass

from compactctl.commands.evaluate.figures import EvalFigures
from compactctl.reports.html.areas import GridLine
from compactctl.reports.rendering.curves import Curve
from compactctl.reports.rendering.scale import round_values

# Colours of the style sheet for what has none of its own.
SERIES = 6
# Above and to the right there is room for what stands at a point.
_TOP, _RIGHT = 96.0, 96.0
_LINES = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A point, from where to where its interval reaches down the drawing, and what it says."""

    x: float
    y: float
    low: float
    high: float
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnCurve:
    """A named curve: its class, an SVG path over 100 by 100, and its points."""

    label: str
    name: str
    is_control: bool
    path: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveChart:
    """Curves of recall, with lines across for it and down for the tokens that are kept."""

    curves: tuple[DrawnCurve, ...]
    across: tuple[GridLine, ...]
    down: tuple[GridLine, ...]


def series(index: int) -> str:
    """Return the class with the colour of the so manieth thing."""
    return f"s-{index % SERIES}"


def recall_chart(curves: Sequence[Curve], labels: Sequence[str]) -> CurveChart | None:
    """Return the drawing of curves under these names; None without any."""
    kept = [point.kept.value for curve in curves for point in curve.points]
    if not kept:
        return None
    widest = max(0.05, *kept)
    return CurveChart(
        curves=tuple(
            _curve(index, curve, label, widest)
            for index, (curve, label) in enumerate(zip(curves, labels, strict=True))
        ),
        across=tuple(GridLine(label=f"{n * 20} %", at=_y(n / _LINES)) for n in range(1, 6)),
        down=tuple(
            GridLine(label=f"{100 * value:.3g} %", at=_x(value, widest))
            for value in round_values(widest, _LINES)
        ),
    )


def _curve(index: int, curve: Curve, label: str, widest: float) -> DrawnCurve:
    dots = tuple(_dot(point, label, widest) for point in curve.points)
    return DrawnCurve(
        label=label,
        name=series(index),
        is_control=curve.is_control,
        path="M" + "L".join(f"{dot.x} {dot.y}" for dot in dots),
        dots=dots,
    )


def _dot(point: EvalFigures, label: str, widest: float) -> Dot:
    mean = point.measures["recall"]
    says = f"{label}: {100 * mean.value:.1f} % recall at {100 * point.kept.value:.1f} % kept"
    if mean.sessions > 1:
        says += f", 95 % from {100 * mean.low:.1f} to {100 * mean.high:.1f}"
    return Dot(
        x=_x(point.kept.value, widest),
        y=_y(mean.value),
        low=_y(mean.low),
        high=_y(mean.high),
        says=says,
    )


def _x(kept: float, widest: float) -> float:
    return round(_RIGHT * kept / widest, 2)


def _y(recall: float) -> float:
    return round(100 - _TOP * recall, 2)
