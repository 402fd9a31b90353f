"""Validators for values that are read from files.

A validator is a function that returns the value for the model, or raises a ValueError that says
where and what is wrong. It converts nothing: neither ``true`` nor ``"3"`` is a number. The
validators of a record's fields follow from its annotations; only bounds are spelled out::

    object_of(Digest, field_validators(Digest, n_bytes=int_up_to(2**50)))
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import isfinite
from types import MappingProxyType, UnionType
from typing import Any, Literal, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

from compactctl.errors import UsageError, suggestion
from compactctl.records import Record

T = TypeVar("T")
Validator = Callable[[object], Any]

MAX_INT64 = 2**63 - 1
"""The largest integer that Parquet and most languages can hold."""


def string(value: object) -> str:
    """Accept any string."""
    if not isinstance(value, str):
        raise _invalid("is not text")
    return value


def string_list(value: object) -> tuple[str, ...]:
    """Accept any list of strings."""
    if not isinstance(value, list):
        raise _invalid("is not a list of texts")
    return tuple(map(string, value))


def boolean(value: object) -> bool:
    """Accept true and false."""
    if not isinstance(value, bool):
        raise _invalid("is neither true nor false")
    return value


def matching(pattern: re.Pattern[str]) -> Validator:
    """Accept strings that match all of ``pattern``."""

    def read(value: object) -> str:
        if not pattern.fullmatch(string(value)):
            raise ValueError(f"is not spelled like {pattern.pattern}")
        return string(value)

    return read


def string_or_number(value: object) -> str:
    """Accept any string or number; 60000 becomes ``"60000"``."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _invalid("is not text")
    return str(value)


def integer(value: object) -> int:
    """Accept any integer."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise _invalid("is not a whole number")
    return value


def non_negative_int(value: object, maximum: int = MAX_INT64) -> int:
    """Accept an integer from 0 to ``maximum``."""
    if not 0 <= integer(value) <= maximum:
        raise ValueError("is negative or too large")
    return integer(value)


def int_up_to(maximum: int) -> Validator:
    """Accept integers from 0 to ``maximum``."""
    return partial(non_negative_int, maximum=maximum)


def finite_number(value: object) -> float:
    """Accept any number that fits into a float, but neither infinity nor NaN."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
            return value
    except OverflowError:
        raise ValueError("is too large") from None
    raise _invalid("is not a number")


def number(value: object, maximum: float) -> float:
    """Accept a number from 0 to ``maximum``."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= maximum:
        raise _invalid(f"is not a number from 0 to {maximum:,}")
    return float(value)


def fraction(value: object) -> float:
    """Accept a number from 0 to 1."""
    return number(value, 1)


def one_of(*allowed: str) -> Validator:
    """Accept these strings."""

    def read(value: object) -> str:
        if string(value) not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return string(value)

    return read


def optional(validator: Validator) -> Validator:
    """Accept null beside what ``validator`` accepts."""
    return lambda value: None if value is None else validator(value)


def scalar(value: object) -> str | int | float | bool | None:
    """Accept strings, numbers, booleans and null; integers only if they fit into 64 bits."""
    if not isinstance(value, str | int | float | None):
        raise _invalid("is not a plain value")
    if isinstance(value, int) and abs(value) > MAX_INT64:
        raise ValueError("is too large")
    return value


def list_of(validator: Validator, max_items: int) -> Validator:
    """Accept lists of at most ``max_items`` items; return a tuple."""

    def read(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _invalid("is not a list")
        if len(value) > max_items:
            raise ValueError(f"has {len(value):,} items, more than {max_items:,}")
        return tuple(map(validator, value))

    return read


def any_list(value: object) -> tuple[object, ...]:
    """Accept any list; return a tuple."""
    if not isinstance(value, list):
        raise _invalid("is not a list")
    return tuple(value)


def any_table(value: object) -> Mapping[str, Any]:
    """Accept any TOML table."""
    if not isinstance(value, dict):
        raise _invalid("is not a table")
    return value


def json_object(value: object) -> dict[str, Any]:
    """Accept any JSON object."""
    if not isinstance(value, dict):
        raise _invalid("is not an object")
    return value


def dict_of(validator: Validator) -> Validator:
    """Accept objects whose values ``validator`` accepts, with any names."""
    return lambda value: {
        name: _at(name, validator, item) for name, item in json_object(value).items()
    }


def object_of(
    kind: Callable[..., Any],
    validators: Mapping[str, Validator],
    names: Mapping[str, str] = MappingProxyType({}),
) -> Validator:
    """Accept objects with these fields; return ``kind`` called with them.

    ``names`` maps a field to its name in the object where that differs. An unknown name is refused,
    as is a missing field that ``kind`` requires.
    """
    fields = {names.get(field, field): field for field in validators}

    def read(value: object) -> object:
        items = json_object(value)
        for name in items:
            if name not in fields:
                raise ValueError(f"{name[:40]!r} is not known")
        values = {
            fields[name]: _at(name, validators[fields[name]], item) for name, item in items.items()
        }
        return build(kind, values)

    return read


def build(kind: Callable[..., T], values: Mapping[str, Any]) -> T:
    """Call ``kind`` with ``values``. Raises ValueError if an argument is missing."""
    try:
        return kind(**values)
    except TypeError as error:
        raise ValueError("a field is missing") from error


def field_validators(kind: Callable[..., Any], **others: Validator) -> dict[str, Validator]:
    """Derive the validators of a record's fields from its annotations, except for ``others``.

    An ``int`` must not be negative, a ``float`` is from 0 to 1, and a list of ``Literal`` has at
    most as many items as there are choices.
    """
    return {
        name: others.get(name) or _validator_of(hint) for name, hint in get_type_hints(kind).items()
    }


def _validator_of(hint: Any) -> Validator:  # noqa: ANN401 - annotations have no type in common
    if isinstance(hint, NewType):
        return _validator_of(hint.__supertype__)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return one_of(*arguments)
    if origin is tuple:
        choices = get_args(arguments[0])
        return list_of(one_of(*choices), max_items=len(choices)) if choices else string_list
    if origin in (Union, UnionType):
        return optional(_validator_of(arguments[0]))
    return _OF_TYPES[hint]


_OF_TYPES: Mapping[type, Validator] = {
    str: string,
    int: non_negative_int,
    bool: boolean,
    float: fraction,
}


def _at(name: str, validator: Validator, value: object) -> object:
    try:
        return validator(value)
    except ValueError as error:
        raise ValueError(f"{name[:40]}: {error}") from error


def _invalid(why: str) -> ValueError:
    # A ValueError also for a wrong type, for which linters would have TypeError.
    return ValueError(why)


Default = TypeVar("Default")


class SettingsTable(Record, kw_only=False):
    """The entries of a TOML table; ``location`` is how an error about one of them begins."""

    entries: Mapping[str, object]
    location: str = ""

    def get(self, key: str, validator: Callable[[object], T], default: Default) -> T | Default:
        """Return the validated value of ``key``, or ``default`` if the table lacks it.

        Raises UsageError if ``validator`` raises ValueError.
        """
        if key not in self.entries:
            return default
        return validate_value(f"{self.location}{key} = ", validator, self.entries[key])


def validate_value(location: str, validator: Callable[[object], T], value: object) -> T:
    """Return the validated value. Raises UsageError, which begins with ``location``."""
    try:
        return validator(value)
    except ValueError as error:
        raise UsageError(f"{location}{value!r} {error}") from error


def check_keys(entries: Iterable[str], keys: Iterable[str], where: str, remark: str = "") -> None:
    """Raise UsageError for the first entry that is not among ``keys``; ``where`` names the table.

    ``remark`` is shown if the entry resembles no key.
    """
    names = sorted(keys)
    unlike = "; ".join(filter(None, (f"there are {', '.join(names)}", remark)))
    for key in entries:
        if key not in names:
            hint = suggestion(key, names, unlike)
            raise UsageError(f"{where} has no key {key!r}; {hint}")
