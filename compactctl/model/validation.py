"""Check values that are read from files, and say what is wrong as users write it.

The type of a field says what is valid: ``Count`` is a whole number from 0, ``Share`` a number from
0 to 1. Nothing is converted: neither ``true`` nor ``"3"`` is a number::

    validated({"sha256": "…", "n_bytes": -1, "n_lines": 0}, Digest)
    ValueError: n_bytes: is negative or too large
"""

import re
from collections.abc import Iterable, Mapping
from types import UnionType
from typing import (
    Annotated,
    Any,
    NewType,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from msgspec import Meta, ValidationError, convert

from compactctl.errors import UsageError, suggestion
from compactctl.records import Record

R = TypeVar("R", bound=Record)

WHOLE = (r"\A", r"\Z")
"""What a pattern begins and ends with that all of a text has to match."""

_ERROR = re.compile(r"(?P<what>.*?)(?: - at `\$(?P<path>.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<index>\d+)\]|\[\.\.\.\]")
_FIELD = re.compile(r"Object (?P<problem>contains unknown|missing required) field `(?P<name>.*)`")
_KIND = re.compile(r"Expected `(?P<kinds>[^`]*)`")
_WRONG_KINDS: Mapping[str, str] = {
    "str": "is not text",
    "int": "is not a whole number",
    "bool": "is neither true nor false",
    "float": "is not a number",
    "array": "is not a list",
    "object": "is not an object",
}


class WrongValueError(ValueError):
    """A value of a file is wrong, missing or unknown: ``why``, at the place ``where`` in it."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(where + why)
        self.why = why


def validated(value: object, kind: Any) -> Any:  # noqa: ANN401 - annotations have no type
    """Return a value as a record or another type. Raises WrongValueError."""
    try:
        return convert(value, kind)
    except ValidationError as error:
        parts: Any = _ERROR.fullmatch(str(error))
        raise _explained(parts["what"], parts["path"] or "", value, kind) from error


def _explained(what: str, path: str, value: Any, kind: object) -> WrongValueError:  # noqa: ANN401
    """Follow the path to the value that is wrong, and say what is wrong with it."""
    where = ""
    for step in _STEP.finditer(path):
        kind = _inner(kind, step["name"], value)
        if step[0] == "[...]":
            # msgspec does not say which item of a table it is.
            name, wrong = _wrong_item(value, kind)
            return WrongValueError(f"{where}{name[:40]}: ", str(wrong))
        value = value[step["name"] or int(step["index"])]
        where += f"{step['name'][:40]}: " if step["name"] else f"entry {int(step['index']) + 1:,}: "
    return WrongValueError(where, _problem(what, value, kind))


def _wrong_item(table: Mapping[str, object], kind: object) -> tuple[str, WrongValueError]:
    for name, item in table.items():
        try:
            validated(item, kind)
        except WrongValueError as error:
            return name, error
    raise AssertionError("all items are valid")


def _inner(kind: object, name: str | None, value: Any) -> object:  # noqa: ANN401
    """Return the type of a field of ``value``; without a name, that of its items."""
    for member in _members(kind):
        if isinstance(member, type) and issubclass(member, Record):
            tag = member.__struct_config__
            if tag.tag is None or value.get(tag.tag_field) == tag.tag:
                names = zip(member.__struct_encode_fields__, member.__struct_fields__, strict=True)
                hints = get_type_hints(member, include_extras=True)
                return hints.get(dict(names).get(name or "", ""), object)
        elif name is None and get_args(member):
            return get_args(member)[-1 if isinstance(value, Mapping) else 0]
    return object


def _members(kind: Any) -> list[Any]:  # noqa: ANN401
    """Return the types in a union, without bounds and other names; else just the type."""
    if isinstance(kind, NewType):
        return _members(kind.__supertype__)
    if get_origin(kind) is Annotated:
        return _members(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return [member for part in get_args(kind) for member in _members(part)]
    return [kind]


def _bounds(kind: object) -> Meta:
    if get_origin(kind) in (Union, UnionType):
        kind = get_args(kind)[0]
    return next((part for part in get_args(kind) if isinstance(part, Meta)), Meta())


def _problem(what: str, value: Any, kind: object) -> str:  # noqa: ANN401
    """Return what is wrong with a value; ``what`` is how msgspec says it."""
    if field := _FIELD.fullmatch(what):
        is_unknown = field["problem"] == "contains unknown"
        return (
            f"{field['name'][:40]!r} is not known" if is_unknown else f"{field['name']} is missing"
        )
    if what.startswith("Invalid enum"):
        return f"must be one of {', '.join(get_args(_members(kind)[0]))}"
    expected, bounds = _KIND.match(what), _bounds(kind)
    if expected is None:
        return "is too large" if what.startswith("Number") else "is not known"
    kinds = expected["kinds"].removesuffix(" | null").split(" | ")
    if kinds[1:]:
        return "is not a plain value"
    if kinds[0] == "float" and bounds.ge == 0:
        return f"is not a number from {bounds.ge:,.0f} to {bounds.le:,.0f}"
    if ", got" not in what:
        return _beyond(value, kinds[0], bounds)
    if kinds[0] == "array" and get_args(_members(kind)[0])[:1] == (str,):
        return "is not a list of texts"
    return _WRONG_KINDS.get(kinds[0], "is not known")


def _beyond(value: Any, kind: str, bounds: Meta) -> str:  # noqa: ANN401
    """Return what is wrong with a value of the right type that is beyond its bounds."""
    if kind == "array":
        return f"has {len(value):,} items, more than {bounds.max_length:,}"
    if kind == "str":
        pattern = str(bounds.pattern)
        return f"is not spelled like {pattern.removeprefix(WHOLE[0]).removesuffix(WHOLE[1])}"
    if kind == "float":
        return _WRONG_KINDS[kind]
    return "is not at least 1" if value == 0 else "is negative or too large"


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
    except ValidationError:
        hints = get_type_hints(kind, include_extras=True)
        for key, value in table.items():
            validate_value(f"{location}{key} = ", hints[key], value)
        missing = next(key for key in hints if key not in table)
        raise UsageError(f"{where} has no {missing}; give {', '.join(hints)}") from None


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
