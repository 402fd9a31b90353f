"""The table of what a model as judge says about contexts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

from benchmarks.samples import resample
from benchmarks.tables import interval_cell, paragraph, table

DEFAULT, NONE, LONGEST = "default", "none", "longest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """How probable a model finds the spans of a cut after one context.

    Attributes:
        session, project: where the cut is of.
        policy: what made the context; ``NONE`` and ``LONGEST`` are the ends of the scale.
        share: the size that was asked for; 0 for the ends of the scale.
        tokens: the size of the context in the model's tokens.
        log_probability: the mean over the tokens of all spans, in nats.
        answers: the share of questions answered, None if none were asked.
    """

    session: str
    project: str
    policy: str
    share: float
    tokens: int
    log_probability: float
    answers: float | None = None


@dataclass(frozen=True, slots=True)
class Gain:
    """What contexts of a session gained over none, and what the longest possible gained."""

    gained: float
    possible: float


def share_closed(gains: Sequence[Gain]) -> float:
    """Return the share of the gap between no context and the longest that contexts close.

    It is a ratio of means: a session in which the longest context helps little then counts little.
    """
    return sum(gain.gained for gain in gains) / sum(gain.possible for gain in gains)


def gains_of(judgments: Sequence[Judgment], policy: str, share: float) -> dict[str, Gain]:
    """Return the gains of a policy by session, the mean over its cuts."""
    return {
        session: Gain(
            fmean(_values(cuts, policy, share)) - fmean(_values(cuts, NONE, 0)),
            fmean(_values(cuts, LONGEST, 0)) - fmean(_values(cuts, NONE, 0)),
        )
        for session, group in groupby(
            sorted(judgments, key=lambda judgment: judgment.session),
            key=lambda judgment: judgment.session,
        )
        if (cuts := list(group))
    }


def reader_table(judgments: Sequence[Judgment], model: str) -> str:
    """Return the table with its introduction."""
    cuts = sum(judgment.policy == LONGEST for judgment in judgments)
    sessions = {judgment.session for judgment in judgments}
    projects = {judgment.project for judgment in judgments}
    none, longest = (fmean(_values(judgments, end, 0)) for end in (NONE, LONGEST))
    introduction = (
        f"{model} at {cuts} cuts of {len(sessions)} sessions and {len(projects)} projects, after"
        f" {fmean(_sizes(judgments, LONGEST, 0)):,.0f} tokens on average. What the agent wrote"
        f" again has {none:.2f} nats per token without a context and {longest:.2f} after the"
        " longest possible. Shares of this gap and differences are in percent, with 95% intervals"
        " over sessions. All contexts of a cut were brought to one size in the model's tokens,"
        " unless a policy comes to less."
    )
    columns = ["Size", "Context", "Tokens", "Gap closed", "Interval", "Minus default", "Interval"]
    if any(judgment.answers is not None for judgment in judgments):
        columns.append("Answers")
    return f"{paragraph(introduction)}\n\n{table(columns, _rows(judgments))}"


def _rows(judgments: Sequence[Judgment]) -> Iterator[Sequence[object]]:
    kinds = dict.fromkeys((j.share, j.policy) for j in judgments if j.share)
    for share, policy in sorted(kinds, key=lambda kind: -kind[0]):
        gains = gains_of(judgments, policy, share)
        default = gains_of(judgments, DEFAULT, share)
        differences = [
            Gain(gain.gained - default[session].gained, gain.possible)
            for session, gain in gains.items()
        ]
        yield (
            f"{share:.0%}",
            policy,
            f"{fmean(_sizes(judgments, policy, share)):,.0f}",
            *_cells(list(gains.values()), ""),
            *(("", "") if policy == DEFAULT else _cells(differences, "+")),
            *_answers(judgments, policy, share),
        )


def _cells(gains: Sequence[Gain], sign: str) -> tuple[str, str]:
    low, high = resample(gains, share_closed)
    return f"{100 * share_closed(gains):{sign}.1f}", interval_cell((100 * low, 100 * high), 1)


def _answers(judgments: Sequence[Judgment], policy: str, share: float) -> Iterator[str]:
    shares = [
        judgment.answers
        for judgment in judgments
        if (judgment.policy, judgment.share) == (policy, share) and judgment.answers is not None
    ]
    if shares:
        yield f"{100 * fmean(shares):.1f}"


def _values(judgments: Sequence[Judgment], policy: str, share: float) -> list[float]:
    return [j.log_probability for j in judgments if (j.policy, j.share) == (policy, share)]


def _sizes(judgments: Sequence[Judgment], policy: str, share: float) -> list[int]:
    return [j.tokens for j in judgments if (j.policy, j.share) == (policy, share)]
