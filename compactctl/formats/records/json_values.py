"""Fields of records as the types that readers expect there: a file may hold any JSON value."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson


def text_or_none(value: object) -> str | None:
    """Return a text; None for an empty one, and for what is not text."""
    return value if isinstance(value, str) and value else None


def text_or_empty(value: object) -> str:
    """Return a text, empty for what is not text."""
    return value if isinstance(value, str) else ""


def object_or_empty(value: object) -> Mapping[str, Any]:
    """Return a JSON object, empty for what is not an object."""
    return value if isinstance(value, Mapping) else {}


def list_or_empty(value: object) -> list[Any]:
    """Return a JSON array, empty for what is not an array."""
    return value if isinstance(value, list) else []


def integer_or_none(value: object) -> int | None:
    """Return a whole number; None for anything else. JSON's true and false pass for 1 and 0."""
    return value if isinstance(value, int) else None


TOO_DEEP = "(nested too deeply to be shown)"


def json_text(value: object) -> str:
    """Return a JSON value as compact text; a string is returned as it is."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        # Lone surrogates, integers beyond 64 bits and deep nesting are refused by orjson.
        pass
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return TOO_DEEP


def json_size(value: object) -> int:
    """Return how many bytes a JSON value takes as compact text."""
    return len(json_text(value).encode("utf-8", "surrogatepass"))


_NAMES = ("timestamp", "ts")
# The end of the year 9999; what is later is not a time.
_MAX_TIME = 253_402_300_799.0
# As seconds a number this large would be in the year 5138: clients mean milliseconds.
_MILLISECONDS = 1e11


def record_time(record: Mapping[str, Any]) -> float | None:
    """Return when a record was written, in seconds since 1970; None when it does not say."""
    return next(
        (time for name in _NAMES if (time := parse_time(record.get(name))) is not None), None
    )


def parse_time(value: object) -> float | None:
    """Return a point in time in seconds since 1970.

    ``value`` is a text in ISO 8601, in UTC where it names no zone, or a number of seconds or of
    milliseconds; None stands for anything else.
    """
    try:
        found = _from_text(value) if isinstance(value, str) else _from_number(value)
    except (ValueError, OverflowError):
        return None
    return found if found is not None and 0 < found <= _MAX_TIME else None


def _from_text(text: str) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _from_number(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    number = float(value)
    return number / 1_000 if number >= _MILLISECONDS else number
