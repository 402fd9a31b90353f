"""``check`` as a JSON document: the budget records of the systems we know, in one."""

from typing import Any

from compactctl.commands.inspect.check import CheckResult
from compactctl.profiles.profile import NO_LEVEL
from compactctl.reports.rendering.json_document import measure_fields


def check_json(result: CheckResult) -> dict[str, Any]:
    """Return the document.

    Its names are those of NeuroLink's BudgetCheckResult, Codebuddy's usage check, agent-code's
    TokenWarningState and Spring AI Session's CompactionRequest.
    """
    usage, parts = result.stats.usage, result.breakdown
    return {
        "schema": "compactctl.check/1",
        "path": result.stats.path,
        "format": result.stats.transcript.format,
        "profile": result.profile.name,
        **measure_fields(result.stats.measure),
        "trigger": str(result.trigger),
        "fired": result.fired or None,
        "shouldCompact": result.due,
        "withinBudget": usage.tokens <= usage.available,
        "estimatedInputTokens": usage.tokens,
        "usageRatio": usage.ratio,
        "percentLeft": usage.percent_left,
        "warningLevel": result.level,
        "isAboveWarning": result.level != NO_LEVEL.name,
        "isAboveError": result.level in ("critical", "over", "blocked"),
        "isBlocking": result.level in ("over", "blocked"),
        "message": result.text or None,
        "currentEventCount": result.situation.messages,
        "currentTurnCount": result.situation.turns,
        "breakdown": {
            "systemPrompt": parts.system_prompt,
            "conversationHistory": parts.conversation_history,
            "currentPrompt": parts.current_prompt,
            "toolDefinitions": parts.tool_definitions,
            "fileAttachments": parts.file_attachments,
        },
    }
