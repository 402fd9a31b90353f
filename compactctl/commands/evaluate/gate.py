"""What figures must reach, and what they must not fall below."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compactctl.commands.evaluate.figures import EvalFigures
from compactctl.errors import UsageError
from compactctl.evaluation.score import ANSWERS, MEASURES
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.lines import open_input
from compactctl.tokens.budget import parse_share

SCHEMA = "compactctl.eval/1"
TOLERANCE = 0.02
"""How much a measure may lie below its baseline: an entity or two of a session."""

_GATE = re.compile(r"\s*(\w+)\s*(>=|<=)\s*([\d.]+%?)\s*@\s*([\d.]+%?)\s*")
# What a gate may be about beside the measures.
_KEPT, _PAIRS = "kept", "pairs"
NAMES = (*MEASURES, ANSWERS, _KEPT, _PAIRS)

_Key = tuple[str, float, str]


@dataclass(frozen=True, slots=True)
class Gate:
    """A limit for a measure at an asked share, at least or at most."""

    measure: str
    is_least: bool
    limit: float
    asked: float
    text: str

    def holds_for(self, value: float) -> bool:
        """Tell whether a value is within the limit."""
        return value >= self.limit if self.is_least else value <= self.limit


@dataclass(frozen=True, slots=True)
class Baseline:
    """The means of an earlier evaluation, by policy, asked share and measure."""

    path: str
    means: Mapping[_Key, float]


def parse_gate(text: str) -> Gate:
    """Read a gate such as ``recall>=0.95@0.3``. Raises UsageError for anything else."""
    match = _GATE.fullmatch(text)
    if match is None or match[1] not in NAMES:
        raise UsageError(
            f"{text!r} is not a gate; write it as recall>=0.95@0.3, with one of {', '.join(NAMES)}"
        )
    limit = 0.0 if not float(match[3].rstrip("%")) else parse_share(match[3])
    return Gate(match[1], match[2] == ">=", limit, parse_share(match[4]), text.strip())


def read_baseline(path: str) -> Baseline:
    """Read the document that ``eval --json`` wrote. Raises UsageError, NoInputError."""
    data = open_input(path, TEXT_LIMITS).data
    try:
        means = dict(_means(json.loads(data)))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"{path}: is not a baseline; write one with compactctl eval … --json > {path}"
        ) from error
    return Baseline(path, means)


def _means(document: Any) -> Iterator[tuple[_Key, float]]:  # noqa: ANN401 - anybody's JSON
    if document["schema"] != SCHEMA:
        raise ValueError(SCHEMA)
    for row in document["figures"]:
        for name, mean in row["measures"].items():
            yield (row["policy"], float(row["asked"]), name), float(mean["value"])


def findings(
    figures: Sequence[EvalFigures], gates: Sequence[Gate], baseline: Baseline | None
) -> Iterator[str]:
    """Yield a line for each limit that is not kept, or that nothing was measured for."""
    for gate in gates:
        yield from _missed(figures, gate)
    if baseline is not None:
        yield from _fallen(figures, baseline)


def _missed(figures: Sequence[EvalFigures], gate: Gate) -> Iterator[str]:
    at = [each for each in figures if each.asked == gate.asked]
    values = [(each.policy, _value(each, gate.measure)) for each in at]
    told = [(policy, value) for policy, value in values if value is not None]
    if not told:
        yield f"{gate.text}: nothing was measured"
    for policy, value in told:
        if not gate.holds_for(value):
            yield f"{gate.text}: {policy} has {value:.3f}"


def _value(figures: EvalFigures, measure: str) -> float | None:
    special: Mapping[str, Callable[[], float]] = {
        _KEPT: lambda: figures.kept.value,
        _PAIRS: lambda: figures.pair_errors,
    }
    if measure in special:
        return special[measure]()
    mean = figures.measures.get(measure)
    return None if mean is None else mean.value


def _fallen(figures: Sequence[EvalFigures], baseline: Baseline) -> Iterator[str]:
    compared = 0
    for each in figures:
        for name, mean in each.measures.items():
            before = baseline.means.get((each.policy, each.asked, name))
            compared += before is not None
            if before is not None and mean.value < before - TOLERANCE:
                yield (
                    f"{name} of {each.policy} at {each.asked:g}: {mean.value:.3f}, "
                    f"{before:.3f} in the baseline"
                )
    if not compared:
        yield f"{baseline.path}: has no policy and share that was measured now"
