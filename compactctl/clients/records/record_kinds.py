"""What the kinds of records in a client's sessions mean for its next request.

Each client has a table of them, after its own loader. What is in no table is unknown, and may
change what is sent.
"""

from typing import Literal

from compactctl.records import Record

Effect = Literal["message", "state", "changes the history", "never sent"]
"""A message may be sent; a state is the client's own and says nothing about messages."""


class RecordKind(Record):
    """What records of a type mean.

    Attributes:
        effect: what it means for what is sent.
        fields: those that are read.
        since: the oldest version it is known from; "" for as long as there are sessions.
        source: the client's function, "" if only what is said above is known.
        unmodeled: how it may change what is sent, if that is not followed here.
    """

    effect: Effect
    fields: tuple[str, ...] = ()
    since: str = ""
    source: str = ""
    unmodeled: str = ""


def record_kinds(names: str, effect: Effect, since: str = "") -> dict[str, RecordKind]:
    """Return one kind for several types, whose names are separated by spaces."""
    return dict.fromkeys(names.split(), RecordKind(effect=effect, since=since))


def unmodeled_warning(kind: str, line: int, change: str) -> str:
    """Return a warning about a kind of record that is not followed here.

    ``line`` is the index of its first line, ``change`` how it may change what is sent.
    """
    return f"line {line + 1}: {kind}: {change}; this is not followed, so what is sent may differ"
