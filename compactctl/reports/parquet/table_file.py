"""Rows as a Parquet file that says what it is, and whether anybody changed it since."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from compactctl.store.archive.sealed import is_sealed, sealed_table
from compactctl.store.files.content import Content
from compactctl.store.files.filesystem import FileSystem
from compactctl.store.publish.publish import write_output


def write_table(
    rows: Iterable[Mapping[str, object]],
    types: Mapping[str, str],
    metadata: Mapping[str, int],
    path: str | Path,
    *,
    force: bool,
) -> tuple[str, ...]:
    """Write rows, whole or not at all; return warnings, DiskError when that fails.

    Args:
        rows: each with a value for every column.
        types: column -> name of its Arrow type.
        metadata: what the rows are -> version of their columns.
        path: the file.
        force: overwrite what is another file, or was changed since; UsageError otherwise.

    Lone surrogates, as in names that are not UTF-8, are written as escapes; texts in a tuple are
    joined by commas.
    """
    import pyarrow as pa

    schema = pa.schema(
        [(name, getattr(pa, kind)()) for name, kind in types.items()],
        metadata={name: json.dumps({"version": version}) for name, version in metadata.items()},
    )
    flat = [{name: _storable(row[name]) for name in types} for row in rows]
    is_ours = force or is_sealed(Path(path))
    content = Content.of((sealed_table(pa.Table.from_pylist(flat, schema=schema)),))
    return write_output(FileSystem(), Path(path), content, force=is_ours)


def _storable(value: object) -> object:
    if isinstance(value, tuple):
        value = ",".join(value)
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value
