"""What the archive remembers: operations, digests and archived lines."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NewType

OperationId = NewType("OperationId", str)
LineFate = Literal["kept", "hidden", "replaced"]
StageOutcome = Literal["applied", "skipped", "rolled-back", "not-needed"]
OptionValue = str | int | float | bool | None | tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """The identity of a file's content: SHA-256 in hex, size in bytes, number of raw lines."""

    sha256: str
    n_bytes: int
    n_lines: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChange:
    """The states before and after a command, and the operation that led there, if any did."""

    before: Digest
    after: Digest
    operation: OperationId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedLine:
    """One raw line of the state before an operation, and what became of it.

    ``after_line`` is the line's index after the operation, None when it is gone. The tag columns
    hold the group that hides or rewrote the record. ``edits`` is the JSON text of the edits
    anchored at this line, None when there are none.
    """

    raw: bytes
    fate: LineFate
    after_line: int | None
    message_id: str | None = None
    role: str | None = None
    tool: str | None = None
    call_id: str | None = None
    tokens: int | None = None
    stage: str | None = None
    group: str | None = None
    condense_parent: str | None = None
    truncation_parent: str | None = None
    edit_parent: str | None = None
    edits: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StageRecord:
    """What one stage did in one run; tokens are those of the effective history.

    ``figures`` are what the stage has counted beside that, by name.
    """

    name: str
    options: Mapping[str, OptionValue]
    outcome: StageOutcome
    tokens_before: int
    tokens_after: int
    group: str | None = None
    hidden: int = 0
    replaced: int = 0
    detail: str = ""
    figures: Mapping[str, int] = field(default_factory=dict)

    @property
    def tokens_saved(self) -> int:
        """Tokens saved, the cost of summary, marker and placeholders included."""
        return self.tokens_before - self.tokens_after


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One step in the life of a transcript, from the state ``before`` to the state ``after``.

    ``head`` is the compaction in effect afterwards: the operation itself for a compaction, and
    where one of a client's was undone, an earlier one (or None for the first state) for a rewind.
    ``parent`` is the compaction in effect before. ``appended`` says that all lines stayed as they
    were, and records behind them make the client read them otherwise.

    ``detail`` says in words what the states do not: of an undo what it took out ("by its client on
    line 12"), of a compaction that was carried out again which one that was, and which group it
    lacks; "" of all others. The figures of its ``stages`` do not hold then: they are those of the
    compaction before. ``recorded_at`` is in ISO 8601, UTC. What the id of a compaction follows from
    is said at ``operation_id``.
    """

    id: OperationId
    parent: OperationId | None
    head: OperationId | None
    kind: Literal["compact", "undo", "rewind"]
    before: Digest
    after: Digest
    format: str
    counter: str
    stages: tuple[StageRecord, ...] = ()
    detail: str = ""
    appended: bool = False
    tool_version: str = ""
    recorded_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignSchema:
    """A record of another system.

    Attributes:
        system: whose it is.
        source: where the record is described, and what the system calls it.
        fields: its names, each with that of our figure.
    """

    system: str
    source: str
    fields: Mapping[str, str]


def neurolink_schema(record: str, **names: str) -> ForeignSchema:
    """Return the record of that name in NeuroLink's documentation of context compaction."""
    source = f"NeuroLink documentation, Context Compaction: {record}"
    return ForeignSchema(system="neurolink", source=source, fields=names)
