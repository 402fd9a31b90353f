"""Values in the text of a JSON document of which only a part was read."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from compactctl.formats.records.decode import decode
from compactctl.formats.records.json_values import list_or_empty, object_or_empty

MAX_BYTES = 1 << 20
"""Documents that describe a session are read whole up to this size, in bytes."""
_SEPARATORS = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder()


def read_small_object(path: Path) -> Mapping[str, Any]:
    """Return a small JSON object in a file; an empty one for anything else, and for no file."""
    return object_or_empty(_value_in(path))


def read_small_array(path: Path) -> list[Any]:
    """Return a small JSON array in a file; an empty one for anything else, and for no file."""
    return list_or_empty(_value_in(path))


def _value_in(path: Path) -> object:
    try:
        with path.open("rb") as stream:
            values, _ = decode(stream.read(MAX_BYTES))
    except OSError:
        return None
    return values[0] if values else None


def iter_values(data: bytes, key: str) -> Iterator[Any]:
    """Yield the whole values that stand under a key anywhere in a piece of JSON, in order."""
    text = data.decode("utf-8", "replace")
    for match in _places(text, key):
        value = _value_at(text, match.end())
        if value is not None:
            yield value


def iter_items(data: bytes, key: str) -> Iterator[Any]:
    """Yield the elements of the first list under a key as far as they are whole, in order."""
    text = data.decode("utf-8", "replace")
    place = next(_places(text, key), None)
    at = place.end() if place and text.startswith("[", place.end()) else len(text)
    while (start := _SEPARATORS.match(text, at + 1)) is not None:
        try:
            value, end = _DECODER.raw_decode(text, start.end())
        except (ValueError, RecursionError):
            return
        yield value
        at = end - 1


def first_value(data: bytes, key: str) -> object:
    """Return the first whole value under a key; None when there is none."""
    return next(iter_values(data, key), None)


def last_value(data: bytes, key: str) -> object:
    """Return the last whole value under a key; None when there is none."""
    text = data.decode("utf-8", "replace")
    found = (_value_at(text, match.end()) for match in reversed(list(_places(text, key))))
    return next((value for value in found if value is not None), None)


def _places(text: str, key: str) -> Iterator[re.Match[str]]:
    # A key inside of a text has a backslash before its quotation mark.
    return re.finditer(rf'(?<!\\)"{re.escape(key)}"\s*:\s*', text)


def _value_at(text: str, start: int) -> object:
    try:
        return _DECODER.raw_decode(text, start)[0]
    except (ValueError, RecursionError):
        return None
