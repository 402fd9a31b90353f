"""What a compaction came to, under the names that the reference systems give such results.

NeuroLink: CompactionResult and the result of each of its stages. Codebuddy: its result record with
the tier. agent-code: CollapseResult. Spring AI Session: CompactionResult.
"""

from typing import Any

from compactctl.commands.compact.compact import CompactResult
from compactctl.model.operation import StageRecord
from compactctl.stages.registry import stage_named
from compactctl.tokens.trigger import Situation


def result_fields(result: CompactResult) -> dict[str, Any]:
    """Return the fields about the whole compaction."""
    applied = [record for record in result.stages if record.outcome == "applied"]
    removed = sum(record.hidden for record in applied)
    saved = result.tokens_before - result.tokens_after
    return {
        "originalTokens": result.tokens_before,
        "finalTokens": result.tokens_after,
        "tier": max((stage_named(record.name).tier for record in applied), default=0),
        "warningLevel": _level(result),
        "eventsRemoved": removed,
        "tokensEstimatedSaved": saved,
        "snippedCount": removed,
        "tokensFreed": saved,
    }


def stage_result(record: StageRecord, result: CompactResult) -> dict[str, Any]:
    """Return the fields about one stage; what it did not do is false or 0."""
    stage = stage_named(record.name)
    fields: dict[str, Any] = {}
    if stage.did is not None:
        fields[stage.did] = record.outcome == "applied"
    if stage.did == "truncated" and record.name != "limit":
        fields["messagesRemoved"] = record.hidden
    if stage.did == "summarized":
        fields["summaryText"] = result.summaries.get(record.group or "")
    return {**fields, **dict.fromkeys(stage.figures, 0), **record.figures}


def _level(result: CompactResult) -> str:
    situation = Situation(
        tokens=result.largest_after,
        available=result.measure.budget.available,
        turns=0,
        messages=result.messages_after,
    )
    return result.profile.level_at(situation).name
