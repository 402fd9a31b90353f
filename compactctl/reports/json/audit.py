"""``audit`` as a JSON document."""

from collections.abc import Mapping
from typing import Any

from compactctl.auditing.finds import LOSS_KINDS, Audit, Invention, Loss, LossKind
from compactctl.commands.audit.result import AuditedCompaction, AuditResult
from compactctl.reports.rendering.json_document import measure_fields
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
        "failOn": list(result.fail_on),
        "failed": list(result.failed),
        "compactions": [_compaction(each) for each in result.compactions],
        "warnings": list(result.warnings),
    }


def audit_fields(audit: Audit) -> dict[str, Any]:
    """Return what an audit found as an object."""
    readable = audit.invented is not None
    return {
        "known": {KINDS[kind]: audit.known.get(kind, 0) for kind in LOSS_KINDS}
        if readable
        else None,
        "lost": {KINDS[kind]: [_loss(each) for each in audit.lost_of(kind)] for kind in LOSS_KINDS}
        if readable
        else None,
        "invented": None if audit.invented is None else list(map(_invention, audit.invented)),
        "rereads": [
            {
                "what": each.what,
                **_place(each.spot),
                "seen": _place(each.first),
                "tokens": each.tokens,
            }
            for each in audit.rereads
        ],
        "rereadTokens": audit.reread_tokens,
        "looks": audit.looks,
        "lookTokens": audit.look_tokens,
    }


def _compaction(compaction: AuditedCompaction) -> dict[str, Any]:
    return {
        "writer": compaction.writer,
        **_place(compaction.spot),
        "operation": compaction.operation,
        "stages": list(compaction.stages),
        "conversation": compaction.conversation,
        "tokensBefore": compaction.tokens_before,
        "tokensAfter": compaction.tokens_after,
        "summaryTokens": compaction.summary_tokens,
        "restoredTokens": compaction.restored_tokens,
        "verdict": compaction.verdict,
        "audit": None if compaction.audit is None else audit_fields(compaction.audit),
    }


def _loss(loss: Loss) -> dict[str, Any]:
    again = None if loss.again is None else _place(loss.again)
    return {"text": loss.text, **_place(loss.spot), "note": loss.note, "again": again}


def _invention(invention: Invention) -> dict[str, Any]:
    return {"kind": invention.kind, "text": invention.text, "summaryLine": invention.row}


def _place(spot: Spot) -> dict[str, int | None]:
    """Return where something stands: its line in a file, or its message in a document."""
    is_line = spot.unit == "L"
    return {
        "line": spot.number if is_line else None,
        "message": None if is_line else spot.number,
    }
