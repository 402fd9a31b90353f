"""Fits the constants behind an estimate on the evidence of sessions.

Slopes and frames are those of least absolute deviations, which clients that add or take away unseen
do not bend; all else are medians. The same rules make the constants of the package, from all
sessions, and those that the sessions of a project are estimated with, from all others.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain
from statistics import fmean, median
from typing import Any
from unittest.mock import patch

from benchmarks.estimates.recorded_session import CODEX, OPENCODE, pick_evenly
from benchmarks.estimates.steps import MADE_BY_CTOK, O200K, Evidence, Kinds, Step
from compactctl.clients import sizes as clients
from compactctl.history.usage import calibration
from compactctl.records import Record, replace
from compactctl.tokens import overhead as framing
from compactctl.tokens.client_sizes import NOTHING, ClientSizes, UsualTokens
from compactctl.tokens.overhead import NO_SIGNATURE, RequestOverhead, SignatureEstimate

OLD, NEW = "Claude up to 4.6", "Claude 4.7 and later"
# A long session counts with so many of its steps, so that it does not decide alone.
MOST_STEPS = 150
LEAST_STEPS, LEAST_SEALS, LEAST_SESSIONS = 50, 20, 2
_ENTERED = ("result", "numbered", "user", "injected", "per_result", "per_injected", "per_prompt")
_ANSWER = ("call", "said", "per_call", "per_text")
# Where an answer was not reported, what is stored of its thinking, a summary or all, is one more.
_ALL = (*_ENTERED, *_ANSWER, "thought")
FIELDS = {"user": "user_text", "said": "assistant_text"}
_FRAMES = tuple(name for name in (*_ENTERED, *_ANSWER) if name.startswith("per_"))
_ROUNDS, _SMALL = 15, 2.0
Equation = tuple[Sequence[float], float]


class Constants(Record):
    """Constants of the package: framings by family and counter, and figures by client.

    What there was too little to fit on is not there.
    """

    framings: Mapping[tuple[str, str], RequestOverhead]
    usual_reasoning: int | None
    restored: Mapping[str, UsualTokens]
    overhead: Mapping[str, UsualTokens]

    def __contains__(self, family: str) -> bool:
        """Whether a family can be estimated with them."""
        return (CODEX if family == OPENCODE else family, O200K) in self.framings


def shipped() -> Constants:
    """Return the constants of the package."""
    return Constants(
        framings={
            (OLD, O200K): framing.CLAUDE_UP_TO_4_6,
            (NEW, O200K): framing.CLAUDE_FROM_4_7,
            (OLD, MADE_BY_CTOK): framing.RECONSTRUCTED["claude-3"],
            (NEW, MADE_BY_CTOK): framing.RECONSTRUCTED["claude-4.7"],
            (CODEX, O200K): framing.OPENAI,
        },
        usual_reasoning=calibration.TYPICAL_REASONING,
        restored={
            name: sizes.restored
            for name, sizes in clients.CLIENT_SIZES.items()
            if sizes.restored is not NOTHING
        },
        overhead={
            name: sizes.overhead
            for name, sizes in clients.CLIENT_SIZES.items()
            if sizes.overhead is not None
        },
    )


@contextmanager
def use_constants(constants: Constants) -> Iterator[None]:
    """Estimate with these constants in place of those of the package."""
    base, found = shipped(), constants.framings
    framings = {name: found.get(name, each) for name, each in base.framings.items()}
    made = {"claude-3": framings[OLD, MADE_BY_CTOK], "claude-4.7": framings[NEW, MADE_BY_CTOK]}
    thought = constants.usual_reasoning or base.usual_reasoning
    with ExitStack() as stack:
        for module, names in (
            (framing, {"CLAUDE_UP_TO_4_6": framings[OLD, O200K], "RECONSTRUCTED": made}),
            (framing, {"CLAUDE_FROM_4_7": framings[NEW, O200K], "OPENAI": framings[CODEX, O200K]}),
            (calibration, {"TYPICAL_REASONING": thought}),
            (clients, {"CLIENT_SIZES": _sizes(constants)}),
        ):
            stack.enter_context(patch.multiple(module, **names))
        yield


def _sizes(constants: Constants) -> dict[str, ClientSizes]:
    """Return the sizes of all clients, with what these constants say of their requests."""
    return {
        name: replace(
            sizes,
            restored=constants.restored.get(name, NOTHING),
            overhead=constants.overhead.get(name),
        )
        for name, sizes in clients.CLIENT_SIZES.items()
    }


def fit(evidence: Sequence[Evidence]) -> Constants:
    """Fit constants on the evidence of sessions."""
    steps = [step for session in evidence for step in _some(session.steps)]
    framings = {
        (family, counter): _claude(family, counter, steps)
        for family in (OLD, NEW)
        for counter in (O200K, MADE_BY_CTOK)
    }
    framings[CODEX, O200K] = _openai([s for s in steps if s.family in (CODEX, OPENCODE)])
    return Constants(
        framings={name: framing for name, framing in framings.items() if framing is not None},
        usual_reasoning=_usual_reasoning(evidence),
        restored=_by_client(evidence, lambda session: session.restored, 1_000),
        overhead=_by_client(
            evidence,
            lambda session: () if session.overhead is None else (session.overhead,),
            100,
        ),
    )


def least_absolute(equations: Sequence[Equation]) -> list[float]:
    """Return the factors of the terms with the least sum of absolute errors.

    Terms that never occur have the factor 0.
    """
    size = len(equations[0][0])
    factors = [0.0] * size
    weights = [1.0] * len(equations)
    for _ in range(_ROUNDS):
        matrix = [[0.0] * (size + 1) for _ in range(size)]
        for (terms, total), weight in zip(equations, weights, strict=True):
            used = [(place, term) for place, term in enumerate(terms) if term]
            for place, term in used:
                row, weighed = matrix[place], weight * term
                row[size] += weighed * total
                for other, also in used:
                    row[other] += weighed * also
        factors = _solved(matrix)
        weights = [1 / max(_SMALL, abs(_rest(each, factors))) for each in equations]
    return factors


def _solved(matrix: list[list[float]]) -> list[float]:
    """Solve a symmetric system of linear equations by elimination."""
    size = len(matrix)
    for place, row in enumerate(matrix):
        row[place] += 1e-6
    for place in range(size):
        pivot = matrix[place]
        for row in matrix:
            if row is not pivot and row[place]:
                share = row[place] / pivot[place]
                row[place:] = [
                    a - share * b for a, b in zip(row[place:], pivot[place:], strict=True)
                ]
    return [matrix[place][size] / matrix[place][place] for place in range(size)]


def _rest(equation: Equation, factors: Sequence[float]) -> float:
    terms, total = equation
    return total - sum(map(float.__mul__, map(float, terms), factors))


def _some(steps: Sequence[Step]) -> list[Step]:
    return [steps[place] for place in sorted(pick_evenly(range(len(steps)), MOST_STEPS))]


def _claude(family: str, counter: str, steps: Sequence[Step]) -> RequestOverhead | None:
    of = [step for step in steps if step.family == family and counter in step.answer]
    equations = [each for step in of for each in _equations(step, counter)]
    if len(of) < LEAST_STEPS or not equations:
        return None
    factors = dict(zip(_ALL, least_absolute(equations), strict=True))
    values: dict[str, Any] = {
        name: max(0, round(factors[name])) if name in _FRAMES else round(factors[name], 2)
        for name in (*_ENTERED, *_ANSWER)
    }
    sealed = _seal(_sealed(of, counter, factors, "sealed"))
    summed = _seal(_sealed(of, counter, factors, "summed"))
    return RequestOverhead(
        **{FIELDS.get(name, name): value for name, value in values.items()},
        hidden_reasoning=sealed or summed or NO_SIGNATURE,
        summarized_reasoning=summed or sealed or NO_SIGNATURE,
    )


def _equations(step: Step, counter: str) -> Iterator[Equation]:
    """Yield the equations of what was sent, and of an answer without hidden thinking."""
    entered, answer = step.entered[counter], step.answer[counter]
    if step.output is None:
        if "sealed" not in answer:
            yield _terms({**entered, **answer}, _ALL), step.growth
        return
    yield _terms(entered, _ENTERED, _ALL), step.growth - step.output
    if not {"sealed", "summed", "thought"} & answer.keys():
        yield _terms(answer, _ANSWER, _ALL), step.output


def _terms(kinds: Kinds, names: Sequence[str], among: Sequence[str] = _ALL) -> list[float]:
    return [float(kinds.get(name, 0)) if name in names else 0.0 for name in among]


def _sealed(
    steps: Sequence[Step], counter: str, factors: Mapping[str, float], kind: str
) -> Iterator[Equation]:
    """Yield the lengths of signatures of a kind, and the tokens of thinking behind them."""
    told = [name for name in _ALL if name != "thought"]
    for step in steps:
        entered, answer = step.entered[counter], step.answer[counter]
        if {"sealed", "summed"} & answer.keys() != {kind}:
            continue
        kinds = answer if step.output is not None else {**entered, **answer}
        known = sum(factors[name] * kinds.get(name, 0) for name in told)
        total = step.growth if step.output is None else step.output
        yield (answer[kind], -answer[f"per_{kind}"]), total - known


def _seal(equations: Iterator[Equation]) -> SignatureEstimate | None:
    found = list(equations)
    if len(found) < LEAST_SEALS:
        return None
    per_character, own = least_absolute(found)
    return SignatureEstimate(per_character=round(per_character, 2), envelope=max(0, round(own)))


def _openai(steps: Sequence[Step]) -> RequestOverhead | None:
    """Fit frames alone: the vocabulary is OpenAI's own."""
    if len(steps) < LEAST_STEPS:
        return None
    equations = []
    for step in steps:
        entered, answer = step.entered[O200K], step.answer[O200K]
        if step.output is not None:
            text = sum(n for name, n in entered.items() if name in _ENTERED and name not in _FRAMES)
            equations.append((_terms(entered, _FRAMES, _FRAMES), step.growth - step.output - text))
            said = answer.get("call", 0) + answer.get("said", 0)
            told = step.output - step.reasoning - said
            equations.append((_terms(answer, _FRAMES, _FRAMES), told))
    factors = zip(_FRAMES, least_absolute(equations), strict=True)
    frames: dict[str, Any] = {name: max(0, round(each)) for name, each in factors}
    return replace(framing.OPENAI, **frames)


def _usual_reasoning(evidence: Sequence[Evidence]) -> int | None:
    """Return the median of the averages of sessions that report it."""
    averages = [fmean(session.thought) for session in evidence if session.thought]
    return round(median(averages)) if len(averages) >= LEAST_SESSIONS else None


def _by_client(
    evidence: Sequence[Evidence], values_of: Callable[[Evidence], Sequence[int]], unit: int
) -> dict[str, UsualTokens]:
    """Return the median of each client's values, and the range of nine in ten."""
    figures = {}
    for client in sorted({session.client for session in evidence}):
        values = sorted(chain.from_iterable(values_of(e) for e in evidence if e.client == client))
        if len(values) >= LEAST_SESSIONS:
            least, most = _narrowest(values, round(0.9 * len(values)))
            figures[client] = UsualTokens(
                usual=round(median(values) / unit) * unit,
                least=math.floor(least / unit) * unit,
                most=math.ceil(most / unit) * unit,
            )
    return figures


def _narrowest(values: Sequence[int], count: int) -> tuple[int, int]:
    """Return the ends of the narrowest range that holds so many of some values in order."""
    ends = zip(values, values[count - 1 :], strict=False)
    return min(ends, key=lambda pair: pair[1] - pair[0])
