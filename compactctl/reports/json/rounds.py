"""The rounds of a session in a JSON document."""

from datetime import UTC, datetime
from typing import Any

from compactctl.history.usage.costs import Costs, RoundCost, priced
from compactctl.history.usage.rounds import Round, Rounds


def round_fields(found: Rounds | None, costs: Costs | None) -> dict[str, Any]:
    """Return the fields about rounds and their costs; null where nobody asked for them."""
    if found is None:
        return {"rounds": None, "roundTotals": None, "costs": None}
    return {
        "rounds": [_round(*each) for each in priced(found.rounds, costs)],
        "roundTotals": _totals(found),
        "costs": None if costs is None else _costs(costs),
    }


def _round(each: Round, cost: RoundCost | None) -> dict[str, Any]:
    return {
        "number": each.number,
        "conversation": each.conversation + 1,
        "turn": each.turn,
        "step": each.step,
        "message": each.message,
        "line": each.line + 1,
        "model": each.model,
        "time": None if each.time is None else _time_text(each.time),
        "idleSeconds": each.idle,
        "contextTokens": each.context,
        "newTokens": each.new,
        "cacheReadTokens": each.cache_read,
        "cacheWriteTokens": each.cache_write,
        "cacheHourTokens": each.cache_hour,
        "resentTokens": each.resent.context if each.resent else 0,
        "paidAgainTokens": each.paid_again,
        "outputTokens": each.output,
        "outputReported": each.is_output_reported,
        "reasoningTokens": each.reasoning,
        "entered": dict(each.entered),
        "results": dict(each.tools),
        "marks": list(each.marks),
        "cost": None if cost is None else _cost(cost),
    }


def _cost(cost: RoundCost) -> dict[str, float]:
    return {"input": cost.input, "output": cost.output, "paidAgain": cost.again}


def _costs(costs: Costs) -> dict[str, Any]:
    return {
        "currency": "USD",
        "exactness": "estimate",
        "prices": costs.prices.name,
        "priceDates": list(costs.dates),
        "total": costs.input + costs.output,
        "input": costs.input,
        "output": costs.output,
        "paidAgain": costs.again,
        "carried": dict(costs.carried),
        "unpriced": dict(costs.unpriced),
    }


def _totals(found: Rounds) -> dict[str, int]:
    return {
        "rounds": len(found.rounds),
        "turns": found.turns,
        "subagentRequests": found.aside,
        "sentTokens": found.sent,
        "cacheReports": found.cache_reports,
        "cacheReadTokens": found.cache_read,
        "paidAgainTokens": found.paid_again,
        "outputTokens": found.output,
        "clientCompactions": found.marked("compacted"),
        "ownCompactions": found.marked("compactctl"),
        "cacheMisses": found.marked("missed"),
        "idleGaps": found.marked("idle"),
    }


def _time_text(seconds: float) -> str:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
