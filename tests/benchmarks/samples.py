"""A figure of each session, summed up: mean, intervals and tail."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random
from statistics import fmean
from typing import TypeVar

Sample = TypeVar("Sample")

RESAMPLES = 1_000
# An interval over fewer projects would say nothing.
MIN_PROJECTS = 5
_TAIL = 0.025
_SEED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The mean over sessions with 95% bootstrap intervals, and how bad it gets.

    ``by_session`` resamples sessions, ``by_project`` projects with all their sessions, which is
    None for few of them. ``tail`` is the value that one session in ten is worse than.
    """

    sessions: int
    projects: int
    mean: float
    by_session: tuple[float, float]
    by_project: tuple[float, float] | None
    tail: float
    worst: float


def summarize(
    values: Iterable[tuple[str, float]], worst: Callable[[Sequence[float]], float]
) -> Summary | None:
    """Sum up the values of sessions, each with its project; ``worst`` is ``min`` or ``max``."""
    projects: dict[str, list[float]] = {}
    for project, value in values:
        projects.setdefault(project, []).append(value)
    groups = list(projects.values())
    sessions = sorted(chain(*groups), reverse=worst is max)
    if not sessions:
        return None
    return Summary(
        sessions=len(sessions),
        projects=len(groups),
        mean=fmean(sessions),
        by_session=interval([[value] for value in sessions]),
        by_project=interval(groups) if len(groups) >= MIN_PROJECTS else None,
        tail=sessions[len(sessions) // 10],
        worst=sessions[0],
    )


def interval(groups: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the 95% interval of the mean over all values, by resampling groups of them."""
    return resample(groups, lambda chosen: fmean(chain(*chosen)))


def resample(
    samples: Sequence[Sample], measure: Callable[[Sequence[Sample]], float]
) -> tuple[float, float]:
    """Return the 95% interval of a measure of samples, by resampling them."""
    random = Random(_SEED)
    values = sorted(measure(random.choices(samples, k=len(samples))) for _ in range(RESAMPLES))
    return values[int(RESAMPLES * _TAIL)], values[int(RESAMPLES * (1 - _TAIL)) - 1]
