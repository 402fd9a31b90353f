"""Measures what compactions keep of what sessions needed later.

The longest stretch of every session is cut three times. Each prefix is compacted with the default
profile to several sizes. Every rival is run as it comes; then the default profile is run at the
size that the rival came to, so that the two are compared at one size. An earlier commit is run on
the same cuts, and its contexts are judged by the measures of this checkout.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.sessions import RecordedSession
from compactctl.commands.lab.eval_session import (
    CONTROL_POLICIES,
    CutOptions,
    EvaluatedSession,
    Policy,
    policies_of,
)
from compactctl.history.turns import preamble
from compactctl.lab.score import EvaluationCase
from compactctl.lab.text_content import without_reasoning
from compactctl.model.message import Message, MessageId, TextPart
from compactctl.profiles.registry import DEFAULT_PROFILE
from compactctl.summaries.extract.passages import read_passages

CUTS = (0.35, 0.6, 0.85)
SHARES = (0.3, 0.1, 0.05)
RIVALS = (
    ("newest", 0.3), ("newest", 0.1), ("random", 0.3), ("random", 0.1), ("mask", 0.3),
    *((profile, 0.3) for profile in (
        "staged", "neurolink", "codebuddy", "agent-code", "opencode", "copilot", "cline",
        "claude-api",
    )),
)  # fmt: skip
EARLIER = "earlier"
"""The default profile of an earlier commit."""
KEPT, REACHED, VISIBLE = "kept", "reached", "visible"
# The sizes, as a share of the size asked for, at which that counts as reached.
_REACHED = (0.92, 1.0)
# More than this is no compaction, and sizes further apart are not the same.
_MAX_KEPT, _SAME_SIZE = 0.95, 0.1
Shares = Mapping[str, float]
"""The share of the prefix's tokens, with and without reasoning, and each measure with demand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a policy kept at one cut of a session.

    ``default`` is what the default profile kept that the policy is compared with: at the size of a
    rival, or asked for the same size as an earlier commit. None if there is nothing to compare.
    """

    session: str
    project: str
    policy: str
    asked: float
    shares: Shares
    default: Shares | None = None


@dataclass(frozen=True, slots=True)
class Checkout:
    """A folder with the package as it was at a commit."""

    commit: str
    folder: Path

    def contexts(self, path: Path) -> list[dict[str, Any]]:
        """Let the package in the folder cut a session and compact each prefix to every share."""
        shares = ",".join(map(str, SHARES))
        command = [
            sys.executable, str(Path(__file__).with_name("contexts.py")), str(self.folder),
            str(path), ",".join(map(str, CUTS)), shares,
        ]  # fmt: skip
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout
        contexts: list[dict[str, Any]] = json.loads(output)
        return contexts


def measure_quality(
    sessions: Sequence[RecordedSession],
    get_or_measure: Callable[[str, Callable[[], Any]], Any],
    earlier: Checkout | None = None,
) -> list[Result]:
    """Measure the sessions that nothing was tuned on."""
    results: list[Result] = []
    for session in sessions:
        if session.is_untouched:
            rows = get_or_measure(session.name, partial(_measure, session.path))
            if earlier is not None:
                compare = partial(compare_with_earlier, session.path, earlier)
                rows = rows + get_or_measure(f"{session.name} {earlier.commit}", compare)
            results += (
                Result(session=session.name, project=session.project, **row) for row in rows
            )
    return results


def _measure(path: Path) -> list[dict[str, Any]]:
    return [row for bench in find_benches(path) for row in _measure_cut(bench)]


def _measure_cut(bench: "Bench") -> Iterator[dict[str, Any]]:
    for share in SHARES:
        shares = bench.shares(DEFAULT_PROFILE, share)
        yield {"policy": DEFAULT_PROFILE, "asked": share, "shares": shares}
    for policy, share in RIVALS:
        shares = bench.shares(policy, share)
        default = bench.default_at(shares[KEPT])
        yield {"policy": policy, "asked": share, "shares": shares, "default": default}


def compare_with_earlier(path: Path, earlier: Checkout) -> list[dict[str, Any]]:
    """Compare the default profile with that of an earlier commit at the cuts that both make."""
    texts_by_cut = {cut["name"]: cut["texts"] for cut in earlier.contexts(path)}
    return [
        {
            "policy": EARLIER,
            "asked": share,
            "shares": bench.judge(list(_messages(texts))),
            "default": bench.shares(DEFAULT_PROFILE, share),
        }
        for bench in find_benches(path)
        if bench.cut_name in texts_by_cut
        for share, texts in zip(SHARES, texts_by_cut[bench.cut_name], strict=True)
    ]


def _messages(texts: Sequence[str]) -> Iterator[Message]:
    for index, text in enumerate(texts):
        part = TextPart(text=text)
        yield Message(id=MessageId(f"m{index}"), role="assistant", parts=(part,), line=index)


def find_benches(path: Path) -> list["Bench"]:
    """Return the cuts of a session's longest stretch; none if all are too short."""
    session = EvaluatedSession(str(path), CutOptions(at=CUTS))
    longest = max(session.cases, key=lambda case: case.cut.tokens, default=None)
    return [
        Bench(session, case)
        for case in session.cases
        if longest is not None and case.cut.prefix[0].id == longest.cut.prefix[0].id
    ]


class Bench:
    """One cut of a session, and the policies to compare at it."""

    def __init__(self, session: EvaluatedSession, case: EvaluationCase) -> None:
        rivals = tuple(policy.name for policy in CONTROL_POLICIES)
        profiles = dict.fromkeys(name for name, _ in RIVALS if name not in rivals)
        compared = policies_of((DEFAULT_PROFILE, *profiles), (), {})
        self._policies: dict[str, Policy] = {p.name: p for p in (*CONTROL_POLICIES, *compared)}
        self._session, self._case = session, case
        self._fixed = self._visible_tokens(preamble(case.cut.prefix))

    @property
    def cut_name(self) -> str:
        """The newest message before the cut and the requests after it, as ``contexts.py`` says."""
        return f"{self._case.cut.prefix[-1].id} {len(self._case.cut.future)}"

    def shares(self, policy: str, asked: float) -> Shares:
        """Let a policy keep a share of the prefix, and judge what is left."""
        trial, context = self._session.try_policy(self._case, self._policies[policy], asked)
        low, high = (asked * bound for bound in _REACHED)
        is_reached = low <= trial.kept <= high or trial.tokens == int(high * trial.prefix)
        return {**self.judge(context), KEPT: trial.kept, REACHED: float(is_reached)}

    def judge(self, context: Sequence[Message]) -> Shares:
        """Return the measures with any demand, and the share of the visible text."""
        tallies = self._case.score(context).tallies
        shares = {name: tally.share for name, tally in tallies.items()}
        whole = self._visible_tokens(self._case.cut.prefix) - self._fixed
        shares[VISIBLE] = (self._visible_tokens(context) - self._fixed) / whole
        return {name: share for name, share in shares.items() if share is not None}

    def default_at(self, kept: float) -> Shares | None:
        """Run the default profile at a size; None if it cannot reach it, or nothing was removed."""
        if not 0 < kept <= _MAX_KEPT:
            return None
        shares = self.shares(DEFAULT_PROFILE, kept)
        return shares if abs(shares[KEPT] - kept) <= _SAME_SIZE * kept else None

    def _visible_tokens(self, messages: Sequence[Message]) -> int:
        texts = [passage.text for passage in without_reasoning(read_passages(messages))]
        return sum(self._session.measured.counter.count_many(texts))
