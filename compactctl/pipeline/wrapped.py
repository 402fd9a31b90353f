r"""One layer that a logger or a container put around the JSON of each line.

Either words before it, as in ``2026-01-01 12:00:00 INFO {"role":"user"}``, or a record of a log
driver with the JSON as a text in it, as in ``{"log":"{\"role\":\"user\"}\n","stream":"stdout"}``.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

LONGEST_PREFIX = 200
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
