"""Read JSON values as the types that a reader expects; a file may hold any value anywhere."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

OBJECT = (dict, Mapping)
"""The types of a JSON object. Nearly all are dicts, and to test for those is ten times as fast."""


def text_or_none(value: object) -> str | None:
    """Return a non-empty text; None for anything else."""
    return value if isinstance(value, str) and value else None


def text_or_empty(value: object) -> str:
    """Return a text; "" for anything else."""
    return value if isinstance(value, str) else ""


def object_or_empty(value: object) -> Mapping[str, Any]:
    """Return a JSON object; {} for anything else."""
    return value if isinstance(value, OBJECT) else {}


def list_or_empty(value: object) -> list[Any]:
    """Return a JSON array; [] for anything else."""
    return value if isinstance(value, list) else []


def integer_or_none(value: object) -> int | None:
    """Return an integer; None for anything else. JSON's true and false count as 1 and 0."""
    return value if isinstance(value, int) else None


# As JSON spells a number that is not negative; one with more digits counts no tokens.
_NUMBER = re.compile(r"\d{1,16}(?:\.\d{1,99})?(?:e\+?\d{1,2})?", re.ASCII | re.IGNORECASE)
_MAX_COUNT = 10**16


def count_or_none(value: object) -> int | None:
    """Return a number of tokens; None for anything that is not one.

    Tables and databases turn 120000 into 120000.0, 1.2e5 or "120000.0": all of these are read.
    """
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = int(value) if value.isdecimal() else float(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return round(value) if 0 <= value < _MAX_COUNT else None


TOO_DEEP = "(nested too deeply to be shown)"


def json_text(value: object) -> str:
    """Return a JSON value as compact text; a string is returned unchanged."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        # orjson rejects lone surrogates, integers beyond 64 bits and deep nesting.
        pass
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return TOO_DEEP


def utf16_units(text: str) -> int:
    """Return how long a text is where characters above U+FFFF count twice, as in JavaScript."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def json_size(value: object) -> int:
    """Return the size of a JSON value as compact text, in bytes."""
    return len(json_text(value).encode("utf-8", "surrogatepass"))


_TIME_KEYS = ("timestamp", "ts")
# The end of the year 9999.
_MAX_TIME = 253_402_300_799.0
# In seconds this would be the year 5138, so larger numbers are milliseconds.
_MIN_MILLISECONDS = 1e11


def record_time(record: Mapping[str, Any]) -> float | None:
    """Return when a record was written, in seconds since 1970, or None."""
    for name in _TIME_KEYS:
        time = parse_time(record[name]) if name in record else None
        if time is not None:
            return time
    return None


def parse_time(value: object) -> float | None:
    """Parse a time into seconds since 1970; None if ``value`` is not a time.

    ``value`` is a text in ISO 8601, in UTC unless it names a zone, or a number of seconds or
    milliseconds.
    """
    try:
        time = _from_text(value) if isinstance(value, str) else _from_number(value)
    except (ValueError, OverflowError):
        return None
    return time if time is not None and 0 < time <= _MAX_TIME else None


def time_text(value: object) -> str:
    """Return what ``parse_time`` parses in ISO 8601, in UTC; "" if it is not a time."""
    time = parse_time(value)
    if time is None:
        return ""
    text = datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _from_text(text: str) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _from_number(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    number = float(value)
    return number / 1_000 if number >= _MIN_MILLISECONDS else number
