"""Restates, in a record's text, the counts from which a client takes the size of its context."""

import json
from typing import Any

from compactctl.model.counts import REPORTED, CountFields, own_object
from compactctl.model.paths import value_at
from compactctl.model.tags import OWN_KEY
from compactctl.pipeline.quoted import plain
from compactctl.pipeline.record_splice import changed, with_fields
from compactctl.pipeline.spans import splice


def restated(record: str, fields: CountFields, tokens: int, depth: int = 0) -> str:
    """Return a record's text with counts that come to ``tokens``, and what was reported beside.

    A record without counts, or with these, stays as it is. ``depth`` as in ``value_changes``.
    """
    value = json.loads(plain(record, depth), strict=False)
    counts = value_at(value, fields.path)
    if not isinstance(counts, dict):
        return record
    told = {(*fields.path, *path): n for path, n in fields.telling(counts, tokens).items()}
    new = splice(record, changed(record, told.items(), depth))
    if new == record:
        return record
    own = own_object(value)
    return with_fields(new, {OWN_KEY: {**own, REPORTED: own.get(REPORTED, counts)}}, depth)


def kept_report(record: str) -> dict[str, Any]:
    """Return what a record's text keeps of what was reported, as fields; none where it does not."""
    if f'"{REPORTED}"' not in record:
        return {}
    own = own_object(json.loads(record, strict=False))
    return {REPORTED: own[REPORTED]} if REPORTED in own else {}
