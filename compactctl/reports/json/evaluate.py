"""``eval`` as a JSON document."""

from typing import Any

from compactctl.commands.evaluate.evaluate import EvaluateResult
from compactctl.commands.evaluate.figures import EvalFigures, Mean
from compactctl.commands.evaluate.gate import SCHEMA
from compactctl.commands.evaluate.trial import Trial
from compactctl.reports.rendering.json_document import fields_of

CAVEAT = "words that are still there are the most that a model can recall, not what it will"


def evaluate_document(result: EvaluateResult) -> dict[str, Any]:
    """Return the document."""
    return {
        "schema": SCHEMA,
        "caveat": CAVEAT,
        "counters": list(result.counters),
        "seed": result.seed,
        "policies": [policy.name for policy in result.policies],
        "figures": [_figures(each) for each in result.figures],
        "noise": None if result.noise is None else fields_of(result.noise),
        "sessions": [
            {**fields_of(each), "figures": [_figures(f) for f in result.of_session(each.path)]}
            for each in result.sessions
        ],
        "failures": [fields_of(failure) for failure in result.failures],
        "trials": [_trial(trial) for trial in result.trials],
        "findings": list(result.findings),
        "warnings": list(result.warnings),
    }


def _figures(each: EvalFigures) -> dict[str, Any]:
    return {
        "policy": each.policy,
        "asked": each.asked,
        "cuts": each.cuts,
        "kept": _mean(each.kept),
        "measures": {name: _mean(mean) for name, mean in each.measures.items()},
        "beyondChance": each.beyond,
        "pairErrors": each.pair_errors,
        "over": each.over,
        "milliseconds": each.milliseconds,
    }


def _mean(mean: Mean) -> dict[str, Any]:
    return fields_of(mean)


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "session": trial.session,
        "cut": trial.cut,
        "laterRequests": trial.requests,
        "policy": trial.policy,
        "asked": trial.asked,
        "prefixTokens": trial.prefix,
        "tokens": trial.tokens,
        "tallies": {name: fields_of(tally) for name, tally in trial.tallies.items()},
        "chance": None if trial.chance is None else fields_of(trial.chance),
        "pairErrors": trial.pair_errors,
        "milliseconds": trial.milliseconds,
    }
