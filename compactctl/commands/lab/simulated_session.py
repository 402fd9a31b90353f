"""Replays one conversation with a profile: where it would be compacted, and to what size."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Literal

from msgspec import Struct

from compactctl.commands.measuring.measure import Measurement, MeasureOptions
from compactctl.commands.measuring.next_request import RequestModel, SentRequest, common_prefix
from compactctl.commands.planning.plan import Plan, Recipe, make_plan
from compactctl.commands.planning.run_stages import room_for, view_of
from compactctl.history.turns import find_steps, turn_starts
from compactctl.model.message import Message, MessageId
from compactctl.model.transcript import Transcript
from compactctl.pipeline.run import run
from compactctl.profiles.profile import BackgroundTrigger, Profile
from compactctl.records import Record, field, replace
from compactctl.tokens.fit import Limits
from compactctl.tokens.trigger import Trigger, TriggerInput
from compactctl.tokens.verdict import Judgment

# foreground: before a request, because the trigger fired; background: during the work, as VS Code
# Copilot Chat does; reactive: the request no longer fit; manual: only on request.
CompactionKind = Literal["foreground", "background", "reactive", "manual"]
# If nothing could be done, try again when the request has grown by this share of the trigger's
# base, since more can be hidden then.
_PATIENCE = Fraction(1, 100)


class SimulatedRequest(Record):
    """A request: its new messages, and its position.

    ``turn`` and ``step`` count those that had begun, including the request's own. ``warm`` tells
    whether a tool call was answered in this turn; ``line`` is that of the answer, from 0, None for
    the next request.
    """

    new: tuple[Message, ...]
    turn: int
    step: int
    line: int | None
    warm: bool


class SimulatedCompaction(Record):
    """One simulated compaction.

    Attributes:
        request: the request that it ran before.
        path: what set it off.
        why: the condition that held.
        tokens_before, tokens_after: the size of the request.
        fits: whether the request was then within the available input, or the window if the trigger
            compares with that or with the client's threshold.
        stages: the names of the stages that changed something.
    """

    request: SimulatedRequest
    path: CompactionKind
    why: str
    tokens_before: int
    tokens_after: int
    fits: bool
    stages: tuple[str, ...] = ()


class SimulatedSession(Record):
    """A conversation replayed with one profile.

    Attributes:
        profile: the profile.
        trigger: when it compacts.
        limits: the available input by the profile's rule, and the base of its trigger.
        firings: the compactions that changed something.
        idle: how often the trigger fired and nothing could be done.
        requests: all requests, the next one last.
        over: the number of requests that still did not fit.
    """

    profile: Profile
    trigger: Trigger
    limits: Limits
    firings: tuple[SimulatedCompaction, ...]
    idle: int
    requests: tuple[SentRequest, ...]
    over: int

    @property
    def peak(self) -> int:
        """The tokens of the largest request."""
        return max(request.tokens for request in self.requests)

    @property
    def final(self) -> int:
        """The tokens of the next request."""
        return self.requests[-1].tokens

    @property
    def sent(self) -> int:
        """The tokens of all requests together."""
        return sum(request.tokens for request in self.requests)


class _SessionState(Struct):
    """A conversation as it grows and is compacted, and its size."""

    messages: tuple[Message, ...] = ()
    originals: Mapping[MessageId, tuple[Message, ...]] = field(default_factory=dict)
    tokens: int = 0
    weight: float = 0.0
    turns: int = 0
    # The stages that the newest compaction used.
    ran: tuple[str, ...] = ()
    # Do not try to compact it while it has fewer tokens than this.
    idle_below: int = 0


class SessionSimulator:
    """Replays a conversation of a transcript with a profile, request by request.

    ``measured`` has the profile's budget; ``request`` computes the size of a request.
    """

    def __init__(
        self,
        transcript: Transcript,
        measured: Measurement,
        profile: Profile,
        request: RequestModel,
        random: Random | None = None,
    ) -> None:
        self.transcript, self.measured = transcript, measured
        self.profile, self.request = profile, request
        self._random = random
        recipe = Recipe(measure=MeasureOptions(profile=profile))
        self._due = recipe.due
        limits = measured.limits
        self._limit = limits.base_tokens
        is_reserved = limits.base == "available"
        self._most = limits.base_tokens if is_reserved else limits.budget.window
        self._most_named = "the available input" if is_reserved else "the window"
        self._plan = make_plan(recipe, limits, measured.model)
        after = replace(profile, stages=profile.overflow_stages or profile.stages)
        self._reactive = make_plan(
            Recipe(measure=MeasureOptions(profile=after)), limits, measured.model
        )

    def run(self, messages: Sequence[Message]) -> SimulatedSession:
        """Replay all requests of a conversation, and the next one."""
        state = _SessionState()
        firings: list[SimulatedCompaction] = []
        requests: list[SentRequest] = []
        sent: tuple[Message, ...] = ()
        idle = 0
        for request in requests_of(messages):
            self._grow(state, request.new)
            before = self._situation(state)
            path, why = self._fired(before, request)
            if why and state.tokens >= state.idle_below:
                if self._compact(state, self._reactive if path == "reactive" else self._plan):
                    firings.append(self._firing(request, path, why, before, state))
                else:
                    idle += 1
                    patience = max(1, int(self._limit * _PATIENCE))
                    state.idle_below = state.tokens + patience
            held = requests[-1].tokens if requests else 0
            if state.messages[: len(sent)] != sent:
                held = self.request.tokens(sent[: common_prefix(sent, state.messages)])
            requests.append(SentRequest(tokens=self._situation(state).tokens, held=held))
            sent = state.messages
        return self._replayed(firings, requests, idle)

    def _grow(self, state: _SessionState, new: Sequence[Message]) -> None:
        state.messages = (*state.messages, *new)
        state.tokens += self.measured.meter.total(new)
        state.weight += self.request.weights.total(new)
        state.turns += sum(message.starts_turn for message in new)

    def _situation(self, state: _SessionState) -> TriggerInput:
        return TriggerInput(
            tokens=self.request.fixed + round(state.weight),
            available=self._limit,
            turns=state.turns,
            messages=len(state.messages),
            window=self.measured.budget.window,
        )

    def _fired(
        self, situation: TriggerInput, request: SimulatedRequest
    ) -> tuple[CompactionKind, str]:
        if not self._due.conditions:
            return "manual", ""
        if not self._judge(situation.tokens).fits:
            return "reactive", f"more than {self._most_named}"
        background = self.profile.background
        if background is None:
            return "foreground", self._due.matched_condition(situation)
        limit = self._threshold(background, warm=request.warm)
        is_over = situation.tokens >= limit * situation.available
        return "background", f"ratio >= {limit:.2f}" if is_over else ""

    def _threshold(self, background: BackgroundTrigger, *, warm: bool) -> float:
        if not warm:
            return background.cold
        share = 0.5 if self._random is None else self._random.random()
        return background.warm + background.jitter * share

    def _compact(self, state: _SessionState, plan: Plan) -> bool:
        """Run the stages; tell whether they changed anything."""
        messages = state.messages
        room = room_for(plan.reach, messages, self.request)
        view = replace(
            view_of(messages, self.transcript, self.measured, self._plan.protect, room),
            originals=state.originals,
        )
        result = run(view, plan.steps, self.measured.meter)
        state.ran = tuple(record.name for record in result.stages if record.outcome == "applied")
        state.originals = result.view.originals
        if result.edits:
            state.messages, state.tokens, state.weight, state.turns = (), 0, 0.0, 0
            self._grow(state, result.view.messages)
            state.idle_below = 0
        return bool(result.edits)

    def _firing(
        self,
        request: SimulatedRequest,
        path: CompactionKind,
        why: str,
        before: TriggerInput,
        state: _SessionState,
    ) -> SimulatedCompaction:
        after = self._situation(state)
        return SimulatedCompaction(
            request=request,
            path=path,
            why=why,
            tokens_before=before.tokens,
            tokens_after=after.tokens,
            fits=self._judge(after.tokens).fits,
            stages=state.ran,
        )

    def _replayed(
        self, firings: Sequence[SimulatedCompaction], requests: Sequence[SentRequest], idle: int
    ) -> SimulatedSession:
        return SimulatedSession(
            profile=self.profile,
            trigger=self._due,
            limits=self.measured.limits,
            firings=tuple(firings),
            idle=idle,
            requests=tuple(requests),
            over=sum(not self._judge(request.tokens).fits for request in requests),
        )

    def _judge(self, tokens: int) -> Judgment:
        return Judgment(tokens=tokens, limit=self._most)


def requests_of(messages: Sequence[Message]) -> Iterator[SimulatedRequest]:
    """Yield the requests of a conversation, the next one last."""
    starts = [step[0] for step in find_steps(messages)]
    turn_indices = turn_starts(messages)
    n_sent = 0
    for step_number, end in enumerate((*starts, len(messages)), 1):
        turn = sum(start < end for start in turn_indices)
        turn_start = turn_indices[turn - 1] if turn else 0
        yield SimulatedRequest(
            new=tuple(messages[n_sent:end]),
            turn=turn,
            step=step_number,
            line=messages[end].line if end < len(messages) else None,
            warm=any(message.results for message in messages[turn_start:end]),
        )
        n_sent = end
