"""Whatever stands where a word is expected: a session is read, or said not to be one."""

import json
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest
from formats.hostile import HOSTILE, hostile_lines
from formats.jsonl import decoded, file_lines
from formats.known import WRITTEN, Known, each_known
from formats.promises import check
from real.choice import chosen

from compactctl import compact_messages
from compactctl.clients.detection import detect
from compactctl.clients.records.streams import assemble_answer
from compactctl.errors import CompactctlError
from compactctl.model.message import JsonPath

ODD: tuple[object, ...] = (["user"], {"role": "user"})
# The keys of words that readers look up in tables.
WORDS = frozenset(
    {"role", "type", "name", "code", "kind", "status", "mime", "subtype", "state", "tool"}
    | {"message_type", "toolName", "toolCallId", "call_id", "tool_use_id", "tool_call_id", "id"}
)
_MAX_CASES = 24


def word_paths(value: Any, path: JsonPath = ()) -> Iterator[JsonPath]:
    """Yield the paths of words, of each list only in its last elements."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in WORDS:
                yield (*path, key)
            yield from word_paths(inner, (*path, key))
    elif isinstance(value, list):
        for index in range(max(0, len(value) - 4), len(value)):
            yield from word_paths(value[index], (*path, index))


def changed(value: Any, path: JsonPath, odd: object) -> Any:
    new = deepcopy(value)
    holder = new
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = odd
    return new


@each_known(WRITTEN)
@pytest.mark.parametrize("odd", ODD, ids=["list", "object"])
def test_a_word_that_is_none(known: Known, odd: object) -> None:
    lines = file_lines(known.place)
    cases: dict[JsonPath, tuple[int, JsonPath]] = {}
    for index, line in enumerate(lines):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        for path in word_paths(value):
            kind = tuple(key for key in path if isinstance(key, str))
            cases[kind] = (index, path)
    for index, path in [*cases.values()][-_MAX_CASES:]:
        new = changed(json.loads(lines[index]), path, odd)
        chunk = decoded([*lines[:index], json.dumps(new).encode() + b"\n", *lines[index + 1 :]])
        try:
            assert detect(chunk, "test").read(chunk).n_lines == len(lines)
        except CompactctlError:
            continue


@each_known(WRITTEN)
def test_a_value_that_is_deep_or_has_many_digits(known: Known) -> None:
    for odd in chosen(sorted(HOSTILE), known.path, 4):
        for lines in hostile_lines(file_lines(known.place), odd, 3):
            with suppress(CompactctlError):
                check(detect(decoded(lines), "test"), lines)


@pytest.mark.parametrize("odd", ODD, ids=["list", "object"])
def test_the_role_of_an_item_in_memory(odd: object) -> None:
    item = {"type": "message", "role": odd, "content": [{"type": "input_text", "text": "hi"}]}
    with pytest.raises(CompactctlError):
        compact_messages([item], format="openai-responses", require_fit=True)


@pytest.mark.parametrize("odd", [*ODD, 1.5, None], ids=["list", "object", "number", "null"])
@pytest.mark.parametrize(
    "event",
    [
        {"choices": [{"index": 0, "delta": {"content": "a", "tool_calls": []}}]},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "a"},
        {"messageStart": {"role": "assistant"}},
    ],
)
def test_the_values_of_streamed_events(event: dict[str, Any], odd: object) -> None:
    paths = [path for path in all_paths(event) if path]
    for path in paths:
        assemble_answer([event, changed(event, path, odd)])


def all_paths(value: Any, path: JsonPath = ()) -> Iterator[JsonPath]:
    yield path
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield from all_paths(value[key], (*path, key))
