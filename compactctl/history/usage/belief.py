"""Decides which reported request sizes are plausible, by the contents of the requests.

Gateways that drop cache counts, partial counts and sums over a session all look like usage. Of the
4,934 requests that 76 real sessions would send again, none was reported below 0.97 of its counted
contents, and no series of them grew by less than 0.90 or, once 10,000 tokens had entered, by more
than 2.1 of what was counted.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from compactctl.history.usage.calibration import context_growth
from compactctl.history.usage.requests import Request
from compactctl.records import Record, replace

Reason = Literal[
    "below its contents", "does not grow", "beyond any window", "grows too fast", "no number"
]

# By what share a count may be too large: with the model's vocabulary, and with an estimate, which
# is off by up to 40% on text that is not Latin.
VOCABULARY_ERROR, ESTIMATE_ERROR = 0.2, 0.35
# The growth of a series is checked only if at least so many counted tokens entered.
_MIN_ENTERED = 2_000
# A series that grows like the conversation is true, however small: something was removed from the
# context that the file still holds. It takes this many requests to show that, and what entered
# between them must be less than the first report: partial reports are each what entered.
_MIN_REQUESTS = 5
# Steps of at least so many counted tokens are compared; unstored reasoning may double them.
_MIN_STEP, _MAX_GROWTH = 100, 2.0
# Content that is not in the file makes a series grow faster than what is counted.
_MIN_ENTERED_FAST, _FAST_RATIO = 10_000, 4
# A request may exceed the windows in our tables by this factor: new models outgrow them.
_WINDOW_MARGIN = 1.25
# System prompt and tool definitions are smaller than this.
_MAX_OVERHEAD = 120_000


class Doubt(Record):
    """Why reports are not believed, with the figures of the newest one.

    Attributes:
        reason: what is wrong with it.
        index: index of the first message of its response.
        context: the tokens it reports; ``contents``: the tokens counted in what was sent.
        reports: number of doubted reports.
        is_used: whether they are used anyway, as the higher of two figures that can be true.
    """

    reason: Reason
    index: int
    context: int
    contents: int
    reports: int
    is_used: bool = False


class Reports(Record):
    """The requests whose reports are used, in order, and the doubt about any of all reports."""

    requests: tuple[Request, ...]
    doubt: Doubt | None = None


def judge(requests: Sequence[Request], error: float, longest_window: int) -> Reports:
    """Return the requests whose reported sizes are plausible, and the doubt about the others.

    ``error`` is the share by which a count may be too large, ``longest_window`` the largest context
    window that the model may have, in tokens.
    """
    possible = _drop_impossible(requests, longest_window)
    reports = _drop_too_small(possible, error)
    impossible = [request for request in requests if _is_beyond(request, longest_window)]
    if impossible:
        dropped = len(requests) - len(possible)
        return replace(reports, doubt=_doubt("beyond any window", impossible[-1], dropped))
    fast_run = next((run for run in _spans(reports.requests) if _grows_too_fast(run)), None)
    if reports.doubt or fast_run is None:
        return reports
    return replace(
        reports, doubt=_doubt("grows too fast", fast_run[-1], len(fast_run), is_used=True)
    )


def plausible_requests(requests: Sequence[Request], longest_window: int) -> tuple[Request, ...]:
    """Return the requests whose reported sizes are not too large; () if they grow too fast."""
    possible = _drop_impossible(requests, longest_window)
    return () if any(map(_grows_too_fast, _spans(possible))) else possible


def _drop_impossible(requests: Sequence[Request], longest_window: int) -> tuple[Request, ...]:
    """Drop the reports beyond any window, and all of a series that grows too fast up to one."""
    possible: list[Request] = []
    for run in _runs(requests):
        exclusions = [_is_beyond(request, longest_window) for request in run]
        if any(exclusions) and _steps_are_too_large(run):
            continue
        possible += [
            request for request, is_excluded in zip(run, exclusions, strict=True) if not is_excluded
        ]
    return tuple(possible)


def _drop_too_small(requests: Sequence[Request], error: float) -> Reports:
    """Drop the reports that are smaller than the request's contents, or do not grow with them."""
    believed: list[Request] = []
    max_believed = 0
    too_small: list[Request] = []
    flat: list[Request] = []
    for run in _runs(requests):
        if _follows(run, error):
            believed += run
            max_believed = max(max_believed, *(request.context for request in run))
        elif _grows_too_little(run, error):
            flat += run
        else:
            for request in run:
                # If some reports are partial, a later one that is smaller is partial too.
                is_partial = bool(too_small) and request.context < max_believed
                is_too_small = request.context < (1 - error) * request.contents
                if is_partial or is_too_small:
                    too_small.append(request)
                else:
                    believed.append(request)
                    max_believed = max(max_believed, request.context)
    if not (too_small or flat):
        return Reports(requests=tuple(requests))
    newest = max(too_small + flat, key=lambda r: r.first_index)
    is_small = newest.context < (1 - error) * newest.contents
    reason: Reason = "does not grow" if newest in flat and not is_small else "below its contents"
    doubt = _doubt(reason, newest, len(too_small) + len(flat))
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
    """Split requests at each point where the context shrank."""
    runs: list[list[Request]] = [[request] for request in requests[:1]]
    for request, grown in zip(requests[1:], context_growth(requests), strict=True):
        if grown < 0:
            runs.append([])
        runs[-1].append(request)
    return [tuple(run) for run in runs]


def _is_beyond(request: Request, longest_window: int) -> bool:
    """Whether no model takes a request of this size, and its contents do not explain it."""
    explained = 2 * (request.contents + _MAX_OVERHEAD)
    return request.context > max(_WINDOW_MARGIN * longest_window, explained)


def _entered_tokens(run: Sequence[Request]) -> float:
    """Return the counted tokens that entered between the first request and the last."""
    return run[-1].contents - run[0].contents


def _grows_too_little(run: Sequence[Request], error: float) -> bool:
    entered = _entered_tokens(run)
    return entered >= _MIN_ENTERED and sum(context_growth(run)) < (1 - error) * entered


def _spans(requests: Sequence[Request]) -> list[Sequence[Request]]:
    """Return all requests, then each run in which the context did not shrink."""
    return [requests, *_runs(requests)] if requests else []


def _grows_too_fast(run: Sequence[Request]) -> bool:
    grown, entered = sum(context_growth(run)), _entered_tokens(run)
    return entered >= _MIN_ENTERED_FAST and grown > _FAST_RATIO * entered


def _steps_are_too_large(run: Sequence[Request]) -> bool:
    """Whether most reports in a series are too large, not just one."""
    steps = list(zip(pairwise(run), context_growth(run), strict=True))
    large = sum(grown > _FAST_RATIO * _entered_tokens(step) for step, grown in steps)
    return 2 * large > len(steps)


def _follows(run: Sequence[Request], error: float) -> bool:
    """Whether a series of reports grows step by step like the conversation."""
    from statistics import median

    entered = _entered_tokens(run)
    if len(run) < _MIN_REQUESTS or not _MIN_ENTERED <= entered <= run[0].context:
        return False
    steps = zip(pairwise(run), context_growth(run), strict=True)
    ratios = [grown / size for step, grown in steps if (size := _entered_tokens(step)) >= _MIN_STEP]
    return bool(ratios) and all(
        1 - error <= ratio <= _MAX_GROWTH
        for ratio in (median(ratios), sum(context_growth(run)) / entered)
    )
