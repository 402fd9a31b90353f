"""The shapes that values read from files must have: what has another one is refused.

A shape is a function from such a value to the value of the model, or a ValueError that says where
and what is wrong. Nothing is converted on the way: ``true`` is not a number, nor is ``"3"``.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from math import isfinite
from typing import Any

Shape = Callable[[object], Any]

LARGEST = 2**63 - 1
"""The largest number that Parquet and other languages can hold."""


def text(value: object) -> str:
    """Take any string."""
    if not isinstance(value, str):
        raise _wrong("is not text")
    return value


def texts(value: object) -> tuple[str, ...]:
    """Take any list of strings."""
    if not isinstance(value, list):
        raise _wrong("is not a list of texts")
    return tuple(map(text, value))


def switch(value: object) -> bool:
    """Take true or false."""
    if not isinstance(value, bool):
        raise _wrong("is neither true nor false")
    return value


def spelled(pattern: re.Pattern[str]) -> Shape:
    """Return the shape of strings that are spelled like this from end to end."""

    def read(value: object) -> str:
        if not pattern.fullmatch(text(value)):
            raise ValueError(f"is not spelled like {pattern.pattern}")
        return text(value)

    return read


def word(value: object) -> str:
    """Take any string, and a number as one: 60000 is ``"60000"``."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _wrong("is not text")
    return str(value)


def whole(value: object) -> int:
    """Take any whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong("is not a whole number")
    return value


def count(value: object, most: int = LARGEST) -> int:
    """Take a whole number from 0 to ``most``."""
    if not 0 <= whole(value) <= most:
        raise ValueError("is negative or too large")
    return whole(value)


def count_to(most: int) -> Shape:
    """Return the shape of whole numbers from 0 to ``most``."""
    return partial(count, most=most)


def finite(value: object) -> float:
    """Take any number that fits a float; neither infinite nor ``nan``."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
            return value
    except OverflowError:
        raise ValueError("is too large") from None
    raise _wrong("is not a number")


def number(value: object, most: float) -> float:
    """Take a number from 0 to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise _wrong(f"is not a number from 0 to {most:,}")
    return float(value)


def share(value: object) -> float:
    """Take a number from 0 to 1."""
    return number(value, 1)


def one_of(*allowed: str) -> Shape:
    """Return the shape of these strings."""

    def read(value: object) -> str:
        if text(value) not in allowed:
            raise ValueError(f"is none of {', '.join(allowed)}")
        return text(value)

    return read


def optional(shape: Shape) -> Shape:
    """Return a shape that also takes null."""
    return lambda value: None if value is None else shape(value)


def scalar(value: object) -> str | int | float | bool | None:
    """Take anything that holds no other value; a number only if other languages can hold it."""
    if not isinstance(value, str | int | float | None):
        raise _wrong("is not a plain value")
    if isinstance(value, int) and abs(value) > LARGEST:
        raise ValueError("is too large")
    return value


def list_of(shape: Shape, most: int) -> Shape:
    """Return the shape of lists of at most ``most`` items, as a tuple."""

    def read(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _wrong("is not a list")
        if len(value) > most:
            raise ValueError(f"has {len(value):,} items, more than {most:,}")
        return tuple(shape(each) for each in value)

    return read


def any_list(value: object) -> tuple[object, ...]:
    """Take a list with any content."""
    if not isinstance(value, list):
        raise _wrong("is not a list")
    return tuple(value)


def any_table(value: object) -> Mapping[str, Any]:
    """Take a table with any content."""
    if not isinstance(value, dict):
        raise _wrong("is not a table")
    return value


def json_object(value: object) -> dict[str, Any]:
    """Take an object with any content."""
    if not isinstance(value, dict):
        raise _wrong("is not an object")
    return value


def mapping_of(shape: Shape) -> Shape:
    """Return the shape of objects with any names."""
    return lambda value: {name: _at(name, shape, each) for name, each in json_object(value).items()}


def record(kind: Callable[..., Any], shapes: Mapping[str, Shape]) -> Shape:
    """Return the shape of objects with these names, which are the arguments of ``kind``.

    A name that is not among them is refused, as is a missing one that ``kind`` insists on.
    """

    def read(value: object) -> Any:  # noqa: ANN401 - whatever kind makes
        found = json_object(value)
        for name in found:
            if name not in shapes:
                raise ValueError(f"{name[:40]!r} is not known")
        fields = {name: _at(name, shapes[name], each) for name, each in found.items()}
        try:
            return kind(**fields)
        except TypeError as error:
            raise ValueError("a field is missing") from error

    return read


def _at(name: str, shape: Shape, value: object) -> Any:  # noqa: ANN401 - whatever shape makes
    try:
        return shape(value)
    except ValueError as error:
        raise ValueError(f"{name[:40]}: {error}") from error


def _wrong(why: str) -> ValueError:
    """Return what every shape raises, also for a value of another type."""
    return ValueError(why)
