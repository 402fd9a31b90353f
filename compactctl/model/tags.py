"""The names that tags have in a record, and both ways between them and ``Tags``."""

import re
from collections.abc import Mapping
from typing import Any

from compactctl.model.message import NO_TAGS, Tags

# The object that holds what only compactctl needs; its presence makes a tag ours.
OWN_KEY = "compactctl"
OWN_MARK = re.compile(rb'compactctl\\*"')
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
TAG_NAMES = frozenset({OWN_KEY, *(name for name, _ in _FIELDS)})
"""The fields of a record that compactctl writes."""
_OWN_FIELDS = (
    ("op", "operation", str),
    ("through", "through", str),
    ("occurrence", "occurrence", int),
    ("unseen", "unseen", int),
    ("model", "model", str),
    ("answered", "answered", int),
    ("final", "final", bool),
)


def tags_of(record: Mapping[str, Any]) -> Tags:
    """Read the tags at the top level of a record; values of a wrong type count as absent."""
    if TAG_NAMES.isdisjoint(record):
        return NO_TAGS
    own = record.get(OWN_KEY)
    found: dict[str, Any] = {}
    for name, field in _FIELDS:
        value = record.get(name)
        if isinstance(value, bool if name == "isTruncationMarker" else str):
            found[field] = value
    if isinstance(own, Mapping):
        values = ((field, own.get(name), kind) for name, field, kind in _OWN_FIELDS)
        found |= {field: value for field, value, kind in values if isinstance(value, kind)}
    return Tags(**found)


def tag_fields(tags: Tags) -> dict[str, Any]:
    """Return the record fields that say ``tags``, in a fixed order, without empty ones."""
    fields = {name: getattr(tags, field) for name, field in _FIELDS if getattr(tags, field)}
    own = {name: getattr(tags, field) for name, field, _ in _OWN_FIELDS if getattr(tags, field)}
    return {**fields, OWN_KEY: own} if own else fields


APPENDED = "appended"
"""In the ``compactctl`` object of a record: the operation that appended it."""
MARK = b'"appended":'
"""What a line with such a record has in it; most lines need no parsing to tell."""


def appended_by(record: Mapping[str, Any]) -> str | None:
    """Return the operation that appended a record, None for any other record."""
    own = record.get(OWN_KEY)
    name = own.get(APPENDED) if isinstance(own, Mapping) else None
    return name if isinstance(name, str) else None


def is_appended(record: Mapping[str, Any]) -> bool:
    """Tell whether compactctl appended a record."""
    return OWN_KEY in record and appended_by(record) is not None


def without_mark(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record as it was before it was marked as appended."""
    if not is_appended(record):
        return record
    rest = {name: value for name, value in record[OWN_KEY].items() if name != APPENDED}
    bare = {name: value for name, value in record.items() if name != OWN_KEY}
    return {**bare, OWN_KEY: rest} if rest else bare
