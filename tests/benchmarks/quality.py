"""Measures what compactions keep of what sessions needed later.

Every session is cut once, and its prefix compacted with the default profile to several sizes. Every
rival is run as it comes; then the default profile is run at the size that the rival came to, so
that the two are compared at one size.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.referee import Referee
from benchmarks.sessions import RecordedSession
from compactctl.commands.lab.eval_session import (
    CONTROL_POLICIES,
    CutOptions,
    EvaluatedSession,
    Policy,
    policies_of,
)
from compactctl.lab.score import EvaluationCase
from compactctl.profiles.registry import DEFAULT_PROFILE

SHARES = (0.3, 0.1, 0.05)
RIVALS = (
    ("newest", 0.3), ("newest", 0.1), ("random", 0.3), ("random", 0.1), ("mask", 0.3),
    *((profile, 0.3) for profile in (
        "staged", "neurolink", "codebuddy", "agent-code", "opencode", "copilot", "cline",
        "claude-api",
    )),
)  # fmt: skip
KEPT, REFEREE = "kept", "referee"
# More than this is no compaction, and sizes further apart are not the same.
_MOST_KEPT, _SAME_SIZE = 0.95, 0.1
Shares = dict[str, float]
"""The share kept of the prefix's tokens, the referee's opinion, and each measure with demand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a policy kept of a session's prefix.

    ``default`` is what the default profile kept at that size, None if there is nothing to compare.
    """

    project: str
    policy: str
    asked: float
    shares: Shares
    default: Shares | None = None


def measure_quality(
    sessions: Sequence[RecordedSession], get_or_measure: Callable[[str, Callable[[], Any]], Any]
) -> list[Result]:
    """Measure the sessions that nothing was tuned on."""
    return [
        Result(project=session.project, **result)
        for session in sessions
        if session.is_untouched
        for result in get_or_measure(session.name, partial(_measure, session.path))
    ]


def _measure(path: Path) -> list[dict[str, Any]]:
    """Measure a session's largest stretch; nothing if all are too short."""
    session = EvaluatedSession(str(path), CutOptions())
    case = max(session.cases, key=lambda case: case.cut.tokens, default=None)
    return [] if case is None else list(_results(_Bench(session, case)))


def _results(bench: "_Bench") -> Iterator[dict[str, Any]]:
    for share in SHARES:
        shares = bench.shares(DEFAULT_PROFILE, share)
        yield {"policy": DEFAULT_PROFILE, "asked": share, "shares": shares}
    for policy, share in RIVALS:
        shares = bench.shares(policy, share)
        default = bench.default_at(shares[KEPT])
        yield {"policy": policy, "asked": share, "shares": shares, "default": default}


class _Bench:
    """One cut with both judges."""

    def __init__(self, session: EvaluatedSession, case: EvaluationCase) -> None:
        rivals = tuple(policy.name for policy in CONTROL_POLICIES)
        profiles = dict.fromkeys(name for name, _ in RIVALS if name not in rivals)
        compared = policies_of((DEFAULT_PROFILE, *profiles), (), {})
        self._policies: dict[str, Policy] = {p.name: p for p in (*CONTROL_POLICIES, *compared)}
        self._session, self._case = session, case
        self._referee = Referee(case.cut.prefix, case.cut.future)

    def shares(self, policy: str, asked: float) -> Shares:
        """Let a policy keep a share of the prefix, and judge what is left."""
        trial, context = self._session.try_policy(self._case, self._policies[policy], asked)
        shares = {name: tally.share for name, tally in trial.tallies.items()}
        shares |= {KEPT: trial.kept, REFEREE: self._referee.opinion(context)}
        return {name: share for name, share in shares.items() if share is not None}

    def default_at(self, kept: float) -> Shares | None:
        """Run the default profile at a size; None if it cannot reach it, or nothing was removed."""
        if not 0 < kept <= _MOST_KEPT:
            return None
        shares = self.shares(DEFAULT_PROFILE, kept)
        return shares if abs(shares[KEPT] - kept) <= _SAME_SIZE * kept else None
