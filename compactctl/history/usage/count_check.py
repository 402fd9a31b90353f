"""Whether what is counted of a conversation agrees with what was reported of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from compactctl.history.usage.calibration import context_growth
from compactctl.history.usage.requests import Request
from compactctl.model.message import MediaPart, Message

Verdict = Literal["too few", "as expected", "other tokens", "content missing"]

# These were chosen on 24 sessions of three projects, as they are and with half of their results
# emptied at random; 50 of twelve others were tried with them.
MIN_STEPS = 10
# Below that what a client adds unseen, such as reminders, is too large a part of it.
_MIN_COUNTED, _MIN_REPORTED = 100, 400
# A step whose content is in the file has more than two thirds of it there.
_PRESENT_SHARE = 2 / 3
_MISSING = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class CountCheck:
    """How the content that entered between requests was counted and reported.

    Attributes:
        ratio: reported over counted tokens, the median of ``steps`` steps with enough in them;
            None when there are fewer than ``MIN_STEPS``.
        checked: the steps with results of tools that were reported to bring much, beside an answer
            that was reported too or is small; ``missing``:
            those of them of whose content most is not in the file.
        tolerance: how far from 1 the ratio may be.
    """

    ratio: float | None
    steps: int
    checked: int
    missing: int
    tolerance: float

    @property
    def verdict(self) -> Verdict:
        """What follows from it."""
        if self.checked >= MIN_STEPS and self.missing > _MISSING * self.checked:
            return "content missing"
        if self.ratio is None:
            return "too few"
        return "as expected" if abs(self.ratio - 1) <= self.tolerance else "other tokens"


@dataclass(frozen=True, slots=True)
class _ContextStep:
    """What entered between two requests beside the answer, in tokens without frames.

    ``estimated`` is what of the answer was not reported, and is off by as much as its estimate.
    """

    counted: float
    reported: float
    estimated: float
    has_results: bool

    @property
    def is_conclusive(self) -> bool:
        """Whether it was reported to bring much, whatever the answer may have been."""
        unsure = self.estimated > (1 - _PRESENT_SHARE) * self.reported
        return self.has_results and self.reported >= _MIN_REPORTED and not unsure


def check_counts(
    messages: Sequence[Message],
    found: Sequence[Request],
    count: Callable[[Message], float],
    frame: Callable[[Message], float],
    tolerance: float,
) -> CountCheck:
    """Compare what entered between requests as ``count`` tells it with what was reported.

    ``frame`` tells what a message adds beside its content. Answers are taken as they were reported,
    so they say nothing here; neither do media, whose size is a guess, and results that the client
    has cleared since.
    """
    # Brings random, decimal and fractions along, which a file without reports does without.
    from statistics import median

    steps = list(_steps(messages, found, count, frame))
    ratios = [s.reported / s.counted for s in steps if s.counted >= _MIN_COUNTED]
    ratio = median(ratios) if len(ratios) >= MIN_STEPS else None
    large = [step for step in steps if step.is_conclusive]
    # Tokens of another family do not mean that content is missing.
    there = _PRESENT_SHARE / max(1.0, ratio or 1.0)
    return CountCheck(
        ratio=ratio,
        steps=len(ratios),
        checked=len(large),
        missing=sum(step.counted < there * step.reported for step in large),
        tolerance=tolerance,
    )


def _steps(
    messages: Sequence[Message],
    found: Sequence[Request],
    count: Callable[[Message], float],
    frame: Callable[[Message], float],
) -> Iterator[_ContextStep]:
    for (earlier, later), grown in zip(pairwise(found), context_growth(found), strict=True):
        entered = _entered(messages, earlier, later)
        if grown <= 0 or not all(map(_has_stable_size, entered)):
            continue
        yield _ContextStep(
            counted=sum(map(count, entered)),
            reported=grown - (earlier.answer - earlier.result_tokens) - sum(map(frame, entered)),
            estimated=0.0 if earlier.is_output_reported else earlier.answer - earlier.result_tokens,
            has_results=any(message.results for message in entered),
        )


def _entered(messages: Sequence[Message], earlier: Request, later: Request) -> list[Message]:
    """Return what was sent between two requests beside the answer, but with the results in it."""
    return [
        replace(messages[at], parts=messages[at].results, role="tool")
        if at in earlier.message_indices
        else messages[at]
        for at in range(earlier.first_index, later.first_index)
    ]


def _has_stable_size(message: Message) -> bool:
    """Tell whether the size of a message is neither a guess nor has changed since it was sent."""
    guesses = any(isinstance(part, MediaPart) for part in message.parts)
    changed = any(result.cleared or result.media for result in message.results)
    return message.role != "assistant" and not guesses and not changed
