"""``audit`` as a JSON document."""

from collections.abc import Mapping
from typing import Any

from compactctl.auditing.finds import LOSS_KINDS, Audit, Invention, Loss, LossKind, SecondLook
from compactctl.commands.audit.result import AuditedCompaction, AuditResult
from compactctl.reports.rendering.json_document import encoded, measure_fields, record
from compactctl.summaries.extract.passages import Spot

KINDS: Mapping[LossKind, str] = {
    "rule": "rules",
    "task": "tasks",
    "file": "files",
    "error": "errors",
    "identifier": "identifiers",
    "read": "reads",
}
"""The names of the lists that losses stand in."""


def audit_document(result: AuditResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.audit/1",
        "path": result.path,
        "format": result.format,
        **measure_fields(result.measure),
        **record(result, only=("fail_on", "failed", "compactions", "warnings")),
    }


@encoded.register
def _compaction(compaction: AuditedCompaction) -> dict[str, Any]:
    return {
        "writer": compaction.writer,
        **encoded(compaction.spot),
        **record(compaction, without=("writer", "spot")),
    }


@encoded.register
def audit_fields(audit: Audit) -> dict[str, Any]:
    """Return what an audit found as an object."""
    readable = audit.invented is not None
    known = {KINDS[kind]: audit.known.get(kind, 0) for kind in LOSS_KINDS}
    lost = {KINDS[kind]: encoded(audit.lost_of(kind)) for kind in LOSS_KINDS}
    return {
        "known": known if readable else None,
        "lost": lost if readable else None,
        **record(audit, only=("invented", "rereads", "reread_tokens", "looks", "look_tokens")),
    }


@encoded.register
def _loss(loss: Loss) -> dict[str, Any]:
    return {"text": loss.text, **encoded(loss.spot), **record(loss, only=("note", "again"))}


@encoded.register
def _invention(invention: Invention) -> dict[str, Any]:
    return record(invention, row="summaryLine")


@encoded.register
def _second_look(look: SecondLook) -> dict[str, Any]:
    return {
        "what": look.what,
        **encoded(look.spot),
        **record(look, only=("first", "tokens"), first="seen"),
    }


@encoded.register
def _spot(spot: Spot) -> dict[str, int | None]:
    """Where something stands: its line in a file, or its message in a document."""
    is_line = spot.unit == "L"
    return {
        "line": spot.number if is_line else None,
        "message": None if is_line else spot.number,
    }
