"""Parquet data sets with a conversation per row: find, read and replace the conversations.

Only one row group is in memory at a time.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate, repeat
from pathlib import Path
from typing import Any, BinaryIO

from compactctl.errors import NoInputError, NotUnderstoodError, OutputFaultError, UsageError
from compactctl.records import Record, replace
from compactctl.store.files.conversation_types import (
    TAKEN,
    arrow_array,
    is_conversation,
    is_structs,
)
from compactctl.store.files.limits import ReadLimits
from compactctl.store.files.parquet_pages import (
    chunk_span,
    column_bytes,
    column_chunks,
    is_dictionary_encoded,
    unpacked_sizes,
)

SUFFIX = ".parquet"
FORMAT = "parquet"
"""The format named by operations on such files."""
NAMES = (
    "messages",
    "conversations",
    "conversation",
    "trajectory",
    "traj",
    "history",
    "chat",
    "prompt",
)
"""The names of the column of conversations in public data sets, the likeliest first."""
TOOL_COLUMNS = ("tools", "functions")
"""The names of the column of tools."""
# A column of prompts holds plain text as often as messages, and plain text is not a conversation.
_NEVER_TEXT = frozenset({"prompt"})
_BATCH_ROWS = 64
_BATCH_BYTES = 16 << 20
"""The limits of a batch that is decompressed at a time, which has at least one row."""


class RowGroupInfo(Record):
    """A row group: its number of rows, and the number of the first one, from 1.

    ``n_bytes`` is the decompressed size of the column of conversations.
    """

    rows: int
    first: int
    n_bytes: int

    @property
    def batch_rows(self) -> int:
        """The number of rows that are decompressed at a time."""
        return max(1, min(_BATCH_ROWS, _BATCH_BYTES * self.rows // max(1, self.n_bytes)))


class ParquetDataset(Record):
    """A Parquet file, its column of conversations, and its row groups.

    ``kind`` is the column's Arrow type: a list of structs, JSON text, or a list of JSON texts.
    ``tools`` are the same for the columns with the tools of each conversation, of any type.
    """

    path: Path
    column: str
    kind: Any
    groups: tuple[RowGroupInfo, ...]
    tools: tuple["ParquetDataset", ...] = ()

    def values(self, groups: Sequence[int], limits: ReadLimits) -> Iterator[Any]:
        """Yield the conversations of some row groups, in order: lists, texts, bytes, or None.

        Raises NoInputError before a page or a row exceeds the limits, and NotUnderstoodError for a
        damaged file. All groups together are limited by ``check``.
        """
        with _opened(self.path, self.column) as file:
            self._max_bytes(file.metadata, groups, self.column, limits)
            for group in groups:
                yield from self._rows(file, group, limits)

    def tool_values(
        self, groups: Sequence[int], limits: ReadLimits
    ) -> Iterator[tuple[object, ...]]:
        """Yield the values that may be the tools of each conversation; see ``values``."""
        columns = [column.values(groups, limits) for column in self.tools]
        return zip(*columns, strict=True) if columns else repeat(())

    def check(self, limits: ReadLimits, *, is_whole: bool = False) -> None:
        """Raise NoInputError if the conversations of all groups exceed the limits.

        The headers of pages tell, except for texts in a dictionary, which few bytes can repeat any
        number of times: their lengths are added up without copying them. ``is_whole`` means all
        columns.
        """
        name = str(self.path)
        limits.check_size(sum(group.n_bytes for group in self.groups), name)
        column = None if is_whole else self.column
        groups = range(len(self.groups))
        with _opened(self.path, column, is_whole=is_whole) as file:
            if self._max_bytes(file.metadata, groups, column, limits) <= limits.max_bytes:
                return
            total = 0
            for group in groups:
                for values in self._batches(file, group, column and [column]):
                    total += column_bytes(values)
                    limits.check_size(total, name)

    def write_with(
        self, out: BinaryIO, rewrite: Callable[[list[Any]], list[Any]], limits: ReadLimits
    ) -> None:
        """Write the file with other conversations but the same schema, row groups and codecs.

        ``rewrite`` gets the conversations of one row group after another and returns as many.
        Raises OutputFaultError if the new file cannot be read back, NoInputError like ``values``,
        but for all columns.
        """
        from pyarrow import parquet

        self.check(limits, is_whole=True)
        with _opened(self.path) as file, _opened(self.path, self.column) as rows:
            schema, codecs = file.schema_arrow, _codecs(file.metadata)
            written: list[str] = []
            with parquet.ParquetWriter(out, schema, compression=codecs) as writer:
                for group in range(file.num_row_groups):
                    values = rewrite(list(self._rows(rows, group, limits)))
                    table = file.read_row_group(group, use_threads=False)
                    new_table = self._with_values(table, values)
                    written.append(_comparable(new_table.column(self.column).to_pylist()))
                    # A row group may be empty, but not be asked for with 0 rows.
                    writer.write_table(new_table, row_group_size=max(1, table.num_rows))
        self._verify(out, written)

    def _rows(self, file: object, group: int, limits: ReadLimits) -> Iterator[Any]:
        """Yield the conversations of a row group; NoInputError for one that is too large."""
        number = self.groups[group].first
        for column in self._batches(file, group, [self.column]):
            for index in range(len(column)):
                limits.check_row(column_bytes(column.slice(index, 1)), str(self.path), number)
                yield column[index].as_py()
                number += 1

    def _batches(self, file: Any, group: int, columns: Sequence[str] | None) -> Iterator[Any]:  # noqa: ANN401
        """Yield the columns, by default all, of each batch of a row group."""
        rows = self.groups[group].batch_rows
        for batch in file.iter_batches(rows, [group], columns=columns, use_threads=False):
            yield from batch.columns

    def _max_bytes(
        self,
        metadata: Any,  # noqa: ANN401
        groups: Sequence[int],
        column: str | None,
        limits: ReadLimits,
    ) -> int:
        """Return the most bytes that a column, or all, can have in these groups by page headers.

        Raises NoInputError for pages that exceed the limits, alone or together.
        """
        name = str(self.path)
        n_pages = n_repeated = 0
        with self.path.open("rb") as stream:
            for group, chunk in column_chunks(metadata, lambda path: _is_of(path, column)):
                sizes = _page_sizes(stream, chunk, name) if group in groups else []
                for size in sizes:
                    limits.check_page(size, name)
                n_pages += sum(sizes)
                if sizes and is_dictionary_encoded(chunk):
                    # No value is longer than the dictionary, which is the first page.
                    n_repeated += chunk.num_values * sizes[0]
        limits.check_size(n_pages, name)
        return n_pages + n_repeated

    def _with_values(self, table: Any, values: list[Any]) -> Any:  # noqa: ANN401 - pyarrow has no types
        import pyarrow as pa

        index = table.schema.get_field_index(self.column)
        try:
            column = arrow_array(values, self.kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            raise UsageError(
                f"{self.path}: compacted conversations cannot be written as {self.kind} ({error}); "
                "cast the column to a string first"
            ) from error
        return table.set_column(index, table.schema.field(index), column)

    def _verify(self, out: BinaryIO, written: Sequence[str]) -> None:
        from pyarrow import parquet

        out.seek(0)
        file = parquet.ParquetFile(out)
        for group, expected in enumerate(written):
            table = file.read_row_group(group, columns=[self.column], use_threads=False)
            if _comparable(table.column(0).to_pylist()) != expected:
                raise OutputFaultError(
                    f"{self.path}: compactctl made a mistake: what was written cannot be read back "
                    f"(row group {group + 1}); nothing was changed; please report this"
                )


def is_data_set(path: str) -> bool:
    """Return whether a file has the suffix of a Parquet data set."""
    return path.lower().endswith(SUFFIX)


def open_dataset(path: str, column: str | None = None) -> ParquetDataset:
    """Read a file's footer; the column is ``column``, or the likeliest by its name and type.

    Raises NoInputError for a file that cannot be read, NotUnderstoodError for one that is not
    Parquet or lacks such a column, and UsageError for a ``column`` of another type.
    """
    with _opened(Path(path)) as file:
        schema, metadata = file.schema_arrow, file.metadata
        name = _column(path, schema, column)
    tools = (n for n in TOOL_COLUMNS if n != name and schema.names.count(n) == 1)
    data = _of_column(Path(path), schema, metadata, name)
    return replace(
        data, tools=tuple(_of_column(data.path, schema, metadata, column) for column in tools)
    )


def _of_column(path: Path, schema: Any, metadata: Any, name: str) -> ParquetDataset:  # noqa: ANN401
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    sizes = [group.num_rows for group in groups]
    firsts = accumulate(sizes, initial=1)
    return ParquetDataset(
        path=path,
        column=name,
        kind=schema.field(name).type,
        groups=tuple(
            RowGroupInfo(rows=rows, first=first, n_bytes=_n_bytes(group, name))
            for rows, first, group in zip(sizes, firsts, groups, strict=False)
        ),
    )


def holds_conversations(path: str) -> bool:
    """Whether a file found in a folder is a data set, and not a report or an archive of ours.

    True for a file that cannot be read, so that the error is reported when it is processed.
    """
    try:
        with _opened(Path(path)) as file:
            is_ours = any(name.startswith(b"compactctl.") for name in file.metadata.metadata or ())
            return not is_ours and any(_fits(file.schema_arrow, name) for name in NAMES)
    except (NoInputError, NotUnderstoodError):
        return True


def _column(path: str, schema: Any, requested: str | None) -> str:  # noqa: ANN401
    if requested is None:
        column = next((name for name in NAMES if _fits(schema, name)), None)
        if column is None:
            raise NotUnderstoodError(
                f"{path}: {_describe_columns(schema)}; name one of {', '.join(schema.names[:12])} "
                "with --column"
            )
        return column
    if schema.names.count(requested) != 1:
        raise NotUnderstoodError(
            f"{path}: {requested!r} is not a column; there are {', '.join(schema.names[:12])}"
        )
    kind = schema.field(requested).type
    if not is_conversation(kind):
        raise UsageError(f"{path}: column {requested!r} holds {kind}; it takes {TAKEN}")
    return requested


def _describe_columns(schema: Any) -> str:  # noqa: ANN401
    """Return why no column holds conversations: by its type, or by their names."""
    names = (n for n in NAMES if n not in _NEVER_TEXT and schema.names.count(n) == 1)
    name = next(names, None)
    if name is None:
        return f"no column is called as conversations are ({', '.join(NAMES)})"
    return f"column {name!r} is of type {schema.field(name).type}; conversations are {TAKEN}"


def _fits(schema: Any, name: str) -> bool:  # noqa: ANN401
    if schema.names.count(name) != 1:
        return False
    kind = schema.field(name).type
    return is_structs(kind) or (is_conversation(kind) and name not in _NEVER_TEXT)


def _comparable(values: list[Any]) -> str:
    """Encode values so that equal ones compare equal, even NaN."""
    return json.dumps(values, default=repr)


def _page_sizes(stream: BinaryIO, chunk: Any, name: str) -> list[int]:  # noqa: ANN401
    """Return the decompressed sizes of a chunk's pages; NotUnderstoodError for damage."""
    try:
        return list(unpacked_sizes(stream, *chunk_span(chunk)))
    except (ValueError, LookupError) as error:
        why = "the header of a page is damaged"
        raise NotUnderstoodError(f"{name}: cannot be read as Parquet ({why})") from error


def _n_bytes(group: Any, column: str) -> int:  # noqa: ANN401
    chunks = (group.column(index) for index in range(group.num_columns))
    return sum(
        chunk.total_uncompressed_size for chunk in chunks if _is_of(chunk.path_in_schema, column)
    )


def _is_of(path: str, column: str | None) -> bool:
    """Return whether a path in the schema is in a column; None stands for all columns."""
    return column is None or path == column or path.startswith(f"{column}.")


def _codecs(metadata: Any) -> dict[str, str] | str:  # noqa: ANN401
    """Return the codec of each column by its path."""
    if not metadata.num_row_groups:
        return "snappy"
    group = metadata.row_group(0)
    chunks = [group.column(index) for index in range(group.num_columns)]
    return {chunk.path_in_schema: _codec(chunk.compression) for chunk in chunks}


def _codec(name: str) -> str:
    return "none" if name == "UNCOMPRESSED" else name.lower()


@contextmanager
def _opened(path: Path, column: str | None = None, *, is_whole: bool = False) -> Iterator[Any]:
    """Open a file so that dictionary texts of ``column``, or of all columns, are not copied."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with path.open("rb") as stream, parquet.ParquetFile(stream) as file:
            if column is None and not is_whole:
                yield file
                return
            chunks = column_chunks(file.metadata, lambda name: _is_of(name, column))
            names = {chunk.path_in_schema for _, chunk in chunks if is_dictionary_encoded(chunk)}
            with parquet.ParquetFile(
                stream, metadata=file.metadata, read_dictionary=sorted(names)
            ) as sparing:
                yield sparing
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        why = " ".join(str(error).split())
        raise NotUnderstoodError(f"{path}: cannot be read as Parquet ({why[:160]})") from error
    except OSError as error:
        why = error.strerror or " ".join(str(error).split())[:160]
        raise NoInputError(f"{path}: cannot be read ({why}); name a readable file") from error
