"""Measures how far the estimate of the next request is from what the provider then reported.

For each project the constants of the package are fitted on the sessions of all other projects, and
its requests are estimated with these; ``estimates/strict_protocol.py`` says how.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.estimates.fit import Constants, fitted
from benchmarks.estimates.recorded_session import FORMATS, Session
from benchmarks.estimates.steps import Evidence, Step, evidence
from benchmarks.estimates.strict_protocol import Judged, Trial, judged, trials
from benchmarks.sessions import RecordedSession

# The most requests tried of a session, and the fewest steps that it must have.
TRIALS, MIN_STEPS = 8, 20
GetOrMake = Callable[[str, Callable[[], Any]], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What was measured of a session."""

    project: str
    judged: Judged
    trials: tuple[Trial, ...]


def measure_accuracy(sessions: Sequence[RecordedSession], get_or_make: GetOrMake) -> list[Result]:
    """Measure the sessions of clients that report usage."""
    evidences = {
        session: _evidence(kept)
        for session in sessions
        if (kept := get_or_make(f"evidence {session.name}", partial(_read, session.path)))
    }
    constants = {
        project: fitted([e for session, e in evidences.items() if session.project != project])
        for project in {session.project for session in evidences}
    }
    return [
        _result(
            session.project,
            get_or_make(
                f"trials {session.name}",
                partial(_measure, session.path, constants[session.project]),
            ),
        )
        for session, found in evidences.items()
        if len(found.steps) >= MIN_STEPS
    ]


def _read(path: Path) -> dict[str, Any] | None:
    """Return the evidence of a session; None if its client reports no usage, or only once."""
    session = Session(path)
    is_usable = session.format.name in FORMATS and len(session.requests) > 1
    return asdict(evidence(session)) if is_usable else None


def _evidence(kept: Mapping[str, Any]) -> Evidence:
    steps = tuple(Step(**step) for step in kept["steps"])
    lists = {name: tuple(kept[name]) for name in ("restored", "thought")}
    return Evidence(**{**kept, **lists, "steps": steps})


def _measure(path: Path, constants: Constants) -> dict[str, Any]:
    session = Session(path)
    return {
        "judged": asdict(judged(session)),
        "trials": [asdict(trial) for trial in trials(session, TRIALS, constants)],
    }


def _result(project: str, kept: Mapping[str, Any]) -> Result:
    return Result(
        project=project,
        judged=Judged(**kept["judged"]),
        trials=tuple(Trial(**trial) for trial in kept["trials"]),
    )
