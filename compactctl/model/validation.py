"""Check values that are read from files, and say what is wrong as users write it.

The type of a field says what is valid: ``Count`` is a whole number from 0, ``Share`` a number from
0 to 1. Nothing is converted: neither ``true`` nor ``"3"`` is a number::

    validated({"sha256": "…", "n_bytes": -1, "n_lines": 0}, Digest)
    WrongValueError: n_bytes: is negative or too large
"""

import re
from collections.abc import Iterable, Mapping
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NewType,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import NODEFAULT, Meta, UnsetType, ValidationError, convert

from compactctl.errors import UsageError, suggestion
from compactctl.records import Record

R = TypeVar("R", bound=Record)

_NO_BOUNDS = Meta()
_REFUSED = (ValidationError, UnicodeEncodeError)
"""What msgspec raises for a wrong value, and for a lone surrogate in one."""
# A pattern that all of a text has to match begins and ends with these.
_START, _END = r"\A", r"\Z"

_Fault = tuple[str, str]
"""Where in a value something is wrong, such as ``before: n_bytes: ``, and what."""


class WrongValueError(ValueError):
    """A value of a file is wrong, missing or unknown: ``why``, at the place ``where`` in it."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(where + why)
        self.why = why


def validated(value: object, kind: Any) -> Any:  # noqa: ANN401 - annotations have no type
    """Return a value as a record or another type. Raises WrongValueError."""
    try:
        return convert(value, kind)
    except _REFUSED as error:
        # The error is not read: it quotes names and values of the file.
        where, why = _fault(value, kind) or ("", "has a name that is not Unicode")
        raise WrongValueError(where, why) from error


def _fault(value: Any, kind: Any, bounds: Meta = _NO_BOUNDS) -> _Fault | None:  # noqa: ANN401
    """Return what is wrong with a value that should be of this type; None if nothing is."""
    arguments = get_args(kind)
    if isinstance(kind, NewType):
        return _fault(value, kind.__supertype__, bounds)
    if get_origin(kind) is Annotated:
        return _fault(value, arguments[0], arguments[1])
    if get_origin(kind) in (Union, UnionType):
        return _union_fault(value, [part for part in arguments if part is not UnsetType])
    if get_origin(kind) is Literal:
        return _choice_fault(value, arguments)
    if get_origin(kind) in (tuple, list):
        return _list_fault(value, arguments[0], bounds)
    if get_origin(kind) in (dict, Mapping):
        return _table_fault(value, arguments[1])
    if isinstance(kind, type) and issubclass(kind, Record):
        return _record_fault(value, kind)
    why = _SCALAR_FAULTS[kind](value, bounds) if kind in _SCALAR_FAULTS else ""
    return ("", why) if why else None


def _inside(place: str, fault: _Fault | None) -> _Fault | None:
    return None if fault is None else (f"{place}: {fault[0]}", fault[1])


def _first(faults: Iterable[_Fault | None]) -> _Fault | None:
    return next(filter(None, faults), None)


def _union_fault(value: Any, members: list[Any]) -> _Fault | None:  # noqa: ANN401
    if NoneType in members:
        members = [member for member in members if member is not NoneType]
        if value is None:
            return None
    if len(members) == 1:
        return _fault(value, members[0])
    if all(isinstance(member, type) and issubclass(member, Record) for member in members):
        return _tagged_fault(value, {kind.__struct_config__.tag: kind for kind in members})
    kinds = {_bare(member): member for member in members}
    kind = tuple if isinstance(value, list) else type(value)
    if kind in kinds:
        return _fault(value, kinds[kind])
    return "", "is not a number" if kinds.keys() == {int, float} else "is not a plain value"


def _bare(kind: Any) -> Any:  # noqa: ANN401
    """Return a type without bounds, and without those of its items."""
    if get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    return get_origin(kind) or kind


def _tagged_fault(value: Any, kinds: Mapping[Any, type[Record]]) -> _Fault | None:  # noqa: ANN401
    """Find the fault of a record that is of one of several kinds, as its tag says."""
    name = str(next(iter(kinds.values())).__struct_config__.tag_field)
    if not isinstance(value, dict) or name not in value:
        return "", f"{name} is missing" if isinstance(value, dict) else "is not an object"
    fault = _choice_fault(value[name], tuple(kinds))
    return _inside(name, fault) or _record_fault(value, kinds[value[name]])


def _record_fault(value: Any, kind: type[Record]) -> _Fault | None:  # noqa: ANN401
    if not isinstance(value, dict):
        return "", "is not an object"
    config, hints = kind.__struct_config__, get_type_hints(kind, include_extras=True)
    names = dict(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))
    others = (name for name in value if name not in names and name != config.tag_field)
    if config.forbid_unknown_fields and (other := next(others, None)) is not None:
        return "", f"{other[:40]!r} is not known"
    fault = _first(
        _inside(name, _fault(value[name], hints[field]))
        for name, field in names.items()
        if name in value
    )
    missing = next((name for name in required_names(kind) if name not in value), None)
    return fault or (("", f"{missing} is missing") if missing else None)


def required_names(kind: type[Record]) -> list[str]:
    """Return the names in files of the fields that have no default."""
    names, defaults = kind.__struct_encode_fields__, kind.__struct_defaults__
    padding = [NODEFAULT] * (len(names) - len(defaults))
    pairs = zip(names, (*padding, *defaults), strict=True)
    return [name for name, default in pairs if default is NODEFAULT]


def _table_fault(value: Any, kind: object) -> _Fault | None:  # noqa: ANN401
    if not isinstance(value, dict):
        return "", "is not an object"
    return _first(_inside(name[:40], _fault(item, kind)) for name, item in value.items())


def _list_fault(value: Any, kind: object, bounds: Meta) -> _Fault | None:  # noqa: ANN401
    if not isinstance(value, list):
        return "", "is not a list of texts" if kind is str else "is not a list"
    if bounds.max_length is not None and len(value) > bounds.max_length:
        return "", f"has {len(value):,} items, more than {bounds.max_length:,}"
    return _first(
        _inside(f"entry {number:,}", _fault(item, kind)) for number, item in enumerate(value, 1)
    )


def _choice_fault(value: object, choices: tuple[str, ...]) -> _Fault | None:
    if not isinstance(value, str):
        return "", "is not text"
    return None if value in choices else ("", f"must be one of {', '.join(choices)}")


def _str_fault(value: object, bounds: Meta) -> str:
    if not isinstance(value, str):
        return "is not text"
    pattern = bounds.pattern or ""
    if re.search(pattern, value):
        return ""
    return f"is not spelled like {pattern.removeprefix(_START).removesuffix(_END)}"


def _bool_fault(value: object, _: Meta) -> str:
    return "" if isinstance(value, bool) else "is neither true nor false"


def _int_fault(value: object, bounds: Meta) -> str:
    if not isinstance(value, int) or isinstance(value, bool):
        return "is not a whole number"
    if _is_within(value, bounds):
        return ""
    if bounds.ge == 1 and value == 0:
        return "is not at least 1"
    return "is too large" if (bounds.ge or 0) < 0 else "is negative or too large"


def _float_fault(value: object, bounds: Meta) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool) and _is_within(value, bounds):
        return ""
    if bounds.ge == 0 and bounds.le is not None:
        return f"is not a number from 0 to {bounds.le:,.0f}"
    return "is not a number"


def _is_within(value: float, bounds: Meta) -> bool:
    is_large_enough = bounds.ge is None or value >= bounds.ge
    return is_large_enough and (bounds.le is None or value <= bounds.le)


_SCALAR_FAULTS = {str: _str_fault, bool: _bool_fault, int: _int_fault, float: _float_fault}


def validate_value(location: str, kind: Any, value: object) -> Any:  # noqa: ANN401
    """Return a value of a TOML file. Raises UsageError, which begins with ``location``."""
    try:
        return validated(value, kind)
    except WrongValueError as error:
        why = error.why.replace("is not an object", "is not a table")
        raise UsageError(f"{location}{value!r} {why}") from error


def setting(
    table: Mapping[str, object],
    key: str,
    kind: Any,  # noqa: ANN401
    default: Any,  # noqa: ANN401
    location: str = "",
) -> Any:  # noqa: ANN401
    """Return the value of a key of a TOML table, or ``default`` if the table lacks it.

    Raises UsageError, which begins with ``location``, if it is not of this kind.
    """
    if key not in table:
        return default
    return validate_value(f"{location}{key} = ", kind, table[key])


def read_table(
    table: Mapping[str, object], kind: type[R], where: str, location: str = "", remark: str = ""
) -> R:
    """Return a TOML table as a record.

    Raises UsageError for an unknown or missing key, which names the table as ``where`` and shows
    ``remark`` if no key is similar, and for a wrong value, which begins with ``location``.
    """
    check_keys(table, kind.__struct_fields__, where, remark)
    try:
        return convert(table, kind)
    except _REFUSED:
        hints = get_type_hints(kind, include_extras=True)
        for key, value in table.items():
            validate_value(f"{location}{key} = ", hints[key], value)
        required = required_names(kind)
        missing = next(key for key in required if key not in table)
        raise UsageError(f"{where} has no {missing}; give {', '.join(required)}") from None


def check_keys(table: Iterable[str], keys: Iterable[str], where: str, remark: str = "") -> None:
    """Raise UsageError for the first key that is not among ``keys``; ``where`` names the table.

    ``remark`` is shown if the key resembles none of them.
    """
    names = sorted(keys)
    unlike = "; ".join(filter(None, (f"there are {', '.join(names)}", remark)))
    for key in table:
        if key not in names:
            hint = suggestion(key, names, unlike)
            raise UsageError(f"{where} has no key {key!r}; {hint}")
