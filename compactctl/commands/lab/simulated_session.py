"""One conversation run again with a profile: where it would have been compacted, and to what."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from random import Random
from typing import Literal

from compactctl.commands.measuring.measure import Measure, MeasureOptions
from compactctl.commands.measuring.next_request import NextRequest, SentRequest, same_front
from compactctl.commands.planning.plan import Plan, Recipe, make_plan
from compactctl.commands.planning.run_stages import room_for, view_of
from compactctl.history.protection import ProtectOptions
from compactctl.history.turns import steps, turn_starts
from compactctl.model.message import Message, MessageId
from compactctl.model.transcript import Transcript
from compactctl.pipeline.run import run
from compactctl.profiles.profile import Background, Profile
from compactctl.tokens.fit import Base
from compactctl.tokens.trigger import Situation

# foreground: before a request, because the trigger fired; background: beside the work, as VS Code
# Copilot Chat does; reactive: the request did not fit any more; manual: only when asked to.
CompactionKind = Literal["foreground", "background", "reactive", "manual"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedCompaction:
    """One compaction that would have run.

    Attributes:
        turn, step: how many had begun, the request itself included.
        line: the record that the request was answered with, from 0; None for the next request.
        path: what set it off.
        why: the condition that held.
        tokens_before, tokens_after: the request before and after it.
        fits: whether the request was then within the available input, or the window where the
            trigger refers to that or to the client.
        stages: those that were used, by name.
    """

    turn: int
    step: int
    line: int | None
    path: CompactionKind
    why: str
    tokens_before: int
    tokens_after: int
    fits: bool
    stages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedSession:
    """A conversation with one profile.

    Attributes:
        profile: its name.
        trigger: when it compacts, in words.
        available: tokens free for input by the profile's rule.
        base, base_tokens: what its trigger refers to, and how much that is.
        firings: the compactions that changed something.
        idle: how often the trigger fired and nothing could be done.
        peak: the largest request, in tokens.
        final: the next request.
        requests: all of them, the next one last.
        over: requests that did not fit even so.
    """

    profile: str
    trigger: str
    available: int
    base: Base
    base_tokens: int
    firings: tuple[SimulatedCompaction, ...]
    idle: int
    peak: int
    final: int
    requests: tuple[SentRequest, ...]
    over: int

    @property
    def sent(self) -> int:
        """The tokens of all requests together."""
        return sum(request.tokens for request in self.requests)


# Where nothing could be done it is tried again when the request has grown by this share of what the
# trigger refers to, as what would be hidden grows with it.
_PATIENCE = Fraction(1, 100)


@dataclass(slots=True)
class _SessionState:
    """A conversation as it grows and is compacted, with what it comes to."""

    messages: tuple[Message, ...] = ()
    originals: Mapping[MessageId, tuple[Message, ...]] = field(default_factory=dict)
    tokens: int = 0
    weight: float = 0.0
    turns: int = 0
    # The stages that the newest compaction used.
    ran: tuple[str, ...] = ()
    # It is not tried to compact it below so many tokens.
    idle_below: int = 0


class SessionSimulator:
    """Lives a conversation of a transcript again with a profile, request by request.

    ``measured`` has the profile's budget; ``request`` tells what a request comes to.
    """

    def __init__(
        self,
        transcript: Transcript,
        measured: Measure,
        profile: Profile,
        request: NextRequest,
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
        self._plan = make_plan(recipe, limits)
        after = replace(profile, stages=profile.reactive or profile.stages)
        self._reactive = make_plan(Recipe(measure=MeasureOptions(profile=after)), limits)
        self._protect = self._plan.protecting(ProtectOptions())

    def run(self, messages: Sequence[Message]) -> SimulatedSession:
        """Go through all requests of a conversation and the next one."""
        life = _SessionState()
        firings: list[SimulatedCompaction] = []
        requests: list[SentRequest] = []
        sent: tuple[Message, ...] = ()
        idle = 0
        for moment in moments(messages):
            self._grow(life, moment.new)
            before = self._situation(life)
            path, why = self._fired(before, moment)
            if why and life.tokens >= life.idle_below:
                if self._compact(life, self._reactive if path == "reactive" else self._plan):
                    firings.append(self._firing(moment, path, why, before, life))
                else:
                    idle += 1
                    patience = max(1, int(self._limit * _PATIENCE))
                    life.idle_below = life.tokens + patience
            held = requests[-1].tokens if requests else 0
            if life.messages[: len(sent)] != sent:
                held = self.request.tokens(sent[: same_front(sent, life.messages)])
            requests.append(SentRequest(tokens=self._situation(life).tokens, held=held))
            sent = life.messages
        return self._replayed(firings, requests, idle)

    def _grow(self, life: _SessionState, new: Sequence[Message]) -> None:
        life.messages = (*life.messages, *new)
        life.tokens += self.measured.meter.total(new)
        life.weight += self.request.weights.total(new)
        life.turns += sum(message.starts_turn for message in new)

    def _situation(self, life: _SessionState) -> Situation:
        return Situation(
            tokens=self.request.fixed + round(life.weight),
            available=self._limit,
            turns=life.turns,
            messages=len(life.messages),
            window=self.measured.budget.window,
        )

    def _fired(
        self, situation: Situation, moment: "SimulatedRequest"
    ) -> tuple[CompactionKind, str]:
        if not self._due.conditions:
            return "manual", ""
        if situation.tokens > self._most:
            return "reactive", f"more than {self._most_named}"
        background = self.profile.background
        if background is None:
            return "foreground", self._due.fired(situation)
        limit = self._threshold(background, warm=moment.warm)
        is_over = situation.tokens >= limit * situation.available
        return "background", f"ratio >= {limit:.2f}" if is_over else ""

    def _threshold(self, background: Background, *, warm: bool) -> float:
        if not warm:
            return background.cold
        share = 0.5 if self._random is None else self._random.random()
        return background.warm + background.jitter * share

    def _compact(self, life: _SessionState, plan: Plan) -> bool:
        """Run the stages; tell whether they changed anything."""
        messages = life.messages
        room = room_for(plan, messages, self.request)
        view = replace(
            view_of(messages, self.transcript, self.measured, self._protect, room),
            originals=life.originals,
        )
        result = run(view, plan.steps, self.measured.meter)
        life.ran = tuple(each.name for each in result.stages if each.outcome == "applied")
        life.originals = result.view.originals
        if result.edits:
            life.messages, life.tokens, life.weight, life.turns = (), 0, 0.0, 0
            self._grow(life, result.view.messages)
            life.idle_below = 0
        return bool(result.edits)

    def _firing(
        self,
        moment: "SimulatedRequest",
        path: CompactionKind,
        why: str,
        before: Situation,
        life: _SessionState,
    ) -> SimulatedCompaction:
        after = self._situation(life)
        return SimulatedCompaction(
            turn=moment.turn,
            step=moment.step,
            line=moment.line,
            path=path,
            why=why,
            tokens_before=before.tokens,
            tokens_after=after.tokens,
            fits=after.tokens <= self._most,
            stages=life.ran,
        )

    def _replayed(
        self, firings: Sequence[SimulatedCompaction], requests: Sequence[SentRequest], idle: int
    ) -> SimulatedSession:
        sizes = [request.tokens for request in requests]
        return SimulatedSession(
            profile=self.profile.name,
            trigger=str(self._due),
            available=self.measured.budget.available,
            base=self.measured.limits.base,
            base_tokens=self._limit,
            firings=tuple(firings),
            idle=idle,
            peak=max(sizes),
            final=sizes[-1],
            requests=tuple(requests),
            over=sum(size > self._most for size in sizes),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedRequest:
    """The moment before a request: what came since the one before, and where it is.

    ``warm`` tells that a tool call was answered in this turn; ``line`` is that of the answer.
    """

    new: tuple[Message, ...]
    turn: int
    step: int
    line: int | None
    warm: bool


def moments(messages: Sequence[Message]) -> Iterator[SimulatedRequest]:
    """Yield the moments before each request of a conversation, the next one last."""
    starts = [step[0] for step in steps(messages)]
    begun = turn_starts(messages)
    seen = 0
    for number, end in enumerate((*starts, len(messages)), 1):
        turn = sum(start < end for start in begun)
        opening = begun[turn - 1] if turn else 0
        yield SimulatedRequest(
            new=tuple(messages[seen:end]),
            turn=turn,
            step=number,
            line=messages[end].line if end < len(messages) else None,
            warm=any(message.results for message in messages[opening:end]),
        )
        seen = end
