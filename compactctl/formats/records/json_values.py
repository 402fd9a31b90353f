"""Fields of records as the types that readers expect there: a file may hold any JSON value."""

from collections.abc import Mapping
from typing import Any


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
