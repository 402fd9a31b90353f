"""Trials summed up: each session once, intervals that are the same for a seed, chance taken off."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.commands.lab.eval_figures import figures, interval
from compactctl.commands.lab.eval_session import Trial
from compactctl.lab.tally import Tally


def trial(
    session: str, hits: int, asked: int = 4, *, chance: int | None = None, tokens: int = 30
) -> Trial:
    return Trial(
        session=session,
        project="",
        cut=0.6,
        requests=9,
        policy="distill",
        asked=0.3,
        prefix=100,
        tokens=tokens,
        tallies={"recall": Tally(hits, asked), "rules": Tally(0, 0)},
        chance=None if chance is None else Tally(chance, asked),
    )


def test_each_session_counts_once() -> None:
    (found,) = figures([trial("a", 4), trial("a", 2), trial("b", 1)], seed=0)
    assert found.measures["recall"].value == pytest.approx((0.75 + 0.25) / 2)
    assert (found.cuts, found.measures["recall"].sessions) == (3, 2)
    assert "rules" not in found.measures


def test_what_is_larger_than_asked_is_counted() -> None:
    (found,) = figures([trial("a", 4), trial("a", 4, tokens=31)], seed=0)
    assert (found.over, found.verdict) == (1, "over target")
    (found,) = figures([trial("a", 4), trial("a", 4, tokens=30)], seed=0)
    assert (found.over, found.verdict) == (0, "fits")


@pytest.mark.parametrize(
    ("hits", "chance", "beyond"),
    [(4, 2, 1.0), (3, 2, 0.5), (2, 2, 0.0), (1, 2, -0.5), (4, 4, None)],
)
def test_beyond_chance_is_what_random_lines_miss(
    hits: int, chance: int, beyond: float | None
) -> None:
    (found,) = figures([trial("a", hits, chance=chance)], seed=0)
    assert found.beyond == beyond


@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=12), seed=st.integers(0, 3))
def test_an_interval_lies_around_the_mean_and_is_the_same_for_a_seed(
    values: list[float], seed: int
) -> None:
    low, high = interval(values, seed)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    assert interval(values, seed) == (low, high)


def test_an_interval_is_narrower_where_there_are_more_sessions() -> None:
    few, many = interval([0.0, 1.0] * 3, 0), interval([0.0, 1.0] * 50, 0)
    assert few[0] < many[0] < 0.5 < many[1] < few[1]
