"""What a compaction came to, under the names that the reference systems give such results.

NeuroLink: CompactionResult and the result of each of its stages. Codebuddy: its result record with
the tier. agent-code: CollapseResult. Spring AI Session: CompactionResult.
"""

from typing import Any

from compactctl.commands.compact.compact import CompactResult
from compactctl.model.operation import StageRecord
from compactctl.tokens.trigger import Situation

# Codebuddy's tiers: 1 tool strip, 2 multi-chunk, 3 partial, 4 plain.
_TIERS = {"strip": 1, "chunk": 2, "partial": 3, "plain": 4}
# Stage -> the name under which its system says that it did something.
_DID = {
    "repair": "repaired",
    "dedup": "deduplicated",
    "prune": "pruned",
    "limit": "truncated",
    "summarize": "summarized",
    "partial": "summarized",
    "chunk": "summarized",
    "plain": "summarized",
    "recursive": "summarized",
    "collapse": "truncated",
    "window": "truncated",
    "prioritize": "truncated",
    "truncate": "truncated",
}

# What a stage has counted when it did nothing.
_NONE: dict[str, dict[str, int]] = {
    "repair": {"orphanedCallsFixed": 0, "orphanedResultsFixed": 0},
    "dedup": {"filesDeduped": 0},
}


def result_fields(result: CompactResult) -> dict[str, Any]:
    """Return the fields about the whole compaction."""
    applied = [record for record in result.stages if record.outcome == "applied"]
    removed = sum(record.hidden for record in applied)
    saved = result.tokens_before - result.tokens_after
    return {
        "originalTokens": result.tokens_before,
        "finalTokens": result.tokens_after,
        "tier": max((_TIERS.get(record.name, 0) for record in applied), default=0),
        "warningLevel": _level(result),
        "eventsRemoved": removed,
        "tokensEstimatedSaved": saved,
        "snippedCount": removed,
        "tokensFreed": saved,
    }


def stage_result(record: StageRecord, result: CompactResult) -> dict[str, Any]:
    """Return the fields about one stage; what it did not do is false or 0."""
    fields: dict[str, Any] = {}
    did = _DID.get(record.name)
    if did is not None:
        fields[did] = record.outcome == "applied"
    if did == "truncated" and record.name != "limit":
        fields["messagesRemoved"] = record.hidden
    if did == "summarized":
        fields["summaryText"] = result.summaries.get(record.group or "")
    return {**fields, **_NONE.get(record.name, {}), **record.figures}


def _level(result: CompactResult) -> str:
    situation = Situation(
        tokens=result.largest_after,
        available=result.measure.budget.available,
        turns=0,
        messages=result.messages_after,
    )
    return result.profile.level_at(situation).name
