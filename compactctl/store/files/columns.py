"""What the columns of a Parquet file hold, known before it takes memory."""

from collections.abc import Callable, Container, Iterator
from typing import Any, BinaryIO

from compactctl.store.files.pages import unpacked_sizes


def chunks_of(metadata: Any, is_wanted: Callable[[str], bool]) -> Iterator[tuple[int, Any]]:  # noqa: ANN401 - pyarrow has no types
    """Yield the column chunks whose path in the schema is wanted, each with its row group."""
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        chunks = (row_group.column(number) for number in range(metadata.num_columns))
        yield from ((group, chunk) for chunk in chunks if is_wanted(chunk.path_in_schema))


def place_of(chunk: Any) -> tuple[int, int]:  # noqa: ANN401
    """Return where a column chunk begins, and its size."""
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    return start, chunk.total_compressed_size


def page_sizes(
    stream: BinaryIO,
    metadata: Any,  # noqa: ANN401
    columns: Container[str],
) -> Iterator[tuple[str, int]]:
    """Yield what each page of these columns takes once it is unpacked, by its header."""
    for _, chunk in chunks_of(metadata, columns.__contains__):
        for size in unpacked_sizes(stream, *place_of(chunk)):
            yield chunk.path_in_schema, size


def repeats(chunk: Any) -> bool:  # noqa: ANN401
    """Tell whether a chunk of texts names its values again and again instead of holding them."""
    return bool(chunk.has_dictionary_page and chunk.physical_type == "BYTE_ARRAY")


def n_bytes(column: Any) -> int:  # noqa: ANN401
    """Return how many bytes of text or data a column holds, each value counted where it stands.

    Numbers count nothing, elements of lists one byte each beside what they hold.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_primitive(kind) or pa.types.is_null(kind):
        return 0
    if pa.types.is_struct(kind):
        return sum(map(n_bytes, column.flatten()))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        elements = column.flatten()
        return len(elements) + n_bytes(elements)
    if pa.types.is_nested(kind):
        return int(column.nbytes)
    if not pa.types.is_dictionary(kind):
        return pc.sum(pc.binary_length(column)).as_py() or 0
    if pa.types.is_primitive(kind.value_type):
        return 0
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    return pc.sum(lengths).as_py() or 0
