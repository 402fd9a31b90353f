"""``compact`` as a JSON document."""

from collections.abc import Iterable
from typing import Any

from compactctl.commands.compact.result import CompactResult
from compactctl.model.operation import StageRecord
from compactctl.reports.json.audit import audit_fields
from compactctl.reports.json.other_systems import COMPACT, told_as
from compactctl.reports.rendering.json_document import (
    client_compaction_fields,
    digest_fields,
    encoded,
    fit_fields,
    measure_fields,
    opaque_fields,
    stage_fields,
    written_fields,
)
from compactctl.stages.registry import stage_named


def compact_document(result: CompactResult) -> dict[str, Any]:
    """Return the document, with a row per message where these are to be explained."""
    used = [record for record in result.stages if record.outcome == "applied"]
    document = {
        "schema": "compactctl.compact/2",
        "path": result.path,
        "format": result.format,
        **measure_fields(result.measure),
        "targetTokens": result.target,
        "compacted": result.compacted,
        "fits": result.fits,
        "dryRun": result.dry_run,
        "stagesUsed": [record.name for record in used],
        "stages": [_stage(record, result) for record in result.stages],
        "tokensBefore": result.tokens_before,
        "tokensAfter": result.tokens_after,
        "tokensSaved": result.tokens_before - result.tokens_after,
        "unseenTokens": result.unseen,
        "unseenSource": result.unseen_source,
        "unreportedBy": result.unreported or None,
        "largestRequestTokens": result.largest_after,
        "restatedUsage": _restated(result),
        "promptCache": _cache(result),
        "level": result.profile.level_at(result.situation).name,
        "fit": fit_fields(result.measure, result.largest_after),
        "messagesBefore": result.messages_before,
        "messagesAfter": result.messages_after,
        "messagesHidden": sum(record.hidden for record in used),
        "profile": result.profile.name,
        "before": digest_fields(result.before),
        "after": digest_fields(result.after),
        "operation": result.operation,
        **written_fields(result.written),
        "archivedOut": result.archived_out,
        "planOut": result.plan_out,
        "leftOutFrom": result.written.left_out_from if result.written else None,
        "redone": [client_compaction_fields(each) for each in result.redone],
        "forkedTo": result.written.forked_to if result.written else None,
        "notUnderstood": [opaque_fields(opaque) for opaque in result.opaque],
        "warnings": list(result.warnings),
    }
    document["as"] = told_as(COMPACT, {**document, "tier": _tier(used)})
    if result.explain:
        document["messages"] = encoded(result.explained)
    return document


def _stage(record: StageRecord, result: CompactResult) -> dict[str, Any]:
    """Return what a stage did; what it counts is 0 where it did nothing."""
    stage = stage_named(record.name)
    fields = {
        **stage_fields(record),
        **dict.fromkeys(stage.figures, 0),
        **record.figures,
        "summaryText": result.summaries.get(record.group or ""),
        "audit": next(
            (audit_fields(a.audit) for a in result.audits if a.group == record.group), None
        ),
    }
    figures = {**fields, "applied": record.outcome == "applied"}
    return {**fields, "as": told_as(stage.told_as, figures)}


def _cache(result: CompactResult) -> dict[str, Any] | None:
    cache = result.cache
    if cache is None:
        return None
    return {
        "firstChangedLine": cache.line + 1,
        "heldTokens": cache.held,
        "sentAnewTokens": cache.anew,
        "savedTokens": cache.saved,
        "paysAfterRequests": result.pays_after,
    }


def _restated(result: CompactResult) -> dict[str, Any] | None:
    told = result.restated
    return None if told is None else {"line": told.line + 1, "tokens": told.tokens}


def _tier(used: Iterable[StageRecord]) -> int:
    return max((stage_named(record.name).tier for record in used), default=0)
