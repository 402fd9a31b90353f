"""Checks whether counted tokens of a conversation agree with the reported ones."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from compactctl.history.usage.calibration import context_growth
from compactctl.history.usage.requests import Request
from compactctl.model.message import MediaPart, Message
from compactctl.records import Record, replace

CountVerdict = Literal["too few", "as expected", "other tokens", "content missing"]

# These were chosen on 24 sessions of three projects, unchanged and with half of their results
# emptied at random, and tested on 50 sessions of twelve other projects.
MIN_STEPS = 10
# In smaller steps, what a client adds without storing it, such as reminders, is too large a part.
_MIN_COUNTED, _MIN_REPORTED = 100, 400
# If the content of a step is in the file, more than two thirds of its tokens are counted.
_PRESENT_SHARE = 2 / 3
_MISSING = 0.25


class CountCheck(Record):
    """How the content that entered between requests was counted and reported.

    Attributes:
        ratio: reported per counted token, the median of ``steps`` steps with enough content; None
            if there are fewer than ``MIN_STEPS``.
        checked: number of steps with tool results that were reported to be large, next to an answer
            that was reported too or is small; ``missing``: number of those whose content is mostly
            not in the file.
        tolerance: how far from 1 the ratio may be.
    """

    ratio: float | None
    steps: int
    checked: int
    missing: int
    tolerance: float

    @property
    def verdict(self) -> CountVerdict:
        """What the figures mean."""
        if self.checked >= MIN_STEPS and self.missing > _MISSING * self.checked:
            return "content missing"
        if self.ratio is None:
            return "too few"
        return "as expected" if abs(self.ratio - 1) <= self.tolerance else "other tokens"


class _ContextStep(Record, kw_only=False):
    """What entered between two requests besides the answer, in tokens without message overhead.

    ``estimated`` is the part of the answer that was not reported; ``reported`` is as wrong as that.
    """

    counted: float
    reported: float
    estimated: float
    has_results: bool

    @property
    def is_conclusive(self) -> bool:
        """Whether results were reported to be large, however wrong the answer's estimate is."""
        unsure = self.estimated > (1 - _PRESENT_SHARE) * self.reported
        return self.has_results and self.reported >= _MIN_REPORTED and not unsure


def check_counts(
    messages: Sequence[Message],
    requests: Sequence[Request],
    count: Callable[[Message], float],
    overhead: Callable[[Message], float],
    tolerance: float,
) -> CountCheck:
    """Compare the tokens that entered between requests, by ``count``, with those reported.

    ``overhead`` returns what a message adds besides its content. Answers count as reported, so they
    are not compared; nor are media, whose size is a guess, and results that the client has cleared
    since.
    """
    # Imports random, decimal and fractions, which a file without usage does not need.
    from statistics import median

    steps = list(_steps(messages, requests, count, overhead))
    ratios = [step.reported / step.counted for step in steps if step.counted >= _MIN_COUNTED]
    ratio = median(ratios) if len(ratios) >= MIN_STEPS else None
    conclusive = [step for step in steps if step.is_conclusive]
    # Tokens of another vocabulary do not mean that content is missing.
    present_share = _PRESENT_SHARE / max(1.0, ratio or 1.0)
    return CountCheck(
        ratio=ratio,
        steps=len(ratios),
        checked=len(conclusive),
        missing=sum(step.counted < present_share * step.reported for step in conclusive),
        tolerance=tolerance,
    )


def _steps(
    messages: Sequence[Message],
    requests: Sequence[Request],
    count: Callable[[Message], float],
    overhead: Callable[[Message], float],
) -> Iterator[_ContextStep]:
    for (earlier, later), grown in zip(pairwise(requests), context_growth(requests), strict=True):
        entered = _entered(messages, earlier, later)
        if grown <= 0 or not all(map(_has_stable_size, entered)):
            continue
        yield _ContextStep(
            counted=sum(map(count, entered)),
            reported=grown - (earlier.answer - earlier.result_tokens) - sum(map(overhead, entered)),
            estimated=0.0 if earlier.is_output_reported else earlier.answer - earlier.result_tokens,
            has_results=any(message.results for message in entered),
        )


def _entered(messages: Sequence[Message], earlier: Request, later: Request) -> list[Message]:
    """Return the messages sent between two requests; of the answer only the results in it."""
    return [
        replace(messages[index], parts=messages[index].results, role="tool")
        if index in earlier.message_indices
        else messages[index]
        for index in range(earlier.first_index, later.first_index)
    ]


def _has_stable_size(message: Message) -> bool:
    """Whether the size of a message was not guessed and has not changed since it was sent."""
    guesses = any(isinstance(part, MediaPart) for part in message.parts)
    changed = any(result.cleared or result.media for result in message.results)
    return message.role != "assistant" and not guesses and not changed
