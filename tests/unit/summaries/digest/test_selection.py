"""Fragments are chosen by value per token."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from compactctl.records import replace
from compactctl.summaries.digest.facts import LineIndex, StateFact
from compactctl.summaries.digest.fragments import DigestSection, Fragment, FragmentGroup
from compactctl.summaries.digest.hunks import Hunk
from compactctl.summaries.digest.selection import FragmentPool, Selection


def line(
    row: int, *, passage: int = 0, section: DigestSection = "course", **fields: Any
) -> Fragment:
    return Fragment(
        group=FragmentGroup(section, passage),
        line=LineIndex(passage, row),
        text=fields.pop("text", f"line {passage}/{row}"),
        **fields,
    )


def named(*names: str) -> Fragment:
    return Fragment(
        group=FragmentGroup("names"), line=LineIndex(0, 0), text=" ".join(names), mentions=names
    )


def fact(name: str, value: float) -> tuple[StateFact, ...]:
    return (StateFact(name, value),)


def pool(
    fragments: Sequence[Fragment],
    tokens: Sequence[int],
    demand: Mapping[str, float] | None = None,
    heading: tuple[int, tuple[str, ...]] = (0, ()),
    **fields: Any,
) -> FragmentPool:
    return FragmentPool(
        fragments=fragments,
        tokens=tokens,
        headings={fragment.group: heading for fragment in fragments},
        demand=demand or {},
        demand_unit=fields.pop("demand_unit", 1.0),
        neighbors=fields.pop("neighbors", [()] * len(fragments)),
        **fields,
    )


def chosen(of: FragmentPool, room: int, mentioned: Sequence[str] = ()) -> tuple[list[int], int]:
    selection = Selection(of, mentioned)
    used = selection.fill(room)
    return list(selection.chosen), used


def test_the_highest_value_per_token_comes_first() -> None:
    facts = [fact("a", 4), fact("b", 9), fact("c", 2)]
    of = pool([line(0, passage=n, facts=each) for n, each in enumerate(facts)], [4, 3, 1])
    assert chosen(of, 100) == ([1, 2, 0], 8)
    assert chosen(of, 7) == ([1, 2], 4)
    assert chosen(of, 8) == ([1, 2, 0], 8)
    assert chosen(of, 0) == ([], 0)
    # What does not fit leaves room for what does.
    assert chosen(of, 2) == ([2], 1)


def test_of_equal_fragments_the_first_comes_first() -> None:
    of = pool([line(0, passage=n, facts=fact(str(n), 1)) for n in range(3)], [2, 2, 2])
    assert chosen(of, 4) == ([0, 1], 4)


def test_a_fact_counts_once() -> None:
    of = pool([line(0, passage=n, facts=fact("same", 1)) for n in range(2)], [2, 2])
    assert chosen(of, 100) == ([0], 2)


@pytest.mark.parametrize(("fills", "found"), [(True, [0, 1]), (False, [])])
def test_lines_without_value_fill_spare_room_only_if_they_may(
    fills: bool,  # noqa: FBT001
    found: list[int],
) -> None:
    of = pool([line(0), line(0, passage=1), named("x")], [2, 2, 2], fill_spare_room=fills)
    assert chosen(of, 100)[0] == found


@pytest.mark.parametrize(
    ("mentioned", "best"), [((), [0, 1, 2]), (("x",), [1, 0]), (("x", "x"), [1])]
)
def test_a_second_line_about_an_entity_is_worth_little_and_a_third_nothing(
    mentioned: tuple[str, ...], best: list[int]
) -> None:
    fragments = [
        line(0, describes=("x",)),
        line(0, passage=1, facts=fact("a", 3)),
        line(0, passage=2, describes=("x",)),
        line(0, passage=3, describes=("x",)),
    ]
    of = pool(fragments, [1, 1, 1, 1], {"x": 10.0})
    assert chosen(of, 100, mentioned)[0] == best


def values(of: FragmentPool, mentioned: Sequence[str] = ()) -> list[float]:
    selection = Selection(of, mentioned)
    return [selection._density(index) for index in range(len(of.fragments))]


def test_the_documented_values() -> None:
    fragments = [line(0, describes=("x",)), named("x"), line(1, mentions=("x",))]
    of = pool(fragments, [1, 1, 1], {"x": 10.0})
    assert values(of) == [10.0, 6.0, 6.0]
    assert values(of, ["x"]) == [1.5, 0.0, 0.0]
    assert values(of, ["x", "x"]) == [0.0, 0.0, 0.0]
    assert values(pool([line(0, describes=("y",)), named("y")], [1, 1], {"x": 10.0})) == [0.0, 0.0]
    half = pool(fragments, [2, 4, 0], {"x": 10.0}, demand_unit=3.0)
    assert values(half) == [5.0, 1.5, 6.0]
    worth = pool([line(0, facts=fact("a", 2), reuse_value=1.5)], [1], demand_unit=3.0)
    assert values(worth) == [10.5]


def test_a_heading_is_paid_once_and_names_once() -> None:
    fragments = [line(0, facts=fact("a", 9)), line(1, facts=fact("b", 1)), named("x")]
    of = pool(fragments, [2, 2, 1], {"x": 10.0}, heading=(6, ("x",)))
    # The heading names it as well.
    assert values(of)[:2] == [(9 + 6) / 8, (1 + 6) / 8]
    selection = Selection(of, ())
    assert selection.fill(100) == 8 + 2
    assert list(selection.chosen) == [0, 1]
    assert selection.fragments == fragments[:2]


def test_a_line_gains_by_its_neighbors() -> None:
    fragments = [
        line(0, reuse_value=1),
        line(1, reuse_value=1, facts=fact("a", 5)),
        line(2, reuse_value=1),
        line(4, reuse_value=1.4),
    ]
    of = pool(fragments, [1] * 4, neighbors=[(1,), (0, 2), (1,), ()])
    assert chosen(of, 100)[0] == [1, 0, 2, 3]
    assert chosen(of, 2)[0] == [1, 0]
    selection = Selection(of, ())
    selection.fill(1)
    assert [selection._density(index) for index in (0, 2)] == [1.5, 1.5]
    selection.drop(1)
    assert [selection._density(index) for index in (0, 2)] == [1.0, 1.0]


def test_a_line_pays_for_the_mark_before_it() -> None:
    """The first line below a heading needs none, and the line between two others saves one."""
    fragments = [line(n, reuse_value=1 + (n == 0)) for n in range(3)]
    of = pool(fragments, [30] * 3, neighbors=[(1,), (0, 2), (1,)])
    assert values(of) == [2 / 30, 1 / 30, 1 / 30]
    selection = Selection(of, ())
    selection._choose(0)
    assert selection._density(2) == pytest.approx(1 / 42)
    assert selection._density(1) == pytest.approx(1.5 / 30)
    selection._choose(2)
    assert selection._density(1) == pytest.approx(2 / 18)


def test_a_section_has_its_limit() -> None:
    fragments = [line(n, passage=n, facts=fact(str(n), 1)) for n in range(3)]
    fragments.append(line(0, passage=9, section="unread", facts=fact("u", 9)))
    of = pool(fragments, [3, 3, 3, 3], section_limits={"course": 7, "unread": 2})
    assert chosen(of, 100) == ([0, 1], 6)
    of = pool(fragments, [3, 3, 3, 3], section_limits={"course": 6, "unread": 3})
    assert chosen(of, 100) == ([3, 0, 1], 9)


def test_what_is_dropped_counts_as_missing_again() -> None:
    fragments = [line(n, passage=n, facts=fact(str(n), 9 - n)) for n in range(4)]
    of = pool(fragments, [3] * 4, section_limits={"course": 12})
    selection = Selection(of, ())
    assert selection.fill(100) == 12
    selection.drop(4)
    assert list(selection.chosen) == [0, 1]
    assert selection.fill(100) == 6
    selection.drop(0)
    assert list(selection.chosen) == [0, 1, 2, 3]
    selection.drop(3)
    assert list(selection.chosen) == [0, 1, 2]
    selection.drop(99)
    assert list(selection.chosen) == []


def test_a_name_that_a_line_shows_is_not_listed() -> None:
    fragments = [named("x"), line(0, describes=("x",)), named("y")]
    selection = Selection(pool(fragments, [1, 9, 1], {"x": 10.0, "y": 1.0}), ())
    selection.fill(100)
    assert list(selection.chosen) == [0, 2, 1]
    assert selection.fragments == [fragments[2], fragments[1]]


@pytest.mark.parametrize(("room", "found"), [(30, 10), (29, 0), (33, 11), (300, 40)])
def test_it_grows_until_little_room_is_left(room: int, found: int) -> None:
    fragments = [line(n, passage=n, facts=fact(str(n), 1)) for n in range(40)]
    selection = Selection(pool(fragments, [3] * 40), ())
    left = selection.grow(lambda: room - 3 * len(selection.chosen))
    assert (len(selection.chosen), left) == (found, room - 3 * found)


def test_what_is_larger_than_priced_is_taken_back_and_what_is_smaller_makes_room() -> None:
    fragments = [line(n, passage=n, facts=fact(str(n), 1)) for n in range(100)]
    large = Selection(pool(fragments, [3] * 100), ())
    assert large.grow(lambda: 100 - 16 * len(large.chosen) // 5) == 1
    assert len(large.chosen) == 31
    small = Selection(pool(fragments, [3] * 100), ())
    assert small.grow(lambda: 100 - len(small.chosen)) < 30
    assert len(small.chosen) > 70
    none = Selection(pool(fragments, [3] * 100), ())
    assert none.grow(lambda: -5) == -5
    assert not none.chosen


def test_where_undoing_saves_little_it_undoes_more_and_more() -> None:
    fragments = [line(n, passage=n, facts=fact(str(n), 1)) for n in range(3_000)]
    selection = Selection(pool(fragments, [1] * 3_000), ())
    rendered: list[int] = []

    def room_left() -> int:
        rendered.append(len(selection.chosen))
        return -1 if len(selection.chosen) > 5 else 3_000

    selection.grow(room_left)
    # Five rounds: each undoes one choice 21 times, then 2, 4, 8 and so on.
    assert len(rendered) < 5 * (21 + 14)


def hunk(fragments: Sequence[Fragment], *members: int, value: float) -> Hunk:
    return Hunk(members, replace(fragments[members[0]], facts=(), reuse_value=value))


def test_a_hunk_is_chosen_as_a_whole_or_by_its_lines() -> None:
    fragments = [
        line(0, facts=fact("a", 4)),
        line(1),
        line(2),
        line(0, passage=1, facts=fact("b", 5)),
    ]
    of = pool(fragments, [2, 2, 2, 4], hunks=[hunk(fragments, 0, 1, 2, value=12)])
    assert chosen(of, 100) == ([0, 1, 2, 3], 10)
    # What does not fit as a whole may fit in part.
    assert chosen(of, 5) == ([0], 2)
    # The more of it is chosen, the less the rest costs.
    late = pool(fragments, [2, 2, 2, 4], hunks=[hunk(fragments, 0, 1, 2, value=4.5)])
    assert chosen(late, 100) == ([0, 3, 1, 2], 10)


def test_a_hunk_that_was_undone_may_be_completed_again() -> None:
    fragments = [line(0), line(1)]
    selection = Selection(pool(fragments, [2, 2], hunks=[hunk(fragments, 0, 1, value=1)]), ())
    assert selection.fill(4) == 4
    selection.drop(2)
    assert list(selection.chosen) == [0]
    assert selection.fill(2) == 2
    assert selection.fill(2) == 0
