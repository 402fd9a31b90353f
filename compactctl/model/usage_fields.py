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
from compactctl.model.tags import OWN_KEY

# What the provider reported, in the ``compactctl`` object of a record whose counts are restated.
REPORTED = "reported"


@dataclass(frozen=True, slots=True, kw_only=True)
class CountFields:
    """Where a client's records tell the tokens of a request and its answer.

    ``path`` leads to the object of counts, the others to its fields: ``sent``, with or without what
    ``cached`` tell, ``answer``, and ``total`` of all, None where there is none.
    """

    path: JsonPath
    sent: JsonPath
    cached: tuple[JsonPath, ...]
    answer: JsonPath
    total: JsonPath | None = None

    def telling(self, counts: Mapping[str, Any], tokens: int) -> dict[JsonPath, int]:
        """Return the fields that make ``counts`` come to ``tokens``; the answer's stay."""
        answer = value_at(counts, self.answer)
        said = min(answer, tokens) if isinstance(answer, int) else 0
        fields = {self.sent: tokens - said, self.answer: said, **dict.fromkeys(self.cached, 0)}
        return fields if self.total is None else {**fields, self.total: tokens}


@dataclass(frozen=True, slots=True, kw_only=True)
class Restated:
    """The record whose counts are to come to ``tokens``: a message's own, or a line beside them."""

    line: int
    tokens: int
    id: MessageId | None = None


def as_reported(record: Mapping[str, Any], fields: CountFields) -> Mapping[str, Any]:
    """Return a record as it was before its counts were restated."""
    if OWN_KEY not in record:
        return record
    own = own_object(record)
    if not isinstance(own.get(REPORTED), Mapping):
        return record
    rest = {name: value for name, value in own.items() if name != REPORTED}
    bare = {name: value for name, value in record.items() if name != OWN_KEY}
    found = _with_value(bare, fields.path, own[REPORTED])
    return {**found, OWN_KEY: rest} if rest else found


def own_object(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what only compactctl needs of a record; empty where it says nothing."""
    own = record.get(OWN_KEY)
    return own if isinstance(own, Mapping) else {}


def _with_value(record: Mapping[str, Any], path: JsonPath, value: object) -> Mapping[str, Any]:
    """Return an object with another value at ``path``, as far as that leads through objects."""
    first, *rest = path
    inner = record.get(str(first))
    if rest and not isinstance(inner, Mapping):
        return record
    new = _with_value(inner, tuple(rest), value) if rest and isinstance(inner, Mapping) else value
    return {**record, str(first): new}
