"""``eval`` as a page: recall against the tokens that each policy keeps."""

from collections.abc import Iterator

from compactctl.commands.lab.eval_figures import EvalFigures, Mean
from compactctl.commands.lab.eval_session import CONTROL_POLICIES
from compactctl.commands.lab.evaluate import EvaluateResult
from compactctl.commands.output_files import PageChoice
from compactctl.evaluation.score import ANSWERS, MEASURES
from compactctl.views.pages.drawing import recall_chart
from compactctl.views.pages.page import PageNames, holds_names, page_of
from compactctl.views.results.evaluate import CAVEAT, curves
from compactctl.views.terminal.text import plural, share_text


def evaluate_page(result: EvaluateResult, choice: PageChoice) -> str:
    """Return the page."""
    names = PageNames(choice)
    policies = _policy_names(result, names)
    found = curves(result)
    cuts = sum(session.cuts for session in result.sessions)
    measures = {
        name: title
        for name, title in {**MEASURES, ANSWERS: "Answers"}.items()
        if any(name in each.measures for each in result.figures)
    }
    asked = _shares(result)
    return page_of(
        "evaluation",
        {
            "title": "What compactions keep",
            "caveat": CAVEAT,
            "facts": list(_facts(result, cuts, names)),
            "holds": list(holds_names(choice)),
            "warnings": list(_warnings(result, choice, names)),
            "cuts": cuts,
            "chart": recall_chart(found, [policies[each.name] for each in found]),
            "has_intervals": any(_has_interval(each) for each in result.figures),
            "titles": ("Policy", "Asked", "Kept", *measures.values(), "Beyond chance"),
            "table": [_row(each, policies[each.policy], measures) for each in result.figures],
            "shares": [f"{100 * share:.3g} %" for share in asked],
            "first": policies[result.options.policies[0].name] if result.options.policies else "",
            "sessions": _sessions(result, choice, names, asked),
            "findings": [] if choice.redact else [names.line(each) for each in result.findings],
            "failures": len(result.failures),
        },
    )


def _facts(result: EvaluateResult, cuts: int, names: PageNames) -> Iterator[str]:
    used = sum(session.cuts > 0 for session in result.sessions)
    yield f"{plural(cuts, 'cut')} in {used:,} of {plural(len(result.sessions), 'session')}"
    skipped = sum(session.skipped for session in result.sessions)
    if skipped:
        yield f"{plural(skipped, 'cut')} left out: too little is named again behind them"
    if result.counters:
        yield f"counted with {', '.join(map(names.counter, result.counters))}"
    if result.noise is not None:
        yield f"noise {share_text(result.noise.share)}"


def _warnings(result: EvaluateResult, choice: PageChoice, names: PageNames) -> Iterator[str]:
    if choice.redact:
        return
    yield from (f"not evaluated: {names.line(each.reason)}" for each in result.failures)


def _policy_names(result: EvaluateResult, names: PageNames) -> dict[str, str]:
    """Return what each policy and control is called; of profiles in files, redacted, a number."""
    paths = {policy.name for policy in result.options.policies if policy.is_in_file}
    policies = dict.fromkeys(
        policy.name for policy in (*CONTROL_POLICIES, *result.options.policies)
    )
    return {name: names.profile(name) if name in paths else names.line(name) for name in policies}


def _shares(result: EvaluateResult) -> list[float]:
    first = result.options.policies[0].name if result.options.policies else ""
    return [each.asked for each in result.figures if each.policy == first]


def _row(each: EvalFigures, policy: str, measures: dict[str, str]) -> tuple[str, ...]:
    return (
        policy,
        f"{100 * each.asked:.3g} %",
        _percent(each.kept),
        *(_cell(each, name) for name in measures),
        "" if each.beyond is None else f"{100 * each.beyond:.1f}",
    )


def _cell(each: EvalFigures, name: str) -> str:
    mean = each.measures.get(name)
    return _with_interval(mean) if name == "recall" else _percent(mean)


def _percent(mean: Mean | None) -> str:
    if mean is None:
        return ""
    return f"{100 * mean.value:.1f}"


def _with_interval(mean: Mean | None) -> str:
    if mean is None or mean.sessions == 1:
        return _percent(mean)
    return f"{100 * mean.value:.1f} ({100 * mean.low:.1f} to {100 * mean.high:.1f})"


def _has_interval(each: EvalFigures) -> bool:
    return any(mean.sessions > 1 for mean in each.measures.values())


def _sessions(
    result: EvaluateResult, choice: PageChoice, names: PageNames, asked: list[float]
) -> list[dict[str, object]]:
    """Return how often each session was cut, and recall of the first policy by share."""
    first = result.options.policies[0].name if result.options.policies else ""
    return [
        {
            "name": names.file(session.path),
            "project": "" if choice.redact else names.line(session.project),
            "cuts": session.cuts,
            "recalls": _recalls(result, session.path, first, asked),
        }
        for session in result.sessions
    ]


def _recalls(result: EvaluateResult, path: str, policy: str, asked: list[float]) -> tuple[str, ...]:
    found = {each.asked: each for each in result.of_session(path) if each.policy == policy}
    return tuple(
        _percent(found[share].measures.get("recall")) if share in found else "" for share in asked
    )
