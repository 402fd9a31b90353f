"""Read small JSON files, and single values from a part of a large file."""

import re
from collections.abc import Iterator, Mapping
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from compactctl.clients.records.decode import decode
from compactctl.clients.records.json_values import list_or_empty, object_or_empty
from compactctl.model.json_parser import BoundedDecoder

MAX_BYTES = 1 << 20
"""Bytes to read at most of a small file."""
# How many of the last keys are tried, of the braces before each, and how often a text is decoded.
_MAX_KEYS, _MAX_ENCLOSING, _MAX_DECODED = 20, 200, 32
_SEPARATORS = re.compile(r"[\s,]*")
_DECODER = BoundedDecoder()


def read_small_object(path: Path) -> Mapping[str, Any]:
    """Return the JSON object in a small file; {} for any other content or no file."""
    return object_or_empty(_read_first_value(path))


def read_small_array(path: Path) -> list[Any]:
    """Return the JSON array in a small file; [] for any other content or no file."""
    return list_or_empty(_read_first_value(path))


def _read_first_value(path: Path) -> object:
    try:
        with path.open("rb") as stream:
            values, _ = decode(stream.read(MAX_BYTES))
    except OSError:
        return None
    return values[0] if values else None


def iter_values(data: bytes, key: str) -> Iterator[Any]:
    """Yield the complete values under a key, at any depth of a piece of JSON, in order."""
    text = data.decode("utf-8", "replace")
    for match in _find_key(text, key):
        value = _value_at(text, match.end())
        if value is not None:
            yield value


def iter_items(data: bytes, key: str) -> Iterator[Any]:
    """Yield the elements of the array under the first such key, up to the first incomplete one."""
    text = data.decode("utf-8", "replace")
    match = next(_find_key(text, key), None)
    if match is None or not text.startswith("[", match.end()):
        return
    pos = match.end() + 1
    while (start := _SEPARATORS.match(text, pos)) is not None:
        try:
            value, pos = _DECODER.raw_decode(text, start.end())
        except ValueError:
            return
        yield value


def first_value(data: bytes, key: str) -> object:
    """Return the first complete value under a key, or None."""
    return next(iter_values(data, key), None)


def last_value(data: bytes, key: str) -> object:
    """Return the last complete value under a key, or None."""
    text = data.decode("utf-8", "replace")
    values = (_value_at(text, match.end()) for match in reversed(list(_find_key(text, key))))
    return next((value for value in values if value is not None), None)


def last_field(tail: bytes, key: str) -> object:
    """Return the last complete value under a key of the document that ends with ``tail``, or None.

    What follows such a field closes the document; a field of a value inside of it does not.
    """
    text = tail.decode("utf-8", "replace").rstrip()
    for match in reversed(_last_keys(text, key)):
        try:
            fields, end = _DECODER.raw_decode("{" + text[match.start() :])
        except ValueError:
            continue
        if match.start() + end == len(text) + 1:
            return fields[key]
    return None


def newest_object(tail: bytes, key: str, **fields: str) -> Mapping[str, Any]:
    """Return the last complete object with a key and these fields of its own; {} if there is none.

    Other objects in it, such as the arguments of a call, may have the same key.
    """
    text = tail.decode("utf-8", "replace")
    remaining = _MAX_DECODED * len(text)
    for match in reversed(_last_keys(text, key)):
        for start in _braces_before(text, match.start()):
            value, end = _object_at(text, start)
            remaining -= end - start
            is_around = end > match.start() and key in value
            if is_around and all(value.get(name) == field for name, field in fields.items()):
                return value
            if remaining < 0:
                return {}
    return {}


def _braces_before(text: str, pos: int) -> Iterator[int]:
    """Yield the last opening braces before a position, the innermost first."""
    for _ in range(_MAX_ENCLOSING):
        pos = text.rfind("{", 0, pos)
        if pos < 0:
            return
        yield pos


def _object_at(text: str, start: int) -> tuple[Mapping[str, Any], int]:
    """Return the object at a brace, {} if it is none, and how far the text was read."""
    try:
        return _DECODER.raw_decode(text, start)
    except JSONDecodeError as error:
        return {}, error.pos
    except ValueError:
        return {}, len(text)


def _last_keys(text: str, key: str) -> list[re.Match[str]]:
    return list(_find_key(text, key))[-_MAX_KEYS:]


def _find_key(text: str, key: str) -> Iterator[re.Match[str]]:
    # Within a string, the key's quotation mark follows a backslash.
    return re.finditer(rf'(?<!\\)"{re.escape(key)}"\s*:\s*', text)


def _value_at(text: str, start: int) -> object:
    try:
        return _DECODER.raw_decode(text, start)[0]
    except ValueError:
        return None
