"""Encode an operation as the JSON text in the metadata of its archive.

A new field of an operation has a default, which is what it is in archives of earlier versions. It
is left out where it has this default, because earlier versions refuse unknown fields; ``VERSION``
rises if they must not read the rest either. ``views/results/log`` shows it.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from compactctl.errors import ArchiveError, NewerArchiveError
from compactctl.model.operation import (
    Digest,
    DocumentRecords,
    Operation,
    OptionValue,
    StageRecord,
)
from compactctl.model.validators import (
    dict_of,
    field_validators,
    int_up_to,
    json_object,
    list_of,
    matching,
    non_negative_int,
    object_of,
    optional,
    scalar,
    string,
)
from compactctl.records import Record, asdict
from compactctl.store.archive.names import ID_PATTERN

VERSION = 1
STATE_BYTES = 1 << 50
"""A petabyte, more than any file that was ever read."""
STAGES = 10_000
"""More stages, and items of an option, than any run has."""
PATH_STEPS = 100
RECORDS = 10_000_000
"""Deeper paths, and more records, than any document has."""

_RELEASE = re.compile(r"\d+(\.\d+)*\w*", re.ASCII)
_WORD = matching(ID_PATTERN)


def encode_operation(operation: Operation) -> bytes:
    """Encode an operation, with the version of the layout, as JSON in ASCII."""
    record = {"version": VERSION, **_to_json(operation)}
    for name in ("appended", "records"):
        if not record[name]:
            del record[name]
    return json.dumps(record, default=_to_json).encode("ascii")


def decode_operation(text: bytes, name: str) -> Operation:
    """Decode and validate an operation; ``name`` is the file named in an ArchiveError.

    Types and sizes are checked. An unknown field is refused, because a later version may have
    changed the meaning of the others with it.
    """
    try:
        record = json_object(json.loads(text))
        version = non_negative_int(record.pop("version", None))
        operation: Operation | None = _OPERATION(record) if version == VERSION else None
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


def _required_release(record: Mapping[str, object]) -> str:
    """Name the compactctl that can read a record: the one that wrote it, if it says so."""
    release = record.get("tool_version")
    is_valid = isinstance(release, str) and _RELEASE.fullmatch(release[:20])
    return f"compactctl {release} or newer" if is_valid else "a newer compactctl"


def _to_json(value: object) -> dict[str, Any]:
    if isinstance(value, Record):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"no place for {type(value).__name__} in an operation")


def _digest(value: object) -> Digest:
    digest: Digest = _DIGEST(value)
    if digest.n_lines > digest.n_bytes:
        raise ValueError("more lines than bytes")
    return digest


def _option(value: object) -> OptionValue:
    if isinstance(value, list):
        items: tuple[str, ...] = list_of(string, STAGES)(value)
        return items
    return scalar(value)


_SIZE = int_up_to(STATE_BYTES)
_DIGEST = object_of(
    Digest,
    field_validators(
        Digest, sha256=matching(re.compile("[0-9a-f]{64}")), n_bytes=_SIZE, n_lines=_SIZE
    ),
)
_STAGE = object_of(
    StageRecord,
    field_validators(StageRecord, options=dict_of(_option), figures=dict_of(non_negative_int)),
)
_RECORDS = object_of(
    DocumentRecords,
    field_validators(
        DocumentRecords,
        path=list_of(string, PATH_STEPS),
        digests=list_of(matching(re.compile("[0-9a-f]{16}")), RECORDS),
    ),
)
_OPERATION = object_of(
    Operation,
    field_validators(
        Operation,
        id=_WORD,
        parent=optional(_WORD),
        head=optional(_WORD),
        before=_digest,
        after=_digest,
        stages=list_of(_STAGE, STAGES),
        records=optional(_RECORDS),
    ),
)
