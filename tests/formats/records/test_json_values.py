"""A field holds what a reader expects there, or reads as if it were missing."""

import pytest

from compactctl.formats.records.json_values import (
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
