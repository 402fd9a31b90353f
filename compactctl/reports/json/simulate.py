"""``simulate`` as a JSON document."""

from typing import Any

from compactctl.commands.simulate.session import SimulatedCompaction, SimulatedSession
from compactctl.commands.simulate.simulate import SimulateResult
from compactctl.reports.rendering.json_document import fields_of, measure_fields


def simulate_json(result: SimulateResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": "compactctl.simulate/1",
        "path": result.path,
        "format": result.transcript.format,
        **measure_fields(result.measure),
        "conversationCount": result.conversations,
        "turnCount": result.turns,
        "requestCount": result.requests,
        "unseenTokens": result.unseen,
        "peakTokens": result.peak,
        "sentTokens": result.sent,
        "profiles": [_replayed(each) for each in result.replays],
        "unusable": list(result.unusable),
        "warnings": list(result.transcript.warnings),
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
        "firings": [_firing(each) for each in replayed.firings],
    }


def _firing(firing: SimulatedCompaction) -> dict[str, Any]:
    line = None if firing.line is None else firing.line + 1
    return {**fields_of(firing), "line": line}
