"""The names that tags have in a record, and both ways between them and ``Tags``."""

import re
from collections.abc import Mapping
from typing import Any

from compactctl.model.message import NO_TAGS, Tags

# The object that holds what only compactctl needs; its presence makes a tag ours.
METADATA_KEY = "compactctl"
METADATA_MARK = re.compile(rb'compactctl\\*"')
"""What a line with such a record has in it, also inside a text; most need no parsing to tell."""

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
    if TAG_NAMES.isdisjoint(record):
        return NO_TAGS
    metadata = record.get(METADATA_KEY)
    found: dict[str, Any] = {}
    for name, field in _FIELDS:
        value = record.get(name)
        if isinstance(value, bool if name == "isTruncationMarker" else str):
            found[field] = value
    if isinstance(metadata, Mapping):
        values = ((field, metadata.get(name), kind) for name, field, kind in _METADATA_FIELDS)
        found |= {field: value for field, value, kind in values if isinstance(value, kind)}
    return Tags(**found)


def tag_fields(tags: Tags) -> dict[str, Any]:
    """Return the record fields that say ``tags``, in a fixed order, without empty ones."""
    fields = {name: getattr(tags, field) for name, field in _FIELDS if getattr(tags, field)}
    metadata = {
        name: getattr(tags, field) for name, field, _ in _METADATA_FIELDS if getattr(tags, field)
    }
    return {**fields, METADATA_KEY: metadata} if metadata else fields


APPENDED_KEY = "appended"
"""In the ``compactctl`` object of a record: the operation that appended it."""
APPENDED_BYTES = b'"appended":'
"""What a line with such a record has in it; most lines need no parsing to tell."""


def appended_by(record: Mapping[str, Any]) -> str | None:
    """Return the operation that appended a record, None for any other record."""
    metadata = record.get(METADATA_KEY)
    name = metadata.get(APPENDED_KEY) if isinstance(metadata, Mapping) else None
    return name if isinstance(name, str) else None


def is_appended(record: Mapping[str, Any]) -> bool:
    """Tell whether compactctl appended a record."""
    return METADATA_KEY in record and appended_by(record) is not None


def without_marker(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record as it was before it was marked as appended."""
    if not is_appended(record):
        return record
    rest = {name: value for name, value in record[METADATA_KEY].items() if name != APPENDED_KEY}
    bare = {name: value for name, value in record.items() if name != METADATA_KEY}
    return {**bare, METADATA_KEY: rest} if rest else bare
