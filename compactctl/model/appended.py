"""Records that were appended to a session so that its client reads it otherwise than before."""

from collections.abc import Mapping
from typing import Any

from compactctl.model.tags import OWN_KEY

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
