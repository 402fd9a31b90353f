"""One session under evaluation: its cuts, and the trials at each cut."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from time import perf_counter

from compactctl.asks import CUT, MAY, MEASURED, ask
from compactctl.commands.measuring.measure import (
    Measurement,
    MeasureOptions,
    limits_for,
    measure,
    with_plausible_usage,
)
from compactctl.commands.planning.apply_plan import apply_plan, check_input
from compactctl.commands.planning.plan import PlanOptions, Recipe, StageSettings, make_plan
from compactctl.commands.planning.plan_file import PlanFile
from compactctl.commands.planning.run_stages import kept_tokens, view_of
from compactctl.commands.reading.transcript import InputOptions, check_strict, load, parse, scan
from compactctl.errors import UsageError
from compactctl.history.apply import apply
from compactctl.history.pairs import atomic_units
from compactctl.history.turns import preamble
from compactctl.history.unread import describe_unread
from compactctl.lab.controls import CONTROLS
from compactctl.lab.cuts import Cut, cut_after, cuts_at, cuts_every, split_at_compactions
from compactctl.lab.questions import context_text, make_questions, prompt
from compactctl.lab.score import ANSWERS, EvaluationCase
from compactctl.lab.tally import Tally
from compactctl.lab.text_content import TextReader
from compactctl.model.bounds import Integer, Positive
from compactctl.model.edit import Edit
from compactctl.model.message import Message, MessageId
from compactctl.model.numbers import exact
from compactctl.model.transcript import Transcript
from compactctl.pipeline.run import run
from compactctl.profiles.registry import DEFAULT_PROFILE, PROFILES, load_profile
from compactctl.records import Record, field, replace
from compactctl.store.files.source import digest_of
from compactctl.tokens.budget import parse_share
from compactctl.tokens.verdict import Judgment, Verdict

EVERYTHING = "none"
"""The control that compacts nothing."""
PLANNED = "plan"
"""The name of the policy that applies a plan file."""
MIN_DEMANDS = 5
"""The entities that the future must mention again for a cut to count."""
Answering = Callable[[str], str]
"""Takes a prompt and returns what a reader answers, "" for nothing."""


def parse_shares(text: str) -> tuple[float, ...]:
    """Parse shares separated by commas; return them largest first. Raises UsageError."""
    return tuple(sorted({parse_share(share) for share in text.split(",")}, reverse=True))


class CutOptions(Record):
    """How to read and cut sessions.

    If there is a plan to evaluate, a session is cut only where it ended when that was made. The
    reader ``answering`` answers questions about every context; None for no questions.
    """

    planned: PlanFile | None = None
    input: InputOptions = field(default_factory=InputOptions)
    measure: MeasureOptions = field(default_factory=MeasureOptions)
    answering: Answering | None = None
    at: tuple[float, ...] = ask(
        (0.6,),
        "Cut a session after these shares of its requests.",
        CUT,
        MAY,
        metavar="SHARES",
        parse=parse_shares,
    )
    every: Positive | None = ask(None, "Cut after every N tokens instead.", CUT, MAY, metavar="N")
    seed: Integer = ask(0, "Seed for random lines and for intervals.", MEASURED, MAY, metavar="N")


class Trial(Record):
    """What a policy kept of a prefix, and its value for the rest of the session.

    Attributes:
        session: the path of the transcript.
        project: the working folder of the session, "" if unknown.
        cut: the share of the stretch's requests before the cut.
        requests: the number of requests after the cut.
        policy: the name of the policy.
        asked: the share of the prefix's tokens that it was to keep.
        prefix, tokens: the sizes of the prefix and of what was kept, without the system prompt and
            tool definitions, which always stay.
        tallies: the demand, and how much of it was met, by measure.
        chance: recall of random lines of the same size; None for controls.
        pair_errors: tool pairs that were separated.
        is_incomplete: whether text of the session was not read, so that all of it is larger.
        milliseconds: the time it took, which depends on the machine.
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
    is_incomplete: bool = False
    milliseconds: float = 0.0

    @property
    def kept(self) -> float:
        """The share of the prefix's tokens that was kept."""
        return self.tokens / self.prefix

    @property
    def judgment(self) -> Judgment:
        """Whether the policy kept to the share that was requested, and whether it did anything."""
        return Judgment(
            tokens=self.tokens,
            target=int(exact(self.asked) * self.prefix),
            is_incomplete=self.is_incomplete,
            is_unchanged=self.tokens == self.prefix,
        )

    @property
    def verdict(self) -> Verdict:
        """The worst that is true of the context."""
        return self.judgment.verdict


class GrownSession(Record):
    """A session that continued after a plan was made, and the edits of the plan.

    ``newest`` is the newest message at that time.
    """

    transcript: Transcript
    edits: tuple[Edit, ...]
    newest: MessageId


class Policy(Record):
    """A way to make a context smaller: by a ``recipe``, or by a plan (``decided``).

    Without either it is the control of that name.
    """

    name: str
    recipe: Recipe | None = None
    decided: PlanFile | None = None

    @property
    def is_in_file(self) -> bool:
        """Whether its name is the path of a profile, not a built-in one or a list of stages."""
        profile = None if self.recipe is None else self.recipe.measure.profile
        return profile is not None and self.name not in PROFILES

    @property
    def is_control(self) -> bool:
        """Whether it considers nothing but sizes."""
        return self.recipe is None and self.decided is None


CONTROL_POLICIES = tuple(Policy(name=name) for name in CONTROLS)


class PrefixCompactor:
    """Compacts prefixes of a transcript as ``compact --keep`` would, in memory.

    ``edits`` are those of a plan.
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
        """Return the preamble of a prefix and a share of the rest, or more if a policy needs it."""
        meter = self._measured.meter
        room = kept_tokens(prefix, share, meter)
        if policy.decided is not None:
            return apply(prefix, self._edits)
        if policy.recipe is None:
            return self.control(policy.name, prefix, room - meter.total(preamble(prefix)))
        measured = self._measured_for(policy.recipe)
        plan = make_plan(policy.recipe, measured.limits, measured.model)
        view = view_of(prefix, self._transcript, measured, plan.protect, lambda _: room)
        return run(view, plan.steps, meter).view.messages

    def control(self, name: str, prefix: tuple[Message, ...], room: int) -> tuple[Message, ...]:
        """Return the preamble, and what a control keeps of the rest of a prefix in ``room`` tokens.

        Messages keep their order. The call of a result in the preamble stays as well, and takes its
        tokens from ``room``.
        """
        meter = self._measured.meter
        fixed = {message.id for message in preamble(prefix)}
        fixed_units = (
            unit
            for unit in atomic_units(prefix)
            if any(prefix[index].id in fixed for index in unit)
        )
        fixed_indices = {index for unit in fixed_units for index in unit}
        room -= sum(
            meter.message(prefix[index]) for index in fixed_indices if prefix[index].id not in fixed
        )
        others = [message for index, message in enumerate(prefix) if index not in fixed_indices]
        kept_messages = CONTROLS[name](others, room, meter, self._seed)
        index_by_id = {message.id: index for index, message in enumerate(prefix)}
        messages = (*(prefix[index] for index in sorted(fixed_indices)), *kept_messages)
        return tuple(sorted(messages, key=lambda message: index_by_id.get(message.id, len(prefix))))

    def _measured_for(self, recipe: Recipe) -> Measurement:
        options = replace(self._options, profile=recipe.measure.profile)
        model, framed = self._measured.model, self._measured.framed
        credible = with_plausible_usage(self._transcript, model, framed)
        return replace(self._measured, limits=limits_for(credible, options, model, framed))


class EvaluatedSession:
    """A transcript that was read and cut. Raises as ``stats`` does.

    ``cases`` are the cuts that count; at ``skipped`` others the demand is too small. ``unread``
    describes the text that was not read, "" for none.
    """

    def __init__(self, path: str, options: CutOptions) -> None:
        grown = _planned(path, options)
        input_options = options.input.at(path)
        transcript = grown.transcript if grown else scan(input_options)
        check_strict(transcript, input_options)
        self.path, self.cwd, self._options = path, transcript.session.cwd, options
        self.unread = describe_unread(transcript.unread)
        self.measured = measure(transcript, options.measure)
        self.measured.meter.prime(transcript.messages)
        edits = grown.edits if grown else ()
        self._compactor = PrefixCompactor(
            transcript, self.measured, options.measure, options.seed, edits
        )
        reader = TextReader(transcript.session.cwd)
        size = self.measured.meter.message
        cuts = _behind(grown, size) if grown else _cuts(transcript, size, options)
        cases = [EvaluationCase(cut, reader, self.cwd) for cut in cuts]
        self.cases = [case for case in cases if len(case.demand.entities) >= MIN_DEMANDS]
        self.skipped = len(cases) - len(self.cases)

    @property
    def project(self) -> str:
        """The working folder, "" where the file does not tell it."""
        return self.cwd or ""

    def context(self, case: EvaluationCase, policy: Policy, share: float) -> tuple[Message, ...]:
        """Return what a policy keeps of a case's prefix."""
        return self._compactor.context(policy, case.cut.prefix, share)

    def share_of(self, case: EvaluationCase, policy: Policy) -> float:
        """Return the share of a case's tokens that a plan keeps, in steps of 0.1%, rounded up.

        The preamble is not counted.
        """
        size = self.measured.meter.total
        fixed = size(preamble(case.cut.prefix))
        tokens = size(self.context(case, policy, 1.0)) - fixed
        return min(1.0, -(-1_000 * tokens // (case.cut.tokens - fixed)) / 1_000)

    def try_policy(
        self, case: EvaluationCase, policy: Policy, share: float
    ) -> tuple[Trial, tuple[Message, ...]]:
        """Let a policy keep a share of a case's prefix; return the trial and the context."""
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
            is_incomplete=bool(self.unread),
            milliseconds=1_000 * spent,
        )
        return trial, context

    def _chance(self, case: EvaluationCase, tokens: int) -> Tally:
        return case.score_recall(self._compactor.control("random", case.cut.prefix, tokens))

    def _answers(self, case: EvaluationCase, context: tuple[Message, ...]) -> dict[str, Tally]:
        ask = self._options.answering
        if ask is None:
            return {}
        questions = make_questions(case.cut.prefix, self.cwd)
        text = context_text(context, self.cwd)
        right = sum(question.is_answered_by(ask(prompt(text, question))) for question in questions)
        return {ANSWERS: Tally(right, len(questions))}


def policies_of(
    profiles: Sequence[str],
    stages: Sequence[tuple[str, ...]],
    settings: StageSettings,
    decided: PlanFile | None = None,
) -> tuple[Policy, ...]:
    """Return the plan, profiles and lists of stages as policies; by default the default profile.

    ``settings`` are stage options for all of them. Raises UsageError for an unknown profile, and
    for two policies of one name.
    """
    names = list(profiles) or ([] if stages or decided else [DEFAULT_PROFILE])
    recipes = {
        name: Recipe(
            measure=MeasureOptions(profile=load_profile(name)), plan=PlanOptions(settings=settings)
        )
        for name in names
    }
    recipes |= {
        ",".join(stage_names): Recipe(plan=PlanOptions(stages=stage_names, settings=settings))
        for stage_names in stages
    }
    policy_names = [*CONTROLS, PLANNED, *names, *(",".join(stage_names) for stage_names in stages)]
    duplicate = next((name for name in policy_names if policy_names.count(name) > 1), None)
    if duplicate is not None:
        raise UsageError(f"{duplicate!r}: named twice, or the name of a control; leave one out")
    compared = (Policy(name=name, recipe=recipe) for name, recipe in recipes.items())
    return (*([Policy(name=PLANNED, decided=decided)] if decided else ()), *compared)


def _planned(path: str, options: CutOptions) -> GrownSession | None:
    if options.planned is None:
        return None
    return _grown_session(options.input.at(path), options.planned, options.measure)


def _grown_session(session: InputOptions, plan: PlanFile, options: MeasureOptions) -> GrownSession:
    """Read a session that begins with what a plan was made for.

    Raises as ``load`` and ``apply_plan`` do, ChangedError if it begins otherwise, and UsageError if
    it has not grown.
    """
    loaded = load(session)
    known_lines = tuple(islice(loaded.lines, plan.input.n_lines))
    if loaded.source.digest == plan.input:
        raise UsageError(
            f"{session.path}: nothing follows the plan's last message, so there is nothing to "
            "evaluate; make the plan from the beginning of the session, e.g. head -n 500"
        )
    if digest_of(known_lines) != plan.input:
        check_input(plan, loaded.source.digest, session.path)
    if plan.redo:
        raise UsageError(
            f"{session.path}: plans made with --redo cannot be evaluated; make one without it"
        )
    transcript_then = parse(known_lines, loaded.format)
    edits = apply_plan(transcript_then, plan, measure(transcript_then, options)).applied.edits
    newest = transcript_then.effective[-1].id
    return GrownSession(transcript=loaded.transcript, edits=edits, newest=newest)


def _behind(grown: GrownSession, size: Callable[[Message], int]) -> Iterator[Cut]:
    for messages in split_at_compactions(grown.transcript):
        yield from cut_after(messages, grown.newest, size)


def _cuts(
    transcript: Transcript, size: Callable[[Message], int], options: CutOptions
) -> Iterator[Cut]:
    for messages in split_at_compactions(transcript):
        if options.every is None:
            yield from cuts_at(messages, options.at, size)
        else:
            yield from cuts_every(messages, options.every, size)
