"""An odd value in any field of any format is read or refused, and is no internal error.

A change is tried with a few of the fields; COMPACTCTL_LONG_TESTS=1 tries all of them.
"""

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from cli.asking import DOCUMENTED, Ask
from formats.jsonl import file_lines
from real.choice import SMALLEST, chosen, name_of

from compactctl.model.message import JsonPath

_MISSING = object()
ODD: Sequence[tuple[str, object]] = (
    ("object", {"n": 1}),
    ("list", ["a"]),
    ("empty object", {}),
    ("empty list", []),
    ("nested list", [[None]]),
    ("other block", {"type": "tool-call", "toolCallId": "x", "toolName": "g", "input": {}}),
    ("number", 7),
    ("huge number", 2**80),
    ("huge float", 1e300),
    ("negative", -1.5),
    ("true", True),
    ("null", None),
    ("empty", ""),
    ("half a character", "\ud800"),
    ("controls", "\x1b]0;a\x07\x9b\n\u202e"),
    ("missing", _MISSING),
)
_ALL_STAGES = "dedup,prune,summarize,truncate,strip,repair"
COMMANDS = (
    ("stats", "--details"),
    ("check",),
    ("view", "--all"),
    ("compact", "--in-place", "--stages", _ALL_STAGES, "--keep-turns", "1"),
    ("log",),
    ("rewind",),
)
# The fields whose values readers look up, or take for another type most easily.
NAMES = frozenset({"role", "type", "name", "id", "model", "content", "input", "arguments", "usage"})


def paths_of(value: Any, path: JsonPath = ()) -> Iterator[JsonPath]:
    """Yield the paths of all values in a record but itself."""
    if path:
        yield path
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield from paths_of(value[key], (*path, key))


def fields_of(lines: Sequence[bytes]) -> list[tuple[int, JsonPath]]:
    """Return the line and path of the last value of each field, wherever it is in lists."""
    fields: dict[JsonPath, tuple[int, JsonPath]] = {}
    for index, line in enumerate(lines):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        for path in paths_of(record):
            names = tuple(key for key in path if isinstance(key, str))
            fields[names] = (index, path)
    return list(fields.values())


def with_value(line: bytes, path: JsonPath, value: object) -> bytes:
    """Return a line with another value at ``path``."""
    record = deepcopy(json.loads(line))
    holder = record
    for key in path[:-1]:
        holder = holder[key]
    if value is _MISSING:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return json.dumps(record).encode() + b"\n"


@pytest.mark.parametrize("path", SMALLEST, ids=name_of)
def test_no_internal_error(ask: Ask, tmp_path: Path, path: Path) -> None:
    lines = file_lines(path)
    fields = fields_of(lines)
    named = [field for field in fields if field[1][-1] in NAMES]
    ways = [
        *chosen([(field, odd) for field in named for odd in ODD], name_of(path), 3),
        *chosen([(field, odd) for field in fields for odd in ODD], name_of(path), 2),
    ]
    file = tmp_path / path.name
    for (index, place), (name, value) in ways:
        changed = with_value(lines[index], place, value)
        before = b"".join([*lines[:index], changed, *lines[index + 1 :]])
        file.write_bytes(before)
        for command, *options in COMMANDS:
            outcome = ask(command, file, *options)
            case = (place, name, command, outcome.err)
            assert outcome.code in DOCUMENTED, case
            assert not controls_in(outcome.out + outcome.err), case
        assert file.read_bytes() == before, (place, name)


def controls_in(text: str) -> list[str]:
    """Return the characters of a text that control a terminal."""
    return [letter for letter in text if letter in _CONTROLS]


_CONTROLS = frozenset(map(chr, (*range(9), *range(11, 32), *range(127, 160), 0x202E)))
