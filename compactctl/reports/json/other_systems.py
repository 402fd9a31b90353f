"""What other systems tell of the same work: the records that stand under ``as`` in a document.

Their names are data here and nowhere else: a table gives each of them the name of our own figure.
Messages and texts are not repeated.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignRecord:
    """A record of another system.

    Attributes:
        system: whose it is.
        source: where the record is described, and what the system calls it.
        names: its names, each with that of our figure.
    """

    system: str
    source: str
    names: Mapping[str, str]


STATS = (
    ForeignRecord(
        system="neurolink",
        source="NeuroLink documentation, Context Compaction: getContextStats",
        names={
            "estimatedInputTokens": "estimatedInputTokens",
            "availableInputTokens": "availableInputTokens",
            "usageRatio": "usageRatio",
            "shouldCompact": "isAboveWarning",
            "messageCount": "messageCount",
        },
    ),
)

CHECK = (
    ForeignRecord(
        system="neurolink",
        source="NeuroLink documentation, Context Compaction: BudgetCheckResult",
        names={
            "withinBudget": "withinBudget",
            "estimatedInputTokens": "estimatedInputTokens",
            "availableInputTokens": "availableInputTokens",
            "usageRatio": "usageRatio",
            "shouldCompact": "shouldCompact",
            "breakdown": "breakdown",
        },
    ),
    ForeignRecord(
        system="codebuddy",
        source="Codebuddy documentation, Context Window Compaction: what the service returns",
        names={"warningLevel": "level"},
    ),
    ForeignRecord(
        system="agent-code",
        source="agent-code, services/compact.rs: TokenWarningState",
        names={
            "percent_left": "percentLeft",
            "is_above_warning": "isAboveWarning",
            "is_above_error": "isAboveError",
            "should_compact": "shouldCompact",
            "is_blocking": "isBlocking",
        },
    ),
    ForeignRecord(
        system="spring-ai-session",
        source="Spring AI Session documentation, Context Compaction: CompactionRequest",
        names={"currentEventCount": "messageCount", "currentTurnCount": "turnCount"},
    ),
)

COMPACT = (
    ForeignRecord(
        system="neurolink",
        source="NeuroLink documentation, Context Compaction: CompactionResult",
        names={
            "compacted": "compacted",
            "stagesUsed": "stagesUsed",
            "tokensBefore": "tokensBefore",
            "tokensAfter": "tokensAfter",
            "tokensSaved": "tokensSaved",
        },
    ),
    ForeignRecord(
        system="codebuddy",
        source="Codebuddy documentation, Context Window Compaction: what the service returns",
        names={
            "compacted": "compacted",
            "originalCount": "messagesBefore",
            "finalCount": "messagesAfter",
            "originalTokens": "tokensBefore",
            "finalTokens": "tokensAfter",
            "tier": "tier",
            "warningLevel": "level",
        },
    ),
    ForeignRecord(
        system="agent-code",
        source="agent-code, services/context_collapse.rs: CollapseResult",
        names={"snipped_count": "messagesHidden", "tokens_freed": "tokensSaved"},
    ),
    ForeignRecord(
        system="spring-ai-session",
        source="Spring AI Session documentation, Context Compaction: CompactionResult",
        names={"eventsRemoved": "messagesHidden", "tokensEstimatedSaved": "tokensSaved"},
    ),
)

# Codebuddy's tiers, by the stages that work as they do; 0 is none of them.
TIERS = {"strip": 1, "chunk": 2, "partial": 3, "plain": 4}


def _neurolink(record: str, **names: str) -> tuple[ForeignRecord, ...]:
    source = f"NeuroLink documentation, Context Compaction: {record}"
    return (ForeignRecord(system="neurolink", source=source, names=names),)


STAGES: Mapping[str, tuple[ForeignRecord, ...]] = {
    "prune": _neurolink("PruneResult", pruned="applied", tokensSaved="tokensSaved"),
    "dedup": _neurolink("DeduplicationResult", deduplicated="applied", filesDeduped="filesDeduped"),
    "summarize": _neurolink("SummarizeResult", summarized="applied"),
    "truncate": _neurolink("TruncationResult", truncated="applied", messagesRemoved="hidden"),
    "repair": _neurolink(
        "RepairResult",
        repaired="applied",
        orphanedCallsFixed="orphanedCallsFixed",
        orphanedResultsFixed="orphanedResultsFixed",
    ),
    "collapse": (
        ForeignRecord(
            system="agent-code",
            source="agent-code, services/context_collapse.rs: CollapseResult",
            names={"snipped_count": "hidden", "tokens_freed": "tokensSaved"},
        ),
    ),
}


def told_as(records: Iterable[ForeignRecord], figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return each record under the name of its system, filled with our figures."""
    return {
        record.system: {name: figures[own] for name, own in record.names.items()}
        for record in records
    }
