"""What the pages of a Parquet file hold by their headers, read before any of them is unpacked.

To unpack a page pyarrow takes as much memory as the page's header says, whatever the footer tells.
A header is a struct ``PageHeader`` (parquet.thrift of apache/parquet-format) in Thrift's compact
protocol (thrift-compact-protocol.md of apache/thrift).
"""

from collections.abc import Callable, Container, Iterator
from typing import Any, BinaryIO

HEADER_BYTES = 1 << 14
"""What a header usually takes at most: pyarrow puts no value of more than 4,096 bytes into it."""
_MAX_HEADER_BYTES = 1 << 24
"""What pyarrow reads of a header at most; other writers put whole texts into its statistics."""
_UNPACKED_SIZE, _PACKED_SIZE = 2, 3
_BOOLEANS, _INTEGERS = (1, 2), (4, 5, 6)
_BINARY, _STRUCT = 8, 12
# Statistics in the header of a data page are the deepest there is.
_MAX_STRUCTS = 4


def unpacked_sizes(stream: BinaryIO, start: int, size: int) -> Iterator[int]:
    """Yield how many bytes each page of a column chunk takes once it is unpacked.

    The chunk is ``size`` bytes from ``start`` on. Raises ValueError or IndexError for headers
    that cannot be read or that tell sizes below 0.
    """
    at, end = start, start + size
    while at < end:
        sizes, length = _header(stream, at, end)
        unpacked, packed = sizes.get(_UNPACKED_SIZE, -1), sizes.get(_PACKED_SIZE, -1)
        if min(unpacked, packed) < 0:
            raise ValueError("a page without its size")
        yield unpacked
        at += length + packed


def _header(stream: BinaryIO, at: int, end: int) -> tuple[dict[int, int], int]:
    """Return the integers of a page header by their fields, and its size."""
    stream.seek(at)
    try:
        return _integers(stream.read(min(HEADER_BYTES, end - at)), 0)
    except IndexError:
        if end - at <= HEADER_BYTES:
            raise
    stream.seek(at)
    return _integers(stream.read(min(_MAX_HEADER_BYTES, end - at)), 0)


def _integers(data: bytes, at: int, depth: int = 1) -> tuple[dict[int, int], int]:
    """Return the integers of the struct at a place by their fields, and where it ends."""
    found: dict[int, int] = {}
    field = 0
    while head := data[at]:
        step, kind, at = head >> 4, head & 15, at + 1
        if not step:
            step, at = _integer(data, at)
            field = 0
        field += step
        if kind in _INTEGERS:
            found[field], at = _integer(data, at)
        elif kind == _BINARY:
            length, at = _varint(data, at)
            at += length
        elif kind == _STRUCT and depth < _MAX_STRUCTS:
            _, at = _integers(data, at, depth + 1)
        elif kind not in _BOOLEANS:
            raise ValueError("a page header of unknown fields")
    return found, at + 1


def _integer(data: bytes, at: int) -> tuple[int, int]:
    """Return a number whose lowest bit is its sign, and where it ends."""
    number, at = _varint(data, at)
    return (number >> 1) ^ -(number & 1), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number in pieces of seven bits, the lowest first, and where it ends."""
    number = shift = 0
    while (byte := data[at]) & 0x80:
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return number | byte << shift, at + 1


def column_chunks(metadata: Any, is_wanted: Callable[[str], bool]) -> Iterator[tuple[int, Any]]:  # noqa: ANN401 - pyarrow has no types
    """Yield the column chunks whose path in the schema is wanted, each with its row group."""
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        chunks = (row_group.column(number) for number in range(metadata.num_columns))
        yield from ((group, chunk) for chunk in chunks if is_wanted(chunk.path_in_schema))


def chunk_span(chunk: Any) -> tuple[int, int]:  # noqa: ANN401
    """Return where a column chunk begins, and its size."""
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    return start, chunk.total_compressed_size


def page_sizes(
    stream: BinaryIO,
    metadata: Any,  # noqa: ANN401
    columns: Container[str],
) -> Iterator[tuple[str, int]]:
    """Yield what each page of these columns takes once it is unpacked, by its header."""
    for _, chunk in column_chunks(metadata, columns.__contains__):
        for size in unpacked_sizes(stream, *chunk_span(chunk)):
            yield chunk.path_in_schema, size


def is_dictionary_encoded(chunk: Any) -> bool:  # noqa: ANN401
    """Tell whether a chunk of texts names its values again and again instead of holding them."""
    return bool(chunk.has_dictionary_page and chunk.physical_type == "BYTE_ARRAY")


def column_bytes(column: Any) -> int:  # noqa: ANN401
    """Return how many bytes of text or data a column holds, each value counted where it stands.

    Numbers count nothing, elements of lists one byte each beside what they hold.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
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
