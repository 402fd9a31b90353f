"""What other systems tell of the same work: the records that stand under ``as`` in a document.

Their names are data, here and beside the stages: a table gives each of them the name of our own
figure. Messages and texts are not repeated.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from compactctl.model.operation import ForeignRecord, neurolink_record

STATS = (
    neurolink_record(
        "getContextStats",
        estimatedInputTokens="estimatedInputTokens",
        availableInputTokens="availableInputTokens",
        usageRatio="usageRatio",
        shouldCompact="isAboveWarning",
        messageCount="messageCount",
    ),
)

CHECK = (
    neurolink_record(
        "BudgetCheckResult",
        withinBudget="withinBudget",
        estimatedInputTokens="estimatedInputTokens",
        availableInputTokens="availableInputTokens",
        usageRatio="usageRatio",
        shouldCompact="shouldCompact",
        breakdown="breakdown",
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
    neurolink_record(
        "CompactionResult",
        compacted="compacted",
        stagesUsed="stagesUsed",
        tokensBefore="tokensBefore",
        tokensAfter="tokensAfter",
        tokensSaved="tokensSaved",
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


def told_as(records: Iterable[ForeignRecord], figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return each record under the name of its system, filled with our figures."""
    return {
        record.system: {name: figures[own] for name, own in record.names.items()}
        for record in records
    }
