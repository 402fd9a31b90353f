"""Spans: where values stand in a text, whatever it looks like."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compactctl.pipeline.spans import (
    find_array,
    find_record,
    find_spans,
    replace_elements,
    replace_in_step,
    splice,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)
SEPARATORS = st.sampled_from([(",", ":"), (", ", ": "), ("\t,\n", " :\r\n ")])


def at(text: str, *path: str | int) -> str | None:
    """Return the text at a path, None when nothing stands there."""
    span = find_spans(text, [path]).get(path)
    return None if span is None else text[slice(*span)]


def test_a_value_is_found_between_blanks() -> None:
    assert at(' { "a" :\t[ 1 ,  {"b" : "x" } ] } \r\n', "a", 1, "b") == '"x"'


def test_of_duplicate_keys_the_last_counts_as_in_parsers() -> None:
    text = '{"a":{"b":1},"a":{"b":2}}'
    assert at(text, "a", "b") == "2"
    assert json.loads(text) == {"a": {"b": 2}}


def test_escaped_keys_are_the_same_as_plain_ones() -> None:
    assert at(r'{"\u0061\"":1}', 'a"') == "1"


def test_brackets_and_quotes_inside_strings_are_text() -> None:
    text = r'{"x":"}],{\"a\":[\\","a":[0]}'
    assert at(text, "a", 0) == "0"


@pytest.mark.parametrize("number", ["1" * 5_000, "-0", "1.10e+400", "NaN", "-Infinity"])
def test_numbers_no_parser_could_keep_are_skipped(number: str) -> None:
    assert at(f'{{"n":{number},"a":{number}}}', "a") == number


@pytest.mark.parametrize("before", ["\ufeff", "\ufeff ", " \ufeff", "\r\n\t"])
def test_a_record_may_follow_a_byte_order_mark_and_blanks(before: str) -> None:
    text = before + '{"a":1} \n'
    assert find_record(text) == (len(before), len(before) + 7, 0)
    assert at(text, "a") == "1"


@pytest.mark.parametrize("path", [("b",), ("a", 3), ("a", "x"), ("a", 0, "x"), ("s", 0)])
def test_a_path_that_is_not_there_is_omitted(path: tuple[str | int, ...]) -> None:
    assert find_spans('{"a":[1,2,3],"s":"text"}', [path]) == {}


def test_several_paths_are_found_at_once_nested_ones_too() -> None:
    text = '{"a":{"b":[1,2]},"c":3}'
    found = find_spans(text, [("a",), ("a", "b", 1), ("c",), ()])
    assert {path: text[slice(*span)] for path, span in found.items()} == {
        ("a",): '{"b":[1,2]}',
        ("a", "b", 1): "2",
        ("c",): "3",
        (): text,
    }


def test_elements_are_those_of_the_array_at_the_path() -> None:
    text = '{"m":[ {"a":"],"} ,2,\n[3] ]}'
    assert [text[slice(*span)] for span in find_array(text, ("m",)).elements] == [
        '{"a":"],"}',
        "2",
        "[3]",
    ]
    assert find_array(text, ("x",)) == find_array('{"m":{}}', ("m",)) == ([], 0)
    assert find_array("[ ]", ()) == ([], 0)


def test_splicing_replaces_and_inserts_and_leaves_the_rest() -> None:
    assert splice("0123456789", {(7, 8): "x", (2, 4): "", (5, 5): "--"}) == "014--56x89"


def test_inserted_elements_can_be_taken_out_again() -> None:
    text = "1 ,\t2,3 , 4"
    spans = find_array(f"[{text}]", ()).elements
    spans = [(start - 1, end - 1) for start, end in spans]
    own = [(index, text[slice(*span)]) for index, span in enumerate(spans)]
    more = replace_elements(text, spans, [(None, "8"), *own[:2], (None, "9"), *own[2:]])
    assert json.loads(f"[{more}]") == [8, 1, 2, 9, 3, 4]
    grown = [(start - 1, end - 1) for start, end in find_array(f"[{more}]", ()).elements]
    left = [(n, more[slice(*span)]) for n, span in enumerate(grown) if n not in {0, 3}]
    assert replace_elements(more, grown, left) == replace_elements(text, spans, own) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a":[1, 2, 3],"a_metadata":[4, 5, 6]}', '{"a":[8,1, 3],"a_metadata":[{},4, 6]}'),
        ('{"a_metadata":[4,5,6], "a":[1,2,3]}', '{"a_metadata":[{},4,6], "a":[8,1,3]}'),
        ('{"a":[1,2,3],"a_metadata":[4,5]}', '{"a":[8,1,3],"a_metadata":[4,5]}'),
        ('{"a":[1,2,3],"a_metadata":{}}', '{"a":[8,1,3],"a_metadata":{}}'),
        ('{"a":[1,2,3],"b_metadata":[4,5,6]}', '{"a":[8,1,3],"b_metadata":[4,5,6]}'),
    ],
)
def test_what_is_noted_of_elements_stays_beside_them(text: str, expected: str) -> None:
    elements = find_array(text, ("a",)).elements
    items = [(None, "8"), *((n, text[slice(*elements[n])]) for n in (0, 2))]
    assert replace_in_step(text, ("a",), elements, items, {"a": "a_metadata"}) == expected


@given(value=JSON, separators=SEPARATORS, ascii_only=st.booleans())
def test_every_value_is_found_where_it_stands(
    value: Any,
    separators: tuple[str, str],
    *,
    ascii_only: bool,
) -> None:
    text = json.dumps({"top": value}, separators=separators, ensure_ascii=ascii_only)
    paths = list(paths_in({"top": value}))
    found = find_spans(text, [path for path, _ in paths])
    for path, expected in paths:
        assert json.loads(text[slice(*found[path])]) == expected


def paths_in(value: Any, path: tuple[str | int, ...] = ()) -> Any:
    """Yield every path into a value with what stands there."""
    yield path, value
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths_in(inner, (*path, key))
