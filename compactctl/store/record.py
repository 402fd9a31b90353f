"""An operation as JSON: what stands in the metadata of its archive file."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from compactctl.errors import ArchiveError
from compactctl.model.operation import Digest, Operation, OptionValue, StageRecord

VERSION = 1


def encode_operation(operation: Operation) -> bytes:
    """Return the JSON text of an operation, with the version of its layout; ASCII only."""
    record = {"version": VERSION, **_plain(operation)}
    return json.dumps(record, default=_plain).encode("ascii")


def decode_operation(text: bytes, name: str) -> Operation:
    """Return the operation of a JSON text; ``name`` is the file named in an ArchiveError."""
    try:
        record = json.loads(text)
        version = record.pop("version")
        if version == VERSION:
            return _operation(record)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ArchiveError(
            f"{name}: its operation cannot be understood ({type(error).__name__}); "
            "restore the file from a backup"
        ) from error
    raise ArchiveError(
        f"{name}: has version {version!r}, this compactctl knows {VERSION}; use a newer compactctl"
    )


def _plain(value: object) -> dict[str, Any]:
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"no place for {type(value).__name__} in an operation")


def _operation(record: dict[str, Any]) -> Operation:
    record["before"] = Digest(**record["before"])
    record["after"] = Digest(**record["after"])
    record["stages"] = tuple(_stage(stage) for stage in record["stages"])
    return Operation(**record)


def _stage(record: dict[str, Any]) -> StageRecord:
    options = {name: _option(value) for name, value in record.pop("options").items()}
    return StageRecord(options=options, **record)


def _option(value: OptionValue | list[str]) -> OptionValue:
    return tuple(value) if isinstance(value, list) else value
