"""``simulate`` as a JSON document."""

from typing import Any

from compactctl.commands.simulate.session import SimulatedCompaction, SimulatedSession
from compactctl.commands.simulate.simulate import SimulateResult
from compactctl.commands.sizing.prompt_cache import InputCost
from compactctl.reports.rendering.json_document import encoded, measure_fields, record


def simulate_document(result: SimulateResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.simulate/1",
        "path": result.path,
        "format": result.transcript.format,
        **measure_fields(result.measure),
        "conversationCount": result.conversations,
        "turnCount": result.turns,
        "requestCount": len(result.requests),
        "unseenTokens": result.unseen,
        "peakTokens": result.peak,
        "sentTokens": result.sent,
        **_cost(result.cost(result.requests)),
        "profiles": [
            {**_replayed(each), **_cost(result.cost(each.requests))} for each in result.replays
        ],
        **record(result, only=("unusable", "warnings")),
    }


def _replayed(replayed: SimulatedSession) -> dict[str, Any]:
    return {
        "profile": replayed.profile,
        "trigger": replayed.trigger,
        "availableInputTokens": replayed.available,
        "base": replayed.base,
        "baseTokens": replayed.base_tokens,
        "peakTokens": replayed.peak,
        "finalTokens": replayed.final,
        "sentTokens": replayed.sent,
        "requestsOver": replayed.over,
        "idleFirings": replayed.idle,
        "firings": encoded(replayed.firings),
    }


def _cost(cost: InputCost | None) -> dict[str, Any]:
    """Return what input costs in US dollars; None where nobody asked or no price is known."""
    return {
        "inputCost": round(cost.cached, 4) if cost else None,
        "uncachedInputCost": round(cost.uncached, 4) if cost else None,
    }


@encoded.register
def _firing(firing: SimulatedCompaction) -> dict[str, Any]:
    line = None if firing.line is None else firing.line + 1
    return {**record(firing), "line": line}
