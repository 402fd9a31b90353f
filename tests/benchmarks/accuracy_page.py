"""The measured part of ``docs/accuracy.md``, from the rows of sessions."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from textwrap import fill
from typing import Any

from benchmarks.strict_protocol import (
    BOUNDARY,
    CODEX,
    CTOK,
    ESTIMATORS,
    HORIZONS,
    OPENCODE,
    OURS,
    OURS_CTOK,
    Judged,
    Trial,
)

FACTS = Path(__file__).with_name("accuracy.toml")
FAMILIES = ("Claude up to 4.6", "Claude 4.7 and later", CODEX, OPENCODE)
SPLITS = ("seen", "unseen")
LARGEST_UNEXPLAINED, LEAST_IN_RANGE = 1.5, 90
BEGIN, END = "<!-- measured: tests/benchmarks/accuracy.py -->", "<!-- end of measured -->"
_UNKNOWN = "not looked into."
_FIT = (
    "Every request here was answered, so none may be called too large, except before a larger one"
    " has shown that the window is larger than the model's usual one: by what was reported for it"
    " (all requests), and by the estimate one call ahead (those tried)."
)
_UNEXPLAINED = (
    "The row `unexplained` as a share of the next request, one call ahead; the goal is at most"
    f" {LARGEST_UNEXPLAINED} % in the median on unseen sessions."
)
_MEASURED = re.compile(f"(?<={BEGIN}\n).*(?={END})", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What was measured of a session."""

    session: str
    family: str
    left_out: int
    judged: Judged
    trials: tuple[Trial, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The trials of one split, and the rows they are from."""

    rows: tuple[Row, ...]

    def trials(self, family: str, horizon: str, estimator: str = OURS) -> list[Trial]:
        """Return the trials of a family."""
        return [
            trial
            for row in self.rows
            for trial in row.trials
            if (trial.family, trial.horizon, trial.estimator) == (family, horizon, estimator)
        ]

    def errors(self, family: str, horizon: str, estimator: str = OURS) -> list[float]:
        """Return the absolute errors in percent, the largest last."""
        return sorted(map(_error, self.trials(family, horizon, estimator)))


def page(text: str, rows: Sequence[Row], each: int) -> str:
    """Return the page with the tables of these rows in the place of those it has."""
    facts = tomllib.loads(FACTS.read_text())
    seen = {name for project in facts["project"] for name in project["seen"]}
    splits = {
        "seen": Found(rows=tuple(row for row in rows if row.session in seen)),
        "unseen": Found(rows=tuple(row for row in rows if row.session not in seen)),
    }
    parts = (
        _counts(rows, each),
        *(_goals(family, splits, facts) for family in FAMILIES),
        _fit(splits),
        _unexplained(splits, facts),
        "### Beside other estimators",
        *(_others(family, splits) for family in FAMILIES),
        _split(facts),
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
        f"{len(rows)} sessions with {requests:,} requests. Of each session up to {each} requests"
        f" were tried, evenly spread, up to {each} that start a turn, and all that follow a"
        f" boundary. Left out were {sum(row.left_out for row in rows):,} reports that are none:"
        " empty, or the one before once more."
    )


def _goals(family: str, splits: Mapping[str, Found], facts: Mapping[str, Any]) -> str:
    goals = facts["goal"].get(family, {})
    lines = [f"**{family}**", "", *_head("next request from", *SPLITS, "goal, unseen", "")]
    missed = []
    for horizon in HORIZONS:
        cells = [_cell(splits[name].errors(family, horizon)) for name in SPLITS]
        goal, errors = goals.get(horizon), splits["unseen"].errors(family, horizon)
        verdict = _verdict(errors, goal)
        if verdict == "missed":
            missed.append(horizon)
        lines.append(_line(horizon, *cells, _goal(goal), verdict))
        lines += _uncrossed(family, horizon, splits)
    reasons = facts["why"].get(family, {})
    lines += ["", *(f"- {name}: {reasons.get(name, _UNKNOWN)}" for name in missed)]
    return "\n".join([*lines, *_ranges(family, splits)]).rstrip()


def _uncrossed(family: str, horizon: str, splits: Mapping[str, Found]) -> Iterator[str]:
    """Yield the row of the requests with no boundary before them, where there are others."""
    of = [splits[name].trials(family, horizon) for name in SPLITS]
    if horizon != BOUNDARY and any(trial.crosses for found in of for trial in found):
        left = ([_error(trial) for trial in found if not trial.crosses] for found in of)
        cells = (_cell(sorted(errors)) for errors in left)
        yield _line(f"{horizon}, no boundary between", *cells, "", "")


def _ranges(family: str, splits: Mapping[str, Found]) -> Iterator[str]:
    """Yield how often the range after a boundary held the truth."""
    for name in SPLITS:
        ranged = [t for t in splits[name].trials(family, BOUNDARY) if t.low is not None]
        held = sum(t.low <= t.truth <= t.high for t in ranged if t.low and t.high)
        if ranged:
            share = 100 * held / len(ranged)
            verdict = (
                "" if name == "seen" else f" ({'met' if share >= LEAST_IN_RANGE else 'missed'})"
            )
            yield (
                f"- the range after a boundary held the truth in {held} of {len(ranged)} {name}"
                f" cases; the goal is {LEAST_IN_RANGE} %{verdict}."
            )


def _fit(splits: Mapping[str, Found]) -> str:
    lines = [
        "### Does it fit",
        "",
        _FIT,
        "",
        *_head("", *(f"{kind}, {name}" for kind in ("reported", "estimated") for name in SPLITS)),
    ]
    for family in FAMILIES:
        by_report = [_of_judged(splits[name], family) for name in SPLITS]
        by_estimate = [_of_trials(splits[name].trials(family, "1 call")) for name in SPLITS]
        lines.append(_line(family, *by_report, *by_estimate))
    return "\n".join([*lines, "", "Called too large before + after that, of all."])


def _of_judged(found: Found, family: str) -> str:
    of = [row.judged for row in found.rows if row.family == family]
    answered = sum(each.answered for each in of)
    return f"{sum(j.before for j in of)} + {sum(j.after for j in of)} of {answered:,}"


def _of_trials(found: Sequence[Trial]) -> str:
    wrong = [trial.is_shown for trial in found if not trial.fits]
    return f"{wrong.count(False)} + {wrong.count(True)} of {len(found):,}"


def _unexplained(splits: Mapping[str, Found], facts: Mapping[str, Any]) -> str:
    lines = [
        "### Unexplained",
        "",
        _UNEXPLAINED,
        "",
        *_head("", *SPLITS, ""),
    ]
    reasons = facts["why"]["unexplained"]
    missed = []
    for family in FAMILIES:
        of = [splits[name].trials(family, "1 call") for name in SPLITS]
        shares = [sorted(map(_share, found)) for found in of]
        verdict = _verdict(shares[1], (LARGEST_UNEXPLAINED, 100))
        lines.append(_line(family, *map(_cell, shares), verdict))
        if verdict == "missed":
            missed.append(f"- {family}: {reasons.get(family, _UNKNOWN)}")
    return "\n".join([*lines, "", *missed])


def _others(family: str, splits: Mapping[str, Found]) -> str:
    """Return the table of all estimators; one that was not installed says so."""
    shown = [e for e in ESTIMATORS if family.startswith("Claude") or e not in (OURS_CTOK, CTOK)]
    lines = [f"**{family}**", "", *_head("", *shown)]
    for horizon in HORIZONS:
        for name in SPLITS:
            cells = [_other(splits[name], family, horizon, each) for each in shown]
            if splits[name].trials(family, horizon):
                lines.append(_line(f"{horizon}, {name}", *cells))
    return "\n".join(lines)


def _other(found: Found, family: str, horizon: str, estimator: str) -> str:
    errors, all_of = found.errors(family, horizon, estimator), found.trials(family, horizon)
    if not errors:
        return "not installed"
    return _figures(errors) if len(errors) == len(all_of) else _cell(errors)


def _split(facts: Mapping[str, Any]) -> str:
    lines = ["### What was fitted on what", "", *_head("constant", "in", "fitted on")]
    lines += [_line(c["what"], f"`{c['where']}`", c["fitted_on"]) for c in facts["constant"]]
    lines += ["", *_head("project", "seen sessions", "unseen sessions")]
    lines += [_line(p["name"], len(p["seen"]), len(p["unseen"])) for p in facts["project"]]
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
