"""Editing a record's text: values, tags, and nothing else."""

import json

import pytest

from compactctl.clients.opencode.format import OpenCode
from compactctl.clients.records.decode import decode_lines
from compactctl.clients.registry import format_named
from compactctl.model.edit import Replace
from compactctl.model.message import GroupId
from compactctl.model.transcript import RawLine
from compactctl.model.usage_fields import REPORTED_KEY
from compactctl.pipeline.record_splice import (
    dump,
    part_replacements,
    reported_usage,
    restate_usage,
    value_replacements,
    with_added_fields,
    with_fields,
)
from compactctl.pipeline.spans import splice
from compactctl.records import replace


@pytest.mark.parametrize("text", ["plain", "é ☃ 🙂", "\ud83d alone", '"\\/\n\u2028', ""])
def test_dumped_text_is_json_and_utf_8(text: str) -> None:
    written = dump({"a": text})
    assert json.loads(written.encode()) == {"a": text}
    assert ": " not in written


def test_fields_are_set_where_they_are_and_added_where_they_are_not() -> None:
    record = '{ "a" : 1, "x" :"y" , "a":2 }'
    assert with_fields(record, {"a": 3, "b": [4]}) == '{ "a" : 1, "x" :"y" , "a":3 ,"b":[4]}'


def test_appended_fields_stand_before_the_last_brace_whatever_comes_before() -> None:
    record = '{"t":"}","o":{}\t}'
    assert with_added_fields(record, {"p": "g"}) == '{"t":"}","o":{}\t,"p":"g"}'
    assert with_added_fields(record, {}) == record
    assert with_added_fields("{ }\n", {"p": "g"}) == '{ "p":"g"}\n'


def test_a_value_is_changed_only_where_its_path_exists() -> None:
    text = '{"parentUuid" :null,"m":{}}'
    assert value_replacements(text, [(("parentUuid",), "p")]) == {(15, 19): '"p"'}
    assert value_replacements(text, [(("m", "x"), "p")]) == {}


def test_a_value_inside_another_new_value_is_changed_first() -> None:
    state = {"status": "completed", "input": {"path": "a", "text": "long"}, "output": "x"}
    picture = {"mime": "image/png", "url": "data:image/png;base64,AAAA"}
    part = {"id": "p", "type": "tool", "callID": "c", "tool": "Write"}
    inner = {**part, "state": {**state, "attachments": [picture]}}
    record = json.dumps({"info": {"id": "m", "role": "assistant"}, "parts": [inner]})
    (message,) = OpenCode().read(decode_lines([RawLine(0, record.encode())])).messages
    texts = ('{"path":"a","text":"[cut]"}', "[cleared]")
    edits = {
        index: Replace(id=message.id, part=index, text=text, group=GroupId("g"))
        for index, text in enumerate(texts)
    }

    changes = part_replacements(record, message, edits, OpenCode())

    (state_now,) = [json.loads(text) for text in changes.values()]
    assert state_now == {**state, "input": {"path": "a", "text": "[cut]"}, "output": "[cleared]"}


@pytest.mark.parametrize(
    ("arguments", "text", "expected"),
    [
        ('{"n": 1e400, "s" : "long"}', '{"n":"1e400","s":"cut"}', '{"n": 1e400, "s" : "cut"}'),
        ('{"n":[%s],"s":[]}' % ("7" * 5_000), '{"n":["7"],"s":[]}', '{"n":["7"],"s":[]}'),
        (
            '{"id":123456789012345678901,"s":"long", "o":{"x": -0, "f":1.10}}',
            '{"id":1.2345678901234568e20,"s":"cut","o":{"x":0,"f":1.1}}',
            '{"id":123456789012345678901,"s":"cut", "o":{"x": -0, "f":1.10}}',
        ),
        ('{"s":"old","a":1, "s" :"long"}', '{"s":"cut","a":1}', '{"s":"old","a":1, "s" :"cut"}'),
        ('{"log":"{}", "stream":"s"}', '{"log":"cut","stream":"s"}', '{"log":"cut", "stream":"s"}'),
        ('{"a": [1, 2], "b": 3}', '{"b":3,"a":[1]}', '{"a": [1], "b": 3}'),
        ('{"a": 1, "b": 2}', '{"a": 1}', '{"a":1}'),
        ('{"a": 1}', "[]", "[]"),
        ('{"a": 1}', '{ "a" :1.0}', '{"a": 1}'),
    ],
)  # fmt: skip
def test_of_arguments_only_what_differs_is_spelled_anew(
    arguments: str, text: str, expected: str
) -> None:
    call = f'{{"type":"tool_use","id":"c","name":"Write","input":{arguments}}}'
    record = f'{{"role":"assistant","content":[{call}]}}'
    writer = format_named("anthropic-messages")
    (message,) = writer.read(decode_lines([RawLine(0, record.encode())])).messages
    edits = {0: Replace(id=message.id, part=0, text=text, group=GroupId("g"))}
    assert splice(record, part_replacements(record, message, edits, writer)) == record.replace(
        arguments, expected
    )


COUNTS = '{"usage": {"input_tokens": 5, "cache_read_input_tokens": 70}, "n": 1e0}'


def restated(record: str, tokens: int) -> str:
    fields = format_named("claude-code").usage_fields
    assert fields is not None
    return restate_usage(record, replace(fields, path=("usage",)), tokens)


def test_counts_are_restated_and_kept_as_they_were_reported() -> None:
    new = restated(COUNTS, 40)
    usage = json.loads(new)["usage"]
    assert sum(usage.values()) == 40
    assert '"n": 1e0' in new
    reported = {REPORTED_KEY: {"input_tokens": 5, "cache_read_input_tokens": 70}}
    assert json.loads(new)["compactctl"] == reported
    assert reported_usage(new) == reported
    again = restated(new, 30)
    assert (sum(json.loads(again)["usage"].values()), reported_usage(again)) == (30, reported)


@pytest.mark.parametrize(
    "record", ['{"usage": {"input_tokens": 75}}', '{"usage": null}', '{"usage": [75]}', "{}"]
)
def test_counts_that_are_so_already_or_are_not_there_stay(record: str) -> None:
    assert restated(record, 75) == record


@pytest.mark.parametrize(
    "record", ["{}", '{"compactctl": {}}', f'{{"x": {{"{REPORTED_KEY}": 1}}}}']
)
def test_without_restated_counts_there_are_none(record: str) -> None:
    assert reported_usage(record) == {}
