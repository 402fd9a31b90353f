"""Frozen dataclasses with slots, made in a quarter of the time that ``dataclasses`` takes.

A command defines 200 of them and more before it starts. ``dataclasses`` compiles seven methods for
each; here only ``__init__`` is compiled, and all classes share the others.
"""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from operator import attrgetter
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

__all__ = ["dataclass"]

if TYPE_CHECKING:
    # So that type checkers know what the decorator does.
    from dataclasses import dataclass
else:

    def dataclass(
        *, frozen: bool = False, slots: bool = False, kw_only: bool = False, **others: bool
    ) -> Callable[[type], type]:
        """Decorate a class as ``dataclasses.dataclass`` does, which makes all other kinds."""
        if not (frozen and slots) or others:
            return dataclasses.dataclass(frozen=frozen, slots=slots, kw_only=kw_only, **others)
        return lambda cls: _frozen(cls, kw_only=kw_only)


def _frozen(cls: type, *, kw_only: bool) -> type:
    plain = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)
    record: Any = plain(cls)
    record.__dataclass_params__.frozen = True
    record.__init__ = _init_of(record)
    compared = [field.name for field in fields(record) if field.compare]
    record._compared = attrgetter(*compared) if compared else type  # noqa: SLF001
    for name, method in _SHARED.items():
        if cls.__dict__.get(name) is None:
            setattr(record, name, method)
    return record  # type: ignore[no-any-return]


def _init_of(record: Any) -> Callable[..., None]:  # noqa: ANN401 - a class of any fields
    """Return an ``__init__`` that replaces itself by the compiled one when it is first called.

    A run uses about half of the records that it imports. Until then ``inspect.signature`` shows
    no fields.
    """

    def __init__(self: object, *values: object, **named: object) -> None:  # noqa: N807
        record.__init__ = _compiled_init(record, fields(record))
        record.__init__(self, *values, **named)

    return __init__


def _compiled_init(record: type, all_fields: "Sequence[Field[Any]]") -> Callable[..., None]:
    """Compile the method that sets all fields, in their order.

        class Point: x: int; tags: list[str] = field(default_factory=list)

    gets ``def __init__(self, x, tags=_absent)`` with a line ``_set_x(self, x)`` for each field.
    """
    names: dict[str, Any] = {"_absent": MISSING}
    parameters: dict[bool, list[str]] = {False: [], True: []}
    lines = []
    for field in all_fields:
        name = field.name
        default, value = "", name
        if field.default_factory is not MISSING:
            names[f"_make_{name}"] = field.default_factory
            default, value = "=_absent", f"_make_{name}() if {name} is _absent else {name}"
        elif field.default is not MISSING:
            names[f"_default_{name}"] = field.default
            default = f"=_default_{name}"
        parameters[bool(field.kw_only)].append(name + default)
        names[f"_set_{name}"] = getattr(record, name).__set__
        lines.append(f" _set_{name}(self, {value})")
    if hasattr(record, "__post_init__"):
        lines.append(" self.__post_init__()")
    keywords = ["*", *parameters[True]] if parameters[True] else []
    signature = ", ".join(("self", *parameters[False], *keywords))
    exec("\n".join((f"def __init__({signature}):", *lines, " pass")), names)  # noqa: S102
    init: Callable[..., None] = names["__init__"]
    init.__qualname__ = f"{record.__qualname__}.__init__"
    init.__module__ = record.__module__
    init.__annotations__ = {field.name: field.type for field in all_fields} | {"return": None}
    return init


class _Shared:
    """The methods of all records, which are copied into each class."""

    _compared: Callable[[object], object]

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in _field_names(self, shown=True))
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._compared(self) == self._compared(other)

    def __hash__(self) -> int:
        return hash(self._compared(self))

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __getstate__(self) -> list[object]:
        return [getattr(self, name) for name in _field_names(self)]

    def __setstate__(self, state: Sequence[object]) -> None:
        for name, value in zip(_field_names(self), state, strict=True):
            object.__setattr__(self, name, value)


_SHARED = {
    name: method for name, method in vars(_Shared).items() if isinstance(method, FunctionType)
}


def _field_names(record: object, *, shown: bool = False) -> list[str]:
    return [field.name for field in fields(record) if field.repr or not shown]  # type: ignore[arg-type]
