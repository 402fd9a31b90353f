"""What clients keep in a session beside the conversation and send to no model."""

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
        kind: what they are: told while something runs, copies of what tools gave back for the
            screen, or states of files to go back to.
        match: the strings that such a record has, by their paths.
        path: leads to the value in it, ``ANY_INDEX`` to all elements of an array; () for all of it.
        replacement: the JSON text that its client wants there instead; "" where it needs none.
    """

    kind: UnsentKind
    match: Mapping[JsonPath, frozenset[str]]
    path: JsonPath = ()
    replacement: str = ""


def match_type(*types: str) -> Mapping[JsonPath, frozenset[str]]:
    """Return where records of these types have their type."""
    return {("type",): frozenset(types)}


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsentValue:
    """A record, or a value in it, that is never sent; ``n_bytes`` is what goes with it."""

    kind: UnsentKind
    line: int
    path: JsonPath
    stand_in: str
    n_bytes: int
