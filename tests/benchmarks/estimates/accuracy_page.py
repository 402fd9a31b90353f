"""The measured part of ``docs/accuracy.md``, from the rows of sessions."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from textwrap import fill
from typing import Any

from benchmarks.estimates.fit import FIELDS, NEW, OLD, Constants, shipped
from benchmarks.estimates.recorded_session import (
    CODEX,
    CTOK,
    GIVEN,
    OPENCODE,
    OTHERS,
    OURS,
    OURS_CTOK,
)
from benchmarks.estimates.strict_protocol import BOUNDARY, HORIZONS, Judged, Trial
from compactctl.tokens.overhead import RequestOverhead

FACTS = Path(__file__).with_name("accuracy.toml")
FAMILIES = (OLD, NEW, CODEX, OPENCODE)
# The sessions that constants are fitted on: all, as in the package, or those of other projects.
ALL, ELSEWHERE = "all projects", "other projects"
SPLITS = (ELSEWHERE, ALL)
LARGEST_UNEXPLAINED, LEAST_IN_RANGE = 1.5, 90
BEGIN, END = "<!-- measured: tests/benchmarks/accuracy.py -->", "<!-- end of measured -->"
_UNKNOWN = "not looked into."
_FIT = (
    "Every request here was answered, so none may be called too large, except before a larger one"
    " has shown that the window is larger than the model's usual one: by what was reported for it"
    " (all requests), and by the estimate one call ahead (those tried)."
)
_FITTED = (
    "The constants of the package are fitted on all projects. Beside them stand the least and the"
    " largest value of the fits that leave one project out: with these the first column of every"
    " table above was measured, each project with the fit that knows nothing of it. A range that is"
    " one value was the same in all."
)
_RATIOS = ("result", "numbered", "call", "said", "user", "injected")
_UNEXPLAINED = (
    "The row `unexplained` as a share of the next request, one call ahead; the goal is at most"
    f" {LARGEST_UNEXPLAINED} % in the median."
)
_MEASURED = re.compile(f"(?<={BEGIN}\n).*(?={END})", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What was measured of a session."""

    session: str
    project: str
    family: str
    left_out: int
    judged: Judged
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was measured of all sessions."""

    rows: tuple[Row, ...]

    def trials(
        self, family: str, horizon: str, way: str = OURS, fitted_on: str = ""
    ) -> list[Trial]:
        """Return the trials of a family."""
        wanted = (family, horizon, way, fitted_on)
        every = (trial for row in self.rows for trial in row.trials)
        return [t for t in every if (t.family, t.horizon, t.estimator, t.fitted_on) == wanted]

    def errors(
        self, family: str, horizon: str, way: str = OURS, fitted_on: str = ""
    ) -> list[float]:
        """Return the absolute errors in percent, the largest last."""
        return sorted(map(_error, self.trials(family, horizon, way, fitted_on)))


def page(text: str, rows: Sequence[Row], fits: Mapping[str, Constants], each: int) -> str:
    """Return the page with the tables of these rows in the place of those it has.

    ``fits`` are the constants that each project's sessions were estimated with, by its name.
    """
    facts = tomllib.loads(FACTS.read_text())
    found = Found(rows=tuple(rows))
    parts = (
        _counts(rows, each),
        *(_goals(family, found, facts) for family in FAMILIES),
        _fit(found),
        _unexplained(found, facts),
        "### Beside other estimators",
        *(_others(family, found) for family in FAMILIES),
        _constants(fits),
        _projects(rows),
    )
    measured = "\n".join(f"{_wrapped(part)}\n" for part in parts)
    return _MEASURED.sub(lambda _: measured, text)


def _wrapped(part: str) -> str:
    """Return a part with its prose in lines of a hundred characters."""
    lines = part.splitlines()
    indents = ("  " if line.startswith("- ") else "" for line in lines)
    return "\n".join(
        line if line.startswith("|") else fill(line, 100, subsequent_indent=indent)
        for line, indent in zip(lines, indents, strict=True)
    )


def _counts(rows: Sequence[Row], each: int) -> str:
    requests = sum(row.judged.answered for row in rows)
    return (
        f"{len(rows)} sessions with {requests:,} requests. Of each up to {each} requests"
        f" were tried, evenly spread, up to {each} that start a turn, and all that follow a"
        f" boundary. Left out were {sum(row.left_out for row in rows):,} reports that are none:"
        " empty, or the one before once more."
    )


def _goals(family: str, found: Found, facts: Mapping[str, Any]) -> str:
    goals = facts["goal"].get(family, {})
    lines = [f"**{family}**", "", *_head("next request from", *map(_fitted_on, SPLITS), "goal", "")]
    missed = []
    for horizon in HORIZONS:
        errors = [found.errors(family, horizon, OURS, split) for split in SPLITS]
        goal = goals.get(horizon)
        verdict = _verdict(errors[0], goal)
        if verdict == "missed":
            missed.append(horizon)
        lines.append(_line(horizon, *map(_cell, errors), _goal(goal), verdict))
        lines += _apart(family, horizon, found)
    reasons = facts["why"].get(family, {})
    lines += ["", *(f"- {name}: {reasons.get(name, _UNKNOWN)}" for name in missed)]
    return "\n".join([*lines, *_ranges(family, found)]).rstrip()


def _fitted_on(split: str) -> str:
    return f"fitted on {split}"


def _apart(family: str, horizon: str, found: Found) -> Iterator[str]:
    """Yield rows without the requests behind a boundary, and with reasoning that was given."""
    of = [found.trials(family, horizon, OURS, split) for split in SPLITS]
    if horizon != BOUNDARY and any(trial.crosses for each in of for trial in each):
        left = (sorted(_error(trial) for trial in each if not trial.crosses) for each in of)
        yield _line(f"{horizon}, no boundary between", *map(_cell, left), "", "")
    given = [found.errors(family, horizon, GIVEN, split) for split in SPLITS]
    if (
        family == CODEX
        and any(given)
        and given[0] != found.errors(family, horizon, OURS, SPLITS[0])
    ):
        yield _line(f"{horizon}, length of reasoning given", *map(_cell, given), "", "")


def _ranges(family: str, found: Found) -> Iterator[str]:
    """Yield how often the range after a boundary held the truth."""
    ranged = [
        t for t in found.trials(family, BOUNDARY, OURS, ELSEWHERE) if t.low is not None and t.high
    ]
    held = sum(t.low <= t.truth <= t.high for t in ranged if t.low is not None and t.high)
    if ranged:
        verdict = "met" if 100 * held / len(ranged) >= LEAST_IN_RANGE else "missed"
        yield (
            f"- the range after a boundary held the truth in {held} of {len(ranged)} cases, with"
            f" constants of other projects; the goal is {LEAST_IN_RANGE} % ({verdict})."
        )


def _fit(found: Found) -> str:
    lines = ["### Does it fit", "", _FIT, "", *_head("", "by report", "by estimate")]
    for family in FAMILIES:
        of = [row.judged for row in found.rows if row.family == family]
        answered = sum(each.answered for each in of)
        by_report = f"{sum(j.before for j in of)} + {sum(j.after for j in of)} of {answered:,}"
        tried = found.trials(family, "1 call", OURS, ELSEWHERE)
        wrong = [trial.is_shown for trial in tried if not trial.fits]
        by_estimate = f"{wrong.count(False)} + {wrong.count(True)} of {len(tried):,}"
        lines.append(_line(family, by_report, by_estimate))
    return "\n".join([*lines, "", "Called too large before + after that, of all."])


def _unexplained(found: Found, facts: Mapping[str, Any]) -> str:
    lines = ["### Unexplained", "", _UNEXPLAINED, "", *_head("", *map(_fitted_on, SPLITS), "")]
    reasons = facts["why"]["unexplained"]
    missed = []
    for family in FAMILIES:
        of = [found.trials(family, "1 call", OURS, split) for split in SPLITS]
        shares = [sorted(map(_share, each)) for each in of]
        verdict = _verdict(shares[0], (LARGEST_UNEXPLAINED, 100))
        lines.append(_line(family, *map(_cell, shares), verdict))
        if verdict == "missed":
            missed.append(f"- {family}: {reasons.get(family, _UNKNOWN)}")
    return "\n".join([*lines, "", *missed])


def _others(family: str, found: Found) -> str:
    """Return the table of all estimators; one that was not installed says so."""
    is_claude = family.startswith("Claude")
    shown = [OURS, OURS_CTOK, *OTHERS] if is_claude else [OURS, *(o for o in OTHERS if o != CTOK)]
    lines = [f"**{family}**", "", *_head("", *shown)]
    for horizon in HORIZONS:
        if found.trials(family, horizon, OURS, ELSEWHERE):
            cells = (_other(found, family, horizon, each) for each in shown)
            lines.append(_line(horizon, *cells))
    return "\n".join(lines)


def _other(found: Found, family: str, horizon: str, way: str) -> str:
    errors = found.errors(family, horizon, way, ELSEWHERE if way in (OURS, OURS_CTOK) else "")
    if not errors:
        return "not installed"
    count = len(found.trials(family, horizon, OURS, ELSEWHERE))
    return _figures(errors) if len(errors) == count else _cell(errors)


def _constants(fits: Mapping[str, Constants]) -> str:
    """Return the constants of the package beside those of each fit without a project."""
    lines = ["### What was fitted", "", _FITTED, ""]
    ours = shipped()
    for key, framing in ours.framings.items():
        others = [each.framings[key] for each in fits.values() if key in each.framings]
        lines += [f"**{key[0]}, {key[1]}**", "", *_head("constant", "as shipped", "fitted")]
        for name, value in _values(framing).items():
            lines.append(_line(name, f"{value:g}", _span([_values(o)[name] for o in others])))
        lines.append("")
    lines += [*_head("constant", "as shipped", "fitted")]
    thought = [each.usual_reasoning for each in fits.values() if each.usual_reasoning]
    lines.append(_line("usual reasoning, Codex", ours.usual_reasoning, _span(thought)))
    for what in ("restored", "overhead"):
        for client, usual in getattr(ours, what).items():
            found = [
                getattr(each, what)[client]
                for each in fits.values()
                if client in getattr(each, what)
            ]
            for name in ("usual", "least", "most"):
                values = [getattr(each, name) for each in found]
                label = f"{what} by {client}, {name}"
                lines.append(_line(label, f"{getattr(usual, name):,}", _span(values)))
    return "\n".join(lines)


def _values(framing: RequestOverhead) -> dict[str, float]:
    """Return the constants of a framing by what they are called on the page."""
    plain = {
        name: getattr(framing, FIELDS.get(name, name))
        for name in (*_RATIOS, "per_call", "per_result", "per_injected", "per_prompt", "per_text")
    }
    seals = {"sealed": framing.hidden_reasoning, "summed": framing.summarized_reasoning}
    return plain | {
        f"{name}, {what}": getattr(seal, field)
        for name, seal in seals.items()
        for what, field in (("per character", "per_character"), ("less", "envelope"))
    }


def _span(values: Sequence[float]) -> str:
    """Return the least and the largest of some values."""
    if not values:
        return "nothing to fit on"
    least, most = f"{min(values):,g}", f"{max(values):,g}"
    return least if least == most else f"{least} to {most}"


def _projects(rows: Sequence[Row]) -> str:
    """Return how many sessions each project has, by family."""
    lines = ["### Projects", "", *_head("project", *FAMILIES)]
    for project in sorted({row.project for row in rows}, key=str.lower):
        families = Counter(row.family for row in rows if row.project == project)
        lines.append(_line(project, *(families[family] or "" for family in FAMILIES)))
    return "\n".join(lines)


def _error(trial: Trial) -> float:
    return 100 * abs(trial.guess - trial.truth) / trial.truth


def _share(trial: Trial) -> float:
    return 100 * abs(trial.unexplained) / trial.guess


def _verdict(errors: Sequence[float], goal: Sequence[float] | None) -> str:
    if goal is None or not errors:
        return ""
    return "met" if median(errors) <= goal[0] and _high(errors) <= goal[1] else "missed"


def _goal(goal: Sequence[float] | None) -> str:
    return "" if goal is None else f"{goal[0]:g} / {goal[1]:g} %"


def _cell(errors: Sequence[float]) -> str:
    return f"{_figures(errors)} ({len(errors)})" if errors else "none"


def _figures(errors: Sequence[float]) -> str:
    return f"{median(errors):.2f} / {_high(errors):.1f} / {errors[-1]:.1f}"


def _high(errors: Sequence[float]) -> float:
    """Return the 95th percentile of errors in order."""
    return errors[min(len(errors) - 1, int(len(errors) * 0.95))]


def _head(*names: str) -> tuple[str, str]:
    return _line(*names), "|---" * len(names) + "|"


def _line(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"
