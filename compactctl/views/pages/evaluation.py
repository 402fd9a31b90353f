"""``eval`` as a page: recall against the tokens that each policy keeps."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from compactctl.commands.lab.eval_figures import EvalFigures, Mean
from compactctl.commands.lab.eval_session import CONTROL_POLICIES
from compactctl.commands.lab.evaluate import EvaluateResult
from compactctl.commands.page_choice import PageChoice
from compactctl.views.pages.drawing import ChartLine, series
from compactctl.views.pages.page import PageNames, page_contents_of_many, page_of
from compactctl.views.results.evaluate import (
    CAVEAT,
    MARKS,
    REUSE,
    REUSE_LEGEND,
    STATE,
    STATE_LEGEND,
    TITLES,
    Curve,
    answer,
    asked_shares,
    curves,
    percent_text,
    recalls,
)
from compactctl.views.terminal.graph import round_values
from compactctl.views.terminal.text import plural, share_text

_BEYOND = "beyond"
_CHART_LINES = 5
# The space that the label of a point takes, in percent of the chart.
_LABEL_WIDTH, _LABEL_HEIGHT = 7.0, 4.0
# To the right of this there is no space for a label, so that it is on the left.
_LABELED_ON_THE_LEFT = 90.0
# The space above and to the right is for the labels of points.
_TOP, _RIGHT = 96.0, 96.0
_TITLES = {**TITLES, _BEYOND: "Beyond chance"}


def evaluate_page(result: EvaluateResult, choice: PageChoice) -> str:
    """Return the page."""
    names = PageNames(choice)
    policies = _policy_names(result, names)
    recall_curves = curves(result)
    cuts = sum(session.cuts for session in result.sessions)
    return page_of(
        "evaluation",
        {
            "title": "What survives compaction",
            "answer": answer(result, policies),
            "caveat": CAVEAT,
            "facts": list(_facts(result, cuts, names)),
            "holds": list(page_contents_of_many(choice)),
            "warnings": list(_warnings(result, choice, names)),
            "cuts": cuts,
            "chart": recall_chart(
                recall_curves, [policies[figures.name] for figures in recall_curves]
            ),
            "has_intervals": any(_has_interval(figures) for figures in result.figures),
            "tables": {
                REUSE_LEGEND: _table(result.figures, policies, (*REUSE, _BEYOND)),
                STATE_LEGEND: _table(result.figures, policies, STATE),
            }
            if result.figures
            else {},
            "shares": [f"{100 * share:.3g}%" for share in asked_shares(result)],
            "first": policies[result.policies[0].name] if result.policies else "",
            "sessions": _sessions(result, choice, names),
            "findings": []
            if choice.redact
            else [names.line(figures) for figures in result.findings],
            "failures": len(result.failures),
        },
    )


def _facts(result: EvaluateResult, cuts: int, names: PageNames) -> Iterator[str]:
    used = sum(session.cuts > 0 for session in result.sessions)
    yield f"{plural(cuts, 'cut')} in {used:,} of {plural(len(result.sessions), 'session')}"
    skipped = sum(session.skipped for session in result.sessions)
    if skipped:
        yield f"{plural(skipped, 'cut')} skipped: too few names recur after them"
    if result.counters:
        yield f"counted with {', '.join(map(names.counter, result.counters))}"
    if result.noise is not None:
        yield f"noise {share_text(result.noise.share)}"


def _warnings(result: EvaluateResult, choice: PageChoice, names: PageNames) -> Iterator[str]:
    if choice.redact:
        return
    yield from (f"not evaluated: {names.line(failure.reason)}" for failure in result.failures)


def _policy_names(result: EvaluateResult, names: PageNames) -> dict[str, str]:
    """Return the name of each policy and control; if redacted, profiles in files get a number."""
    paths = {policy.name for policy in result.policies if policy.is_in_file}
    policies = dict.fromkeys(policy.name for policy in (*CONTROL_POLICIES, *result.policies))
    return {name: names.profile(name) if name in paths else names.line(name) for name in policies}


def _table(
    figures: Sequence[EvalFigures], policies: Mapping[str, str], measures: Collection[str]
) -> dict[str, object]:
    """Return a row per policy and share, without the measures that nothing was asked for."""
    titles = {
        name: title
        for name, title in _TITLES.items()
        if name in measures and any(_cell(row, name) for row in figures)
    }
    return {
        "titles": ("Policy", "Asked", "Kept", "Over", *titles.values()),
        "rows": [
            (
                policies[row.policy],
                f"{100 * row.asked:.3g}%",
                percent_text(row.kept),
                f"{row.over:,}",
                *(_cell(row, name) for name in titles),
            )
            for row in figures
        ],
    }


def _cell(row: EvalFigures, name: str) -> str:
    if name == _BEYOND:
        return "" if row.beyond is None else f"{100 * row.beyond:.1f}"
    mean = row.measures.get(name)
    return _with_interval(mean) if name == "recall" else percent_text(mean)


def _with_interval(mean: Mean | None) -> str:
    if mean is None or mean.sessions == 1:
        return percent_text(mean)
    return f"{100 * mean.value:.1f} ({100 * mean.low:.1f} to {100 * mean.high:.1f})"


def _has_interval(figures: EvalFigures) -> bool:
    return any(mean.sessions > 1 for mean in figures.measures.values())


def _sessions(
    result: EvaluateResult, choice: PageChoice, names: PageNames
) -> list[dict[str, object]]:
    """Return the number of cuts of each session, and the first policy's recall by share."""
    return [
        {
            "name": names.file(session.path),
            "project": "" if choice.redact else names.line(session.project),
            "cuts": session.cuts,
            "recalls": recalls(result, session.path),
        }
        for session in result.sessions
    ]


def recall_chart(curves: Sequence[Curve], labels: Sequence[str]) -> dict[str, object] | None:
    """Return the chart of curves under these names; None without any.

    The grid is horizontal for recall, and vertical for the tokens kept.
    """
    shares = [point.kept.value for curve in curves for point in curve.points]
    if not shares:
        return None
    widest = max(0.05, *shares)
    places = _label_places(curves, widest)
    return {
        "curves": [
            _curve(index, curve, label, widest, places)
            for index, (curve, label) in enumerate(zip(curves, labels, strict=True))
        ],
        "across": [ChartLine(label=f"{n * 20}%", at=_y(n / _CHART_LINES)) for n in range(1, 6)],
        "down": [
            ChartLine(label=f"{100 * value:.3g}%", at=_x(value, widest))
            for value in round_values(widest, _CHART_LINES)
        ],
    }


def _label_places(curves: Sequence[Curve], widest: float) -> Iterator[float]:
    """Yield the height of the label of each point: that of the point, or the next free one below.

    At the lower end, where nothing is free, labels go up.
    """
    taken: list[tuple[float, float]] = []
    for point in (point for curve in curves for point in curve.points):
        x, y = _x(point.kept.value, widest), _y(point.measures["recall"].value)
        heights = [y + step * _LABEL_HEIGHT for step in (*range(20), *range(-1, -20, -1))]
        inside = [height for height in heights if _LABEL_HEIGHT < height < 100 - _LABEL_HEIGHT]
        free = (height for height in inside if not _is_taken(x, height, taken))
        place = round(next(free, y), 2)
        taken.append((x, place))
        yield place


def _is_taken(x: float, y: float, labels: Sequence[tuple[float, float]]) -> bool:
    return any(
        abs(x - other_x) < _LABEL_WIDTH and abs(y - other_y) < _LABEL_HEIGHT
        for other_x, other_y in labels
    )


def _curve(
    index: int, curve: Curve, label: str, widest: float, label_places: Iterator[float]
) -> dict[str, object]:
    """Return a named curve: its class, an SVG path over 100 by 100, and its points."""
    mark = MARKS[index : index + 1]
    dots = [
        {**_dot(point, label, widest), "label": f"{mark} {point.asked:.0%}", "label_y": place}
        for point, place in zip(curve.points, label_places, strict=False)
    ]
    return {
        "label": label,
        "mark": mark,
        "name": "s-control" if curve.is_control else series(index),
        "is_control": curve.is_control,
        "path": "M" + "L".join(f"{dot['x']} {dot['y']}" for dot in dots),
        "dots": dots,
    }


def _dot(point: EvalFigures, label: str, widest: float) -> dict[str, object]:
    """Return a point, the vertical extent of its interval, and its label."""
    mean = point.measures["recall"]
    x = _x(point.kept.value, widest)
    says = f"{label}: {100 * mean.value:.1f}% recall at {100 * point.kept.value:.1f}% kept"
    if mean.sessions > 1:
        says += f", 95% from {100 * mean.low:.1f} to {100 * mean.high:.1f}"
    return {
        "x": x,
        "is_left": x > _LABELED_ON_THE_LEFT,
        "y": _y(mean.value),
        "low": _y(mean.low),
        "high": _y(mean.high),
        "says": says,
    }


def _x(share: float, widest: float) -> float:
    return round(_RIGHT * share / widest, 2)


def _y(recall: float) -> float:
    return round(100 - _TOP * recall, 2)
