"""How much compactions keep of what sessions needed later."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compactctl.commands.lab.eval_figures import SCHEMA, EvalFigures, Mean
from compactctl.commands.lab.eval_session import Trial
from compactctl.commands.lab.evaluate import REPORT_FORMATS, EvaluateResult
from compactctl.commands.output_files import format_by_extension
from compactctl.lab.score import ANSWERS, MEASURES
from compactctl.records import Record
from compactctl.views.encode import encoded, record
from compactctl.views.facts import warning_lines
from compactctl.views.table_file import write_table, write_text
from compactctl.views.table_text import markdown_row, markdown_text, rows_text
from compactctl.views.terminal.screen import Accent, Fact, Facts, ScreenItem, Verbatim
from compactctl.views.terminal.tables import Column, number, table, text
from compactctl.views.terminal.text import line_text, one_line, path_name, plural, share_text

if TYPE_CHECKING:
    from compactctl.lab.tally import Tally

CAVEAT = "Upper bound: the words are still in the context, but the model may not recall them."
_DOCUMENT_CAVEAT = (
    "upper bound: the words are still in the context, but the model may not recall them"
)
# A column of a table, and its cells.
_Cells = tuple[Column, list[str]]
# Measure -> its title for users.
TITLES = {**MEASURES, ANSWERS: "Answers"}
# The measures of each table, in the order in which a narrow terminal keeps them.
REUSE = ("recall", "words", "edits", "lines", "support", "rereads", "statements")
STATE = ("rules", "errors", "commands", "read", "changed", ANSWERS, "tasks", "last", "first")
REUSE_LEGEND = (
    "Recall and support: names the agent used again. The rest: what it wrote again, word for word."
)
STATE_LEGEND = "What the agent should still know."
# Small enough for a narrow terminal.
_PLOT_WIDTH, _PLOT_HEIGHT = 30, 11
MARKS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""The letters that stand for policies in drawings."""
_WIDTH, _HEIGHT = 720, 420
_TITLE = "What sessions named later that was still in the context"
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
_LEFT_MARGIN, _TOP, _RIGHT, _BOTTOM = 60, 40, 190, 50
# Safe for color blind users, on light and dark backgrounds: Okabe and Ito, 2008.
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_STEPS = 5
# Each has two columns: how many were asked for, and how many were present.
_TALLIES = (*MEASURES, ANSWERS, "chance")
# Column -> Arrow type; each is the field of Trial of that name.
_COLUMNS: Mapping[str, str] = {
    "session": "large_string",
    "project": "large_string",
    "cut": "float64",
    "requests": "int64",
    "policy": "large_string",
    "asked": "float64",
    "prefix": "int64",
    "tokens": "int64",
    "kept": "float64",
    "verdict": "large_string",
    "pair_errors": "int64",
    "milliseconds": "float64",
}
_TYPES: Mapping[str, str] = {
    **_COLUMNS,
    **{f"{name}_{what}": "int64" for name in _TALLIES for what in ("asked", "hits")},
}
_METADATA = "compactctl.eval"
_VERSION = 1
"""Goes up when a column is removed or changes its meaning."""


class Curve(Record):
    """A policy and its figures, from the fewest tokens kept to the most."""

    name: str
    is_control: bool
    points: tuple[EvalFigures, ...]


class _Scale:
    """Positions on the drawing; ``widest`` is the share of tokens at its right end."""

    def __init__(self, widest: float) -> None:
        self.widest = widest

    def x(self, share: float) -> float:
        return round(
            _LEFT_MARGIN + (_WIDTH - _LEFT_MARGIN - _RIGHT) * min(1.0, share / self.widest), 1
        )

    def y(self, recall: float) -> float:
        return round(_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * recall, 1)


def evaluate_terminal(result: EvaluateResult) -> Iterator[ScreenItem]:
    """Yield two tables of figures, the recall curve, and a row per session if there are several."""
    yield Accent(answer(result), "bold")
    yield CAVEAT
    yield Facts(tuple(_facts(result)))
    if not result.figures:
        return
    yield ""
    yield REUSE_LEGEND
    yield _reuse_table(result.figures)
    yield ""
    yield STATE_LEGEND
    yield _state_table(result.figures)
    yield ""
    drawn = curves(result)
    yield Verbatim("\n".join(_plot(drawn)))
    yield f"recall by  {_plot_legend(drawn)}"
    if len(result.sessions) > 1:
        yield ""
        yield _sessions_table(result)


def evaluate_document(result: EvaluateResult) -> dict[str, Any]:
    """Return all trials, and their figures by policy and by session."""
    return {
        "schema": SCHEMA,
        "caveat": _DOCUMENT_CAVEAT,
        **record(result, only=("counters",)),
        **record(result.options.session, only=("seed",)),
        "policies": [policy.name for policy in result.policies],
        **record(result, only=("figures", "noise")),
        "sessions": [
            {**record(session), "figures": encoded(result.of_session(session.path))}
            for session in result.sessions
        ],
        **record(result, only=("failures", "trials", "findings", "warnings")),
    }


def evaluate_messages(result: EvaluateResult) -> Iterator[str]:
    """Yield the lines for standard error: errors, written files, and results of gates."""
    yield from (f"not evaluated: {line_text(failure.reason)}" for failure in result.failures)
    yield from warning_lines(result.warnings)
    yield from (f"wrote {path_name(path)}" for path in result.written)
    yield from (f"gate: {line_text(finding)}" for finding in result.findings)


def answer(result: EvaluateResult, names: Mapping[str, str] | None = None) -> str:
    """Return what the policy that recalls most with the fewest tokens keeps of names and words.

    A policy that is over its target, or compacts nothing, is not compared. ``names`` are others to
    show for the policies.
    """
    shown = names or {}
    asked = min(asked_shares(result), default=None)
    if asked is None:
        return "nothing was measured"
    rows = [row for row in result.figures if row.asked == asked]
    policies = {policy.name for policy in result.policies}
    if not any(_is_compared(row) for row in rows if row.policy in policies):
        nearest = min((row for row in rows if row.policy in policies), key=lambda row: row.over)
        return one_line(_none_fits(nearest, shown.get(nearest.policy, nearest.policy)))
    best = max(
        filter(_is_compared, rows),
        key=lambda row: (_recall(row), row.policy in policies, -row.kept.value),
    )
    words = best.measures.get("words")
    reused = f"{share_text(_recall(best))} of the names"
    if words is not None:
        reused = f"{reused} and {share_text(words.value)} of the words"
    name = shown.get(best.policy, best.policy)
    return one_line(f"{name} keeps {reused} used again, in {asked:.0%} of the tokens")


def _is_compared(row: EvalFigures) -> bool:
    return not row.over and row.verdict != "unchanged"


def _none_fits(nearest: EvalFigures, name: str) -> str:
    """Return why no policy is the best, with the one that comes nearest to its target."""
    if not nearest.over:
        return f"no policy compacted anything at {nearest.asked:.0%} of the tokens"
    return (
        f"no policy keeps to {nearest.asked:.0%} of the tokens: {name} is "
        f"{nearest.over_text} and keeps {share_text(nearest.kept.value)}"
    )


def _facts(result: EvaluateResult) -> Iterator[Fact]:
    cuts = sum(session.cuts for session in result.sessions)
    used = sum(session.cuts > 0 for session in result.sessions)
    yield Fact(
        "measured", f"{plural(cuts, 'cut')} in {used} of {plural(len(result.sessions), 'session')}"
    )
    skipped = sum(session.skipped for session in result.sessions)
    if skipped:
        yield Fact("skipped", f"{plural(skipped, 'cut')}: too little is named again afterwards")
    if not cuts:
        yield Fact("no figures", "a cut needs 8,000 tokens before it and 8 requests after it")
    if result.counters:
        yield Fact("counted with", ", ".join(map(one_line, result.counters)))
    yield Fact("noise", _noise_text(result))


def _noise_text(result: EvaluateResult) -> str:
    noise = result.noise
    if noise is None:
        return "unknown; needs sessions of two projects"
    return (
        f"{share_text(noise.share)} of the names used again would also be in other "
        f"projects ({plural(noise.pairs, 'pair')})"
    )


def _reuse_table(figures: Sequence[EvalFigures]) -> ScreenItem:
    columns = (
        (number("Kept"), [percent_text(row.kept) for row in figures]),
        *_measured(figures, REUSE),
        (number("95% interval", spare=len(REUSE)), [_interval(row) for row in figures]),
    )
    return _figures_table(figures, columns)


def _state_table(figures: Sequence[EvalFigures]) -> ScreenItem:
    columns = (
        *_measured(figures, STATE),
        (number("Beyond chance", spare=5), [_beyond(row) for row in figures]),
        (number("Parted", spare=1), [_count(row.pair_errors) for row in figures]),
        (number("Over", spare=1), [_count(row.over) for row in figures]),
    )
    return _figures_table(figures, columns)


def _measured(figures: Sequence[EvalFigures], measures: Sequence[str]) -> Iterator[_Cells]:
    for name, title in TITLES.items():
        if name in measures:
            cells = [percent_text(row.measures.get(name)) for row in figures]
            yield number(title, spare=measures.index(name)), cells


def _figures_table(figures: Sequence[EvalFigures], columns: Iterable[_Cells]) -> ScreenItem:
    """Return a row per policy and share, without empty columns."""
    shown_columns = [
        (text("Policy", "end", min_width=8), [one_line(row.policy) for row in figures]),
        (number("Asked"), [f"{row.asked:.0%}" for row in figures]),
        *(column for column in columns if any(column[1])),
    ]
    rows = zip(*(cells for _, cells in shown_columns), strict=True)
    return table([column for column, _ in shown_columns], rows)


def percent_text(mean: Mean | None) -> str:
    """Return a mean in percent; "" if it was not measured."""
    return "" if mean is None else f"{100 * mean.value:.1f}"


def _interval(row: EvalFigures) -> str:
    """Return the interval of recall; a single session has none."""
    mean = row.measures["recall"]
    return "" if mean.sessions == 1 else f"{100 * mean.low:.1f}-{100 * mean.high:.1f}"


def _beyond(row: EvalFigures) -> str:
    return "" if row.beyond is None else f"{100 * row.beyond:.1f}"


def _count(count: int) -> str:
    return f"{count:,}" if count else ""


def curves(result: EvaluateResult) -> tuple[Curve, ...]:
    """Return the policies, then the controls, without those that keep everything: a corner."""
    names = [policy.name for policy in result.policies]
    figures_by_policy: dict[str, list[EvalFigures]] = {name: [] for name in names}
    for figures in result.figures:
        if figures.asked < 1:
            figures_by_policy.setdefault(figures.policy, []).append(figures)
    return tuple(
        Curve(
            name=name,
            is_control=name not in names,
            points=tuple(sorted(points, key=lambda point: point.kept.value)),
        )
        for name, points in figures_by_policy.items()
        if points
    )


def _plot(recall_curves: Sequence[Curve]) -> Iterator[str]:
    """Draw recall over tokens kept, with a letter per policy."""
    widest = max(point.kept.value for curve in recall_curves for point in curve.points)
    rows = [[" "] * (_PLOT_WIDTH + 1) for _ in range(_PLOT_HEIGHT)]
    for curve, mark in reversed(list(zip(recall_curves, MARKS, strict=False))):
        for point in curve.points:
            across = round(point.kept.value / widest * _PLOT_WIDTH)
            up = round(point.measures["recall"].value * (_PLOT_HEIGHT - 1))
            rows[_PLOT_HEIGHT - 1 - up][across] = mark
    for row, cells in enumerate(rows):
        recall = 1 - row / (_PLOT_HEIGHT - 1)
        yield f"{recall:>6.0%} ┤{''.join(cells)}".rstrip()
    yield f"       └{'─' * (_PLOT_WIDTH + 1)}"
    yield f"        0%{'tokens kept':^{_PLOT_WIDTH - 7}}{widest:.0%}"


def _plot_legend(recall_curves: Sequence[Curve]) -> str:
    marked = zip(recall_curves, MARKS, strict=False)
    return ", ".join(f"{mark} {one_line(curve.name)}" for curve, mark in marked)


def _sessions_table(result: EvaluateResult) -> ScreenItem:
    columns = (
        text("Session", "start", min_width=20),
        number("Cuts"),
        *(number(f"Recall at {share:.0%}") for share in asked_shares(result)),
    )
    rows = [
        (path_name(session.path), f"{session.cuts:,}", *recalls(result, session.path))
        for session in result.sessions
    ]
    return table(columns, rows)


def asked_shares(result: EvaluateResult) -> list[float]:
    """Return the shares to keep, as requested of the first policy."""
    return [figures.asked for figures in result.figures if figures.policy == _first(result)]


def recalls(result: EvaluateResult, path: str) -> list[str]:
    """Return the recall of the first policy in a session, for each requested share."""
    by_share = {
        figures.asked: figures.measures.get("recall")
        for figures in result.of_session(path)
        if figures.policy == _first(result)
    }
    return [percent_text(by_share.get(share)) for share in asked_shares(result)]


def _first(result: EvaluateResult) -> str:
    policies = result.policies
    return policies[0].name if policies else ""


def write_plot(result: EvaluateResult, path: str | Path, *, force: bool) -> tuple[str, ...]:
    """Write the drawing; see ``write_text``."""
    return write_text(drawing(result), path, force=force)


def drawing(result: EvaluateResult) -> str:
    """Return the drawing: a line per policy, dashed for controls, bars for the intervals."""
    recall_curves = curves(result)
    widest = max(
        (point.kept.value for curve in recall_curves for point in curve.points), default=1.0
    )
    scale = _Scale(min(1.0, max(0.1, widest)))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{_TITLE}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="ground" width="{_WIDTH}" height="{_HEIGHT}"/>',
        f'<text class="title" x="{_LEFT_MARGIN}" y="22">{_TITLE}</text>',
        *_axes(scale),
    ]
    for row, (curve, color) in enumerate(zip(recall_curves, cycle(_COLORS), strict=False)):
        lines += _curve(curve, color, scale)
        lines += _svg_legend(curve, color, row)
    return "\n".join([*lines, "</svg>", ""])


def _axes(scale: _Scale) -> Iterator[str]:
    for step in range(_STEPS + 1):
        recall, share = step / _STEPS, scale.widest * step / _STEPS
        x, y = scale.x(share), scale.y(recall)
        yield f'<path class="grid" d="M{scale.x(0)} {y}H{scale.x(scale.widest)}"/>'
        yield f'<text x="{_LEFT_MARGIN - 8}" y="{y + 4}" text-anchor="end">{recall:.0%}</text>'
        yield f'<text x="{x}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{share:.0%}</text>'
    corner = f"M{scale.x(0)} {scale.y(1)}V{scale.y(0)}H{scale.x(scale.widest)}"
    yield f'<path class="axis" d="{corner}"/>'
    yield f'<text x="{_LEFT_MARGIN}" y="{_HEIGHT - 12}">tokens kept of those before the cut</text>'


def _curve(curve: Curve, color: str, scale: _Scale) -> Iterator[str]:
    dashed = ' class="control"' if curve.is_control else ""
    places = " ".join(f"{scale.x(p.kept.value)},{scale.y(_recall(p))}" for p in curve.points)
    yield f'<polyline{dashed} points="{places}" fill="none" stroke="{color}" stroke-width="2"/>'
    for point in curve.points:
        mean, x = point.measures["recall"], scale.x(point.kept.value)
        yield f'<path d="M{x} {scale.y(mean.low)}V{scale.y(mean.high)}" stroke="{color}"/>'
        yield f'<circle cx="{x}" cy="{scale.y(mean.value)}" r="3" fill="{color}"/>'


def _recall(point: EvalFigures) -> float:
    return point.measures["recall"].value


def _svg_legend(curve: Curve, color: str, row: int) -> Sequence[str]:
    x, y = _WIDTH - _RIGHT + 20, _TOP + 18 * row
    dashed = ' class="control"' if curve.is_control else ""
    name = escape(line_text(curve.name))
    return (
        f'<path{dashed} d="M{x} {y}h20" stroke="{color}" stroke-width="2"/>',
        f'<text x="{x + 26}" y="{y + 4}">{name}</text>',
    )


def write_report(result: EvaluateResult, path: str, *, force: bool = False) -> tuple[str, ...]:
    """Write a row per context in the format of the extension, for Markdown all figures.

    Return warnings. Raises UsageError and DiskError as ``write_output`` does.
    """
    kind = format_by_extension("--report", path, REPORT_FORMATS)
    rows = map(_flat, result.trials)
    if kind == "parquet":
        return write_table(rows, _TYPES, {_METADATA: _VERSION}, path, force=force)
    text = evaluate_markdown(result) if kind == "md" else rows_text(kind, _TYPES, rows)
    return write_text(text, path, force=force)


def evaluate_markdown(result: EvaluateResult) -> str:
    """Return a Markdown page: the answer, and a table of the figures in percent."""
    columns = (
        ("Policy", [markdown_text(row.policy) for row in result.figures]),
        ("Asked", [f"{100 * row.asked:.3g}" for row in result.figures]),
        ("Kept", [percent_text(row.kept) for row in result.figures]),
        ("Over", [_count(row.over) for row in result.figures]),
        *(
            (title, [percent_text(row.measures.get(name)) for row in result.figures])
            for name, title in TITLES.items()
        ),
    )
    shown_columns = [(title, cells) for title, cells in columns if any(cells)]
    lines = ["## compactctl lab eval", "", markdown_text(answer(result)), "", CAVEAT]
    if shown_columns:
        rows = zip(*(cells for _, cells in shown_columns), strict=True)
        lines += [
            "",
            markdown_row([title for title, _ in shown_columns]),
            markdown_row(["---", *["---:"] * (len(shown_columns) - 1)]),
            *map(markdown_row, rows),
        ]
    return "\n".join([*lines, ""])


def _flat(trial: Trial) -> dict[str, object]:
    """Return a value for each of ``_TYPES``; None if it was not measured."""
    row: dict[str, object] = {name: getattr(trial, name) for name in _COLUMNS}
    tallies: dict[str, Tally | None] = {**trial.tallies, "chance": trial.chance}
    for name in _TALLIES:
        tally = tallies.get(name)
        row[f"{name}_asked"] = None if tally is None else tally.asked
        row[f"{name}_hits"] = None if tally is None else tally.hits
    return row


@encoded.register
def _figures(figures: EvalFigures) -> dict[str, Any]:
    return record(figures, beyond="beyondChance")


@encoded.register
def _trial(trial: Trial) -> dict[str, Any]:
    without = ("project", "is_incomplete")
    fields = record(trial, without=without, requests="laterRequests", prefix="prefixTokens")
    return {**fields, "verdict": trial.verdict}
