"""Read and write tags, and the ``compactctl`` object that holds the other metadata of a record."""

import re
from collections.abc import Mapping
from typing import Any

from compactctl.model.message import NO_TAGS, Tags

METADATA_KEY = "compactctl"
"""The object in a record that holds what only compactctl needs; its presence makes a tag ours."""
METADATA_MARK = re.compile(rb'compactctl\\*"')
"""Found in every line with such a record, even inside a string, so that few lines are parsed."""
APPENDED_KEY = "appended"
"""In the ``compactctl`` object of a record: the operation that appended it."""
APPENDED_BYTES = b'"appended":'
"""Found in every line with such a record, so that few lines are parsed."""

# Names used by Roo Code and NeuroLink; edit tags follow the same pattern.
_FIELDS = (
    ("condenseId", "condense_id"),
    ("condenseParent", "condense_parent"),
    ("truncationId", "truncation_id"),
    ("truncationParent", "truncation_parent"),
    ("isTruncationMarker", "is_truncation_marker"),
    ("editId", "edit_id"),
    ("editParent", "edit_parent"),
)
TAG_NAMES = frozenset({METADATA_KEY, *(name for name, _ in _FIELDS)})
"""The fields of a record that compactctl writes."""
_METADATA_FIELDS = (
    ("op", "operation", str),
    ("through", "through", str),
    ("occurrence", "occurrence", int),
    ("unseen", "overhead_tokens", int),
    ("model", "model", str),
    ("answered", "largest_answered", int),
    ("final", "is_final", bool),
)


def read_tags(record: Mapping[str, Any]) -> Tags:
    """Read the tags at the top level of a record; values of a wrong type count as absent."""
    if record.keys().isdisjoint(TAG_NAMES):
        return NO_TAGS
    tags: dict[str, Any] = {}
    for name, field in _FIELDS:
        value = record.get(name)
        if isinstance(value, bool if name == "isTruncationMarker" else str):
            tags[field] = value
    metadata = read_metadata(record)
    for name, field, kind in _METADATA_FIELDS:
        value = metadata.get(name)
        if isinstance(value, kind):
            tags[field] = value
    return Tags(**tags)


def tag_fields(tags: Tags) -> dict[str, Any]:
    """Encode ``tags`` as fields of a record, in a fixed order, without empty ones."""
    fields = {name: getattr(tags, field) for name, field in _FIELDS if getattr(tags, field)}
    metadata = {
        name: getattr(tags, field) for name, field, _ in _METADATA_FIELDS if getattr(tags, field)
    }
    return {**fields, METADATA_KEY: metadata} if metadata else fields


def read_metadata(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the ``compactctl`` object of a record; empty if there is none or it is damaged."""
    metadata = record.get(METADATA_KEY)
    return metadata if isinstance(metadata, Mapping) else {}


def without_metadata(record: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Remove ``key`` from the ``compactctl`` object, and the object if nothing else is in it."""
    metadata = {name: value for name, value in record[METADATA_KEY].items() if name != key}
    bare = {name: value for name, value in record.items() if name != METADATA_KEY}
    return {**bare, METADATA_KEY: metadata} if metadata else bare


def appended_by(record: Mapping[str, Any]) -> str | None:
    """Return the operation that appended a record, None for any other record."""
    operation = read_metadata(record).get(APPENDED_KEY)
    return operation if isinstance(operation, str) else None


def is_appended(record: Mapping[str, Any]) -> bool:
    """Return whether compactctl appended a record."""
    return METADATA_KEY in record and appended_by(record) is not None


def without_marker(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record as it was before it was marked as appended."""
    return without_metadata(record, APPENDED_KEY) if is_appended(record) else record
