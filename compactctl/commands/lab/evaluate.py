"""Evaluates compactions by what sessions needed later."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from compactctl.asks import (
    GATES,
    MAY,
    OUTPUT,
    PLAN_FILES,
    POLICY,
    READS,
    SUMMARIZES,
    WRITES,
    ask,
)
from compactctl.commands.lab.eval_figures import (
    Baseline,
    EvalFigures,
    Gate,
    figures,
    findings,
    parse_gate,
    read_baseline,
)
from compactctl.commands.lab.eval_session import (
    CONTROL_POLICIES,
    EVERYTHING,
    Answering,
    CutOptions,
    EvaluatedSession,
    Policy,
    Trial,
    parse_shares,
    policies_of,
)
from compactctl.commands.output_files import TABLE_FORMATS, check_report, format_by_extension
from compactctl.commands.page_choice import PageChoice
from compactctl.commands.planning.plan import StageSettings, stage_list
from compactctl.commands.planning.plan_file import read_plan
from compactctl.commands.progress import FilesProgress, ProgressTally
from compactctl.commands.reading.discover import FileChoice, discover
from compactctl.commands.reading.trees import InputFile
from compactctl.errors import GATE_FAILED, CompactctlError, NoInputError
from compactctl.lab.score import EvaluationCase
from compactctl.model.bounds import Positive
from compactctl.records import Record, field, replace
from compactctl.summaries.extract.entities import EntityKind

REPORT_FORMATS = (*TABLE_FORMATS, "md")
OTHERS = 8
"""The maximum number of other sessions that each one is compared with."""


class EvaluateOptions(Record):
    """Which sessions to evaluate, and which policies with which stage options.

    ``evaluate`` puts the plan, and the reader that answers questions, into ``session``.
    """

    paths: tuple[str, ...]
    session: CutOptions = field(default_factory=CutOptions)
    settings: StageSettings = field(default_factory=dict)
    page: PageChoice | None = None
    force: bool = False
    profiles: tuple[str, ...] = ask(
        (),
        "Evaluate these profiles (repeatable). [default: default]",
        POLICY,
        MAY,
        flag="--profile",
        path="settings",
        metavar="A,B,...",
    )
    stages: tuple[tuple[str, ...], ...] = ask(
        (),
        "Evaluate these stages in this order (repeatable).",
        POLICY,
        MAY,
        metavar="LIST",
        parse=stage_list,
        repeatable=True,
    )
    planned: str | None = ask(
        None,
        "Evaluate this plan, which compact --plan-out wrote when the session was shorter. The "
        "session is cut where it ended then.",
        PLAN_FILES,
        READS,
        flag="--plan",
        path="settings",
        metavar="FILE",
    )
    keep: tuple[float, ...] = ask(
        (0.5, 0.3, 0.1),
        "Keep these shares of the conversation before the cut: of all messages except system "
        "prompt and tool definitions.",
        POLICY,
        MAY,
        metavar="SHARES",
        parse=parse_shares,
    )
    gates: tuple[Gate, ...] = ask(
        (),
        "Exit 1 unless every profile meets this: a measure, a minimum (or <= a maximum), and the "
        "share it is for, e.g. recall>=0.95@0.3 (repeatable).",
        GATES,
        MAY,
        flag="--gate",
        metavar="LIMIT",
        parse=parse_gate,
        repeatable=True,
    )
    baseline: Baseline | None = ask(
        None,
        "Exit 1 if a measure is 0.02 below this earlier output of --json.",
        GATES,
        READS,
        path="settings",
        metavar="FILE",
        read=read_baseline,
    )
    answers: str | None = ask(
        None,
        "Answer questions about each context with this command: context and question on stdin, "
        "answer on stdout.",
        GATES,
        SUMMARIZES,
        metavar="CMD",
    )
    answers_timeout: Positive = ask(
        60, "Time limit for an answer.", GATES, SUMMARIZES, metavar="SECONDS"
    )
    report: str | None = ask(
        None,
        "Write a row per context to this file (.parquet, .csv, .jsonl), or a table of all figures "
        "(.md).",
        OUTPUT,
        WRITES,
        path="here",
        metavar="FILE",
    )
    plot: str | None = ask(
        None,
        "Draw recall against tokens kept into this SVG file.",
        OUTPUT,
        WRITES,
        path="here",
        metavar="FILE",
    )


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
    policies: tuple[Policy, ...]
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

    A file that fails does not stop the others. Raises NoInputError if there are no files, and as
    ``read_plan``, ``policies_of``, ``command_answerer``, ``check_report`` and
    ``format_by_extension`` do.
    """
    plan = None if options.planned is None else read_plan(options.planned)
    profiles = [name.strip() for text in options.profiles for name in text.split(",")]
    policies = policies_of([*filter(None, profiles)], options.stages, options.settings, plan)
    cutting = replace(options.session, planned=plan, answering=_answering(options))
    inputs = discover(FileChoice(paths=options.paths))
    _check_outputs(options, inputs)
    tally = ProgressTally([(item.path, item.n_bytes) for item in inputs], progress)
    outcomes: list[SessionOutcome] = []
    failures: list[EvaluationFailure] = []
    trials: list[Trial] = []
    first_cuts: list[FirstCut] = []
    counters: dict[str, None] = {}
    warnings: list[str] = []
    for item in inputs:
        try:
            session = _opened(item, cutting)
            trials += _trials(session, policies, options.keep)
        except CompactctlError as error:
            failures.append(
                EvaluationFailure(path=item.path, reason=str(error), exit_code=error.exit_code)
            )
        else:
            outcomes.append(_outcome(session))
            counters[session.measured.counter.id] = None
            warnings += [f"{item.path}: {session.unread}"] if session.unread else []
            first_cuts += [FirstCut(session.project, case) for case in session.cases[:1]]
        tally.done(item.path, item.n_bytes)
    result = EvaluateResult(
        options=options,
        policies=policies,
        counters=tuple(counters),
        sessions=tuple(outcomes),
        failures=tuple(failures),
        trials=tuple(trials),
        figures=figures(trials, options.session.seed),
        noise=noise(first_cuts),
        warnings=tuple(warnings),
    )
    return replace(result, findings=tuple(_findings(result)))


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


def _answering(options: EvaluateOptions) -> Answering | None:
    if options.answers is None:
        return None
    from compactctl.llm.command import command_answerer

    return command_answerer(options.answers, options.answers_timeout)


def _check_outputs(options: EvaluateOptions, inputs: Sequence[InputFile]) -> None:
    reserved = [*(item.path for item in inputs), *filter(None, (options.planned,))]
    pages = () if options.page is None else (options.page.path,)
    for path in (*filter(None, (options.report, options.plot)), *pages):
        check_report(path, reserved, force=options.force)
        reserved.append(path)
    if options.report is not None:
        format_by_extension("--report", options.report, REPORT_FORMATS)
    if options.plot is not None:
        format_by_extension("--plot", options.plot, ("svg",))


def _opened(item: InputFile, options: CutOptions) -> EvaluatedSession:
    if item.problem is not None:
        raise NoInputError(item.problem)
    return EvaluatedSession(item.path, options)


def _trials(
    session: EvaluatedSession, policies: Sequence[Policy], keep: tuple[float, ...]
) -> Iterator[Trial]:
    """Try every policy at every share; the control that compacts nothing is tried once.

    If there is a plan, the share is the one it keeps.
    """
    decided = [policy for policy in policies if policy.decided is not None]
    for case in session.cases:
        shares = tuple(session.share_of(case, policy) for policy in decided) or keep
        for policy in (*CONTROL_POLICIES, *policies):
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


def _findings(result: EvaluateResult) -> Iterator[str]:
    options, names = result.options, {policy.name for policy in result.policies}
    rows = [row for row in result.figures if row.policy in names]
    yield from findings(rows, options.gates, _without_controls(options.baseline))


def _without_controls(baseline: Baseline | None) -> Baseline | None:
    """Return a baseline without the controls, which every evaluation tries."""
    if baseline is None:
        return None
    controls = {policy.name for policy in CONTROL_POLICIES}
    means = {key: mean for key, mean in baseline.means.items() if key[0] not in controls}
    return replace(baseline, means=means)
