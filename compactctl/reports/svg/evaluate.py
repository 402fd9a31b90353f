"""Recall against tokens kept, as an SVG file that is readable on light and dark ground."""

from collections.abc import Iterator, Sequence
from html import escape
from itertools import cycle
from pathlib import Path

from compactctl.commands.evaluate.evaluate import EvaluateResult
from compactctl.commands.evaluate.figures import EvalFigures
from compactctl.reports.rendering.curves import Curve, curves
from compactctl.reports.rendering.text import line_text
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.publish.publish import write_output

_WIDTH, _HEIGHT = 720, 420
_LEFT, _TOP, _RIGHT, _BOTTOM = 60, 40, 190, 50
_STEPS = 5
_TITLE = "What sessions went on to name that was still there"
# Distinguishable to people who are colour blind, on light ground and on dark: Okabe and Ito, 2008.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_STYLE = """\
text { font: 12px sans-serif; fill: #222; }
.title { font-size: 14px; font-weight: bold; }
.ground { fill: #fff; }
.axis { stroke: #888; fill: none; }
.grid { stroke: #ddd; }
.control { stroke-dasharray: 4 4; }
@media (prefers-color-scheme: dark) {
  text { fill: #ddd; }
  .ground { fill: #111; }
  .grid { stroke: #333; }
}"""


def write_plot(result: EvaluateResult, path: str | Path, *, force: bool) -> tuple[str, ...]:
    """Write the drawing, whole or not at all; return warnings. Raises as ``write_output`` does."""
    content = Content.of((drawing(result).encode(),))
    return write_output(FileSystem(), Path(path), content, force=force)


def drawing(result: EvaluateResult) -> str:
    """Return the drawing: a line per policy, dashed for controls, bars for the intervals."""
    found = curves(result)
    widest = max((point.kept.value for curve in found for point in curve.points), default=1.0)
    scale = _Scale(min(1.0, max(0.1, widest)))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{_TITLE}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="ground" width="{_WIDTH}" height="{_HEIGHT}"/>',
        f'<text class="title" x="{_LEFT}" y="22">{_TITLE}</text>',
        *_axes(scale),
    ]
    for row, (curve, colour) in enumerate(zip(found, cycle(_COLOURS), strict=False)):
        lines += _curve(curve, colour, scale)
        lines += _svg_legend(curve, colour, row)
    return "\n".join([*lines, "</svg>", ""])


class _Scale:
    """Places on the drawing; ``widest`` is the share of tokens at its right end."""

    def __init__(self, widest: float) -> None:
        self.widest = widest

    def x(self, kept: float) -> float:
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * min(1.0, kept / self.widest), 1)

    def y(self, recall: float) -> float:
        return round(_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * recall, 1)


def _axes(scale: _Scale) -> Iterator[str]:
    for step in range(_STEPS + 1):
        recall, kept = step / _STEPS, scale.widest * step / _STEPS
        x, y = scale.x(kept), scale.y(recall)
        yield f'<path class="grid" d="M{scale.x(0)} {y}H{scale.x(scale.widest)}"/>'
        yield f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end">{recall:.0%}</text>'
        yield f'<text x="{x}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{kept:.0%}</text>'
    corner = f"M{scale.x(0)} {scale.y(1)}V{scale.y(0)}H{scale.x(scale.widest)}"
    yield f'<path class="axis" d="{corner}"/>'
    yield f'<text x="{_LEFT}" y="{_HEIGHT - 12}">tokens kept of those before the cut</text>'


def _curve(curve: Curve, colour: str, scale: _Scale) -> Iterator[str]:
    dashed = ' class="control"' if curve.is_control else ""
    places = " ".join(f"{scale.x(p.kept.value)},{scale.y(_recall(p))}" for p in curve.points)
    yield f'<polyline{dashed} points="{places}" fill="none" stroke="{colour}" stroke-width="2"/>'
    for point in curve.points:
        mean, x = point.measures["recall"], scale.x(point.kept.value)
        yield f'<path d="M{x} {scale.y(mean.low)}V{scale.y(mean.high)}" stroke="{colour}"/>'
        yield f'<circle cx="{x}" cy="{scale.y(mean.value)}" r="3" fill="{colour}"/>'


def _recall(point: EvalFigures) -> float:
    return point.measures["recall"].value


def _svg_legend(curve: Curve, colour: str, row: int) -> Sequence[str]:
    x, y = _WIDTH - _RIGHT + 20, _TOP + 18 * row
    dashed = ' class="control"' if curve.is_control else ""
    name = escape(line_text(curve.name))
    return (
        f'<path{dashed} d="M{x} {y}h20" stroke="{colour}" stroke-width="2"/>',
        f'<text x="{x + 26}" y="{y + 4}">{name}</text>',
    )
