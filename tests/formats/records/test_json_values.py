"""A field holds what a reader expects there, or reads as if it were missing."""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.clients.records.json_values import (
    count_or_none,
    integer_or_none,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)

KINDS: tuple[object, ...] = (None, True, 0, 7, 2.5, "", "said", [], [1], {}, {"a": 1})


@pytest.mark.parametrize("value", KINDS, ids=repr)
def test_a_value_of_the_type_is_returned_and_any_other_reads_as_missing(value: object) -> None:
    assert text_or_empty(value) == (value if type(value) is str else "")
    assert object_or_empty(value) == (value if type(value) is dict else {})
    assert list_or_empty(value) == (value if type(value) is list else [])


@pytest.mark.parametrize("value", KINDS, ids=repr)
def test_an_empty_text_is_no_text_where_none_stands_for_one(value: object) -> None:
    assert text_or_none(value) == ("said" if value == "said" else None)


@pytest.mark.parametrize(
    ("value", "number"), [(0, 0), (7, 7), (True, 1), (2.5, None), ("7", None), (None, None)]
)
def test_a_fraction_or_a_text_is_no_whole_number(value: object, number: int | None) -> None:
    assert integer_or_none(value) == number


@given(st.integers(0, 10**15), st.sampled_from(["{}", "{}.0", "{}e0", "{}.0E+0"]))
def test_a_count_is_the_same_in_any_spelling(count: int, spelling: str) -> None:
    text = spelling.format(count)
    assert [count_or_none(value) for value in (count, float(count), text)] == [count] * 3


NO_COUNTS = (None, True, -1, -1.0, nan, inf, 10**99, [7], {"n": 7})
NO_COUNTS_AS_TEXT = (
    "", "-1", "many", "7 tokens", "1,000", "1_000", " 7", "nan", "inf", "1e999", "9" * 5_000,
)  # fmt: skip


@pytest.mark.parametrize("value", [*NO_COUNTS, *NO_COUNTS_AS_TEXT, "\N{ARABIC-INDIC DIGIT SEVEN}"])
def test_nothing_else_is_a_count(value: object) -> None:
    assert count_or_none(value) is None
