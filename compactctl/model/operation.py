"""What the archive remembers: operations, digests and archived lines."""

from collections.abc import Mapping
from typing import Annotated, Literal, NewType

from msgspec import Meta

from compactctl.model.bounds import Count, Scalar
from compactctl.records import Record, field

OperationId = NewType("OperationId", str)
ID_PATTERN = "[A-Za-z0-9_-]+"
"""Matches the id of an operation, which is a part of its archive's name."""
NamedId = Annotated[OperationId, Meta(pattern=rf"\A{ID_PATTERN}\Z")]
StateSize = Annotated[int, Meta(ge=0, le=1 << 50)]
"""Up to a petabyte, more than any file that was ever read."""
LineFate = Literal["kept", "hidden", "replaced"]
StageOutcome = Literal["applied", "skipped", "rolled-back", "not-needed"]
MAX_STAGES = 10_000
"""More stages, and items of an option, than any run has."""
OptionValue = Scalar | Annotated[tuple[str, ...], Meta(max_length=MAX_STAGES)]


class Digest(Record):
    """The identity of a file's content: SHA-256 in hex, size in bytes, number of raw lines."""

    sha256: Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
    n_bytes: StateSize
    n_lines: StateSize


RecordDigest = Annotated[str, Meta(pattern=r"\A[0-9a-f]{16}\Z")]


class DocumentRecords(Record):
    """The records of a state that is one JSON document.

    Its client writes the whole document anew for each turn, so the records are what stays the same.

    Attributes:
        path: the keys that lead to their array.
        digests: of each record; see ``record_digest``.
    """

    path: Annotated[tuple[str, ...], Meta(max_length=100)]
    digests: Annotated[tuple[RecordDigest, ...], Meta(max_length=10_000_000)]


class StateChange(Record):
    """The states before and after a command; ``operation`` is None if nothing changed."""

    before: Digest
    after: Digest
    operation: OperationId | None = None


class ArchivedLine(Record):
    """One raw line of the state before an operation, and what became of it.

    ``after_line`` is the line's index after the operation, None if the line was removed. The tag
    columns hold the group that hides or rewrote the record. ``edits`` is the JSON text of the edits
    archived with this line, None if there are none.
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


class StageRecord(Record):
    """What one stage did in one run.

    Tokens are those of the effective history; ``figures`` are the stage's other counts by name.
    """

    name: str
    options: Mapping[str, OptionValue]
    outcome: StageOutcome
    tokens_before: Count
    tokens_after: Count
    group: str | None = None
    hidden: Count = 0
    replaced: Count = 0
    detail: str = ""
    figures: Mapping[str, Count] = field(default_factory=dict)

    @property
    def tokens_saved(self) -> int:
        """Tokens saved, net of summary, marker and placeholders."""
        return self.tokens_before - self.tokens_after


OperationKind = Literal["compact", "undo", "end", "rewind"]


class SizeChange(Record):
    """The tokens of the next request before and after an operation; of several, of all of them."""

    before: Count
    after: Count


class Operation(Record):
    """One change of a transcript, from the state ``before`` to the state ``after``.

    Attributes:
        id: of a compaction, computed from its input and options; see ``operation_id``.
        parent: the compaction in effect before.
        head: the compaction in effect afterwards: for a compaction, and for the undo of a client's
            own, the operation itself; for a rewind an earlier one, or None for the first state.
        kind: a compaction; the undo of one by the client; the end of the transcript left out, so
            that it continues from an earlier line; or a rewind.
        detail: for an undo, of which compaction ("by its client on line 12"); for an end, from
            where ("after line 9"). For a compaction carried out again without a group, which
            compaction and which group; the figures of ``stages`` are then those of that compaction.
            Otherwise "".
        appended: all lines stayed as they were; records appended after them change what the client
            sends.
        records: those of the state after it, if that is one JSON document.
        size: of a compaction, as it was told; None in archives of earlier versions.
        recorded_at: ISO 8601, UTC.
    """

    id: NamedId
    parent: NamedId | None
    head: NamedId | None
    kind: OperationKind
    before: Digest
    after: Digest
    format: str
    counter: str
    stages: Annotated[tuple[StageRecord, ...], Meta(max_length=MAX_STAGES)] = ()
    detail: str = ""
    appended: bool = False
    records: DocumentRecords | None = None
    size: SizeChange | None = None
    tool_version: str = ""
    recorded_at: str = ""


class ForeignSchema(Record):
    """A record that another system documents, and how its fields map to ours.

    Attributes:
        system: the system's name.
        source: where the record is documented, and its name there.
        fields: the name of our figure for each of its fields.
    """

    system: str
    source: str
    fields: Mapping[str, str]


def neurolink_schema(record: str, **fields: str) -> ForeignSchema:
    """Describe a record of NeuroLink's documentation of context compaction."""
    source = f"NeuroLink documentation, Context Compaction: {record}"
    return ForeignSchema(system="neurolink", source=source, fields=fields)
