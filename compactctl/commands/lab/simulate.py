"""Replays a transcript with profiles: where their triggers would fire, and what would remain."""

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from random import Random
from typing import Literal

from compactctl.asks import INPUT, MAY, MEASURED, POLICY, ask
from compactctl.commands.lab.simulated_session import (
    SessionSimulator,
    SimulatedSession,
    requests_of,
)
from compactctl.commands.measuring.context_size import context_size
from compactctl.commands.measuring.measure import (
    Measurement,
    MeasureOptions,
    limits_for,
    measure,
    with_plausible_usage,
)
from compactctl.commands.measuring.next_request import (
    InputCost,
    RequestModel,
    SentRequest,
    input_cost,
    request_model,
)
from compactctl.commands.measuring.user_tables import asked_prices
from compactctl.commands.reading.transcript import InputOptions, check_strict, scan
from compactctl.errors import UsageError
from compactctl.history.turns import split_conversations
from compactctl.history.unread import describe_unread
from compactctl.history.usage.rounds import Rounds, find_rounds
from compactctl.model.bounds import Integer
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript
from compactctl.profiles.profile import Profile
from compactctl.profiles.registry import PROFILES, RECOVERY_PROFILE, builtin_profile, load_profile
from compactctl.records import Record, field, replace
from compactctl.tokens.models.prices import PriceTable


class SimulateOptions(Record):
    """What to simulate, and how."""

    input: InputOptions
    measure: MeasureOptions = field(default_factory=MeasureOptions)
    profiles: tuple[Profile, ...] = ask(
        (),
        "Simulate these profiles (repeatable). [default: all that auto-compact]",
        POLICY,
        MAY,
        flag="--profile",
        path="settings",
        metavar="A,B,...",
        load=load_profile,
        complete="complete_profile",
    )
    scope: Literal["effective", "full"] = ask(
        "effective",
        "Replay from the client's newest compaction, or everything that was ever a message.",
        INPUT,
        MAY,
    )
    seed: Integer | None = ask(
        None,
        "Seed for the random start of background compaction, as in VS Code Copilot Chat. "
        "[default: the middle of the range]",
        MEASURED,
        MAY,
        metavar="N",
    )
    prices: PriceTable | None = asked_prices(
        "Estimate the input cost of all requests, with and without a prompt cache"
    )


class ReplayedRounds(Record):
    """The part of a session's rounds that is replayed, counted as ``stats --rounds`` counts them.

    Attributes:
        recorded, recorded_turns: all rounds with recorded usage, and the turns that they are in.
        replayed, replayed_turns: those of the conversation that is replayed.
        is_fitted: whether the sizes of requests are fitted to the recorded usage; otherwise they
            are only counted.
    """

    recorded: int
    recorded_turns: int
    replayed: int
    replayed_turns: int
    is_fitted: bool


class SimulateResult(Record):
    """The transcript's largest conversation, without compaction and with each profile.

    ``requests`` are those without compaction, the next one last; ``unusable`` says why default
    profiles could not be simulated.
    """

    options: SimulateOptions
    transcript: Transcript
    measure: Measurement
    conversations: int
    turns: int
    rounds: ReplayedRounds
    unseen: int
    requests: tuple[SentRequest, ...]
    replays: tuple[SimulatedSession, ...]
    unusable: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def peak(self) -> int:
        """The tokens of the largest request, without compaction."""
        return max(request.tokens for request in self.requests)

    @property
    def sent(self) -> int:
        """The tokens of all requests together, without compaction."""
        return sum(request.tokens for request in self.requests)

    def cost(self, requests: Sequence[SentRequest]) -> InputCost | None:
        """Return the input cost of requests; None without prices, or if the price is unknown."""
        prices = self.options.prices
        return None if prices is None else input_cost(requests, prices, self.measure.model.name)


def simulate(options: SimulateOptions) -> SimulateResult:
    """Replay a transcript with each profile. Raises as ``stats`` does."""
    transcript = scan(options.input)
    check_strict(transcript, options.input)
    measured = measure(transcript, options.measure)
    conversations = split_conversations(
        transcript.messages if options.scope == "full" else transcript.effective
    )
    measured.meter.prime(message for conversation in conversations for message in conversation)
    conversation = max(conversations, key=measured.meter.total, default=())
    size = context_size(transcript, measured)
    request = request_model(size, transcript, measured)
    random = None if options.seed is None else Random(options.seed)  # noqa: S311 - no secrets
    sizes = _sizes(conversation, request)

    credible = with_plausible_usage(transcript, measured.model, measured.framed)

    def replay(profile: Profile) -> SimulatedSession:
        measuring = replace(options.measure, profile=profile)
        limits = limits_for(credible, measuring, measured.model, measured.framed)
        return SessionSimulator(
            transcript, replace(measured, limits=limits), profile, request, random
        ).run(conversation)

    replays, unusable = _tried(replay, options.profiles)
    return SimulateResult(
        options=options,
        transcript=transcript,
        measure=measured,
        conversations=len(conversations),
        turns=sum(message.starts_turn for message in conversation),
        rounds=_replayed_rounds(
            find_rounds(transcript, measured.meter),
            conversation,
            is_fitted=size.calibration is not None,
        ),
        unseen=size.unseen,
        requests=tuple(SentRequest(size, held) for held, size in pairwise([0, *sizes])),
        replays=replays,
        unusable=unusable,
        warnings=(
            *transcript.warnings,
            *filter(None, (describe_unread(transcript.unread), size.doubt)),
        ),
    )


def _replayed_rounds(
    rounds: Rounds, conversation: Sequence[Message], *, is_fitted: bool
) -> ReplayedRounds:
    ids = {message.id for message in conversation}
    replayed = replace(rounds, rounds=tuple(r for r in rounds.rounds if r.place.message in ids))
    return ReplayedRounds(
        recorded=len(rounds.rounds),
        recorded_turns=rounds.turns,
        replayed=len(replayed.rounds),
        replayed_turns=replayed.turns,
        is_fitted=is_fitted,
    )


def _tried(
    replay: Callable[[Profile], SimulatedSession], named: tuple[Profile, ...]
) -> tuple[tuple[SimulatedSession, ...], tuple[str, ...]]:
    """Replay profiles; a default one without space for input is reported, not an error."""
    if named:
        return tuple(map(replay, named)), ()
    replays, unusable = [], []
    for profile in _default_profiles():
        try:
            replays.append(replay(profile))
        except UsageError as error:
            unusable.append(f"{profile.name}: {error}")
    if not replays:
        raise UsageError(unusable[0])
    return tuple(replays), tuple(unusable)


def _default_profiles() -> tuple[Profile, ...]:
    """Return the built-in profiles that compact on their own."""
    return tuple(builtin_profile(name) for name in PROFILES if name != RECOVERY_PROFILE)


def _sizes(conversation: Sequence[Message], request: RequestModel) -> list[int]:
    """Return the tokens of every request without any compaction."""
    added = (request.weights.total(simulated.new) for simulated in requests_of(conversation))
    return [request.fixed + round(tokens) for tokens in accumulate(added)]
