"""Measures how far the estimate of the next request is from what the provider then reported.

For each project the constants of the package are fitted on the sessions of all other projects, and
its requests are estimated with these (see ``estimates/strict_protocol.py``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.estimates.fit import Constants, fit
from benchmarks.estimates.recorded_session import FORMATS, Session
from benchmarks.estimates.steps import Evidence, Step, collect_evidence
from benchmarks.estimates.strict_protocol import Trial, count_above_window, run_trials
from benchmarks.sessions import RecordedSession

# The most requests tried of a session, and the fewest steps that it must have.
MAX_TRIALS, MIN_STEPS = 8, 20
GetOrMeasure = Callable[[str, Callable[[], Any]], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The trials of a session, and how many of its requests exceeded the assumed window."""

    project: str
    requests: int
    above_window: int
    trials: tuple[Trial, ...]


def measure_accuracy(
    sessions: Sequence[RecordedSession], get_or_measure: GetOrMeasure
) -> list[Result]:
    """Measure the sessions of clients that report usage."""
    evidence = {
        session: _read_evidence(data)
        for session in sessions
        if (data := get_or_measure(f"evidence {session.name}", partial(_collect, session.path)))
    }
    constants = {
        project: fit([e for session, e in evidence.items() if session.project != project])
        for project in {session.project for session in evidence}
    }
    return [
        _read_result(
            session.project,
            get_or_measure(
                f"trials {session.name}",
                partial(_measure, session.path, constants[session.project]),
            ),
        )
        for session in evidence
        if len(evidence[session].steps) >= MIN_STEPS
    ]


def _collect(path: Path) -> dict[str, Any] | None:
    """Return the evidence of a session; None if its client reports no usage, or only once."""
    session = Session(path)
    is_usable = session.format.name in FORMATS and len(session.requests) > 1
    return asdict(collect_evidence(session)) if is_usable else None


def _read_evidence(data: Mapping[str, Any]) -> Evidence:
    steps = tuple(Step(**step) for step in data["steps"])
    lists = {name: tuple(data[name]) for name in ("restored", "thought")}
    return Evidence(**{**data, **lists, "steps": steps})


def _measure(path: Path, constants: Constants) -> dict[str, Any]:
    session = Session(path)
    return {
        "requests": len(session.requests),
        "above_window": count_above_window(session),
        "trials": [asdict(trial) for trial in run_trials(session, MAX_TRIALS, constants)],
    }


def _read_result(project: str, data: Mapping[str, Any]) -> Result:
    trials = tuple(Trial(**trial) for trial in data["trials"])
    return Result(**{**data, "project": project, "trials": trials})
