from collections.abc import Callable
from fractions import Fraction

import pytest
from builders import assistant, call, conversation, result, user
from hypothesis import given
from hypothesis import strategies as st

from compactctl.history.pairs import cut_points
from compactctl.model.message import Message
from compactctl.stages.support.chunking import ChunkRule, chunk_ranges


@pytest.mark.parametrize(
    ("window", "average", "limit"),
    [
        (16_000, 100, 7_904),
        (128_000, 100, 47_104),
        (200_000, 100, 75_904),
        (1_000_000, 100, 395_904),
        (128_000, 12_000, 18_304),
        # A tenth of the window is not yet large; beyond, the ratio falls to 0.15 and no further.
        (120_000, 10_000, 43_904),
        (1_000_000, 900_000, 145_904),
        (0, 100, 7_904),
    ],
)
def test_the_calculated_size_falls_with_the_size_of_messages(
    window: int, average: int, limit: int
) -> None:
    assert ChunkRule(formula="code").tokens(window, Fraction(average)) == limit


@pytest.mark.parametrize(
    ("window", "limit"), [(4_000, 1_600), (30_000, 12_000), (128_000, 12_000), (0, 1)]
)
def test_the_documented_size_is_four_tenths_and_at_most_12000(window: int, limit: int) -> None:
    assert ChunkRule().tokens(window, Fraction(50_000)) == limit


def test_the_ratio_falls_no_further_than_wanted() -> None:
    rule = ChunkRule(formula="code", ratio=0.5, min_ratio=0.4)
    assert rule.tokens(100_000, Fraction(90_000)) == 40_000 - 4_096


def sized(*sizes: int, limit: int) -> list[list[int]]:
    messages = conversation(*(user("x") for _ in sizes))
    return [list(each) for each in chunk_ranges(messages, sizes, limit)]


def test_chunks_are_filled_one_after_the_other() -> None:
    assert sized(4, 4, 4, 4, 4, limit=8) == [[0, 1], [2, 3], [4]]
    assert sized(4, 4, 1, limit=9) == [[0, 1, 2]]
    assert sized(limit=9) == [[]]


def test_a_message_larger_than_a_chunk_is_one_alone() -> None:
    assert sized(1, 1, 90, 1, 1, limit=8) == [[0, 1], [2], [3, 4]]
    assert sized(90, 1, limit=8) == [[0], [1]]


def test_a_call_and_its_result_are_in_one_chunk() -> None:
    messages = conversation(
        user("a"), call("c", "Bash"), assistant("while it runs"), result("c", "x"), user("b")
    )
    ranges = chunk_ranges(messages, (5, 3, 3, 3, 5), 8)
    assert [list(each) for each in ranges] == [[0], [1, 2, 3], [4]]


@given(
    st.lists(st.tuples(st.sampled_from("ucr"), st.integers(0, 3), st.integers(0, 20)), min_size=1),
    st.integers(1, 40),
)
def test_chunks_cover_everything_once_and_part_no_pair(
    plan: list[tuple[str, int, int]], limit: int
) -> None:
    makers: dict[str, Callable[[str], Message]] = {
        "u": user,
        "c": lambda n: call(n, "Bash"),
        "r": lambda n: result(n, "x"),
    }
    messages = conversation(*(makers[kind](f"c{number}") for kind, number, _ in plan))
    sizes = [size for _, _, size in plan]
    ranges = chunk_ranges(messages, sizes, limit)
    assert [index for each in ranges for index in each] == list(range(len(messages)))
    cuts = set(cut_points(messages))
    assert all(each.start in cuts for each in ranges)
    for each in ranges:
        inside = [cut for cut in cuts if each.start < cut < each.stop]
        assert sum(sizes[each.start : each.stop]) <= limit or not inside
