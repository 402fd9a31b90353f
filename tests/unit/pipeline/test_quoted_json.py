r"""JSON inside JSON strings, log prefixes, and the records of log drivers."""

import json
from typing import Any

import pytest

from compactctl.pipeline.quoted_json import (
    MAX_PREFIX,
    QuotedJson,
    ValueLocation,
    docker_text,
    driver_field,
    driver_field_in_line,
    escape,
    prefix_length,
    unescape,
)
from compactctl.pipeline.spans import (
    find_array,
    find_locations,
    find_record,
    find_sole_record,
    find_spans,
    splice,
)


def test_a_place_in_the_inner_text_has_one_in_the_line() -> None:
    text = r'{"a":"x\ny\ud83d\ude00z\"","b":1}'
    quoted = QuotedJson(text, 6, text.index('","b"'))
    assert quoted.text == 'x\ny😀z"'
    assert [text[quoted.outer_pos(pos)] for pos in range(5)] == ["x", "\\", "y", "\\", "z"]
    assert quoted.outer_pos(6) == text.index('","b"')
    assert quoted.outer_location(ValueLocation(0, 3, 1)) == (6, 10, 2)


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_text_is_escaped_as_deeply_as_it_stands(depth: int) -> None:
    text = 'a "b" \\ \n é'
    escaped = escape(text, depth)
    assert unescape(escaped, depth) == text
    assert escaped.count("\\") == {0: 1, 1: 5, 2: 12}[depth]


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_elements_are_found_in_arrays_in_strings(levels: int) -> None:
    value: Any = [{"role": "user"}, 2]
    for _ in range(levels):
        value = json.dumps(value)
    text = json.dumps({"n": 1, "messages": value})
    elements, depth = find_array(text, ("messages",))
    assert depth == levels
    assert [unescape(text[slice(*span)], levels) for span in elements] == ['{"role": "user"}', "2"]
    assert find_locations(text, [("messages", 0, "role")])[("messages", 0, "role")].depth == levels
    start, end = find_spans(text, [("messages", 0, "role")])[("messages", 0, "role")]
    changed = json.loads(splice(text, {(start, end): escape('"tool"', levels)}))["messages"]
    for _ in range(levels):
        changed = json.loads(changed)
    assert changed == [{"role": "tool"}, 2]


@pytest.mark.parametrize("inner", ["no JSON", "[1", "[", "{", "", "12"])
def test_in_a_string_without_json_there_is_nothing(inner: str) -> None:
    text = json.dumps({"a": inner})
    assert find_spans(text, [("a", 0), ("b",), ("a", "x")]) == {}


DOCKER = json.dumps({"log": '{"role":"user"}\n', "stream": "stdout", "time": "2026"})
LINES = [
    (DOCKER, r"{\"role\":\"user\"}", 1),
    (f" {DOCKER}\r\n", r"{\"role\":\"user\"}", 1),
    (json.dumps({"log": DOCKER, "stream": "x"}), json.dumps(r"{\"role\":\"user\"}")[1:-1], 2),
    (json.dumps({"@timestamp": 1, "message": ' [{"a":1}]'}), r"[{\"a\":1}]", 1),
    ('12:30 INFO {"a":1}', '{"a":1}', 0),
    ('\ufeff{"a":1} \n', '{"a":1}', 0),
]


@pytest.mark.parametrize(("line", "record", "depth"), LINES)
def test_a_record_is_found_in_what_a_log_puts_around_it(line: str, record: str, depth: int) -> None:
    for find in (find_record, find_sole_record):
        location = find(line)
        assert (location.cut(line), location.depth) == (record, depth)
    assert find_locations(line, [()])[()].cut(line) == record


@pytest.mark.parametrize(
    ("head", "length"),
    [
        ('2026-11-26T12:30:00Z {"a"', 21),
        ('[error] {"a"', 8),
        ('data:{"a"', 5),
        ('data: {"a"', 6),
        ('api-1  | {"a"', 9),
        ('level=warn:{"a"', 11),
        ('info\t{"a"', 5),
        ('12:30>{"a"', 6),
        ('12:30x{"a"', 0),
        ('note {"a"', 0),
        ('see data: {"a"', 0),
        ('information {"a"', 0),
        ('{"a"', 0),
        ('12:30 "x" {"a"', 0),
        ('12:30 } {"a"', 0),
        ("12:30 no record", 0),
    ],
)
def test_a_prefix_is_one_that_loggers_write(head: str, length: int) -> None:
    assert prefix_length(head) == length


@pytest.mark.parametrize(("size", "is_one"), [(MAX_PREFIX, True), (MAX_PREFIX + 1, False)])
def test_a_prefix_has_its_longest_size(size: int, *, is_one: bool) -> None:
    head = "12:30".ljust(size) + "{"
    assert prefix_length(head) == (size if is_one else 0)


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({"log": '{"a":1}', "stream": "stdout"}, "log"),
        ({"log": ' [{"a":1}]\n', "kubernetes": {}}, "log"),
        ({"message": '{"a":1}', "logStreamName": "x"}, "message"),
        ({"log": '{"a":1}'}, None),
        ({"log": "{}", "stream": "stdout"}, None),
        ({"log": "12", "stream": "stdout"}, None),
        ({"log": '{"a"', "stream": "stdout"}, None),
        ({"log": '{"a":1}', "stream": "stdout", "role": "user"}, None),
        ({"log": 1, "message": '{"a":1}', "@timestamp": 1}, "message"),
        ({"log": "text", "stream": "x", "message": '{"a":1}', "@timestamp": 1}, None),
        ({"message": '{"a":1}', "stream": "stdout"}, None),
    ],
)
def test_a_driver_is_known_by_the_fields_beside_its_line(
    record: dict[str, Any], field: str | None
) -> None:
    assert driver_field(record) == field
    assert driver_field_in_line(f"\ufeff \r\n{json.dumps(record)}") == field


@pytest.mark.parametrize("line", ['{"log":"{', '{"log": "{}"', "[]", '["log", {"log":"{"}]'])
def test_a_line_that_is_no_object_has_no_driver(line: str) -> None:
    assert driver_field_in_line(line) is None


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ({"log": "a", "stream": "stdout", "time": ""}, "a"),
        ({"log": "a", "stream": "stdout", "time": "", "attrs": {}}, "a"),
        ({"log": "a", "stream": "stdout", "time": "", "other": {}}, None),
        ({"log": "a", "stream": "stdout"}, None),
        ({"log": 1, "stream": "stdout", "time": ""}, None),
    ],
)
def test_what_docker_logged_is_text(record: dict[str, Any], text: str | None) -> None:
    assert docker_text(record) == text
