"""An operation as JSON: what stands in the metadata of its archive file."""

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from compactctl.errors import ArchiveError, NewerArchiveError
from compactctl.model.operation import Digest, Operation, OptionValue, StageRecord
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
from compactctl.store.archive.names import ID_PATTERN

VERSION = 1
STATE_BYTES = 1 << 50
"""A petabyte: what no file that was ever read can have had."""
STAGES = 10_000
"""Far more stages, and items of an option, than any run has."""

_RELEASE = re.compile(r"\d+(\.\d+)*\w*", re.ASCII)
_WORD = matching(ID_PATTERN)


def encode_operation(operation: Operation) -> bytes:
    """Return the JSON text of an operation, with the version of its layout; ASCII only."""
    found = {"version": VERSION, **_to_json(operation)}
    if not operation.appended:
        # Left out when false, so that earlier versions can read the rest.
        del found["appended"]
    return json.dumps(found, default=_to_json).encode("ascii")


def decode_operation(text: bytes, name: str) -> Operation:
    """Return the operation of a JSON text; ``name`` is the file named in an ArchiveError.

    Everything in it has its type and a sane size; a field that is not known is refused, as a
    later version may mean by it that the rest is to be read in another way.
    """
    try:
        found = json_object(json.loads(text))
        version = non_negative_int(found.pop("version", None))
        operation: Operation | None = _OPERATION(found) if version == VERSION else None
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise ArchiveError(
            f"{name}: its operation cannot be understood ({why}); restore the file from a backup"
        ) from error
    if operation is None:
        raise NewerArchiveError(
            f"{name}: has version {version} of the archive, this compactctl knows {VERSION}; "
            f"use {_required_release(found)}"
        )
    return operation


def _required_release(found: Mapping[str, object]) -> str:
    """Return which compactctl can read a record: the one that wrote it, if that is told."""
    release = found.get("tool_version")
    told = isinstance(release, str) and _RELEASE.fullmatch(release[:20])
    return f"compactctl {release} or newer" if told else "a newer compactctl"


def _to_json(value: object) -> dict[str, Any]:
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
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
    ),
)
