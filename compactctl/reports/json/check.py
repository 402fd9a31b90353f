"""``check`` as a JSON document."""

from typing import Any

from compactctl.commands.inspect.check import CheckResult
from compactctl.profiles.profile import NO_LEVEL
from compactctl.reports.json.doubts import doubt_fields
from compactctl.reports.json.other_systems import CHECK, told_as
from compactctl.reports.rendering.json_document import encoded, fit_fields, measure_fields
from compactctl.tokens.budget import usage_of


def check_document(result: CheckResult) -> dict[str, Any]:
    """Return the document."""
    measured, situation = result.stats.measure, result.situation
    usage = usage_of(result.stats.usage.tokens, measured.budget.available)
    document = {
        "schema": "compactctl.check/2",
        "path": result.stats.options.input.path,
        "format": result.stats.transcript.format,
        "profile": result.profile.name,
        **measure_fields(measured),
        "trigger": str(result.trigger),
        "fired": result.fired or None,
        "shouldCompact": result.due,
        "conversationCount": result.stats.counts.conversations,
        "dueConversationCount": len(result.fired_in),
        "withinBudget": usage.tokens <= usage.available,
        "estimatedInputTokens": usage.tokens,
        **doubt_fields(result.stats),
        "usageRatio": usage.ratio,
        "percentLeft": usage.percent_left,
        "level": result.level.name,
        "fit": fit_fields(measured, usage.tokens),
        "message": result.text or None,
        "messageCount": situation.messages,
        "turnCount": situation.turns,
        "breakdown": encoded(result.breakdown),
    }
    return {**document, "as": told_as(CHECK, {**document, **_reached(result.level.name)})}


def _reached(level: str) -> dict[str, bool]:
    """Return how bad a level is, as yes and no."""
    return {
        "isAboveWarning": level != NO_LEVEL.name,
        "isAboveError": level in ("critical", "over", "blocked"),
        "isBlocking": level in ("over", "blocked"),
    }
