"""Which of the reported sizes of requests can be true, judged by what the requests held.

Gateways that do not forward cache counts, partial counts and sums over a session all look like
usage. Of the 4,934 requests that 76 real sessions would send again none was reported below 0.97 of
what is counted of it, and no series of them grew by less than 0.90 or, once 10,000 tokens had
entered, by more than 2.1 of what was counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from compactctl.history.usage.calibration import context_growth
from compactctl.history.usage.requests import Request

Reason = Literal[
    "below its contents", "does not grow", "beyond any window", "grows too fast", "no number"
]

# By what share a count may be too large, with the vocabulary of the model and with an estimate,
# which is off by up to 40% on text that is not Latin.
VOCABULARY_ERROR, ESTIMATE_ERROR = 0.2, 0.35
# From how many counted tokens on the growth of a series can be judged.
_ENOUGH = 2_000
# A series that grows as the conversation does is true, however small it is: something was taken
# out of the context that the file still holds. So many requests show that, where all that entered
# between them is less than the first reports; each of several partial reports is what entered.
_ENOUGH_REQUESTS = 5
# Steps of so many counted tokens are compared; reasoning that is not stored may double them.
_STEP, _MAX_GROWTH = 100, 2.0
# Content that is not in the file lets a series grow faster than what is counted.
_ENOUGH_FOR_FAST, _TOO_FAST = 10_000, 4
# A request may be this much larger than a window in the tables, which new models outgrow.
_WINDOW_MARGIN = 1.25
# More than system prompt and tool definitions come to.
_MAX_OVERHEAD = 120_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """Why reports are not believed, with the figures of the newest of them.

    Attributes:
        reason: what is wrong with it.
        index: of the first message of its response.
        context: the tokens it reports, ``contents`` those counted of what was sent.
        reports: how many reports are doubted.
        is_used: whether it is used all the same, as the higher figure of two that can be true.
    """

    reason: Reason
    index: int
    context: int
    contents: int
    reports: int
    is_used: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reports:
    """The requests whose reports are used, in order, and what is doubted of all reports."""

    requests: tuple[Request, ...]
    doubt: Doubt | None = None


def judge(requests: Sequence[Request], error: float, longest_window: int) -> Reports:
    """Return the requests whose reported sizes can be true.

    ``error`` is the share by which a count may be too large, ``longest_window`` the largest that
    the model may have, in tokens.
    """
    possible = _possible(requests, longest_window)
    reports = _not_too_small(possible, error)
    impossible = [request for request in requests if _is_beyond(request, longest_window)]
    if impossible:
        dropped = len(requests) - len(possible)
        return replace(reports, doubt=_doubt("beyond any window", impossible[-1], dropped))
    fast = next((run for run in _spans(reports.requests) if _grows_too_fast(run)), None)
    if reports.doubt or fast is None:
        return reports
    return replace(reports, doubt=_doubt("grows too fast", fast[-1], len(fast), is_used=True))


def plausible_requests(requests: Sequence[Request], longest_window: int) -> tuple[Request, ...]:
    """Return the requests whose reported size is not too large for what they held."""
    possible = _possible(requests, longest_window)
    return () if any(map(_grows_too_fast, _spans(possible))) else possible


def _possible(requests: Sequence[Request], longest_window: int) -> tuple[Request, ...]:
    """Leave out reports that no model can take, and the series that lead up to one."""
    possible: list[Request] = []
    for run in _runs(requests):
        beyond = [_is_beyond(request, longest_window) for request in run]
        if any(beyond) and _steps_are_too_large(run):
            continue
        possible += [request for request, is_out in zip(run, beyond, strict=True) if not is_out]
    return tuple(possible)


def _not_too_small(requests: Sequence[Request], error: float) -> Reports:
    """Leave out the reports that are smaller than what the request held, or do not grow with it."""
    believed: list[Request] = []
    below: list[Request] = []
    flat: list[Request] = []
    for run in _runs(requests):
        if _follows(run, error):
            believed += run
        elif _grows_too_little(run, error):
            flat += run
        else:
            for request in run:
                largest = max((r.context for r in believed), default=0)
                # Where some reports are partial, another that fell is as well.
                is_part = bool(below) and request.context < largest
                is_below = request.context < (1 - error) * request.contents
                (below if is_part or is_below else believed).append(request)
    if not (below or flat):
        return Reports(requests=tuple(requests))
    newest = max(below + flat, key=lambda r: r.first_index)
    is_small = newest.context < (1 - error) * newest.contents
    reason: Reason = "does not grow" if newest in flat and not is_small else "below its contents"
    doubt = _doubt(reason, newest, len(below) + len(flat))
    return Reports(requests=tuple(believed), doubt=doubt)


def _doubt(reason: Reason, request: Request, reports: int, *, is_used: bool = False) -> Doubt:
    return Doubt(
        reason=reason,
        index=request.first_index,
        context=request.context,
        contents=round(request.contents),
        reports=reports,
        is_used=is_used,
    )


def _runs(requests: Sequence[Request]) -> list[tuple[Request, ...]]:
    """Split requests where the context shrank."""
    runs: list[list[Request]] = [[request] for request in requests[:1]]
    for request, grown in zip(requests[1:], context_growth(requests), strict=True):
        if grown < 0:
            runs.append([])
        runs[-1].append(request)
    return [tuple(run) for run in runs]


def _is_beyond(request: Request, longest_window: int) -> bool:
    """Tell whether no model answers a request of that size, and no content explains it."""
    explained = 2 * (request.contents + _MAX_OVERHEAD)
    return request.context > max(_WINDOW_MARGIN * longest_window, explained)


def _entered(run: Sequence[Request]) -> float:
    """Return how many tokens were counted of what entered from the first request to the last."""
    return run[-1].contents - run[0].contents


def _grows_too_little(run: Sequence[Request], error: float) -> bool:
    entered = _entered(run)
    return entered >= _ENOUGH and sum(context_growth(run)) < (1 - error) * entered


def _spans(requests: Sequence[Request]) -> list[Sequence[Request]]:
    """Return all requests, and those of each stretch in which the context did not shrink."""
    return [requests, *_runs(requests)] if requests else []


def _grows_too_fast(run: Sequence[Request]) -> bool:
    grown, entered = sum(context_growth(run)), _entered(run)
    return entered >= _ENOUGH_FOR_FAST and grown > _TOO_FAST * entered


def _steps_are_too_large(run: Sequence[Request]) -> bool:
    """Tell whether most reports in a series are too large, not one of them alone."""
    steps = list(zip(pairwise(run), context_growth(run), strict=True))
    large = sum(grown > _TOO_FAST * _entered(step) for step, grown in steps)
    return 2 * large > len(steps)


def _follows(run: Sequence[Request], error: float) -> bool:
    """Tell whether a series of reports grows step by step as the conversation does."""
    from statistics import median

    entered = _entered(run)
    if len(run) < _ENOUGH_REQUESTS or not _ENOUGH <= entered <= run[0].context:
        return False
    steps = zip(pairwise(run), context_growth(run), strict=True)
    ratios = [grown / size for step, grown in steps if (size := _entered(step)) >= _STEP]
    return bool(ratios) and all(
        1 - error <= ratio <= _MAX_GROWTH
        for ratio in (median(ratios), sum(context_growth(run)) / entered)
    )
