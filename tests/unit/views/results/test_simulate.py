"""When profiles would have compacted a session, in tables and as a document."""

from typing import Any

import pytest
from unit.views.measurements import LIMITS, measured
from unit.views.results.screens import titles, words

from compactctl.commands.lab.simulate import ReplayedRounds, SimulateOptions, SimulateResult
from compactctl.commands.lab.simulated_session import (
    SimulatedCompaction,
    SimulatedRequest,
    SimulatedSession,
)
from compactctl.commands.measuring.next_request import SentRequest
from compactctl.commands.reading.transcript import InputOptions
from compactctl.model.transcript import Transcript
from compactctl.profiles.profile import Profile
from compactctl.records import replace
from compactctl.tokens.models.prices import BUILTIN_PRICES
from compactctl.tokens.trigger import parse_trigger
from compactctl.views.results.simulate import (
    simulate_document,
    simulate_messages,
    simulate_terminal,
)

PROFILE = Profile(name="mine", title="", stages=(), trigger=parse_trigger("tokens>=1000"))
REQUEST = SimulatedRequest(new=(), turn=1_200, step=2, line=6, warm=False)
FIRING = SimulatedCompaction(
    request=REQUEST, path="foreground", why="too many", tokens_before=2_000, tokens_after=900,
    fits=True, stages=("dedup", "drop"),
)  # fmt: skip
REPLAY = SimulatedSession(
    profile=PROFILE,
    trigger=PROFILE.trigger,
    limits=LIMITS,
    firings=(FIRING,),
    idle=0,
    requests=(SentRequest(tokens=1_000, held=0), SentRequest(tokens=500, held=500)),
    over=0,
)
RESULT = SimulateResult(
    options=SimulateOptions(input=InputOptions(path="run.jsonl")),
    transcript=Transcript(format="codex", n_lines=1, n_bytes=1, messages=(), effective=()),
    measure=measured(),
    conversations=1,
    turns=1_200,
    rounds=ReplayedRounds(
        recorded=1_204, recorded_turns=3, replayed=1, replayed_turns=1, is_fitted=True
    ),
    unseen=7,
    requests=(SentRequest(tokens=1_000, held=0), SentRequest(tokens=2_000, held=1_000)),
    replays=(REPLAY,),
)


def lines(**changes: Any) -> list[str]:
    return words(simulate_terminal(replace(RESULT, **changes)))


def replayed(**changes: Any) -> tuple[SimulatedSession, ...]:
    return (replace(REPLAY, **changes),)


def test_a_profile_is_a_row() -> None:
    assert lines() == [
        (
            "1 of 1,204 rounds in 1 of 3 turns, and the next request: 3,000 tokens without "
            "compaction (by recorded usage), 1,500 with mine"
        ),
        "",
        "session run.jsonl",
        "counted with o200k_base (exact); model gpt-4.1",
        "window 200,000 tokens",
        "largest request 2,000 tokens without compaction",
        "",
        (
            "Profile Compacted Largest request Next request All requests Too large "
            "Size of each request"
        ),
        "─",
        "mine 1 time, before a request 1,000 500 1,500 ▅▃",
    ]


@pytest.mark.parametrize(
    ("changes", "times"),
    [
        ({"firings": ()}, "never"),
        ({"firings": (), "idle": 2}, "due, but nothing could be removed"),
        (
            {"firings": (FIRING, replace(FIRING, path="reactive"), FIRING), "idle": 1},
            "2 times, before a request; 1 time, after an error",
        ),
    ],
)
def test_compactions_are_counted_by_what_set_them_off(changes: dict[str, Any], times: str) -> None:
    assert lines(replays=replayed(**changes))[9].startswith(f"mine {times} 1,000 ")


def test_requests_that_did_not_fit_are_counted() -> None:
    assert " 1,500 1,200 ▅▃" in lines(replays=replayed(over=1_200))[9]


def named(*replays: SimulatedSession) -> list[str]:
    options = replace(RESULT.options, profiles=(PROFILE,))
    return lines(options=options, replays=replays)[10:]


def test_of_a_named_profile_each_compaction_is_a_row() -> None:
    later = replace(
        FIRING, request=replace(REQUEST, line=None), fits=False, stages=(), path="reactive"
    )
    assert named(replace(REPLAY, firings=(FIRING, later))) == [
        "",
        f"mine: {PROFILE.trigger}",
        "Turn Step Line When Before After Stages Why",
        "─",
        "1,200 2 7 before a request 2,000 900 dedup, drop too many",
        "1,200 2 after an error 2,000 900 too many; still too large",
    ]
    assert named(replace(REPLAY, firings=())) == ["", f"mine: {PROFILE.trigger}", "never"]


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        ({"firings": ()}, "; no profile compacted"),
        ({"firings": (), "idle": 3}, "; no profile compacted"),
        ({"over": 1}, "; with no profile that compacted does every request fit"),
        ({}, ", 1,500 with mine"),
    ],
)
def test_only_a_profile_that_compacted_can_be_the_best(
    changes: dict[str, Any], answer: str
) -> None:
    idle = replace(REPLAY, firings=(), requests=(SentRequest(tokens=1, held=0),))
    best = lines(replays=(replace(REPLAY, **changes), idle))[0]
    assert best.partition("without compaction (by recorded usage)")[2] == answer


@pytest.mark.parametrize(
    ("changes", "replayed_text"),
    [
        (
            {"replayed": 0, "replayed_turns": 0},
            "0 of 1,204 rounds in 0 of 3 turns, and 2 other requests: ",
        ),
        ({"recorded": 0}, "2 requests in 1,200 turns, no usage recorded: "),
    ],
)
def test_what_is_replayed_is_counted_as_rounds_are(
    changes: dict[str, Any], replayed_text: str
) -> None:
    assert lines(rounds=replace(RESULT.rounds, **changes))[0].startswith(replayed_text)
    counted = lines(rounds=replace(RESULT.rounds, is_fitted=False))[0]
    assert "without compaction (as counted)" in counted


def test_prices_add_what_the_input_costs() -> None:
    # Their costs have more decimals than are shown.
    million = (SentRequest(tokens=1_000_007, held=0), SentRequest(tokens=1_000_012, held=1_000_007))
    options = replace(RESULT.options, prices=BUILTIN_PRICES)
    found = lines(options=options, requests=million, replays=replayed(requests=million))
    result = replace(RESULT, options=options, requests=million)
    cost = result.cost(million)
    assert cost is not None
    assert cost.cached < cost.uncached
    cached, uncached = f"{cost.cached:,.2f}", f"{cost.uncached:,.2f}"
    assert found[6] == (
        f"input ${cached} without compaction, ${uncached} also without a prompt cache (estimate)"
    )
    assert found[8].endswith("Size of each request Input $ Uncached $")
    assert found[10].endswith(f" {cached} {uncached}")
    document = simulate_document(result)
    assert (document["inputCost"], document["uncachedInputCost"]) == (
        round(cost.cached, 4), round(cost.uncached, 4),
    )  # fmt: skip
    assert document["inputCost"] != round(cost.cached, 5)
    assert document["uncachedInputCost"] != round(cost.uncached, 5)
    unknown = lines(options=options, measure=measured("mystery"))
    assert unknown[6] == "input cost unknown: no price for mystery"
    assert unknown[10].endswith("▅▃")


def test_a_document_has_each_profile() -> None:
    document = simulate_document(RESULT)
    assert (document["requestCount"], document["peakTokens"], document["sentTokens"]) == (
        2,
        2_000,
        3_000,
    )
    assert (document["inputCost"], document["unseenTokens"]) == (None, 7)
    [profile] = document["profiles"]
    assert (profile["peakTokens"], profile["finalTokens"], profile["sentTokens"]) == (
        1_000,
        500,
        1_500,
    )
    assert profile["firings"] == [
        {
            "turn": 1_200, "step": 2, "line": 7, "path": "foreground", "why": "too many",
            "tokensBefore": 2_000, "tokensAfter": 900, "fits": True, "stages": ["dedup", "drop"],
        }
    ]  # fmt: skip
    last = replace(FIRING, request=replace(REQUEST, line=None))
    found = simulate_document(replace(RESULT, replays=replayed(firings=(last,))))
    assert found["profiles"][0]["firings"][0]["line"] is None


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (1, []),
        (2, ["only the largest of 2 conversations was simulated"]),
        (1_200, ["only the largest of 1,200 conversations was simulated"]),
    ],
)
def test_what_was_not_simulated_is_told(count: int, said: list[str]) -> None:
    result = replace(RESULT, conversations=count, warnings=("odd",), unusable=("roo: no window",))
    assert list(simulate_messages(result)) == [
        "warning: odd", "not simulated: roo: no window", *said,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("width", "shown_titles"),
    [
        (
            110,
            [
                "Profile Compacted Largest request Next request All requests Too large",
                "Turn Step Line When Before After Stages Why",
            ],
        ),
        (
            88,
            [
                "Profile Compacted Largest request All requests Too large",
                "Turn Step Line When Before After Stages Why",
            ],
        ),
        (
            74,
            [
                "Profile Compacted All requests Too large",
                "Turn Step Line When Before After Stages Why",
            ],
        ),
        (
            72,
            ["Profile Compacted All requests Too large", "Turn Step When Before After Stages Why"],
        ),
        (66, ["Profile Compacted All requests Too large", "Turn Step Before After Stages Why"]),
        (57, ["Profile Compacted Too large", "Turn Step Before After Stages Why"]),
        (48, ["Profile Compacted Too large", "Turn Step Before After Why"]),
    ],
)
def test_on_a_narrow_terminal_columns_are_left_out(width: int, shown_titles: list[str]) -> None:
    with_profile = replace(RESULT, options=replace(RESULT.options, profiles=(PROFILE,)))
    assert titles(simulate_terminal(with_profile), width) == shown_titles
    assert titles(simulate_terminal(with_profile), width + 1) != shown_titles
