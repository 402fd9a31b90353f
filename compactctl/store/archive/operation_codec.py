"""Encode an operation as the JSON text in the metadata of its archive.

A new field of an operation has a default, which is what it is in archives of earlier versions. It
is left out where it has this default, because earlier versions refuse unknown fields; ``VERSION``
rises if they must not read the rest either. ``views/results/log`` shows it.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import to_builtins

from compactctl.errors import ArchiveError, NewerArchiveError
from compactctl.model.bounds import Count
from compactctl.model.operation import Operation
from compactctl.model.validation import validated

VERSION = 1
_RELEASE = re.compile(r"\d+(\.\d+)*\w*", re.ASCII)


def encode_operation(operation: Operation) -> bytes:
    """Encode an operation, with the version of the layout, as JSON in ASCII."""
    record = {"version": VERSION, **to_builtins(operation, enc_hook=dict)}
    for name in ("appended", "records", "size"):
        if not record[name]:
            del record[name]
    return json.dumps(record).encode("ascii")


def decode_operation(text: bytes, name: str) -> Operation:
    """Decode and validate an operation; ``name`` is the file named in an ArchiveError.

    Types and sizes are checked. An unknown field is refused, because a later version may have
    changed the meaning of the others with it.
    """
    try:
        record: dict[str, Any] = validated(json.loads(text), dict[str, Any])
        version: int = validated(record.pop("version", None), Count)
        operation = _operation(record) if version == VERSION else None
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise ArchiveError(
            f"{name}: its operation cannot be read ({why}); restore the file from a backup"
        ) from error
    if operation is None:
        raise NewerArchiveError(
            f"{name}: has version {version} of the archive, this compactctl knows {VERSION}; "
            f"use {_required_release(record)}"
        )
    return operation


def _operation(record: Mapping[str, Any]) -> Operation:
    operation: Operation = validated(record, Operation)
    for name, digest in (("before", operation.before), ("after", operation.after)):
        if digest.n_lines > digest.n_bytes:
            raise ValueError(f"{name}: more lines than bytes")
    return operation


def _required_release(record: Mapping[str, object]) -> str:
    """Name the compactctl that can read a record: the one that wrote it, if it says so."""
    release = record.get("tool_version")
    is_valid = isinstance(release, str) and _RELEASE.fullmatch(release[:20])
    return f"compactctl {release} or newer" if is_valid else "a newer compactctl"
