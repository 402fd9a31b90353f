"""Evaluates compactions by what sessions needed later."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from compactctl.commands.lab.eval_figures import Baseline, EvalFigures, Gate, figures, findings
from compactctl.commands.lab.eval_session import (
    CONTROL_POLICIES,
    EVERYTHING,
    CutOptions,
    EvaluatedSession,
    Policy,
    Trial,
)
from compactctl.commands.progress import FilesProgress, ProgressTally
from compactctl.commands.reading.discover import FileChoice, discover
from compactctl.commands.reading.trees import InputFile
from compactctl.errors import GATE_FAILED, CompactctlError, NoInputError
from compactctl.lab.score import EvaluationCase
from compactctl.records import Record, field, replace
from compactctl.summaries.extract.entities import EntityKind

OTHERS = 8
"""The maximum number of other sessions that each one is compared with."""


class EvaluateOptions(Record):
    """What to evaluate.

    Attributes:
        paths: the sessions.
        policies: the policies to compare besides the controls.
        keep: the shares of the conversation before a cut to keep.
        session: how to read and cut sessions.
        gates: limits that every policy must reach.
        baseline: earlier means that no policy may fall below.
    """

    paths: tuple[str, ...]
    policies: tuple[Policy, ...] = ()
    keep: tuple[float, ...] = (0.5, 0.3, 0.1)
    session: CutOptions = field(default_factory=CutOptions)
    gates: tuple[Gate, ...] = ()
    baseline: Baseline | None = None


class FirstCut(Record, kw_only=False):
    """The first cut of a session that counts."""

    project: str
    case: EvaluationCase


class Noise(Record, kw_only=False):
    """Demand by chance: entities that futures of other projects mention, per own demand.

    ``kinds`` is the same by kind of entity; ``pairs`` is the number of comparisons.
    """

    share: float
    kinds: Mapping[EntityKind, float]
    pairs: int


class SessionOutcome(Record):
    """The number of cuts of one file that counted, and of those skipped for too little demand."""

    path: str
    project: str
    cuts: int
    skipped: int


class EvaluationFailure(Record):
    """A file that could not be evaluated, and the exit code."""

    path: str
    reason: str
    exit_code: int


class EvaluateResult(Record):
    """All trials, their aggregates, and the noise in them.

    ``figures`` are over all sessions. ``noise`` is None unless there are sessions of two projects.
    ``findings`` are those of gates and the baseline, one line each.
    """

    options: EvaluateOptions
    counters: tuple[str, ...]
    sessions: tuple[SessionOutcome, ...]
    failures: tuple[EvaluationFailure, ...]
    trials: tuple[Trial, ...]
    figures: tuple[EvalFigures, ...]
    noise: Noise | None
    findings: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    written: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """The highest code of the files that failed, else 1 if a gate failed, else 0."""
        failed = max((failure.exit_code for failure in self.failures), default=0)
        return failed or (GATE_FAILED if self.findings else 0)

    def of_session(self, path: str) -> tuple[EvalFigures, ...]:
        """Return the figures of one session."""
        trials = [trial for trial in self.trials if trial.session == path]
        return figures(trials, self.options.session.seed)


def evaluate(options: EvaluateOptions, progress: FilesProgress | None = None) -> EvaluateResult:
    """Cut every session, apply every policy before the cut, and measure it by what follows.

    A file that fails does not stop the others. Raises NoInputError if there are no files.
    """
    inputs = discover(FileChoice(paths=options.paths))
    tally = ProgressTally([(item.path, item.n_bytes) for item in inputs], progress)
    outcomes: list[SessionOutcome] = []
    failures: list[EvaluationFailure] = []
    trials: list[Trial] = []
    first_cuts: list[FirstCut] = []
    counters: dict[str, None] = {}
    for item in inputs:
        try:
            session = _opened(item, options.session)
            trials += _trials(session, options)
        except CompactctlError as error:
            failures.append(
                EvaluationFailure(path=item.path, reason=str(error), exit_code=error.exit_code)
            )
        else:
            outcomes.append(_outcome(session))
            counters[session.measured.counter.id] = None
            first_cuts += [FirstCut(session.project, case) for case in session.cases[:1]]
        tally.done(item.path, item.n_bytes)
    result = EvaluateResult(
        options=options,
        counters=tuple(counters),
        sessions=tuple(outcomes),
        failures=tuple(failures),
        trials=tuple(trials),
        figures=figures(trials, options.session.seed),
        noise=noise(first_cuts),
    )
    return replace(result, findings=tuple(_findings(result, options)))


def noise(first_cuts: Sequence[FirstCut]) -> Noise | None:
    """Compare each session with futures of other projects; None if there is only one project."""
    demanded: Counter[EntityKind] = Counter()
    foreign: Counter[EntityKind] = Counter()
    pairs = 0
    for index, first in enumerate(first_cuts):
        rotated = (*first_cuts[index + 1 :], *first_cuts[:index])
        others = [f for f in rotated if f.project != first.project][:OTHERS]
        for other in others:
            pairs += 1
            demanded.update(first.case.count_kinds(first.case.demand))
            foreign.update(other.case.count_kinds(first.case.demand_of(other.case.first_mentions)))
    if not demanded.total():
        return None
    kinds = {kind: foreign[kind] / count for kind, count in sorted(demanded.items())}
    return Noise(foreign.total() / demanded.total(), kinds, pairs)


def _opened(item: InputFile, options: CutOptions) -> EvaluatedSession:
    if item.problem is not None:
        raise NoInputError(item.problem)
    return EvaluatedSession(item.path, options)


def _trials(session: EvaluatedSession, options: EvaluateOptions) -> Iterator[Trial]:
    """Try every policy at every share; the control that compacts nothing is tried once.

    If there is a plan, the share is the one it keeps.
    """
    decided = [policy for policy in options.policies if policy.decided is not None]
    for case in session.cases:
        shares = tuple(session.share_of(case, policy) for policy in decided) or options.keep
        for policy in (*CONTROL_POLICIES, *options.policies):
            for share in (1.0,) if policy.name == EVERYTHING else shares:
                trial, _ = session.try_policy(case, policy, share)
                yield trial


def _outcome(session: EvaluatedSession) -> SessionOutcome:
    return SessionOutcome(
        path=session.path,
        project=session.project,
        cuts=len(session.cases),
        skipped=session.skipped,
    )


def _findings(result: EvaluateResult, options: EvaluateOptions) -> Iterator[str]:
    names = {policy.name for policy in options.policies}
    rows = [row for row in result.figures if row.policy in names]
    yield from findings(rows, options.gates, _without_controls(options.baseline))


def _without_controls(baseline: Baseline | None) -> Baseline | None:
    """Return a baseline without the controls, which every evaluation tries."""
    if baseline is None:
        return None
    controls = {policy.name for policy in CONTROL_POLICIES}
    means = {key: mean for key, mean in baseline.means.items() if key[0] not in controls}
    return replace(baseline, means=means)
