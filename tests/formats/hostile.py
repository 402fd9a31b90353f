"""Values that are deep or have many digits, put at the places of a session in turn."""

import json
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

from compactctl.model.message import JsonPath

_DIGITS = "1234567890" * 500
HOSTILE: Mapping[str, str] = {
    "array": "[" * 900 + "]" * 900,
    "object": '{"a":' * 900 + "1" + "}" * 900,
    "endless array": "[" * 50_000 + "]" * 50_000,
    "endless objects": '[{"a":' * 50_000 + "1" + "}]" * 50_000,
    "deepest": '[{"a":' * 90 + "1" + "}]" * 90,
    "digits": _DIGITS,
    "negative": f"-{_DIGITS}",
    "id": _DIGITS[:24],
    "exponent": "1e400",
    "negative exponent": "-1.5E+999999",
    "fraction": f"0.{_DIGITS}",
}
"""The JSON of each value."""
_PLACE = "hostile place"


def hostile_lines(
    lines: Sequence[bytes], odd: str, count: int, *, indent: int | None = None
) -> Iterator[list[bytes]]:
    """Yield ``count`` variants of a session with a hostile value at different places.

    It is there as JSON, as a text, or in a text.
    """
    random = Random(f"{odd} {len(lines)}")
    text = HOSTILE[odd]
    ways = (_PLACE, text, f'{{"a": {text}, "b": "x"}}')
    for _ in range(count):
        index = random.randrange(len(lines))
        try:
            record = json.loads(lines[index])
        except ValueError:
            continue
        _put(record, random.choice(list(_paths(record))), random.choice(ways))
        new = json.dumps(record, indent=indent).replace(f'"{_PLACE}"', text)
        yield [*lines[:index], new.encode() + b"\n", *lines[index + 1 :]]


def _put(value: Any, path: JsonPath, odd: str) -> None:
    for key in path[:-1]:
        value = value[key]
    value[path[-1]] = odd


def _paths(value: Any, path: JsonPath = ()) -> Iterator[JsonPath]:
    """Yield the paths of a record's values, and of one that each object lacks."""
    keys = (
        value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    )
    for key in keys:
        yield (*path, key)
        yield from _paths(value[key], (*path, key))
    if isinstance(value, dict):
        yield (*path, "zq_new")
