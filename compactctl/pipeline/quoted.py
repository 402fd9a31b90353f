r"""JSON inside a text: what it says, and where each of its characters is spelled in that text.

In ``{"messages":"[{\"role\":\"user\"}]"}`` the array says ``[{"role":"user"}]``. Edits are made
where the characters are spelled, so that every escape that no edit is about stays as it is.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import NamedTuple

Span = tuple[int, int]

# A pair of surrogates is one character; every other escape is one as well.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL
)


class ValuePlace(NamedTuple):
    """Where a JSON value stands in a line, and within how many texts: 0 for none."""

    start: int
    end: int
    depth: int = 0

    @property
    def span(self) -> Span:
        """Where it starts and ends in the line."""
        return self.start, self.end

    def cut(self, text: str) -> str:
        """Return the value as the line spells it."""
        return text[self.start : self.end]


class Quoted:
    """What is spelled from ``start`` to ``end`` of a text, which is inside quotes there."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self._start = start
        self._inner: list[int] = []
        self._outer: list[int] = []
        shift = start
        for escape in _ESCAPE.finditer(text, start, end):
            self._inner.append(escape.start() - shift + 1)
            self._outer.append(escape.end())
            shift += escape.end() - escape.start() - 1
        self.text = plain(text[start:end], 1)

    def outer(self, at: int) -> int:
        """Return where the character at a place in ``text`` is spelled."""
        number = bisect_right(self._inner, at) - 1
        return self._start + at if number < 0 else self._outer[number] + at - self._inner[number]

    def place(self, place: ValuePlace) -> ValuePlace:
        """Return where a value in ``text`` is spelled."""
        return ValuePlace(self.outer(place.start), self.outer(place.end), place.depth + 1)


def plain(text: str, depth: int) -> str:
    """Return what is spelled within so many texts."""
    for _ in range(depth):
        text = scanstring(f'{text}"', 0, False)[0]  # noqa: FBT003 - its signature is positional
    return text


def spelled(text: str, depth: int) -> str:
    """Return how a text that can be encoded as UTF-8 is spelled within so many texts."""
    for _ in range(depth):
        text = json.dumps(text, ensure_ascii=False)[1:-1]
    return text


def spans_within(text: str, place: ValuePlace, scan: Callable[[str], list[Span]]) -> list[Span]:
    """Return where the spans that ``scan`` finds in the value at a place are spelled."""
    if not place.depth:
        return [(place.start + at, place.start + end) for at, end in scan(place.cut(text))]
    quoted = Quoted(text, place.start, place.end)
    inner = ValuePlace(0, len(quoted.text), place.depth - 1)
    spans = spans_within(quoted.text, inner, scan)
    return [(quoted.outer(at), quoted.outer(end)) for at, end in spans]
