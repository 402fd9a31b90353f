"""A session replayed with profiles: which request is compacted, why, and what it has then."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from unit.commands.conversations import FAST, saved, turns

from compactctl.commands.inspect.stats import StatsOptions, stats
from compactctl.commands.lab.simulate import SimulateOptions, SimulateResult, simulate
from compactctl.commands.lab.simulated_session import SimulatedSession
from compactctl.commands.reading.transcript import InputOptions
from compactctl.errors import NotUnderstoodError
from compactctl.profiles.profile import BackgroundTrigger, Profile, ProfileStage
from compactctl.profiles.registry import builtin_profile
from compactctl.records import replace
from compactctl.tokens.models.prices import BUILTIN_PRICES
from compactctl.tokens.trigger import parse_trigger

DEFAULT = builtin_profile("default")
SAMPLES = Path(__file__).parents[4] / "sample_transcripts"
# No file is read twice, so that this finds nothing to do.
IDLE = (ProfileStage(name="dedup"),)
NEWEST = (ProfileStage(name="window", options={"max": 4}),)
# Each of eight turns has a request that starts it and one after a call; then comes the next one.
REQUESTS = 17


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """Write eight turns without a system prompt."""
    return saved(tmp_path / "session.jsonl", turns(*range(8)))


def simulated(
    session: Path, *profiles: Profile, window: int = 2_000, reserve: int = 200, **options: Any
) -> SimulateResult:
    measuring = replace(FAST, window=window, max_tokens=reserve)
    read = InputOptions(path=str(session))
    return simulate(SimulateOptions(input=read, measure=measuring, profiles=profiles, **options))


def replayed(session: Path, profile: Profile, **options: Any) -> SimulatedSession:
    (replay,) = simulated(session, profile, **options).replays
    return replay


def profile(trigger: str, **fields: Any) -> Profile:
    return replace(DEFAULT, trigger=parse_trigger(trigger), **fields)


def sizes(result: SimulateResult | SimulatedSession) -> list[int]:
    return [request.tokens for request in result.requests]


def test_without_compaction_a_request_has_all_of_the_one_before(session: Path) -> None:
    result = simulated(session, DEFAULT)
    tokens = sizes(result)
    assert (result.conversations, result.turns, len(tokens)) == (1, 8, REQUESTS)
    assert all(before < after for before, after in pairwise(tokens))
    assert [request.held for request in result.requests] == [0, *tokens[:-1]]
    assert (result.peak, result.sent) == (tokens[-1], sum(tokens))
    assert result.unusable == ()


def test_a_session_that_is_never_compacted_stays_as_it_was(session: Path) -> None:
    result = simulated(session, DEFAULT)
    (replay,) = result.replays
    assert replay.requests == result.requests
    assert (replay.firings, replay.idle, replay.over) == ((), 0, 0)
    assert (replay.peak, replay.final, replay.sent) == (result.peak, result.peak, result.sent)


def test_a_request_is_compacted_once_it_is_as_large_as_the_trigger_says(session: Path) -> None:
    whole = sizes(simulated(session, DEFAULT))
    size = whole[5]
    replay = replayed(session, profile(f"tokens>={size}", stages=NEWEST))
    first, *_ = replay.firings
    assert (first.path, first.why) == ("foreground", f"tokens >= {size}")
    assert (first.request.turn, first.request.step, first.request.line) == (3, 6, 11)
    assert first.request.warm
    assert first.stages == ("window",)
    assert (first.tokens_before, first.tokens_after) == (size, replay.requests[5].tokens)
    assert sizes(replay)[:5] == whole[:5]
    assert replay.final == sizes(replay)[-1] < whole[-1]


def test_what_is_compacted_is_not_cached(session: Path) -> None:
    size = sizes(simulated(session, DEFAULT))[5]
    replay = replayed(session, profile(f"tokens>={size}", stages=NEWEST))
    assert (replay.requests[4].held, replay.requests[5].held) == (replay.requests[3].tokens, 0)
    assert replay.requests[6].held == replay.requests[5].tokens


def test_the_request_that_comes_next_has_no_line(session: Path) -> None:
    turned = replayed(session, profile("turns>=8", stages=NEWEST)).firings
    assert [(each.request.turn, each.request.line) for each in turned] == [(8, 29)]
    asked = replayed(session, profile("messages>=32", stages=NEWEST)).firings
    assert [(each.request.turn, each.request.line) for each in asked] == [(8, None)]


def test_a_trigger_may_find_nothing_to_do(session: Path) -> None:
    replay = replayed(session, profile("messages>=1", stages=IDLE))
    assert (replay.firings, replay.idle) == ((), REQUESTS)


def test_it_is_not_tried_again_before_the_request_has_grown(session: Path) -> None:
    # A hundredth of this window is nearly all that the session has.
    replay = replayed(session, profile("messages>=1", stages=IDLE), window=100_000)
    assert replay.idle == 2


def test_a_request_that_does_not_fit_is_compacted_as_after_an_overflow(session: Path) -> None:
    overflowing = profile("messages>=100", stages=IDLE, overflow_stages=NEWEST)
    replay = replayed(session, overflowing, window=700)
    assert {each.path for each in replay.firings} == {"reactive"}
    assert {each.why for each in replay.firings} == {"more than the available input"}
    assert all(each.tokens_before > 500 >= each.tokens_after for each in replay.firings)
    assert all(each.fits for each in replay.firings)
    assert replay.over == 0


def test_requests_that_stay_too_large_are_counted(session: Path) -> None:
    whole = sizes(simulated(session, DEFAULT))
    available = whole[9]
    replay = replayed(session, profile("messages>=100", stages=IDLE), window=available + 200)
    assert replay.over == replay.idle == REQUESTS - 10
    assert sizes(replay) == whole


def test_work_in_the_background_waits_for_a_cold_cache(session: Path) -> None:
    behind = BackgroundTrigger(warm=0.2, jitter=0.05, cold=0.3)
    replay = replayed(session, replace(DEFAULT, background=behind, stages=NEWEST))
    assert {(each.path, each.request.warm, each.why) for each in replay.firings} == {
        ("background", True, "ratio >= 0.23")
    }
    cold = replace(behind, warm=0.9)
    replay = replayed(session, replace(DEFAULT, background=cold, stages=NEWEST))
    assert {(each.request.warm, each.why) for each in replay.firings} == {(False, "ratio >= 0.30")}


def test_a_seed_varies_when_it_compacts_in_the_background(session: Path) -> None:
    behind = BackgroundTrigger(warm=0.1, jitter=0.5, cold=0.9)
    varied = replace(DEFAULT, background=behind, stages=NEWEST)
    once, again, other = (replayed(session, varied, seed=seed) for seed in (1, 1, 2))
    assert once.firings
    assert once == again
    assert once.firings != other.firings
    shares = [float(each.why.split()[-1]) for each in once.firings]
    assert all(0.1 <= share <= 0.6 for share in shares)


def test_every_profile_that_compacts_on_its_own_is_tried_by_default(session: Path) -> None:
    names = [replay.profile.name for replay in simulated(session).replays]
    assert {"default", "opencode", "claude-api"} <= set(names)
    assert "recovery" not in names


def test_a_line_that_is_not_understood_is_omitted_or_refused(session: Path) -> None:
    whole = sizes(simulated(session, DEFAULT))
    session.write_bytes(session.read_bytes() + b"no json\n")
    assert sizes(simulated(session, DEFAULT)) == whole
    strict = InputOptions(path=str(session), strict=True)
    with pytest.raises(NotUnderstoodError, match="line 33: not JSON"):
        simulate(SimulateOptions(input=strict, profiles=(DEFAULT,)))


def test_costs_need_prices_and_a_known_model(session: Path) -> None:
    plain = simulated(session, DEFAULT)
    assert plain.cost(plain.requests) is None
    unknown = simulated(session, DEFAULT, prices=BUILTIN_PRICES)
    assert unknown.cost(unknown.requests) is None


@pytest.mark.parametrize("name", ["claude-code-session", "codex-session", "gemini-cli-session"])
def test_rounds_are_those_of_stats(name: str) -> None:
    path = str(SAMPLES / f"{name}.jsonl")
    rounds = simulate(
        SimulateOptions(input=InputOptions(path=path), profiles=(builtin_profile("spring-turns"),))
    ).rounds
    stated = stats(StatsOptions(input=InputOptions(path=path), rounds=True)).rounds
    assert stated is not None
    assert (rounds.recorded, rounds.recorded_turns) == (len(stated.rounds), stated.turns)
    assert 0 < rounds.replayed <= rounds.recorded
    assert rounds.is_fitted


def test_rounds_before_a_compaction_of_the_client_are_not_replayed() -> None:
    path = str(SAMPLES / "codex-session.jsonl")
    effective, full = (
        simulate(
            SimulateOptions(
                input=InputOptions(path=path), profiles=(builtin_profile("default"),), scope=scope
            )
        )
        for scope in ("effective", "full")
    )
    assert effective.rounds.replayed < full.rounds.replayed == full.rounds.recorded
    assert effective.rounds.recorded == full.rounds.recorded
