r"""JSON inside a JSON string: its unescaped text, and the position of each character in the line.

In ``{"messages":"[{\"role\":\"user\"}]"}`` the inner text is ``[{"role":"user"}]``. Edits are made
in the escaped text, so that every escape outside of an edit stays as it is.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

from compactctl.model.json_parser import parse_json

Span = tuple[int, int]

# Each match is one character: an escaped pair of surrogates, or any other escape.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL
)
MAX_PREFIX = 200
"""In characters, of a log prefix before the JSON of a line."""
# No quote or brace: the remains of a torn record have one and must not pass as a prefix.
_PREFIX = re.compile(r'[^"{}\0]{1,200}(?=\{)')
# A time of day, a level, server-sent events, or a service's name as Docker Compose writes it.
_LOG_MARK = re.compile(
    r"\d\d:\d\d|\b(?:trace|debug|info|notice|warn|warning|error|critical|fatal)\b"
    r"|\Adata:|\A[\w.-]+\s+\|",
    re.IGNORECASE | re.ASCII,
)
_PREFIX_ENDS = frozenset(" \t:|=]>")
# The field of a log driver's record that holds the line, and the fields beside it that identify the
# driver: Docker and Fluent Bit; Elastic's common schema and CloudWatch.
_DRIVER_FIELDS: Mapping[str, frozenset[str]] = {
    "log": frozenset({"stream", "time", "date", "kubernetes"}),
    "message": frozenset({"@timestamp", "ingestionTime", "logStreamName"}),
}
_DOCKER_KEYS = frozenset({"log", "stream", "time"})
_MESSAGE_KEYS = frozenset({"role", "messages", "content"})
# Saves parsing every line: a line without a match is not such a record.
_MAY_BE_DRIVER_RECORD = re.compile(r'"(?:log|message)"[ \t]*:[ \t]*"[ \t]*[\[{]')


class ValueLocation(NamedTuple):
    """The span of a JSON value in a line, and how many JSON strings it is nested in."""

    start: int
    end: int
    depth: int = 0

    @property
    def span(self) -> Span:
        """The start and the end, without the depth."""
        return self.start, self.end

    def cut(self, text: str) -> str:
        """Return the text of the value, escaped as it is in the line."""
        return text[self.start : self.end]


class QuotedJson:
    r"""The inside of a JSON string, from ``start`` to ``end`` of a text.

    For the string in ``{"a":"x\ny"}``, ``text`` is the 3 characters between the quotes, and
    ``outer_pos(2)`` is 9, where the ``y`` is.
    """

    def __init__(self, text: str, start: int, end: int) -> None:
        self._start = start
        self._inner: list[int] = []
        self._outer: list[int] = []
        shift = start
        for match in _ESCAPE.finditer(text, start, end):
            self._inner.append(match.start() - shift + 1)
            self._outer.append(match.end())
            shift += match.end() - match.start() - 1
        self.text = unescape(text[start:end], 1)

    def outer_pos(self, pos: int) -> int:
        """Return the position, in the text around it, of the character at ``pos``."""
        index = bisect_right(self._inner, pos) - 1
        return self._start + pos if index < 0 else self._outer[index] + pos - self._inner[index]

    def outer_location(self, location: ValueLocation) -> ValueLocation:
        """Return the location of a value in ``self.text`` in the text around it."""
        return ValueLocation(
            self.outer_pos(location.start), self.outer_pos(location.end), location.depth + 1
        )


def unescape(text: str, depth: int) -> str:
    """Undo ``depth`` levels of string escapes."""
    for _ in range(depth):
        text = scanstring(f'{text}"', 0, False)[0]  # noqa: FBT003 - its signature is positional
    return text


def escape(text: str, depth: int) -> str:
    """Escape a text as the inside of ``depth`` nested JSON strings; it must be valid UTF-8."""
    for _ in range(depth):
        text = json.dumps(text, ensure_ascii=False)[1:-1]
    return text


def spans_within(
    text: str, location: ValueLocation, scan: Callable[[str], list[Span]]
) -> list[Span]:
    """Run ``scan`` on the unescaped value at ``location``; return the spans found in ``text``."""
    if not location.depth:
        return [
            (location.start + start, location.start + end)
            for start, end in scan(location.cut(text))
        ]
    quoted = QuotedJson(text, location.start, location.end)
    inner = ValueLocation(0, len(quoted.text), location.depth - 1)
    spans = spans_within(quoted.text, inner, scan)
    return [(quoted.outer_pos(start), quoted.outer_pos(end)) for start, end in spans]


def prefix_length(head: str) -> int:
    """Return the length of a log prefix before the JSON of a line, 0 without one."""
    match = _PREFIX.match(head)
    if match is None or match[0][-1] not in _PREFIX_ENDS or not _LOG_MARK.search(match[0]):
        return 0
    return match.end()


def may_be_log_record(record: Mapping[str, Any]) -> bool:
    """Whether ``driver_field`` or ``docker_text`` may find a line in a record; a quick test."""
    return isinstance(record.get("log"), str) or isinstance(record.get("message"), str)


def driver_field(record: Mapping[str, Any]) -> str | None:
    """Return the field of a log driver's record that holds a JSON line; None for other records."""
    for name, companions in _DRIVER_FIELDS.items():
        text = record.get(name)
        if isinstance(text, str) and not companions.isdisjoint(record):
            is_line = _MESSAGE_KEYS.isdisjoint(record) and _is_container(text)
            return name if is_line else None
    return None


def docker_text(record: Mapping[str, Any]) -> str | None:
    """Return the logged line in a record of Docker, JSON or not; None for any other record."""
    text = record.get("log")
    is_docker = isinstance(text, str) and _DOCKER_KEYS <= record.keys() <= _DOCKER_KEYS | {"attrs"}
    return text if is_docker else None


def driver_field_in_line(text: str) -> str | None:
    """Parse a line and return its ``driver_field``; None where it has none or is no JSON."""
    if not _MAY_BE_DRIVER_RECORD.search(text):
        return None
    try:
        record = parse_json(text.lstrip("\ufeff \t\r\n"), strict=False)
    except ValueError:
        return None
    return driver_field(record) if isinstance(record, dict) else None


def _is_container(text: str) -> bool:
    try:
        return text.lstrip()[:1] in ("{", "[") and bool(parse_json(text, strict=False))
    except ValueError:
        return False
