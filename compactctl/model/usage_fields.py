"""The token counts that a client takes as the size of its context, and how to restate them.

Clients refuse or compact a session by the usage reported for its newest answer. After a compaction
that is still the old size. So it is restated, and the provider's report is kept beside it for our
own counts.
"""

from collections.abc import Mapping
from typing import Any

from compactctl.model.json_paths import value_at
from compactctl.model.message import JsonPath, MessageId
from compactctl.model.tags import METADATA_KEY, read_metadata, without_metadata
from compactctl.records import Record

REPORTED_KEY = "reported"
"""In the ``compactctl`` object of a record with restated counts: what the provider reported."""


class UsageFields(Record):
    """Where a client's records hold the tokens of a request and its answer.

    Attributes:
        path: leads to the object of counts; all other paths start there.
        input: sent tokens, with or without ``cached_inputs``.
        cached_inputs: tokens read from or written to the prompt cache.
        output: tokens of the answer.
        others: further tokens, beside those of the answer.
        total: the sum of all; None if the client stores none.
        is_of_session: whether they stand in a record of their own, not in that of an answer.
    """

    path: JsonPath
    input: JsonPath
    cached_inputs: tuple[JsonPath, ...]
    output: JsonPath
    others: tuple[JsonPath, ...] = ()
    total: JsonPath | None = None
    is_of_session: bool = False

    def values_for(self, counts: Mapping[str, Any], tokens: int) -> dict[JsonPath, int]:
        """Return new values that make ``counts`` add up to ``tokens``.

        What is neither sent nor cached keeps its count. ``{"in": 90_000, "cached": 5_000,
        "out": 700}`` restated to 20,000 tokens becomes ``{"in": 19_300, "cached": 0, "out": 700}``.
        """
        values = dict.fromkeys(self.cached_inputs, 0)
        remaining = tokens
        for path in (self.output, *self.others):
            count = value_at(counts, path)
            values[path] = min(count, remaining) if isinstance(count, int) else 0
            remaining -= values[path]
        values[self.input] = remaining
        return values if self.total is None else {**values, self.total: tokens}


class UsageRestatement(Record):
    """The record whose counts are restated to ``tokens``; ``id`` is None if it is not a message."""

    line: int
    tokens: int
    id: MessageId | None = None


def with_reported_usage(record: Mapping[str, Any], fields: UsageFields) -> Mapping[str, Any]:
    """Return a record as it was before its counts were restated."""
    if METADATA_KEY not in record:
        return record
    reported = read_metadata(record).get(REPORTED_KEY)
    if not isinstance(reported, Mapping):
        return record
    return _with_value(without_metadata(record, REPORTED_KEY), fields.path, reported)


def _with_value(record: Mapping[str, Any], path: JsonPath, value: object) -> Mapping[str, Any]:
    """Return a copy with another value at ``path``; unchanged if that does not lead there."""
    first, *rest = path
    inner = record.get(str(first))
    if rest and not isinstance(inner, Mapping):
        return record
    new = _with_value(inner, tuple(rest), value) if rest and isinstance(inner, Mapping) else value
    return {**record, str(first): new}
