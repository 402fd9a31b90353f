"""Records that clients keep in a session but never send to a model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from compactctl.model.message import JsonPath

UnsentKind = Literal["progress", "copies", "snapshots"]
ANY_INDEX = "*"
"""In the path of a rule: every element of an array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsentRule:
    """Which records of a client, or values in them, are never sent.

    Attributes:
        kind: progress reports, copies of tool results for the screen, or snapshots of files.
        match: the strings that identify such a record, by path; one of each set must match.
        path: leads to the value in it, ``ANY_INDEX`` to all elements of an array; () for the
            whole record.
        replacement: JSON text that the client needs in its place; "" if it can be removed.
    """

    kind: UnsentKind
    match: Mapping[JsonPath, frozenset[str]]
    path: JsonPath = ()
    replacement: str = ""


def match_type(*types: str) -> Mapping[JsonPath, frozenset[str]]:
    """Return a ``match`` for the records of these types."""
    return {("type",): frozenset(types)}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsentValue:
    """A record, or a value in it, that is never sent; ``n_bytes`` is what removing it saves."""

    kind: UnsentKind
    line: int
    path: JsonPath
    stand_in: str
    n_bytes: int
