"""Records that clients keep in a session but never send to a model."""

from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from msgspec import Meta

from compactctl.model.message import JsonPath
from compactctl.records import Record, field

UnsentKind = Literal["progress", "copies", "snapshots"]
UnsentKinds = Annotated[tuple[UnsentKind, ...], Meta(max_length=len(get_args(UnsentKind)))]
ANY_INDEX = "*"
"""In the path of a rule: every element of an array."""


class UnsentRule(Record):
    """A rule that identifies records of a client, or values in them, that are never sent.

    Attributes:
        kind: progress reports, copies of tool results for the screen, or snapshots of files.
        match: the strings that identify such a record, by path; one of each set must match.
        path: the path to the value, with ``ANY_INDEX`` for all elements of an array; () for the
            whole record.
        replacement: JSON text that the client needs instead; "" if it can be removed.
        beside: the strings that must stand beside the value, one of each set; a rule for a whole
            record has none.
    """

    kind: UnsentKind
    match: Mapping[JsonPath, frozenset[str]]
    path: JsonPath = ()
    replacement: str = ""
    beside: Mapping[str, frozenset[str]] = field(default_factory=dict)


def match_type(*types: str) -> Mapping[JsonPath, frozenset[str]]:
    """Return a ``match`` for the records of these types."""
    return {("type",): frozenset(types)}


class UnsentValue(Record):
    """A record, or a value in it, that is never sent; removing it saves ``n_bytes``."""

    kind: UnsentKind
    line: int
    path: JsonPath
    replacement: str
    n_bytes: int
