"""``eval`` on a terminal."""

from collections.abc import Iterator, Sequence

from compactctl.commands.evaluate.evaluate import EvaluateResult, SessionOutcome
from compactctl.commands.evaluate.figures import EvalFigures, Mean
from compactctl.evaluation.score import ANSWERS, MEASURES
from compactctl.reports.rendering.curves import Curve, curves
from compactctl.reports.rendering.screen import Accent, Fact, Facts, ScreenItem, Verbatim
from compactctl.reports.rendering.tables import Column, number, table, text
from compactctl.reports.rendering.text import line_text, one_line, path_name, plural, share_text

# Measures by what a narrow terminal can do without, the first ones last.
_MEASURES = ("recall", "support", "lines", "rules", "errors", "commands", "read", "changed",
             ANSWERS, "tasks", "last", "first", "soon")  # fmt: skip
# Small enough for a narrow terminal.
_PLOT_WIDTH, _PLOT_HEIGHT = 30, 11
_MARKS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def evaluate_terminal(result: EvaluateResult) -> Iterator[ScreenItem]:
    """Yield the figures, the curve of recall, and with several sessions a row for each."""
    yield Accent("What compactions keep of what sessions went on to need", "bold")
    yield "That words are still there is the most that a model can recall, not what it will."
    yield Facts(tuple(_facts(result)))
    if not result.figures:
        return
    yield ""
    yield _figures_table(result.figures)
    yield ""
    drawn = curves(result)
    yield Verbatim("\n".join(_plot(drawn)))
    yield f"recall by  {_plot_legend(drawn)}"
    if len(result.sessions) > 1:
        yield ""
        yield _sessions_table(result)


def evaluate_messages(result: EvaluateResult) -> Iterator[str]:
    """Yield the lines for standard error."""
    yield from (f"not evaluated: {line_text(each.reason)}" for each in result.failures)
    yield from (f"warning: {line_text(warning)}" for warning in result.warnings)
    yield from (f"wrote {path_name(path)}" for path in result.written)
    yield from (f"gate: {line_text(finding)}" for finding in result.findings)


def _facts(result: EvaluateResult) -> Iterator[Fact]:
    cuts = sum(session.cuts for session in result.sessions)
    used = sum(session.cuts > 0 for session in result.sessions)
    yield Fact(
        "measured", f"{plural(cuts, 'cut')} in {used} of {plural(len(result.sessions), 'session')}"
    )
    skipped = sum(session.skipped for session in result.sessions)
    if skipped:
        yield Fact("left out", f"{plural(skipped, 'cut')} behind which too little is named again")
    if not cuts:
        yield Fact("nothing to tell", "a cut takes 8,000 tokens before it and 8 requests behind it")
    if result.counters:
        yield Fact("counted with", ", ".join(map(one_line, result.counters)))
    yield Fact("noise", _noise_text(result))


def _noise_text(result: EvaluateResult) -> str:
    found = result.noise
    if found is None:
        return "not known: it takes sessions of two projects"
    return (
        f"{share_text(found.share)} of what is demanded would be by the futures of other "
        f"projects ({plural(found.pairs, 'pair')})"
    )


def _figures_table(figures: Sequence[EvalFigures]) -> ScreenItem:
    """Return a row per policy and share, without columns in which nothing stands."""
    columns = [
        (text("Policy", "end", least=8), [one_line(each.policy) for each in figures]),
        (number("Asked"), [f"{each.asked:.0%}" for each in figures]),
        (number("Kept"), [_percent(each.kept) for each in figures]),
        *(
            _measured(figures, name, title)
            for name, title in {**MEASURES, ANSWERS: "Answers"}.items()
        ),
        (
            number("95 % of recall", spare=6),
            [_interval(each.measures["recall"]) for each in figures],
        ),
        (number("Beyond chance", spare=5), [_beyond(each) for each in figures]),
        (number("Parted", spare=1), [_count(each.pair_errors) for each in figures]),
        (number("Too large", spare=1), [_count(each.over) for each in figures]),
    ]
    told = [(column, cells) for column, cells in columns if any(cells)]
    rows = zip(*(cells for _, cells in told), strict=True)
    return table([column for column, _ in told], rows)


def _measured(figures: Sequence[EvalFigures], name: str, title: str) -> tuple[Column, list[str]]:
    cells = [_percent(each.measures.get(name)) for each in figures]
    return number(title, spare=_MEASURES.index(name)), cells


def _interval(mean: Mean) -> str:
    """Return the interval; one session alone has none."""
    return "" if mean.sessions == 1 else f"{100 * mean.low:.1f}-{100 * mean.high:.1f}"


def _beyond(each: EvalFigures) -> str:
    return "" if each.beyond is None else f"{100 * each.beyond:.1f}"


def _count(found: int) -> str:
    return f"{found:,}" if found else ""


def _percent(mean: Mean | None) -> str:
    return "" if mean is None else f"{100 * mean.value:.1f}"


def _plot(found: Sequence[Curve]) -> Iterator[str]:
    """Draw recall upwards against tokens kept, a letter per policy."""
    widest = max(point.kept.value for curve in found for point in curve.points)
    rows = [[" "] * (_PLOT_WIDTH + 1) for _ in range(_PLOT_HEIGHT)]
    for curve, mark in reversed(list(zip(found, _MARKS, strict=False))):
        for point in curve.points:
            across = round(point.kept.value / widest * _PLOT_WIDTH)
            up = round(point.measures["recall"].value * (_PLOT_HEIGHT - 1))
            rows[_PLOT_HEIGHT - 1 - up][across] = mark
    for row, cells in enumerate(rows):
        recall = 1 - row / (_PLOT_HEIGHT - 1)
        yield f"{recall:>6.0%} ┤{''.join(cells)}".rstrip()
    yield f"       └{'─' * (_PLOT_WIDTH + 1)}"
    yield f"        0%{'tokens kept':^{_PLOT_WIDTH - 7}}{widest:.0%}"


def _plot_legend(found: Sequence[Curve]) -> str:
    marked = zip(found, _MARKS, strict=False)
    return ", ".join(f"{mark} {one_line(curve.name)}" for curve, mark in marked)


def _sessions_table(result: EvaluateResult) -> ScreenItem:
    first = result.policies[0].name
    asked = [each.asked for each in result.figures if each.policy == first]
    columns = (
        text("Session", "start", least=20),
        number("Cuts"),
        *(number(f"Recall at {share:.0%}") for share in asked),
    )
    return table(columns, [_session_cells(result, each, first, asked) for each in result.sessions])


def _session_cells(
    result: EvaluateResult, session: SessionOutcome, policy: str, asked: Sequence[float]
) -> tuple[str, ...]:
    found = {each.asked: each for each in result.of_session(session.path) if each.policy == policy}
    recalls = (found[share].measures.get("recall") if share in found else None for share in asked)
    return (path_name(session.path), f"{session.cuts:,}", *map(_percent, recalls))
