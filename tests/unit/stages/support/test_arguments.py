import json
from typing import Any

import pytest
from builders import raw_call
from hypothesis import given
from hypothesis import strategies as st

from compactctl.model.message import CallId, ToolCallPart
from compactctl.stages.support.replacement import (
    is_same_json_type,
    replace_long_texts,
    reword_long_texts,
)

LONG = "x" * 30
SHORT = "[cut]"


def shortened(arguments: str, over: int = 20) -> str:
    (call,) = raw_call("c", "Edit", arguments).calls
    return replace_long_texts(call, over, SHORT)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"path": "a.py", "new": LONG}, {"path": "a.py", "new": SHORT}),
        ({"edits": [{"old": LONG, "at": 3}, LONG]}, {"edits": [{"old": SHORT, "at": 3}, SHORT]}),
        ([LONG, None, True, 1.5], [SHORT, None, True, 1.5]),
        ({"x" * 40: 1, "é" * 21: LONG}, {"x" * 40: 1, "é" * 21: SHORT}),
        ({"exact": "x" * 20}, {"exact": "x" * 20}),
        ({"quoted": f'"{LONG}": \\ {LONG}'}, {"quoted": SHORT}),
    ],
)
def test_long_texts_are_replaced_and_all_else_stays(before: Any, after: Any) -> None:
    assert json.loads(shortened(json.dumps(before))) == after


def test_what_is_not_replaced_is_written_as_it_was() -> None:
    text = f'{{ "n" :1e16, "u":"\\u00e9", "big": {10**30},\n"long"  :  "{LONG}" }}'
    assert shortened(text) == text.replace(LONG, SHORT)


@pytest.mark.parametrize("text", ["", LONG, f'"{LONG}"', f'{{"a": "{LONG}', "[" * 99_999])
def test_what_is_no_object_or_array_stays(text: str) -> None:
    assert shortened(text) == text


def test_a_text_no_longer_than_its_placeholder_stays() -> None:
    assert shortened('{"a": "12345", "b": "123456"}', over=0) == '{"a": "12345", "b": "[cut]"}'


def test_arguments_inside_a_text_stay() -> None:
    arguments = json.dumps({"a": LONG})
    call = ToolCallPart(call_id=CallId("c"), tool="t", arguments=arguments, embedded=True)
    assert replace_long_texts(call, 20, SHORT) == arguments


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


def expected(value: Any) -> Any:
    match value:
        case str():
            return SHORT if len(value) > 20 else value
        case dict():
            return {key: expected(item) for key, item in value.items()}
        case list():
            return [expected(item) for item in value]
        case _:
            return value


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.booleans())
def test_the_shape_never_changes_and_twice_is_once(value: dict[str, Any], ascii_only: bool) -> None:  # noqa: FBT001
    once = shortened(json.dumps(value, ensure_ascii=ascii_only))
    assert json.loads(once) == expected(value)
    assert shortened(once) == once


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        ('{"a": 1}', "{}", True),
        ("[1]", "[]", True),
        ("{}", "[]", False),
        ("[]", "{}", False),
        ("{}", "1", False),
        ("1", "1", False),
        ("", "", False),
        ("[" * 99_999, "[]", False),
    ],
)
def test_objects_stay_objects_and_arrays_stay_arrays(old: str, new: str, *, is_same: bool) -> None:
    assert is_same_json_type(old, new) is is_same


def test_a_new_text_is_written_as_letters_and_gets_the_old_one() -> None:
    (call,) = raw_call("c", "Edit", f'{{"a": "{LONG}"}}').calls
    assert reword_long_texts(call, 20, lambda _, text: f"{len(text)} é") == '{"a": "30 é"}'
    assert reword_long_texts(call, 30, lambda *_: "") == f'{{"a": "{LONG}"}}'


def test_each_text_is_reworded_with_its_number_among_all_texts() -> None:
    (call,) = raw_call("c", "Edit", f'{{"a": "x", "b": ["y", "{LONG}"], "c": "{LONG}"}}').calls
    assert reword_long_texts(call, 20, lambda number, _: str(number)) == (
        '{"a": "x", "b": ["y", "2"], "c": "3"}'
    )
