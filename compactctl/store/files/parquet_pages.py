"""The sizes of a Parquet file's pages by their headers, read before any page is decompressed.

To decompress a page, pyarrow allocates what the page's header says, whatever the footer says. A
header is a struct ``PageHeader`` (parquet.thrift of apache/parquet-format) in Thrift's compact
protocol (thrift-compact-protocol.md of apache/thrift).
"""

from collections.abc import Callable, Container, Iterator
from typing import Any, BinaryIO

from compactctl.store.files.conversation_types import is_view

HEADER_BYTES = 1 << 14
"""The usual maximum of a header: pyarrow writes no value of more than 4,096 bytes into it."""
_MAX_HEADER_BYTES = 1 << 24
"""The most that pyarrow reads of a header; other writers put whole texts into its statistics."""
_UNPACKED_SIZE, _PACKED_SIZE = 2, 3
_BOOLEANS, _INTEGERS = (1, 2), (4, 5, 6)
_BINARY, _STRUCT = 8, 12
# Nothing is nested deeper than the statistics in the header of a data page.
_MAX_STRUCTS = 4


def unpacked_sizes(stream: BinaryIO, start: int, size: int) -> Iterator[int]:
    """Yield the decompressed size of each page of a column chunk.

    The chunk is ``size`` bytes from ``start`` on. Raises ValueError or LookupError for headers
    that cannot be read, and for sizes that are missing or negative.
    """
    pos, end = start, start + size
    while pos < end:
        fields, header_bytes = _header(stream, pos, end)
        unpacked, packed = fields[_UNPACKED_SIZE], fields[_PACKED_SIZE]
        if min(unpacked, packed) < 0:
            raise ValueError("a page of negative size")
        yield unpacked
        pos += header_bytes + packed


def _header(stream: BinaryIO, pos: int, end: int) -> tuple[dict[int, int], int]:
    """Return the integers of a page header by their field ids, and its size."""
    stream.seek(pos)
    try:
        return _integers(stream.read(min(HEADER_BYTES, end - pos)), 0)
    except IndexError:
        if end - pos <= HEADER_BYTES:
            raise
    stream.seek(pos)
    return _integers(stream.read(min(_MAX_HEADER_BYTES, end - pos)), 0)


def _integers(data: bytes, pos: int, depth: int = 1) -> tuple[dict[int, int], int]:
    """Return the integers of the struct at ``pos`` by their field ids, and where it ends.

    A field begins with a byte: the step from the last field id, or 0 for a full id, and the type.
    Bytes 15 04 15 0a 00: field 1 is 2 and field 2 is 5, then the struct ends.
    """
    integers: dict[int, int] = {}
    field = 0
    while head := data[pos]:
        step, kind, pos = head >> 4, head & 15, pos + 1
        if not step:
            step, pos = _integer(data, pos)
            field = 0
        field += step
        if kind in _INTEGERS:
            integers[field], pos = _integer(data, pos)
        elif kind == _BINARY:
            length, pos = _varint(data, pos)
            pos += length
        elif kind == _STRUCT and depth < _MAX_STRUCTS:
            _, pos = _integers(data, pos, depth + 1)
        elif kind not in _BOOLEANS:
            raise ValueError("a page header of unknown fields")
    return integers, pos + 1


def _integer(data: bytes, pos: int) -> tuple[int, int]:
    """Return a varint whose lowest bit is its sign, and where it ends."""
    number, pos = _varint(data, pos)
    return (number >> 1) ^ -(number & 1), pos


def _varint(data: bytes, pos: int) -> tuple[int, int]:
    """Return a number stored in groups of seven bits, the lowest first, and where it ends."""
    number = shift = 0
    while (byte := data[pos]) & 0x80:
        number |= (byte & 0x7F) << shift
        pos, shift = pos + 1, shift + 7
    return number | byte << shift, pos + 1


def column_chunks(metadata: Any, predicate: Callable[[str], bool]) -> Iterator[tuple[int, Any]]:  # noqa: ANN401 - pyarrow has no types
    """Yield the column chunks whose path in the schema matches, each with its row group."""
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        chunks = (row_group.column(index) for index in range(metadata.num_columns))
        yield from ((group, chunk) for chunk in chunks if predicate(chunk.path_in_schema))


def chunk_span(chunk: Any) -> tuple[int, int]:  # noqa: ANN401
    """Return the offset of a column chunk in the file, and its size."""
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    return start, chunk.total_compressed_size


def page_sizes(
    stream: BinaryIO,
    metadata: Any,  # noqa: ANN401
    columns: Container[str],
) -> Iterator[tuple[str, int]]:
    """Yield the path in the schema and the decompressed size of each page of these columns."""
    for _, chunk in column_chunks(metadata, columns.__contains__):
        for size in unpacked_sizes(stream, *chunk_span(chunk)):
            yield chunk.path_in_schema, size


def is_dictionary_encoded(chunk: Any) -> bool:  # noqa: ANN401
    """Return whether a chunk of texts holds references to a dictionary instead of its values."""
    return bool(chunk.has_dictionary_page and chunk.physical_type == "BYTE_ARRAY")


def column_bytes(column: Any) -> int:  # noqa: ANN401
    """Return the bytes of text or data in a column, counting repeated values each time.

    Numbers count 0, and an element of a list one byte beside its content.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return column_bytes(column.cast(kind.storage_type))
    if is_view(kind):
        is_string = pa.types.is_string_view(kind)
        return column_bytes(column.cast(pa.large_string() if is_string else pa.large_binary()))
    if pa.types.is_primitive(kind) or pa.types.is_null(kind):
        return 0
    if pa.types.is_struct(kind):
        return sum(map(column_bytes, column.flatten()))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        elements = column.flatten()
        return len(elements) + column_bytes(elements)
    if pa.types.is_nested(kind):
        return int(column.nbytes)
    if not pa.types.is_dictionary(kind):
        return pc.sum(pc.binary_length(column)).as_py() or 0
    if pa.types.is_primitive(kind.value_type):
        return 0
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    return pc.sum(lengths).as_py() or 0
