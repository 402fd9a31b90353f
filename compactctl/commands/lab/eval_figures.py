"""Aggregates trials: means over sessions with intervals, and the findings of gates."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from statistics import fmean
from typing import Literal

from compactctl.commands.lab.eval_session import Trial
from compactctl.errors import UsageError
from compactctl.lab.score import ANSWERS, MEASURES
from compactctl.model.bounds import Share
from compactctl.model.numbers import exact
from compactctl.model.validation import validated
from compactctl.records import Record
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.source import open_input
from compactctl.tokens.budget import parse_share
from compactctl.tokens.models.token_sizes import parse_token_size
from compactctl.tokens.verdict import VERDICTS, Verdict

RESAMPLES = 1_000
"""The number of times that sessions are resampled for an interval."""
_TAIL = 0.025
SCHEMA = "compactctl.eval/1"
TOLERANCE = 0.02
"""How far a measure may be below its baseline: an entity or two of a session."""
_GATE = re.compile(r"\s*(\w+)\s*(>=|<=)\s*([^@]+?)\s*@\s*([^@]+?)\s*", re.ASCII)
_ZERO = re.compile(r"0+(?:\.0+)?\s*%?", re.ASCII)
_DIGITS = range(3, 10)
# What a gate may compare besides the measures.
_KEPT, _PAIRS = "kept", "pairs"
NAMES = (*MEASURES, ANSWERS, _KEPT, _PAIRS)
_Key = tuple[str, float, str]


class Mean(Record, kw_only=False):
    """A mean over sessions, and the interval that holds 95% of resampled means.

    Each session counts once, whatever its length: its value is the mean over its cuts.
    """

    value: float
    low: float
    high: float
    sessions: int


class EvalFigures(Record):
    """A policy at a target share over all sessions.

    ``measures`` has those with any demand. ``beyond`` is the part kept by the policy of what random
    lines of the same size miss: 1 is all, 0 no more than they do, None if they miss nothing.
    ``over`` counts contexts larger than the target, and ``verdict`` is the worst of all contexts.
    """

    policy: str
    asked: float
    cuts: int
    kept: Mean
    measures: Mapping[str, Mean]
    beyond: float | None
    pair_errors: int
    over: int
    verdict: Verdict
    milliseconds: float

    @property
    def is_good(self) -> bool:
        """Whether no context is over its target, and all of the sessions was read."""
        return self.verdict in {"unchanged", "fits"}

    @property
    def over_text(self) -> str:
        """In how many of its cuts it is over its target, unless it is in all of them."""
        if self.over == self.cuts:
            return "over target"
        return f"over target in {self.over:,} of {self.cuts:,} cuts"

    @property
    def reason(self) -> str:
        """Why it is not good: the worst verdict."""
        return self.over_text if self.verdict == "over target" else self.verdict


class Gate(Record, kw_only=False):
    """A minimum or maximum of a measure at a target share.

    The limit is a share, for ``pairs`` a number.
    """

    measure: str
    is_minimum: bool
    limit: float
    asked: float
    text: str

    def holds_for(self, value: float) -> bool:
        """Return whether a value is within the limit."""
        exact_value, limit = exact(value), exact(self.limit)
        return exact_value >= limit if self.is_minimum else exact_value <= limit

    def format_value(self, value: float) -> str:
        """Format a value that is beyond the limit, with enough decimals to show that."""
        if self.measure == _PAIRS:
            return f"{value:,.0f}"
        texts = [f"{value:.{digits}f}" for digits in _DIGITS]
        return next((text for text in texts if not self.holds_for(float(text))), texts[-1])


class Baseline(Record, kw_only=False):
    """The means of an earlier evaluation, by policy, asked share and measure.

    ``within`` names the policies and asked shares without a context over its target.
    """

    path: str
    means: Mapping[_Key, float]
    within: frozenset[tuple[str, float]] = frozenset()


def figures(trials: Sequence[Trial], seed: int) -> tuple[EvalFigures, ...]:
    """Aggregate by policy and target share, in the order of the trials."""
    groups: dict[tuple[str, float], list[Trial]] = {}
    for trial in trials:
        groups.setdefault((trial.policy, trial.asked), []).append(trial)
    return tuple(_summed(group, seed) for group in groups.values())


def interval(values: Sequence[float], seed: int) -> tuple[float, float]:
    """Return the 95% interval of the mean by the percentile bootstrap; deterministic for a seed."""
    if len(values) == 1:
        return values[0], values[0]
    drawn = sorted(_resampled(values, Random(seed)))  # noqa: S311 - no secrets
    return drawn[int(RESAMPLES * _TAIL)], drawn[int(RESAMPLES * (1 - _TAIL)) - 1]


def findings(
    figures: Sequence[EvalFigures], gates: Sequence[Gate], baseline: Baseline | None
) -> Iterator[str]:
    """Yield a line for each limit that is violated, or for which nothing was measured.

    No figure is within a limit if the policy is over its target, or if text was not read.
    """
    for gate in gates:
        yield from _missed(figures, gate)
    if baseline is not None:
        yield from _fallen(figures, baseline)


def parse_gate(text: str) -> Gate:
    """Read a gate such as ``recall>=0.95@0.3``. Raises UsageError for anything else."""
    match = _GATE.fullmatch(text)
    if match is None or match[1] not in NAMES:
        raise UsageError(
            f"{text!r} is not a gate; write it as recall>=0.95@0.3, with one of {', '.join(NAMES)}"
        )
    read = _count if match[1] == _PAIRS else parse_share
    try:
        limit = 0.0 if _ZERO.fullmatch(match[3]) else read(match[3])
        return Gate(match[1], match[2] == ">=", limit, parse_share(match[4]), text.strip())
    except UsageError as error:
        raise UsageError(f"the gate {text!r}: {error}") from error


def read_baseline(path: str) -> Baseline:
    """Read a document written by ``eval --json``. Raises UsageError, NoInputError."""
    data = open_input(path, TEXT_LIMITS).data
    try:
        document: _EvalDocument = validated(json.loads(data), _EvalDocument)
        means = _unique(_means(document))
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"{path}: is not a baseline; write one with compactctl lab eval … --json > {path}"
        ) from error
    within = frozenset((row.policy, row.asked) for row in document.figures if not row.over)
    return Baseline(path, means, within)


def _summed(trials: Sequence[Trial], seed: int) -> EvalFigures:
    names = dict.fromkeys(name for trial in trials for name in trial.tallies)
    means = {name: _mean(trials, seed, _share_of(name)) for name in names}
    mean_kept = _mean(trials, seed, lambda trial: trial.kept)
    assert mean_kept is not None  # noqa: S101 - every trial has a size
    return EvalFigures(
        policy=trials[0].policy,
        asked=trials[0].asked,
        cuts=len(trials),
        kept=mean_kept,
        measures={name: mean for name, mean in means.items() if mean is not None},
        beyond=_beyond(trials),
        pair_errors=sum(trial.pair_errors for trial in trials),
        over=sum(trial.judgment.is_over for trial in trials),
        verdict=min((trial.verdict for trial in trials), key=VERDICTS.index),
        milliseconds=sum(trial.milliseconds for trial in trials) / len(trials),
    )


def _mean(
    trials: Iterable[Trial], seed: int, value: Callable[[Trial], float | None]
) -> Mean | None:
    values_by_session: dict[str, list[float]] = {}
    for trial in trials:
        number = value(trial)
        if number is not None:
            values_by_session.setdefault(trial.session, []).append(number)
    means = [fmean(values) for values in values_by_session.values()]
    if not means:
        return None
    low, high = interval(means, seed)
    # As a fraction, so that three times 19 of 20 are 0.95 on average, and not a little less.
    return Mean(float(exact(fmean(means))), low, high, len(means))


def _share_of(name: str) -> Callable[[Trial], float | None]:
    def share(trial: Trial) -> float | None:
        tally = trial.tallies.get(name)
        return None if tally is None else tally.share

    return share


def _beyond(trials: Sequence[Trial]) -> float | None:
    compared = [(t.tallies["recall"], t.chance) for t in trials if t.chance is not None]
    missed = sum(chance.asked - chance.hits for _, chance in compared)
    if not missed:
        return None
    return sum(tally.hits - chance.hits for tally, chance in compared) / missed


def _resampled(values: Sequence[float], random: Random) -> Iterator[float]:
    for _ in range(RESAMPLES):
        yield sum(random.choices(values, k=len(values))) / len(values)


def _missed(figures: Sequence[EvalFigures], gate: Gate) -> Iterator[str]:
    matching = [row for row in figures if row.asked == gate.asked]
    values = [(row, _value(row, gate.measure)) for row in matching]
    if all(value is None for _, value in values):
        yield f"{gate.text}: nothing was measured"
        return
    for row, value in values:
        if value is None:
            yield f"{gate.text}: nothing was measured for {row.policy}"
        elif not row.is_good:
            yield f"{gate.text}: {row.policy} is {row.reason}"
        elif not gate.holds_for(value):
            yield f"{gate.text}: {row.policy} has {gate.format_value(value)}"


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
    current = {
        (row.policy, row.asked, name): mean.value
        for row in figures
        for name, mean in row.measures.items()
    }
    compared = [key for key in baseline.means if key in current]
    if not compared:
        yield f"{baseline.path}: has no policy and share that was measured now"
        return
    for key in compared:
        before = baseline.means[key]
        if exact(current[key]) < exact(before) - exact(TOLERANCE):
            yield f"{_figure_name(key)}: {current[key]:.3f}, {before:.3f} in the baseline"
    for row in figures:
        if row.over and (row.policy, row.asked) in baseline.within:
            yield f"{row.policy} at {row.asked:g}: {row.over_text}, within it in the baseline"
        if row.verdict == "incomplete":
            yield f"{row.policy} at {row.asked:g}: {row.reason}"
    tried = {key[:2] for key in current}
    missing = [key for key in baseline.means if key not in current]
    missing_groups = dict.fromkeys(key[:2] for key in missing if key[:2] not in tried)
    for policy, asked in missing_groups:
        yield f"{policy} at {asked:g}: in the baseline, but not measured now"
    for key in missing:
        if key[:2] in tried:
            yield f"{_figure_name(key)}: in the baseline, but not measured now"


def _figure_name(key: _Key) -> str:
    policy, asked, name = key
    return f"{name} of {policy} at {asked:g}"


def _count(text: str) -> float:
    size = parse_token_size(text)
    if size is None or size.denominator != 1:
        raise UsageError(f"{text!r} is not a number of pairs; write it as pairs<=2@0.3")
    return size.numerator


def _unique(means: Iterable[tuple[_Key, float]]) -> dict[_Key, float]:
    unique_means: dict[_Key, float] = {}
    for key, mean in means:
        if unique_means.setdefault(key, mean) != mean:
            raise ValueError(key)
    return unique_means


class _MeanObject(Record, forbid_unknown_fields=False):
    value: Share


class _FiguresObject(Record, forbid_unknown_fields=False):
    policy: str
    asked: Share
    measures: dict[str, _MeanObject]
    over: int = 0


class _EvalDocument(Record, forbid_unknown_fields=False):
    schema: Literal["compactctl.eval/1"]
    figures: tuple[_FiguresObject, ...]


def _means(document: _EvalDocument) -> Iterator[tuple[_Key, float]]:
    for row in document.figures:
        for name, mean in row.measures.items():
            yield (row.policy, row.asked, name), mean.value
