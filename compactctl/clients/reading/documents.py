"""Read small JSON files, and single values from a part of a large file."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from compactctl.clients.records.decode import decode
from compactctl.clients.records.json_values import list_or_empty, object_or_empty
from compactctl.model.json_parser import BoundedDecoder
from compactctl.store.beginning import read_beginning

MAX_BYTES = 1 << 20
"""Bytes to read at most of a small file."""
# A bracket, a string, with a colon the name of a member, or a string that does not end.
_TOKEN = re.compile(r'[\[\]{}]|"(?P<text>(?>(?:[^"\\]|\\.)*))"(?P<colon>\s*:\s*)?|"', re.DOTALL)
_QUOTE = re.compile(r'\\.|"', re.DOTALL)
_SEPARATORS = re.compile(r"[\s,]*")
_DECODER = BoundedDecoder()


def read_small_object(path: Path) -> Mapping[str, Any]:
    """Return the JSON object in a small file; {} for any other content or no file."""
    return object_or_empty(_read_first_value(path))


def read_small_array(path: Path) -> list[Any]:
    """Return the JSON array in a small file; [] for any other content or no file."""
    return list_or_empty(_read_first_value(path))


def _read_first_value(path: Path) -> object:
    values, _ = decode(read_beginning(path, MAX_BYTES) or b"")
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


IN_DOCUMENT, IN_MESSAGE = 1, 3
"""The depths of members of a document, and of objects in its array of messages."""


class Members:
    """The members of the objects in a piece of a JSON document, by their depth in it.

    What has the same name at another depth, such as an argument of a call, is another member.
    """

    def __init__(self, text: str, members: Iterable[tuple[int, str, int]]) -> None:
        self._text = text
        self._starts: dict[tuple[int, str], list[int]] = defaultdict(list)
        for depth, name, start in members:
            self._starts[depth, name].append(start)

    @classmethod
    def of_beginning(cls, data: bytes) -> "Members":
        """Return the members in the beginning of a document, or in all of it."""
        text = data.decode("utf-8", "replace")
        return cls(text, _members(text, 0)[0])

    @classmethod
    def of_end(cls, data: bytes) -> "Members":
        """Return the members in the end of a document, none of one that was cut off.

        Depths are counted from the last bracket. The end begins in a string if the number of quotes
        is odd.
        """
        text = data.decode("utf-8", "replace").rstrip(" \t\r\n\0")
        if not text.endswith("}"):
            return cls(text, ())
        quotes = [match.end() for match in _QUOTE.finditer(text) if match[0] == '"']
        members, end = _members(text, quotes[0] if len(quotes) % 2 else 0)
        return cls(text, ((depth - end, name, start) for depth, name, start in members))

    def last(self, depth: int, name: str) -> object:
        """Return the last complete value under a name at a depth that is not null, or None."""
        values = (_value_at(self._text, start) for start in reversed(self._starts[depth, name]))
        return next((value for value in values if value is not None), None)


def _members(text: str, start: int) -> tuple[list[tuple[int, str, int]], int]:
    """Return the depth, name and value's start of the members in a text, and the depth at its end.

    The depth at the start is 0. A string that does not end is the last of the text.
    """
    members: list[tuple[int, str, int]] = []
    depth = 0
    for match in _TOKEN.finditer(text, start):
        sign = match[0]
        if sign in "[{":
            depth += 1
        elif sign in "]}":
            depth -= 1
        elif match["colon"]:
            members.append((depth, match["text"], match.end()))
        elif sign == '"':
            break
    return members, depth


def _find_key(text: str, key: str) -> Iterator[re.Match[str]]:
    # Within a string, the key's quotation mark follows a backslash.
    return re.finditer(rf'(?<!\\)"{re.escape(key)}"\s*:\s*', text)


def _value_at(text: str, start: int) -> object:
    try:
        return _DECODER.raw_decode(text, start)[0]
    except ValueError:
        return None
