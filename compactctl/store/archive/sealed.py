"""Parquet tables that tell whether they are still what was written."""

import hashlib
import io
import json
from pathlib import Path
from typing import Any

SEAL = b"compactctl.seal"


def sealed_table(table: Any) -> bytes:  # noqa: ANN401 - pyarrow has no types
    """Return a pyarrow table as a Parquet file that holds the digest of its columns."""
    from pyarrow import parquet

    metadata = {**(table.schema.metadata or {}), SEAL: _seal(table)}
    out = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata(metadata), out, compression="zstd")
    return out.getvalue()


def is_sealed(path: Path) -> bool:
    """Tell whether a file is a table that was written sealed and holds the same columns still."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        with path.open("rb") as stream:
            seal = (parquet.read_schema(stream).metadata or {}).get(SEAL)
            return seal is not None and seal == _seal(parquet.read_table(stream))
    except (pa.ArrowException, OSError, ValueError):
        return False


def _seal(table: Any) -> bytes:  # noqa: ANN401
    text = json.dumps(table.to_pydict())
    return hashlib.sha256(text.encode("ascii")).hexdigest().encode("ascii")
