"""The base of all records: frozen, with named arguments, compared field by field.

::

    class Digest(Record):
        sha256: str
        n_bytes: int = described(0, "its size")

Records are not tracked by the garbage collector, because they cannot be part of a cycle: all that a
record refers to existed before it. One that caches what it computes says ``dict=True, gc=True``.
"""

import typing
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec import Struct, StructMeta, field
from msgspec.structs import asdict

# Type checkers check the names and types of what dataclasses.replace changes.
if TYPE_CHECKING:
    from dataclasses import replace
else:
    from msgspec.structs import replace

__all__ = ["Record", "asdict", "described", "field", "replace"]

T = TypeVar("T")


class _Described(Struct):
    default: object
    description: object


def described(default: T, description: object) -> T:
    """Give a field a default and a description, which is in ``descriptions`` of the class."""
    return cast("T", _Described(default, description))


class _RecordMeta(StructMeta):
    """Makes arguments named unless the class says otherwise, and collects descriptions."""

    descriptions: Mapping[str, Any] = MappingProxyType({})

    def __new__(  # noqa: PYI034 - mypy knows no Self in a metaclass
        mcs,
        name: str,
        bases: tuple[type, ...],
        namespace: dict[str, Any],
        *,
        kw_only: bool = True,
        **config: Any,  # noqa: ANN401 - the settings of a Struct
    ) -> "_RecordMeta":
        fields = {key: value for key, value in namespace.items() if isinstance(value, _Described)}
        namespace |= {key: value.default for key, value in fields.items()}
        kind = super().__new__(mcs, name, bases, namespace, kw_only=kw_only, **config)
        if fields:
            kind.descriptions = {key: value.description for key, value in fields.items()}
        return kind


@typing.dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(field,))
class Record(Struct, metaclass=_RecordMeta, frozen=True, gc=False, forbid_unknown_fields=True):
    """A frozen record with named arguments."""
