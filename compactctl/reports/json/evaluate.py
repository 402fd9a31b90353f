"""``eval`` as a JSON document."""

from typing import Any

from compactctl.commands.evaluate.evaluate import EvaluateResult
from compactctl.commands.evaluate.figures import EvalFigures
from compactctl.commands.evaluate.gate import SCHEMA
from compactctl.commands.evaluate.trial import Trial
from compactctl.reports.rendering.json_document import encoded, record

CAVEAT = "words that are still there are the most that a model can recall, not what it will"


def evaluate_document(result: EvaluateResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": SCHEMA,
        "caveat": CAVEAT,
        **record(result, only=("counters", "seed")),
        "policies": [policy.name for policy in result.policies],
        **record(result, only=("figures", "noise")),
        "sessions": [
            {**record(session), "figures": encoded(result.of_session(session.path))}
            for session in result.sessions
        ],
        **record(result, only=("failures", "trials", "findings", "warnings")),
    }


@encoded.register
def _figures(figures: EvalFigures) -> dict[str, Any]:
    return record(figures, beyond="beyondChance")


@encoded.register
def _trial(trial: Trial) -> dict[str, Any]:
    return record(trial, without=("project",), requests="laterRequests", prefix="prefixTokens")
