"""What an audit is asked for, and what it found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from compactctl.auditing.finds import Audit, LossKind
from compactctl.commands.loading.load import InputOptions
from compactctl.commands.sizing.measure import Measure, MeasureOptions
from compactctl.summaries.extract.passages import Spot

AuditGate = Literal[
    "lost-rules",
    "lost-tasks",
    "lost-files",
    "lost-errors",
    "lost-identifiers",
    "lost-reads",
    "invented",
    "reread",
    "unaudited",
]

_LOSS_GATES: Mapping[AuditGate, LossKind] = {
    "lost-rules": "rule",
    "lost-tasks": "task",
    "lost-files": "file",
    "lost-errors": "error",
    "lost-identifiers": "identifier",
    "lost-reads": "read",
}

# audited: everything could be looked up. sealed: the client keeps its summary encrypted, or keeps
# none. gone: what it stands for is in no file that was found.
AuditVerdict = Literal["audited", "sealed", "gone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """What to audit, which finds fail the run, and how many of each kind are listed."""

    input: InputOptions
    measure: MeasureOptions = field(default_factory=MeasureOptions)
    fail_on: tuple[AuditGate, ...] = ()
    top: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedCompaction:
    """One compaction and what became of what was known.

    Attributes:
        writer: ``compactctl`` or the name of the format whose client compacted.
        spot: where its summary or boundary stands, in the state that it led to.
        operation: the id of a compaction by compactctl, None for others and where it is not known.
        stages: the stages that changed something, of a compaction by compactctl.
        conversation: its number, from 1.
        tokens_before, tokens_after: of the effective history.
        summary_tokens: of the text that was written for it.
        restored_tokens: of what the client sent again by itself, before the agent went on.
        verdict: what could be looked up.
        audit: what was found; None unless something could be.
    """

    writer: str
    spot: Spot
    operation: str | None = None
    stages: tuple[str, ...] = ()
    conversation: int = 1
    tokens_before: int = 0
    tokens_after: int = 0
    summary_tokens: int = 0
    restored_tokens: int = 0
    verdict: AuditVerdict = "audited"
    audit: Audit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditResult:
    """The compactions of a transcript, oldest first; the rest is as it was asked for."""

    path: str
    format: str
    measure: Measure
    compactions: tuple[AuditedCompaction, ...]
    fail_on: tuple[AuditGate, ...] = ()
    top: int = 5
    warnings: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[AuditGate, ...]:
        """The gates that found something, in the order they were asked for."""
        return tuple(
            gate for gate in self.fail_on if any(_finds(gate, each) for each in self.compactions)
        )


def _finds(gate: AuditGate, compaction: AuditedCompaction) -> bool:
    audit = compaction.audit
    if gate == "unaudited":
        return compaction.verdict != "audited"
    if audit is None:
        return False
    if gate == "invented":
        return bool(audit.invented)
    if gate == "reread":
        return bool(audit.rereads)
    return bool(audit.lost_of(_LOSS_GATES[gate]))
