"""Validators of values that are read from files: what is not as it must be is refused.

A validator is a function from such a value to the value of the model, or a ValueError that says
where and what is wrong. Nothing is converted on the way: ``true`` is not a number, nor is ``"3"``.
Those of a record's fields follow from its annotations; only what has bounds is spelled out::

    object_of(Digest, field_validators(Digest, n_bytes=int_up_to(2**50)))
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from math import isfinite
from types import MappingProxyType, UnionType
from typing import Any, Literal, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

from compactctl.errors import UsageError, suggestion

T = TypeVar("T")
Validator = Callable[[object], Any]

MAX_INT64 = 2**63 - 1
"""The largest number that Parquet and other languages can hold."""


def string(value: object) -> str:
    """Take any string."""
    if not isinstance(value, str):
        raise _invalid("is not text")
    return value


def string_list(value: object) -> tuple[str, ...]:
    """Take any list of strings."""
    if not isinstance(value, list):
        raise _invalid("is not a list of texts")
    return tuple(map(string, value))


def boolean(value: object) -> bool:
    """Take true or false."""
    if not isinstance(value, bool):
        raise _invalid("is neither true nor false")
    return value


def matching(pattern: re.Pattern[str]) -> Validator:
    """Return the validator of strings that match the pattern from end to end."""

    def read(value: object) -> str:
        if not pattern.fullmatch(string(value)):
            raise ValueError(f"is not spelled like {pattern.pattern}")
        return string(value)

    return read


def string_or_number(value: object) -> str:
    """Take any string, and a number as one: 60000 is ``"60000"``."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _invalid("is not text")
    return str(value)


def integer(value: object) -> int:
    """Take any whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise _invalid("is not a whole number")
    return value


def non_negative_int(value: object, most: int = MAX_INT64) -> int:
    """Take a whole number from 0 to ``most``."""
    if not 0 <= integer(value) <= most:
        raise ValueError("is negative or too large")
    return integer(value)


def int_up_to(most: int) -> Validator:
    """Return the validator of whole numbers from 0 to ``most``."""
    return partial(non_negative_int, most=most)


def finite_number(value: object) -> float:
    """Take any number that fits a float; neither infinite nor ``nan``."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
            return value
    except OverflowError:
        raise ValueError("is too large") from None
    raise _invalid("is not a number")


def number(value: object, most: float) -> float:
    """Take a number from 0 to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        raise _invalid(f"is not a number from 0 to {most:,}")
    return float(value)


def fraction(value: object) -> float:
    """Take a number from 0 to 1."""
    return number(value, 1)


def one_of(*allowed: str) -> Validator:
    """Return the validator of these strings."""

    def read(value: object) -> str:
        if string(value) not in allowed:
            raise ValueError(f"is none of {', '.join(allowed)}")
        return string(value)

    return read


def optional(validator: Validator) -> Validator:
    """Return a validator that also takes null."""
    return lambda value: None if value is None else validator(value)


def scalar(value: object) -> str | int | float | bool | None:
    """Take anything that holds no other value; a number only if other languages can hold it."""
    if not isinstance(value, str | int | float | None):
        raise _invalid("is not a plain value")
    if isinstance(value, int) and abs(value) > MAX_INT64:
        raise ValueError("is too large")
    return value


def list_of(validator: Validator, most: int) -> Validator:
    """Return the validator of lists of at most ``most`` items, as a tuple."""

    def read(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise _invalid("is not a list")
        if len(value) > most:
            raise ValueError(f"has {len(value):,} items, more than {most:,}")
        return tuple(map(validator, value))

    return read


def any_list(value: object) -> tuple[object, ...]:
    """Take a list with any content."""
    if not isinstance(value, list):
        raise _invalid("is not a list")
    return tuple(value)


def any_table(value: object) -> Mapping[str, Any]:
    """Take a table with any content."""
    if not isinstance(value, dict):
        raise _invalid("is not a table")
    return value


def json_object(value: object) -> dict[str, Any]:
    """Take an object with any content."""
    if not isinstance(value, dict):
        raise _invalid("is not an object")
    return value


def dict_of(validator: Validator) -> Validator:
    """Return the validator of objects with any names."""
    return lambda value: {
        name: _at(name, validator, item) for name, item in json_object(value).items()
    }


def object_of(
    kind: Callable[..., Any],
    validators: Mapping[str, Validator],
    names: Mapping[str, str] = MappingProxyType({}),
) -> Validator:
    """Return the validator of objects with these fields, which are the arguments of ``kind``.

    ``names`` are those that fields have in the object, where these are other ones. A name that no
    field has is refused, as is a missing one that ``kind`` insists on.
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
    """Return ``kind`` of these arguments. Raises ValueError if one is missing."""
    try:
        return kind(**values)
    except TypeError as error:
        raise ValueError("a field is missing") from error


def field_validators(kind: Callable[..., Any], **others: Validator) -> dict[str, Validator]:
    """Return the validators of a record's fields by their annotations, but for the ``others``.

    An ``int`` is not negative, a ``float`` is a fraction, and a list of ``Literal`` has no more
    items than there are choices.
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
        return list_of(one_of(*choices), most=len(choices)) if choices else string_list
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
    """Return what every validator raises, also for a value of another type."""
    return ValueError(why)


Default = TypeVar("Default")


@dataclass(frozen=True, slots=True)
class SettingsTable:
    """The entries of a table; ``location`` is how complaints about them begin."""

    entries: Mapping[str, object]
    location: str = ""

    def get(self, key: str, validator: Callable[[object], T], default: Default) -> T | Default:
        """Return what stands under ``key``, ``default`` where nothing does.

        ``validator`` returns the value that is meant, or raises ValueError with what is wrong.
        Raises UsageError then.
        """
        if key not in self.entries:
            return default
        return validate_value(f"{self.location}{key} = ", validator, self.entries[key])


def validate_value(location: str, validator: Callable[[object], T], value: object) -> T:
    """Return the value that is meant. Raises UsageError, which begins with ``location``."""
    try:
        return validator(value)
    except ValueError as error:
        raise UsageError(f"{location}{value!r} {error}") from error


def check_keys(entries: Iterable[str], keys: Iterable[str], where: str, remark: str = "") -> None:
    """Raise UsageError for the first key that is not among ``keys``; ``where`` names the table.

    ``remark`` is what to think of where the key comes close to none.
    """
    names = sorted(keys)
    unlike = "; ".join(filter(None, (f"there are {', '.join(names)}", remark)))
    for key in entries:
        if key not in names:
            hint = suggestion(key, names, unlike)
            raise UsageError(f"{where} has no key {key!r}; {hint}")
