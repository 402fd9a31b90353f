"""One session under evaluation: its cuts, and the trials that are made of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import perf_counter

from compactctl.commands.evaluate.planned import PlannedSession, planned_session
from compactctl.commands.evaluate.policies import Compactor, Policy
from compactctl.commands.evaluate.trial import Trial
from compactctl.commands.loading.load import InputOptions, check_strict, scan
from compactctl.commands.planning.plan_file import PlanFile
from compactctl.commands.sizing.measure import MeasureOptions, measure
from compactctl.evaluation.cuts import Cut, cuts_at, cuts_behind, cuts_every, stretches
from compactctl.evaluation.questions import prompt, questions
from compactctl.evaluation.reading import Reader
from compactctl.evaluation.score import ANSWERS, Case, Tally
from compactctl.history.turns import given
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript

FEWEST_DEMANDS = 5
"""Entities that a future must take up for a cut to count."""

Answering = Callable[[str], str]
"""Takes a prompt and returns what a reader answers, "" for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """How sessions are read and cut.

    Attributes:
        at: the shares of a stretch's requests behind which it is cut, unless ``every`` says to
            cut wherever so many tokens have come together.
        planned: the plan that is evaluated: the session is cut where it ended when that was made,
            and nowhere else.
        seed: of random lines and of intervals.
        answering: the reader that is asked questions about every context; None asks nobody.
    """

    at: tuple[float, ...] = (0.6,)
    every: int | None = None
    planned: PlanFile | None = None
    seed: int = 0
    input: InputOptions = field(default_factory=InputOptions)
    measure: MeasureOptions = field(default_factory=MeasureOptions)
    answering: Answering | None = None


class EvaluatedSession:
    """A transcript that was read and cut. Raises what ``stats`` raises.

    ``cases`` are the cuts that count; at ``skipped`` others too little was asked for.
    """

    def __init__(self, path: str, options: SessionOptions) -> None:
        known = _planned(path, options)
        asked = options.input.at(path)
        transcript = known.transcript if known else scan(asked)
        check_strict(transcript, asked)
        self.path, self.cwd, self._options = path, transcript.cwd, options
        self.measured = measure(transcript, options.measure)
        self.measured.meter.prime(transcript.messages)
        edits = known.edits if known else ()
        self._compactor = Compactor(transcript, self.measured, options.measure, options.seed, edits)
        reader = Reader(transcript.cwd)
        size = self.measured.meter.message
        cuts = _behind(known, size) if known else _cuts(transcript, size, options)
        found = [Case(cut, reader, self.cwd) for cut in cuts]
        self.cases = [case for case in found if len(case.demand.entities) >= FEWEST_DEMANDS]
        self.skipped = len(found) - len(self.cases)

    @property
    def project(self) -> str:
        """The working folder, "" where the file does not tell it."""
        return self.cwd or ""

    def context(self, case: Case, policy: Policy, share: float) -> tuple[Message, ...]:
        """Return what a policy leaves of a case's prefix."""
        return self._compactor.context(policy, case.cut.prefix, share)

    def share_of(self, case: Case, policy: Policy) -> float:
        """Return what part of a case's tokens is left by what was decided, up to the next per mil.

        What is given is not part of them.
        """
        size = self.measured.meter.total
        fixed = size(given(case.cut.prefix))
        left = size(self.context(case, policy, 1.0)) - fixed
        return min(1.0, -(-1_000 * left // (case.cut.tokens - fixed)) / 1_000)

    def tried(self, case: Case, policy: Policy, share: float) -> tuple[Trial, tuple[Message, ...]]:
        """Let a policy keep a share of a case's prefix; return the trial, and what was left."""
        start = perf_counter()
        context = self.context(case, policy, share)
        spent = perf_counter() - start
        size = self.measured.meter.total
        fixed = size(given(case.cut.prefix))
        tokens = size(context) - fixed
        score = case.score(context)
        trial = Trial(
            session=self.path,
            project=self.project,
            cut=case.cut.share,
            requests=len(case.cut.future),
            policy=policy.name,
            asked=share,
            prefix=case.cut.tokens - fixed,
            tokens=tokens,
            tallies={**score.tallies, **self._answers(case, context)},
            chance=None if policy.is_control else self._chance(case, tokens),
            pair_errors=score.pair_errors,
            milliseconds=1_000 * spent,
        )
        return trial, context

    def _chance(self, case: Case, tokens: int) -> Tally:
        return case.recall(self._compactor.control("random", case.cut.prefix, tokens))

    def _answers(self, case: Case, context: tuple[Message, ...]) -> dict[str, Tally]:
        ask = self._options.answering
        if ask is None:
            return {}
        asked = questions(case.cut.prefix, self.cwd)
        right = sum(q.is_answered_by(ask(prompt(context, q, self.cwd))) for q in asked)
        return {ANSWERS: Tally(right, len(asked))}


def _planned(path: str, options: SessionOptions) -> PlannedSession | None:
    if options.planned is None:
        return None
    return planned_session(options.input.at(path), options.planned, options.measure)


def _behind(known: PlannedSession, size: Callable[[Message], int]) -> Iterator[Cut]:
    for messages in stretches(known.transcript):
        yield from cuts_behind(messages, known.newest, size)


def _cuts(
    transcript: Transcript, size: Callable[[Message], int], options: SessionOptions
) -> Iterator[Cut]:
    for messages in stretches(transcript):
        if options.every is None:
            yield from cuts_at(messages, options.at, size)
        else:
            yield from cuts_every(messages, options.every, size)
