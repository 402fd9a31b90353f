"""Noise: what the futures of other projects seem to demand of a session, which is chance."""

import pytest
from unit.lab.garden import session

from compactctl.commands.lab.evaluate import FirstCut, noise
from compactctl.lab.cuts import cuts_at
from compactctl.lab.score import EvaluationCase
from compactctl.lab.text_content import TextReader
from compactctl.tokens.counters.estimates import CharsCounter
from compactctl.tokens.meter import Meter


@pytest.fixture(scope="module")
def cases() -> tuple[EvaluationCase, EvaluationCase]:
    """Return a case, and one whose future asks for fewer plots of the garden."""
    count = Meter(CharsCounter(1)).message
    cuts = (*cuts_at(session(), [0.6], count), *cuts_at(session(after=8), [0.6], count))
    one, other = (EvaluationCase(cut, TextReader(), None) for cut in cuts)
    assert len(other.demand.entities) < len(one.demand.entities)
    return one, other


@pytest.mark.parametrize("projects", ["a", "aa", "aaa"])
def test_sessions_of_one_project_say_nothing_about_chance(
    cases: tuple[EvaluationCase, EvaluationCase], projects: str
) -> None:
    assert noise([FirstCut(project, cases[0]) for project in projects]) is None


def test_the_same_future_in_another_project_demands_all_that_the_own_one_does(
    cases: tuple[EvaluationCase, EvaluationCase],
) -> None:
    found = noise([FirstCut("a", cases[0]), FirstCut("b", cases[0])])
    assert found is not None
    assert (found.share, found.pairs) == (1.0, 2)
    assert list(found.kinds) == sorted(cases[0].count_kinds(cases[0].demand))
    assert set(found.kinds.values()) == {1.0}


def test_each_session_is_compared_with_those_of_other_projects_alone(
    cases: tuple[EvaluationCase, EvaluationCase],
) -> None:
    one, other = cases
    found = noise([FirstCut("a", one), FirstCut("a", one), FirstCut("b", other)])
    assert found is not None
    own = sum(one.count_kinds(one.demand).values())
    others = sum(other.count_kinds(other.demand).values())
    shared = sum(other.count_kinds(one.demand_of(other.first_mentions)).values())
    back = sum(one.count_kinds(other.demand_of(one.first_mentions)).values())
    assert 0 < shared < own
    assert found.pairs == 4
    assert found.share == pytest.approx((2 * shared + 2 * back) / (2 * own + 2 * others))


@pytest.mark.parametrize(("count", "pairs"), [(8, 56), (9, 72), (10, 80)])
def test_a_session_is_compared_with_eight_others_at_most(
    cases: tuple[EvaluationCase, EvaluationCase], count: int, pairs: int
) -> None:
    found = noise([FirstCut(f"project {number}", cases[0]) for number in range(count)])
    assert found is not None
    assert found.pairs == pairs
