"""Constants that are fitted find what a client was made to do, whatever else it did."""

import random

import pytest
from benchmarks.estimates.fit import (
    NEW,
    OLD,
    Constants,
    fit,
    least_absolute,
    shipped,
    use_constants,
)
from benchmarks.estimates.steps import O200K, Evidence, Step

from compactctl.clients.sizes import client_sizes
from compactctl.tokens import overhead
from compactctl.tokens.client_sizes import UsualTokens


def made(rng: random.Random, *, output: bool, seal: tuple[float, float] | None = None) -> Step:
    """Return a step whose result weighs 1.25 times itself and 30, its answer 1.1 times and 60."""
    result, call = rng.randrange(50, 3_000), rng.randrange(20, 400)
    length = rng.randrange(400, 6_000) if seal else 0
    thought = round(length * seal[0] - seal[1]) if seal else 0
    said = round(1.1 * call + 60) + thought
    answer = {"call": call, "per_call": 1}
    answer |= {"sealed": length, "per_sealed": 1} if seal else {}
    # One in ten brings something that no file holds.
    unseen = 5_000 if rng.random() < 0.1 else 0
    return Step(
        family=OLD,
        growth=round(1.25 * result + 30) + said + unseen,
        output=said if output else None,
        reasoning=0,
        answer={O200K: answer},
        entered={O200K: {"result": result, "per_result": 1}},
    )


def session(
    *steps: Step, restored: tuple[int, ...] = (), thought: tuple[int, ...] = ()
) -> Evidence:
    return Evidence(
        client="claude-code", steps=steps, overhead=20_000, restored=restored, thought=thought
    )


def test_a_line_is_found_beside_values_that_are_far_from_it() -> None:
    points = [((x, 1), 3 * x + 7 + (900 if x % 7 == 0 else 0)) for x in range(1, 60)]
    assert least_absolute(points) == pytest.approx([3, 7], rel=0.05)


def test_what_entered_what_was_answered_and_what_was_sealed_are_told_apart() -> None:
    rng = random.Random(7)
    reported = [made(rng, output=True) for _ in range(60)]
    sealed = [made(rng, output=True, seal=(0.3, 80)) for _ in range(60)]

    found = fit([session(*reported), session(*sealed)]).framings[OLD, O200K]

    assert (found.result, found.per_result) == (1.25, 30)
    assert (found.call, found.per_call) == (1.1, 60)
    assert found.hidden_reasoning.per_character == 0.3
    assert found.hidden_reasoning.envelope == pytest.approx(80, abs=3)


def test_what_there_is_too_little_for_is_not_fitted() -> None:
    rng = random.Random(7)
    found = fit([session(*(made(rng, output=True) for _ in range(20)))])
    assert not found.framings
    assert OLD not in found
    assert OLD in shipped()


def test_figures_of_a_client_are_medians_and_the_narrowest_range_of_nine_in_ten() -> None:
    values = (-90_000, 400, 1_100, 2_000, 2_100, 2_900, 3_000, 4_000, 5_200, 7_000, 7_400)
    found = fit([session(restored=values), session(thought=(10, 30)), session(thought=(100,))])
    assert found.restored == {"claude-code": UsualTokens(usual=3_000, least=0, most=8_000)}
    assert found.usual_reasoning == 60


def test_other_constants_hold_for_a_while() -> None:
    own = client_sizes("claude-code").restored
    other = Constants(
        framings={(OLD, O200K): overhead.OPENAI},
        usual_reasoning=None,
        restored={"claude-code": UsualTokens(usual=1, least=0, most=2)},
        overhead={},
    )
    before = overhead.CLAUDE_UP_TO_4_6
    with use_constants(other):
        assert client_sizes("claude-code").restored.usual == 1
        assert overhead.CLAUDE_UP_TO_4_6 == overhead.OPENAI
        assert shipped().framings[NEW, O200K] is overhead.CLAUDE_FROM_4_7
    assert client_sizes("claude-code").restored == own
    assert overhead.CLAUDE_UP_TO_4_6 is before
