"""Writes rows to a Parquet file that says what it is, and shows whether it was changed; or text."""

import json
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from compactctl.store.archive.sealed import SealedWriter, is_sealed, sealed_table
from compactctl.store.files.content import Content, StreamPieces
from compactctl.store.files.filesystem import FileSystem, disk_errors
from compactctl.store.publish.publish import write_output

GROUP_ROWS = 1 << 14
"""Rows that are held before they are written, which is about 10 MB of them."""


def write_table(
    rows: Iterable[Mapping[str, object]],
    types: Mapping[str, str],
    metadata: Mapping[str, int],
    path: str | Path,
    *,
    force: bool,
) -> tuple[str, ...]:
    """Write all rows or nothing; return warnings. Raises DiskError.

    Args:
        rows: each with a value for every column.
        types: column -> name of its Arrow type.
        metadata: what the rows are -> version of their columns.
        path: the file.
        force: overwrite a file that is not ours or was changed; UsageError otherwise.

    Lone surrogates, as in names that are not UTF-8, are written as escapes; texts in a tuple are
    joined by commas.
    """
    table = _table(rows, _schema(types, metadata))
    is_ours = force or is_sealed(Path(path))
    return write_output(
        FileSystem(), Path(path), Content.from_chunks((sealed_table(table),)), force=is_ours
    )


def write_text(text: str, path: str | Path, *, force: bool) -> tuple[str, ...]:
    """Write a text completely or not at all; return warnings. Raises as ``write_output``."""
    content = Content.from_chunks((text.encode("utf-8", "backslashreplace"),))
    return write_output(FileSystem(), Path(path), content, force=force)


class TableFile:
    """Writes rows that arrive in groups to a Parquet file, as ``write_table`` does.

    Until they are published they are in an unnamed file in the same folder; at most ``GROUP_ROWS``
    and those of one call are in memory. Raises DiskError if they cannot be written.
    """

    def __init__(
        self, types: Mapping[str, str], metadata: Mapping[str, int], path: str | Path
    ) -> None:
        self.path = Path(path)
        self.rows = 0
        self._schema = _schema(types, metadata)
        self._held: list[Mapping[str, object]] = []
        self._stack = ExitStack()

    def add(self, rows: Iterable[Mapping[str, object]]) -> None:
        """Add rows, each with a value for every column."""
        self._held += rows
        if len(self._held) >= GROUP_ROWS:
            self._write()

    def publish(self, *, force: bool) -> tuple[str, ...]:
        """Write the file with all rows; ``force``, errors and warnings as for ``write_table``."""
        if self._held:
            self._write()
        with self._errors():
            self._file.close()
            content = Content.from_chunks(StreamPieces(self._stream))
        is_ours = force or is_sealed(self.path)
        return write_output(FileSystem(), self.path, content, force=is_ours)

    def close(self) -> None:
        """Release the rows, published or not."""
        self._stack.close()

    @cached_property
    def _stream(self) -> BinaryIO:
        return self._stack.enter_context(TemporaryFile(dir=self.path.parent))

    @cached_property
    def _file(self) -> SealedWriter:
        return SealedWriter(self._stream, self._schema)

    def _write(self) -> None:
        with self._errors():
            self._file.write(_table(self._held, self._schema))
        self.rows += len(self._held)
        self._held = []

    def _errors(self) -> AbstractContextManager[None]:
        return disk_errors(self.path, "nothing was written there")


def _schema(types: Mapping[str, str], metadata: Mapping[str, int]) -> object:
    import pyarrow as pa

    return pa.schema(
        [(name, getattr(pa, kind)()) for name, kind in types.items()],
        metadata={name: json.dumps({"version": version}) for name, version in metadata.items()},
    )


def _table(rows: Iterable[Mapping[str, object]], schema: Any) -> Any:  # noqa: ANN401
    import pyarrow as pa

    columns: dict[str, list[object]] = {name: [] for name in schema.names}
    for row in rows:
        for name, column in columns.items():
            column.append(_storable(row[name]))
    return pa.Table.from_pydict(columns, schema=schema)


def _storable(value: object) -> object:
    if isinstance(value, tuple):
        value = ",".join(value)
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value
