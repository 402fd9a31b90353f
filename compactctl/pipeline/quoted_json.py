r"""JSON inside a text: what it says, and where each of its characters is spelled in that text.

In ``{"messages":"[{\"role\":\"user\"}]"}`` the array says ``[{"role":"user"}]``. Edits are made
where the characters are spelled, so that every escape that no edit is about stays as it is.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

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


MAX_PREFIX = 200
"""In characters, of what stands before the JSON of a line."""
# What is left of a torn record has a quote or a bracket in it.
_PREFIX = re.compile(r'[^"{}\0]{1,200}(?=\{)')
# A time of day, a level, server-sent events, or a service's name as Docker Compose writes it.
_MARK = re.compile(
    r"\d\d:\d\d|\b(?:trace|debug|info|notice|warn|warning|error|critical|fatal)\b"
    r"|\Adata:|\A[\w.-]+\s+\|",
    re.IGNORECASE | re.ASCII,
)
_LAST = frozenset(" \t:|=]>")
# Which field of a log driver's record holds the line, and what stands beside it: Docker and Fluent
# Bit; Elastic's common schema and CloudWatch.
_DRIVERS: Mapping[str, frozenset[str]] = {
    "log": frozenset({"stream", "time", "date", "kubernetes"}),
    "message": frozenset({"@timestamp", "ingestionTime", "logStreamName"}),
}
_DOCKER = frozenset({"log", "stream", "time"})
_OF_MESSAGES = frozenset({"role", "messages", "content"})
# No other line needs to be parsed to tell that it is not such a record.
_LIKELY = re.compile(r'"(?:log|message)"[ \t]*:[ \t]*"[ \t]*[\[{]')


def prefix_length(head: str) -> int:
    """Return how many characters of a line stand before its JSON, 0 where nothing does."""
    found = _PREFIX.match(head)
    if found is None or found[0][-1] not in _LAST or not _MARK.search(found[0]):
        return 0
    return found.end()


def driver_field(record: Mapping[str, Any]) -> str | None:
    """Return which field of a log driver's record holds a line of JSON; None for other records."""
    for name, beside in _DRIVERS.items():
        text = record.get(name)
        if isinstance(text, str) and not beside.isdisjoint(record):
            is_whole = _OF_MESSAGES.isdisjoint(record) and _is_container(text)
            return name if is_whole else None
    return None


def docker_text(record: Mapping[str, Any]) -> str | None:
    """Return what a record of Docker holds, whatever that is; None for any other record."""
    text = record.get("log")
    is_docker = isinstance(text, str) and _DOCKER <= record.keys() <= _DOCKER | {"attrs"}
    return text if is_docker else None


def driver_field_of(text: str) -> str | None:
    """Return the same of a line that holds a record."""
    if not _LIKELY.search(text):
        return None
    try:
        record = json.loads(text.lstrip("\ufeff \t\r\n"), strict=False)
    except (ValueError, RecursionError):
        return None
    return driver_field(record) if isinstance(record, dict) else None


def _is_container(text: str) -> bool:
    try:
        return text.lstrip()[:1] in ("{", "[") and bool(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return False
