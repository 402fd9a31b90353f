"""When a record was written, in whichever way clients say that."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

_NAMES = ("timestamp", "ts")
# The end of the year 9999; what is later is not a time.
_LAST = 253_402_300_799.0
# As seconds a number this large would be in the year 5138: clients mean milliseconds.
_MILLISECONDS = 1e11


def time_of(record: Mapping[str, Any]) -> float | None:
    """Return when a record was written, in seconds since 1970; None when it does not say."""
    return next((time for name in _NAMES if (time := seconds(record.get(name))) is not None), None)


def seconds(value: object) -> float | None:
    """Return a point in time in seconds since 1970.

    ``value`` is a text in ISO 8601, in UTC where it names no zone, or a number of seconds or of
    milliseconds; None stands for anything else.
    """
    try:
        found = _from_text(value) if isinstance(value, str) else _from_number(value)
    except (ValueError, OverflowError):
        return None
    return found if found is not None and 0 < found <= _LAST else None


def _from_text(text: str) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _from_number(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    number = float(value)
    return number / 1_000 if number >= _MILLISECONDS else number
