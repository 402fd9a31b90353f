"""The token counts from which a client takes the size of its context.

Clients decide by what was reported for the newest answer whether to refuse a session or to compact
it. After a compaction that is the size of before; so it is restated, and what the provider reported
stays beside it, for every count of ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compactctl.model.json_paths import value_at
from compactctl.model.message import JsonPath, MessageId
from compactctl.model.tags import METADATA_KEY

# What the provider reported, in the ``compactctl`` object of a record whose counts are restated.
REPORTED_KEY = "reported"


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageFields:
    """Where a client's records tell the tokens of a request and its answer.

    ``path`` leads to the object of counts, the others to its fields: ``input``, with or without
    what ``cached_inputs`` tell, ``output``, and ``total`` of all, None where there is none.
    """

    path: JsonPath
    input: JsonPath
    cached_inputs: tuple[JsonPath, ...]
    output: JsonPath
    total: JsonPath | None = None

    def values_for(self, counts: Mapping[str, Any], tokens: int) -> dict[JsonPath, int]:
        """Return the fields that make ``counts`` come to ``tokens``; the answer's stay."""
        answer = value_at(counts, self.output)
        said = min(answer, tokens) if isinstance(answer, int) else 0
        fields = {
            self.input: tokens - said,
            self.output: said,
            **dict.fromkeys(self.cached_inputs, 0),
        }
        return fields if self.total is None else {**fields, self.total: tokens}


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRestatement:
    """The record whose counts are to come to ``tokens``: a message's own, or a line beside them."""

    line: int
    tokens: int
    id: MessageId | None = None


def with_reported_usage(record: Mapping[str, Any], fields: UsageFields) -> Mapping[str, Any]:
    """Return a record as it was before its counts were restated."""
    if METADATA_KEY not in record:
        return record
    own = own_metadata(record)
    if not isinstance(own.get(REPORTED_KEY), Mapping):
        return record
    rest = {name: value for name, value in own.items() if name != REPORTED_KEY}
    bare = {name: value for name, value in record.items() if name != METADATA_KEY}
    found = _with_value(bare, fields.path, own[REPORTED_KEY])
    return {**found, METADATA_KEY: rest} if rest else found


def own_metadata(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what only compactctl needs of a record; empty where it says nothing."""
    own = record.get(METADATA_KEY)
    return own if isinstance(own, Mapping) else {}


def _with_value(record: Mapping[str, Any], path: JsonPath, value: object) -> Mapping[str, Any]:
    """Return an object with another value at ``path``, as far as that leads through objects."""
    first, *rest = path
    inner = record.get(str(first))
    if rest and not isinstance(inner, Mapping):
        return record
    new = _with_value(inner, tuple(rest), value) if rest and isinstance(inner, Mapping) else value
    return {**record, str(first): new}
