"""JSON is parsed whatever its depth and its digits."""

import json
from math import inf
from typing import Any

import pytest
from examples import tries
from hypothesis import given
from hypothesis import strategies as st

from compactctl.model.json_parser import (
    MAX_DEPTH,
    BoundedDecoder,
    DepthError,
    check_depth,
    parse_json,
)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)
# How one level is opened and closed.
LEVELS = (("[", "]"), ('{"a":', "}"), ('["]",', "]"), ("[\n{},", "]"))
DEPTHS = (MAX_DEPTH, MAX_DEPTH + 1, 900, 1_100, 100_000)


def nested(depth: int, level: tuple[str, str] = LEVELS[0]) -> str:
    return level[0] * depth + "0" + level[1] * depth


@tries()
@given(value=values)
def test_usual_json_is_read_as_by_the_standard_library(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert parse_json(text) == json.loads(text)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("depth", DEPTHS)
def test_a_value_is_read_up_to_a_depth(depth: int, level: tuple[str, str]) -> None:
    text = nested(depth, level)
    if depth == MAX_DEPTH:
        assert parse_json(text) == json.loads(text)
    else:
        with pytest.raises(DepthError, match=r"^nested more than 200 levels deep$"):
            parse_json(text)


def test_any_value_is_checked_without_recursion() -> None:
    value: object = 0
    for _ in range(MAX_DEPTH):
        value = {"a": (), "b": [], "c": value}
    check_depth([value][0])
    for _ in range(100_000):
        value = [value]
    with pytest.raises(DepthError):
        check_depth(value)


@pytest.mark.parametrize(
    "text",
    ["1" * 309, "9" * 1_000_000, f"-{'1' * 5_000}", "1e400", "-1.5E+999999", "1" * 400 + ".5"],
)
def test_a_number_that_no_float_can_hold_is_its_text(text: str) -> None:
    assert parse_json(text) == text
    assert parse_json(f'{{"n": [{text} ]}}') == {"n": [text]}


@pytest.mark.parametrize("text", ["9" * 308, "-0", "1e308", "1e-400", f"0.{'1' * 5_000}"])
def test_other_numbers_are_numbers(text: str) -> None:
    number = parse_json(text)
    assert number == json.loads(text)
    assert -inf < float(number) < inf


def test_control_characters_in_strings_are_read_if_that_is_asked_for() -> None:
    with pytest.raises(ValueError, match="Invalid control character"):
        parse_json('"a\nb"')
    assert parse_json('"a\nb"', strict=False) == "a\nb"


def test_a_value_may_stand_within_a_text() -> None:
    text = f"x {nested(3)} {nested(500)}"
    assert BoundedDecoder().raw_decode(text, 2) == ([[[0]]], 9)
    with pytest.raises(DepthError):
        BoundedDecoder().raw_decode(text, 10)
