"""What a run has computed is there for the next one, and no longer than that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.tokens.words import Words

from compactctl.tokens.counters.selection import parse_counter
from compactctl.tokens.memory import RunMemory, call
from compactctl.tokens.meter import Meter


class Doubling:
    """A function that notes its calls."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def __call__(self, number: int) -> int:
        self.calls.append(number)
        return 2 * number


def test_equal_arguments_are_computed_once_per_run() -> None:
    memory, double = RunMemory(), Doubling()
    assert [memory.once(double, n) for n in (1, 2, 1)] == [2, 4, 2]
    assert double.calls == [1, 2]
    assert call(double, 1) == 2
    assert double.calls == [1, 2, 1]


def test_two_functions_share_nothing() -> None:
    memory = RunMemory()
    assert (memory.once(str, 1), memory.once(abs, 1)) == ("1", 1)


def test_the_next_run_finds_it_and_a_later_one_only_what_that_asked_for() -> None:
    memory, double = RunMemory(), Doubling()
    for number in (1, 2):
        memory.once(double, number)
    memory.start_run()
    memory.once(double, 1)
    memory.start_run()
    for number in (1, 2):
        memory.once(double, number)
    assert double.calls == [1, 2, 2]


def test_of_large_results_only_the_newest_is_there() -> None:
    memory, double = RunMemory(), Doubling()
    assert [memory.newest(double, n) for n in (1, 1, 2, 1)] == [2, 2, 4, 2]
    assert double.calls == [1, 2, 1]


def test_a_meter_counts_again_what_two_runs_did_not_ask_for() -> None:
    counter = Words()
    meter = Meter(counter)
    for texts in (["a", "b"], ["a"], ["a", "b"]):
        meter.start_run()
        assert meter.count_many(texts) == [1] * len(texts)
    assert counter.batches == [["a", "b"], ["b"]]


LINES = st.lists(
    st.sampled_from(
        ("x", "\n", "\r\n", " ", "\t", "/", "'s", "12", "\u2028", "\x85", "é", "中", "==", "…")
    ),
    max_size=14,
).map("".join)


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "o200k_base x1.13", "chars/4"])
@given(texts=st.lists(LINES, min_size=1))
def test_the_lines_of_a_trial_add_up_to_it(name: str, texts: list[str]) -> None:
    counter = parse_counter(name)
    meter = Meter(counter)
    assert list(map(meter.text_uncached, texts)) == counter.count_many(texts)


def test_a_long_line_is_counted_where_it_stands() -> None:
    counter = parse_counter("o200k_base")
    text = "short\n" + "long " * 500 + "\nshort"
    assert Meter(counter).text_uncached(text) == counter.count_many([text])[0]
