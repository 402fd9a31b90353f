"""One session under evaluation: its cuts, and the trials that are made of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from time import perf_counter

from compactctl.commands.measuring.measure import Measurement, MeasureOptions, limits_for, measure
from compactctl.commands.planning.apply_plan import apply_plan, check_input
from compactctl.commands.planning.plan import PlanOptions, Recipe, StageSettings, make_plan
from compactctl.commands.planning.plan_file import PlanFile
from compactctl.commands.planning.run_stages import kept_tokens, view_of
from compactctl.commands.reading.transcript import InputOptions, check_strict, load, parse, scan
from compactctl.errors import UsageError
from compactctl.history.pairs import atomic_units
from compactctl.history.turns import preamble
from compactctl.lab.controls import CONTROLS
from compactctl.lab.cuts import Cut, cut_after, cuts_at, cuts_every, split_at_compactions
from compactctl.lab.questions import make_questions, prompt
from compactctl.lab.score import ANSWERS, EvaluationCase, Tally
from compactctl.lab.text_content import TextReader
from compactctl.model.edit import Edit
from compactctl.model.message import Message, MessageId
from compactctl.model.numbers import exact
from compactctl.model.transcript import Transcript
from compactctl.pipeline.apply import apply
from compactctl.pipeline.run import run
from compactctl.profiles.registry import DEFAULT_PROFILE, PROFILES, load_profile
from compactctl.store.files.source import digest_of

EVERYTHING = "none"
"""The control that compacts nothing."""
PLANNED = "plan"
"""What decided edits are called: those of a plan that stands in a file."""
FEWEST_DEMANDS = 5
"""Entities that a future must take up for a cut to count."""
Answering = Callable[[str], str]
"""Takes a prompt and returns what a reader answers, "" for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CutOptions:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a policy left of a prefix, and what that was worth to the session's future.

    Attributes:
        session: the path of the transcript.
        project: the working folder of the session, "" where the file does not tell it.
        cut: the part of the stretch's requests before the cut; ``requests`` are those after it.
        policy: its name; ``asked`` the share of the prefix's tokens that it was to keep.
        prefix, tokens: the sizes of the prefix and of what was left, without the system prompt and
            definitions of tools, which stay.
        tallies: what was asked for and what of it was there, by measure.
        chance: recall of random lines of the same size; None for controls.
        pair_errors: tool pairs that were whole before.
        milliseconds: how long it took, which says as much about the machine.
    """

    session: str
    project: str
    cut: float
    requests: int
    policy: str
    asked: float
    prefix: int
    tokens: int
    tallies: Mapping[str, Tally] = field(default_factory=dict)
    chance: Tally | None = None
    pair_errors: int = 0
    milliseconds: float = 0.0

    @property
    def kept(self) -> float:
        """The part of the prefix's tokens that is left."""
        return self.tokens / self.prefix

    @property
    def is_over(self) -> bool:
        """Whether more is left than was asked for."""
        return self.tokens > int(exact(self.asked) * self.prefix)


@dataclass(frozen=True, slots=True, kw_only=True)
class GrownSession:
    """A session that has gone on since a plan was made, and the edits of the plan.

    ``newest`` is the newest message that there was then.
    """

    transcript: Transcript
    edits: tuple[Edit, ...]
    newest: MessageId


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """A way to make a context smaller: what a ``recipe`` comes to, or what was ``decided``.

    Without either it is the control of that name.
    """

    name: str
    recipe: Recipe | None = None
    decided: PlanFile | None = None

    @property
    def is_in_file(self) -> bool:
        """Whether its name is the path of a profile, not one of ours or a list of stages."""
        own = None if self.recipe is None else self.recipe.measure.profile
        return own is not None and self.name not in PROFILES

    @property
    def is_control(self) -> bool:
        """Whether it looks at nothing but sizes."""
        return self.recipe is None and self.decided is None


CONTROL_POLICIES = tuple(Policy(name=name) for name in CONTROLS)


class Compactor:
    """Makes contexts of a transcript's prefixes as ``compact --keep`` would, without a file.

    ``edits`` are those that were decided.
    """

    def __init__(
        self,
        transcript: Transcript,
        measured: Measurement,
        options: MeasureOptions,
        seed: int,
        edits: tuple[Edit, ...] = (),
    ) -> None:
        self._edits = edits
        self._transcript, self._measured = transcript, measured
        self._options, self._seed = options, seed

    def context(
        self, policy: Policy, prefix: tuple[Message, ...], share: float
    ) -> tuple[Message, ...]:
        """Return what is left of a prefix of which a share is kept, more where a policy needs it.

        What is given is kept beside the share.
        """
        meter = self._measured.meter
        room = kept_tokens(prefix, share, meter)
        if policy.decided is not None:
            return apply(prefix, self._edits)
        if policy.recipe is None:
            return self.control(policy.name, prefix, room - meter.total(preamble(prefix)))
        measured = self._measured_for(policy.recipe)
        plan = make_plan(policy.recipe, measured.limits)
        view = view_of(prefix, self._transcript, measured, plan.protect, lambda _: room)
        return run(view, plan.steps, meter).view.messages

    def control(self, name: str, prefix: tuple[Message, ...], room: int) -> tuple[Message, ...]:
        """Return what is given, and what a control leaves of the rest of a prefix in ``room``.

        Messages keep their order. The call of a result that is given stays with it, and takes its
        tokens from ``room``.
        """
        meter = self._measured.meter
        fixed = {message.id for message in preamble(prefix)}
        whole = (
            unit for unit in atomic_units(prefix) if any(prefix[at].id in fixed for at in unit)
        )
        stay = {at for unit in whole for at in unit}
        room -= sum(meter.message(prefix[at]) for at in stay if prefix[at].id not in fixed)
        rest = [message for at, message in enumerate(prefix) if at not in stay]
        left = CONTROLS[name](rest, room, meter, self._seed)
        places = {message.id: at for at, message in enumerate(prefix)}
        both = (*(prefix[at] for at in sorted(stay)), *left)
        return tuple(sorted(both, key=lambda message: places.get(message.id, len(prefix))))

    def _measured_for(self, recipe: Recipe) -> Measurement:
        options = replace(self._options, profile=recipe.measure.profile)
        limits = limits_for(self._transcript, options, self._measured.model, self._measured.framed)
        return replace(self._measured, limits=limits)


class EvaluatedSession:
    """A transcript that was read and cut. Raises what ``stats`` raises.

    ``cases`` are the cuts that count; at ``skipped`` others too little was asked for.
    """

    def __init__(self, path: str, options: CutOptions) -> None:
        known = _planned(path, options)
        asked = options.input.at(path)
        transcript = known.transcript if known else scan(asked)
        check_strict(transcript, asked)
        self.path, self.cwd, self._options = path, transcript.session.cwd, options
        self.measured = measure(transcript, options.measure)
        self.measured.meter.prime(transcript.messages)
        edits = known.edits if known else ()
        self._compactor = Compactor(transcript, self.measured, options.measure, options.seed, edits)
        reader = TextReader(transcript.session.cwd)
        size = self.measured.meter.message
        cuts = _behind(known, size) if known else _cuts(transcript, size, options)
        found = [EvaluationCase(cut, reader, self.cwd) for cut in cuts]
        self.cases = [case for case in found if len(case.demand.entities) >= FEWEST_DEMANDS]
        self.skipped = len(found) - len(self.cases)

    @property
    def project(self) -> str:
        """The working folder, "" where the file does not tell it."""
        return self.cwd or ""

    def context(self, case: EvaluationCase, policy: Policy, share: float) -> tuple[Message, ...]:
        """Return what a policy leaves of a case's prefix."""
        return self._compactor.context(policy, case.cut.prefix, share)

    def share_of(self, case: EvaluationCase, policy: Policy) -> float:
        """Return what part of a case's tokens is left by what was decided, up to the next per mil.

        What is given is not part of them.
        """
        size = self.measured.meter.total
        fixed = size(preamble(case.cut.prefix))
        left = size(self.context(case, policy, 1.0)) - fixed
        return min(1.0, -(-1_000 * left // (case.cut.tokens - fixed)) / 1_000)

    def tried(
        self, case: EvaluationCase, policy: Policy, share: float
    ) -> tuple[Trial, tuple[Message, ...]]:
        """Let a policy keep a share of a case's prefix; return the trial, and what was left."""
        start = perf_counter()
        context = self.context(case, policy, share)
        spent = perf_counter() - start
        size = self.measured.meter.total
        fixed = size(preamble(case.cut.prefix))
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

    def _chance(self, case: EvaluationCase, tokens: int) -> Tally:
        return case.recall(self._compactor.control("random", case.cut.prefix, tokens))

    def _answers(self, case: EvaluationCase, context: tuple[Message, ...]) -> dict[str, Tally]:
        ask = self._options.answering
        if ask is None:
            return {}
        asked = make_questions(case.cut.prefix, self.cwd)
        right = sum(q.is_answered_by(ask(prompt(context, q, self.cwd))) for q in asked)
        return {ANSWERS: Tally(right, len(asked))}


def policies_of(
    profiles: Sequence[str],
    stages: Sequence[tuple[str, ...]],
    settings: StageSettings,
    decided: PlanFile | None = None,
) -> tuple[Policy, ...]:
    """Return what was decided, named profiles and lists of stages; of these the default profile.

    ``settings`` are options of stages for all of them. Raises UsageError for a profile that is
    none, and for two policies of one name.
    """
    names = list(profiles) or ([] if stages or decided else [DEFAULT_PROFILE])
    recipes = {
        name: Recipe(
            measure=MeasureOptions(profile=load_profile(name)), plan=PlanOptions(settings=settings)
        )
        for name in names
    }
    recipes |= {
        ",".join(each): Recipe(plan=PlanOptions(stages=each, settings=settings)) for each in stages
    }
    taken = [*CONTROLS, PLANNED, *names, *(",".join(each) for each in stages)]
    twice = next((name for name in taken if taken.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice!r} is compared twice, or is the name of a control; leave one out")
    found = (Policy(name=name, recipe=recipe) for name, recipe in recipes.items())
    return (*([Policy(name=PLANNED, decided=decided)] if decided else ()), *found)


def _planned(path: str, options: CutOptions) -> GrownSession | None:
    if options.planned is None:
        return None
    return _grown_session(options.input.at(path), options.planned, options.measure)


def _grown_session(session: InputOptions, plan: PlanFile, options: MeasureOptions) -> GrownSession:
    """Read what a plan was made for the beginning of.

    Raises as ``load`` and ``apply_plan`` do, ChangedError where it does not begin like that, and
    UsageError where it has not gone on.
    """
    loaded = load(session)
    known = tuple(islice(loaded.lines, plan.input.n_lines))
    if loaded.source.digest == plan.input:
        raise UsageError(
            f"{session.path}: has not gone on since the plan was made, so nothing tells what it "
            "needs; make the plan of its beginning, as of head -n 500"
        )
    if digest_of(known) != plan.input:
        check_input(plan, loaded.source.digest, session.path)
    if plan.redo:
        raise UsageError(
            f"{session.path}: the plan undoes what the client compacted, and what was needed "
            "followed on that; make a plan without --redo"
        )
    then = parse(known, loaded.format)
    edits = apply_plan(then, plan, measure(then, options)).applied.edits
    newest = then.effective[-1].id
    return GrownSession(transcript=loaded.transcript, edits=edits, newest=newest)


def _behind(known: GrownSession, size: Callable[[Message], int]) -> Iterator[Cut]:
    for messages in split_at_compactions(known.transcript):
        yield from cut_after(messages, known.newest, size)


def _cuts(
    transcript: Transcript, size: Callable[[Message], int], options: CutOptions
) -> Iterator[Cut]:
    for messages in split_at_compactions(transcript):
        if options.every is None:
            yield from cuts_at(messages, options.at, size)
        else:
            yield from cuts_every(messages, options.every, size)
