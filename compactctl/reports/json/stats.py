"""``stats`` as a JSON document."""

from typing import Any

from compactctl.commands.inspect.stats import StatsResult
from compactctl.history.breakdown import LargeMessage
from compactctl.model.transcript import Transcript
from compactctl.reports.json.doubts import doubt_fields
from compactctl.reports.json.other_systems import STATS, told_as
from compactctl.reports.json.rounds import round_fields
from compactctl.reports.rendering.json_document import (
    encoded,
    fit_fields,
    measure_fields,
    record,
)
from compactctl.tokens.budget import usage_of


def stats_document(result: StatsResult) -> dict[str, Any]:
    """Return the document."""
    transcript, found = result.transcript, result.breakdown
    calibration = result.size.calibration
    usage = usage_of(result.usage.tokens, result.measure.budget.available)
    document = {
        "schema": "compactctl.stats/2",
        "path": result.options.input.path,
        "format": transcript.format,
        "scope": result.options.scope,
        **measure_fields(result.measure),
        "estimatedInputTokens": usage.tokens,
        "usageRatio": usage.ratio,
        "percentLeft": usage.percent_left,
        "level": result.usage.level,
        "withinBudget": usage.tokens <= usage.available,
        "fit": fit_fields(result.measure, usage.tokens),
        "reportedContextTokens": result.reported,
        "countedTokens": result.size.counted,
        "overheadTokens": result.size.overhead,
        "missingHistoryTokens": result.size.missing,
        "restoredTokens": result.size.restored,
        "hiddenReasoningTokens": result.size.hidden_reasoning,
        "frameTokens": result.size.frames,
        "unexplainedTokens": result.size.unexplained,
        "overheadSource": result.size.source,
        "overheadExactness": "calibrated" if result.size.source else None,
        "recordedRequests": 0 if calibration is None else len(calibration.requests),
        "observedRatio": None if result.health is None else result.health.ratio,
        **doubt_fields(result),
        "messageCount": result.counts.messages,
        "turnCount": result.counts.turns,
        "stepCount": result.counts.steps,
        "conversationCount": result.counts.conversations,
        "totalTokens": found.total,
        "breakdown": encoded(found.categories),
        "mediaExactness": "estimate" if found.categories["media"] else None,
        "addedByClientTokens": result.extras.by_client,
        "largestMessages": encoded(found.largest),
        "tools": encoded(found.tools),
        "rereads": encoded(found.rereads),
        **round_fields(result.rounds, result.costs),
        "file": {**_file(transcript), "textBytes": result.counts.text_bytes},
        "roundsOut": result.options.rounds_out,
        "warnings": [*filter(None, (result.unread,)), *transcript.warnings, *result.warnings],
    }
    is_above_warning = usage.level in ("warning", "critical", "over")
    document["as"] = told_as(STATS, {**document, "isAboveWarning": is_above_warning})
    return document


@encoded.register
def _large(row: LargeMessage) -> dict[str, Any]:
    """Return one of the largest messages; one that was added to the transcript has no line."""
    line = row.line + 1 if row.line >= 0 else None
    return {**record(row), "line": line}


def _file(transcript: Transcript) -> dict[str, Any]:
    return {
        "lines": transcript.n_lines,
        "bytes": transcript.n_bytes,
        "historyMessages": len(transcript.messages),
        "metadata": encoded(dict(sorted(transcript.meta.items()))),
        "notUnderstood": encoded(transcript.opaque),
    }
