"""Trials summed up: means over sessions with their intervals, and what is beyond chance."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

from compactctl.commands.evaluate.trial import Trial
from compactctl.model.exact import exact

RESAMPLES = 1_000
"""How often sessions are drawn anew for an interval."""
_TAIL = 0.025


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over sessions with the interval in which 95 % of resampled means lie.

    Each session counts once, whatever its length: its value is the mean over its cuts.
    """

    value: float
    low: float
    high: float
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalFigures:
    """A policy at an asked share over all sessions.

    ``measures`` has those for which anything was asked. ``beyond`` is how much of what random
    lines of the same size miss the policy keeps: 1 is all, 0 no more than they do, None where they
    miss nothing. ``over`` counts contexts that are larger than asked.
    """

    policy: str
    asked: float
    cuts: int
    kept: Mean
    measures: Mapping[str, Mean]
    beyond: float | None
    pair_errors: int
    over: int
    milliseconds: float


def figures(trials: Sequence[Trial], seed: int) -> tuple[EvalFigures, ...]:
    """Sum up by policy and asked share, in the order in which these were tried."""
    groups: dict[tuple[str, float], list[Trial]] = {}
    for trial in trials:
        groups.setdefault((trial.policy, trial.asked), []).append(trial)
    return tuple(_summed(group, seed) for group in groups.values())


def _summed(trials: Sequence[Trial], seed: int) -> EvalFigures:
    names = dict.fromkeys(name for trial in trials for name in trial.tallies)
    means = {name: _mean(trials, seed, _share_of(name)) for name in names}
    kept = _mean(trials, seed, lambda trial: trial.kept)
    assert kept is not None  # noqa: S101 - every trial has a size
    return EvalFigures(
        policy=trials[0].policy,
        asked=trials[0].asked,
        cuts=len(trials),
        kept=kept,
        measures={name: mean for name, mean in means.items() if mean is not None},
        beyond=_beyond(trials),
        pair_errors=sum(trial.pair_errors for trial in trials),
        over=sum(trial.is_over for trial in trials),
        milliseconds=sum(trial.milliseconds for trial in trials) / len(trials),
    )


def _share_of(name: str) -> Callable[[Trial], float | None]:
    def share(trial: Trial) -> float | None:
        tally = trial.tallies.get(name)
        return None if tally is None else tally.share

    return share


def _mean(
    trials: Iterable[Trial], seed: int, value: Callable[[Trial], float | None]
) -> Mean | None:
    of: dict[str, list[float]] = {}
    for trial in trials:
        found = value(trial)
        if found is not None:
            of.setdefault(trial.session, []).append(found)
    means = [fmean(each) for each in of.values()]
    if not means:
        return None
    low, high = interval(means, seed)
    # As a fraction, so that three times 19 of 20 are 0.95 on average, and not a little less.
    return Mean(float(exact(fmean(means))), low, high, len(means))


def interval(values: Sequence[float], seed: int) -> tuple[float, float]:
    """Return the 95 % interval of the mean by the percentile bootstrap, the same for a seed."""
    drawn = sorted(_resampled(values, Random(seed)))  # noqa: S311 - no secrets
    return drawn[int(RESAMPLES * _TAIL)], drawn[int(RESAMPLES * (1 - _TAIL)) - 1]


def _resampled(values: Sequence[float], random: Random) -> Iterator[float]:
    for _ in range(RESAMPLES):
        yield sum(random.choices(values, k=len(values))) / len(values)


def _beyond(trials: Sequence[Trial]) -> float | None:
    compared = [(t.tallies["recall"], t.chance) for t in trials if t.chance is not None]
    missed = sum(chance.asked - chance.hits for _, chance in compared)
    if not missed:
        return None
    return sum(own.hits - chance.hits for own, chance in compared) / missed
