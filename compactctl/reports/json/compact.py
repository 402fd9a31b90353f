"""``compact`` as a JSON document."""

from typing import Any

from compactctl.commands.compact.compact import CompactResult
from compactctl.reports.json.compat_fields import result_fields, stage_result
from compactctl.reports.rendering.json_document import (
    digest_fields,
    fields_of,
    measure_fields,
    opaque_fields,
    stage_fields,
)


def compact_json(result: CompactResult) -> dict[str, Any]:
    """Return the document, with a row per message where these are to be explained."""
    document = {
        "schema": "compactctl.compact/1",
        "path": result.path,
        "format": result.format,
        **measure_fields(result.measure),
        "targetTokens": result.target,
        "compacted": result.compacted,
        "fits": result.fits,
        "dryRun": result.dry_run,
        "stagesUsed": [record.name for record in result.stages if record.outcome == "applied"],
        "stages": [
            {**stage_fields(record), **stage_result(record, result)} for record in result.stages
        ],
        "tokensBefore": result.tokens_before,
        "tokensAfter": result.tokens_after,
        "tokensSaved": result.tokens_before - result.tokens_after,
        "unseenTokens": result.unseen,
        "unseenSource": result.unseen_source,
        "largestRequestTokens": result.largest_after,
        "originalCount": result.messages_before,
        "finalCount": result.messages_after,
        **result_fields(result),
        "profile": result.profile.name,
        "before": digest_fields(result.before),
        "after": digest_fields(result.after),
        "operation": result.operation,
        "output": result.output,
        "archive": result.archive,
        "carriedLines": result.carried_lines,
        "leftOutFrom": result.left_out_from,
        "notUnderstood": [opaque_fields(opaque) for opaque in result.opaque],
        "warnings": list(result.warnings),
    }
    if result.explain:
        document["messages"] = [fields_of(row) for row in result.explained]
    return document
