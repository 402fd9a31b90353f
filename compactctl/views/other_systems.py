"""The records of other systems that a document repeats our figures in, under ``as``.

A table, here or next to the stages, maps each of their names to the name of our figure. Messages
and texts are not repeated.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from compactctl.model.operation import ForeignSchema, neurolink_schema

STATS = (
    neurolink_schema(
        "getContextStats",
        estimatedInputTokens="estimatedInputTokens",
        availableInputTokens="availableInputTokens",
        usageRatio="usageRatio",
        shouldCompact="isAboveWarning",
        messageCount="messageCount",
    ),
)

CHECK = (
    neurolink_schema(
        "BudgetCheckResult",
        withinBudget="withinBudget",
        estimatedInputTokens="estimatedInputTokens",
        availableInputTokens="availableInputTokens",
        usageRatio="usageRatio",
        shouldCompact="shouldCompact",
        breakdown="breakdown",
    ),
    ForeignSchema(
        system="codebuddy",
        source="Codebuddy documentation, Context Window Compaction: what the service returns",
        fields={"warningLevel": "level"},
    ),
    ForeignSchema(
        system="agent-code",
        source="agent-code, services/compact.rs: TokenWarningState",
        fields={
            "percent_left": "percentLeft",
            "is_above_warning": "isAboveWarning",
            "is_above_error": "isAboveError",
            "should_compact": "shouldCompact",
            "is_blocking": "isBlocking",
        },
    ),
    ForeignSchema(
        system="spring-ai-session",
        source="Spring AI Session documentation, Context Compaction: CompactionRequest",
        fields={"currentEventCount": "messageCount", "currentTurnCount": "turnCount"},
    ),
)

COMPACT = (
    neurolink_schema(
        "CompactionResult",
        compacted="compacted",
        stagesUsed="stagesUsed",
        tokensBefore="tokensBefore",
        tokensAfter="tokensAfter",
        tokensSaved="tokensSaved",
    ),
    ForeignSchema(
        system="codebuddy",
        source="Codebuddy documentation, Context Window Compaction: what the service returns",
        fields={
            "compacted": "compacted",
            "originalCount": "messagesBefore",
            "finalCount": "messagesAfter",
            "originalTokens": "tokensBefore",
            "finalTokens": "tokensAfter",
            "tier": "tier",
            "warningLevel": "level",
        },
    ),
    ForeignSchema(
        system="agent-code",
        source="agent-code, services/context_collapse.rs: CollapseResult",
        fields={"snipped_count": "messagesHidden", "tokens_freed": "tokensSaved"},
    ),
    ForeignSchema(
        system="spring-ai-session",
        source="Spring AI Session documentation, Context Compaction: CompactionResult",
        fields={"eventsRemoved": "eventsArchived", "tokensEstimatedSaved": "tokensSaved"},
    ),
)


def foreign_records(records: Iterable[ForeignSchema], figures: Mapping[str, Any]) -> dict[str, Any]:
    """Return each record under the name of its system, filled with our figures."""
    return {
        record.system: {name: figures[figure] for name, figure in record.fields.items()}
        for record in records
    }
