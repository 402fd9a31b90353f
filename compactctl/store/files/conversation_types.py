"""The Arrow types of columns that hold conversations: structs, and JSON in any type of text."""

from collections.abc import Sequence
from typing import Any

TAKEN = "lists of structs, JSON text, or lists of JSON text"
"""The types in words."""


def is_conversation(kind: object) -> bool:
    """Return whether an Arrow type can hold conversations."""
    return is_structs(kind) or is_text(kind) or is_texts(kind)


def is_text(kind: object) -> bool:
    """Return whether an Arrow type is text or bytes, also in a dictionary or as the type JSON."""
    from pyarrow import types

    plain = _plain(kind)
    is_string = types.is_string(plain) or types.is_large_string(plain)
    is_binary = types.is_binary(plain) or types.is_large_binary(plain)
    return bool(is_string or is_binary or is_view(plain))


def is_view(kind: object) -> bool:
    """Return whether an Arrow type is a view of text or bytes."""
    from pyarrow import types

    return bool(types.is_string_view(kind) or types.is_binary_view(kind))


def is_texts(kind: object) -> bool:
    """Return whether an Arrow type is a list of texts."""
    item = _item_type(kind)
    return item is not None and is_text(item)


def is_structs(kind: object) -> bool:
    """Return whether an Arrow type is a list of structs."""
    from pyarrow import types

    item = _item_type(kind)
    return item is not None and bool(types.is_struct(item))


def arrow_array(values: Sequence[Any], kind: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return values as an array of a type that ``is_conversation``.

    Raises pyarrow's ArrowInvalid, ArrowTypeError or ArrowNotImplementedError if it cannot hold one.
    """
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, arrow_array(values, kind.storage_type))
    if not is_texts(kind):
        return pa.array(values, type=kind)
    lists = pa.array(values, type=_list_of(kind, _plain(kind.value_type)))
    elements = arrow_array(lists.values.to_pylist(), kind.value_type)
    return type(lists).from_arrays(lists.offsets, elements, type=kind, mask=lists.is_null())


def _plain(kind: Any) -> Any:  # noqa: ANN401
    """Return the type of the values of an extension or a dictionary."""
    import pyarrow as pa

    while True:
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif pa.types.is_dictionary(kind):
            kind = kind.value_type
        else:
            return kind


def _item_type(kind: Any) -> Any:  # noqa: ANN401
    """Return the type of a list's elements, None for any other type."""
    from pyarrow import types

    return kind.value_type if types.is_list(kind) or types.is_large_list(kind) else None


def _list_of(kind: Any, item: Any) -> Any:  # noqa: ANN401
    import pyarrow as pa

    return pa.large_list(item) if pa.types.is_large_list(kind) else pa.list_(item)
