"""When profiles would have compacted a session, in tables and as a document."""

from typing import Any

import pytest
from unit.views.measurements import LIMITS, measured
from unit.views.results.screens import titles, words

from compactctl.commands.lab.simulate import SimulateOptions, SimulateResult
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
        "2 requests in 1,200 turns: 3,000 tokens without compaction, 1,500 with mine",
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
        "mine 1x foreground 1,000 500 1,500 ▅▃",
    ]


@pytest.mark.parametrize(
    ("changes", "times"),
    [
        ({"firings": ()}, "never"),
        ({"firings": (), "idle": 2}, "nothing to do"),
        (
            {"firings": (FIRING, replace(FIRING, path="reactive"), FIRING), "idle": 1},
            "2x foreground, 1x reactive",
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
        "Turn Step Line Path Before After Stages Why",
        "─",
        "1,200 2 7 foreground 2,000 900 dedup, drop too many",
        "1,200 2 reactive 2,000 900 too many; still too large",
    ]
    assert named(replace(REPLAY, firings=())) == ["", f"mine: {PROFILE.trigger}", "never compacted"]


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
            99,
            [
                "Profile Compacted Largest request Next request All requests Too large",
                "Turn Step Line Path Before After Stages Why",
            ],
        ),
        (
            77,
            [
                "Profile Compacted Largest request All requests Too large",
                "Turn Step Line Path Before After Stages Why",
            ],
        ),
        (
            66,
            [
                "Profile Compacted Largest request All requests Too large",
                "Turn Step Path Before After Stages Why",
            ],
        ),
        (
            63,
            ["Profile Compacted All requests Too large", "Turn Step Path Before After Stages Why"],
        ),
        (60, ["Profile Compacted All requests Too large", "Turn Step Before After Stages Why"]),
        (48, ["Profile Compacted All requests Too large", "Turn Step Before After Why"]),
        (46, ["Compacted All requests Too large", "Turn Step Before After Why"]),
    ],
)
def test_on_a_narrow_terminal_columns_are_left_out(width: int, shown_titles: list[str]) -> None:
    with_profile = replace(RESULT, options=replace(RESULT.options, profiles=(PROFILE,)))
    assert titles(simulate_terminal(with_profile), width) == shown_titles
    assert titles(simulate_terminal(with_profile), width + 1) != shown_titles
