"""The newest read that asks for all lines of another, against what the definition says."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.history.pairs import PartIndex
from compactctl.history.read_calls import LineRange
from compactctl.history.reads import FileRead, newest_covering_reads, request_covers
from compactctl.model.message import MessageId

LINES = st.integers(0, 12)
RANGES = st.none() | st.builds(LineRange, LINES, st.none() | LINES)


def reads_of(ranges: Sequence[LineRange | None]) -> list[FileRead]:
    return [
        FileRead(
            part_index=PartIndex(n, 0),
            message=MessageId(f"m{n}"),
            tool="Read",
            path="a",
            requested_lines=lines,
            text="x",
        )
        for n, lines in enumerate(ranges)
    ]


@given(ranges=st.lists(RANGES, max_size=20))
def test_each_range_has_the_newest_read_that_asks_for_all_of_it(
    ranges: list[LineRange | None],
) -> None:
    same = reads_of(ranges)
    expected = {
        lines: next(read for read in reversed(same) if request_covers(read.requested_lines, lines))
        for lines in ranges
    }
    assert newest_covering_reads(same) == expected


@pytest.mark.parametrize(
    ("ranges", "newest"),
    [
        ([(20, 40), (1, 100), (1, 50)], ["m2", "m1", "m2"]),
        ([(3, 5), (1, 10), (2, 20)], ["m2", "m1", "m2"]),
        ([(4, 5), (2, 15), (1, 10), (3, 20)], ["m3", "m1", "m2", "m3"]),
        ([(4, 12), (2, 15), (1, 10), (3, 11)], ["m1", "m1", "m2", "m3"]),
        ([(1, 10), (2, 10), (3, 10)], ["m0", "m1", "m2"]),
        ([(3, 10), (2, 10), (1, 10)], ["m2", "m2", "m2"]),
        ([(4, 5), (1, 30), (2, 20), (3, 10)], ["m3", "m1", "m2", "m3"]),
    ],
)
def test_the_newest_of_many_ranges_covers(ranges: list[tuple[int, int]], newest: list[str]) -> None:
    lines = [LineRange(first, last) for first, last in ranges]
    found = newest_covering_reads(reads_of(lines))
    assert [found[each].message for each in lines] == newest
