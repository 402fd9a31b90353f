"""Recall against tokens kept: a curve per policy, for reports that draw."""

from dataclasses import dataclass

from compactctl.commands.evaluate.evaluate import EvaluateResult
from compactctl.commands.evaluate.figures import EvalFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A policy and its figures, from the fewest tokens kept to the most."""

    name: str
    is_control: bool
    points: tuple[EvalFigures, ...]


def curves(result: EvaluateResult) -> tuple[Curve, ...]:
    """Return what was evaluated, then the controls; what keeps everything is a corner, no curve."""
    names = [policy.name for policy in result.policies]
    found: dict[str, list[EvalFigures]] = {name: [] for name in names}
    for figures in result.figures:
        if figures.asked < 1:
            found.setdefault(figures.policy, []).append(figures)
    return tuple(
        Curve(
            name=name,
            is_control=name not in names,
            points=tuple(sorted(points, key=lambda point: point.kept.value)),
        )
        for name, points in found.items()
        if points
    )
