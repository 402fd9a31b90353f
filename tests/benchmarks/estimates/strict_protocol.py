"""Estimates of recorded requests, each made with what was known when it was sent.

A session is cut right before a recorded request, as it lay there then, and everything that the
provider reported after an anchor is taken out: contexts, and the sizes of answers. The anchor is
the request 1, 10 or 50 before it, or the first of the session. Requests whose context fell are
kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.estimates.fit import Constants, using
from benchmarks.estimates.recorded_session import (
    CTOK,
    FAMILY_OF_FORMAT,
    GIVEN,
    OTHERS,
    OURS,
    OURS_CTOK,
    Asked,
    Session,
    is_replaced,
    known_at,
    spread,
    with_reasoning,
)
from compactctl.commands.measuring.context_size import context_size
from compactctl.commands.measuring.measure import Measurement, MeasureOptions, measure, window_of
from compactctl.history.turns import split_conversations
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript
from compactctl.tokens.counters.claude import claude_is_installed
from compactctl.tokens.counters.estimates import NEUROLINK_TOKENS_PER_MESSAGE
from compactctl.tokens.fit import fit_of
from compactctl.tokens.meter import Meter
from compactctl.tokens.models.lookup import ModelInfo, resolve_model
from compactctl.tokens.overhead import RequestMeter, overhead_for

AHEAD = {"1 call": 1, "10 calls": 10, "50 calls": 50}
FIRST, TURN, BOUNDARY = "first usage", "turn start", "after a boundary"
HORIZONS = (*AHEAD, FIRST, TURN, BOUNDARY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One estimate of one request, in tokens.

    ``fitted_on`` tells the sessions that the constants behind it are from, "" where it has none.
    ``crosses`` tells that a boundary lies between anchor and request. ``low`` and ``high`` are the
    stated range, None without one; ``unexplained`` is that row of ours; ``fits`` is what is said of
    the estimate, and ``is_shown`` whether a request before it had shown that the window is larger
    than the model's.
    """

    family: str
    horizon: str
    truth: int
    crosses: bool
    estimator: str = OURS
    fitted_on: str = ""
    guess: float = 0
    low: int | None = None
    high: int | None = None
    unexplained: int = 0
    fits: bool = True
    is_shown: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """How many answered requests lie above the window that is assumed when they are sent.

    ``before`` and ``after`` a request has shown that the window is larger than the model's.
    """

    answered: int
    before: int
    after: int


def trials(session: Session, each: int, fits: Mapping[str, Constants]) -> Iterator[Trial]:
    """Yield the estimates of a session, ours with each of the sets of constants by its name.

    At most ``each`` requests by their place are tried, at most as many that start a turn, and all
    that follow a boundary.
    """
    due = spread(range(1, len(session.requests)), each)
    turns = spread(sorted(session.turns - session.boundaries), each)
    for place in sorted({*due, *turns, *session.boundaries}):
        if session.follows(session.requests[place]):
            before = session.before(session.requests[place])
            anchors = dict(_anchors(session, before, place, is_due=place in due))
            if place in turns:
                anchors[TURN] = session.requests[place - 1]
            yield from _of_request(session, before, session.requests[place], anchors, fits)


def _anchors(
    session: Session, before: Transcript, place: int, *, is_due: bool
) -> Iterator[tuple[str, Asked]]:
    earlier = session.requests[:place]
    if place in session.boundaries and is_replaced(before, earlier[-1]):
        yield BOUNDARY, earlier[-1]
    if not is_due:
        return
    for horizon, ahead in AHEAD.items():
        if place >= ahead:
            yield horizon, earlier[-ahead]
    yield FIRST, earlier[0]


def _of_request(
    session: Session,
    before: Transcript,
    request: Asked,
    anchors: Mapping[str, Asked],
    fits: Mapping[str, Constants],
) -> Iterator[Trial]:
    measured = measure(before, MeasureOptions())
    meters = {
        name: Meter(session.counter(name, measured.model)) for name in _others(measured.model)
    }
    for horizon, anchor in anchors.items():
        seen = known_at(before, anchor)
        if len(split_conversations(seen.effective)) != 1:
            continue
        trial = Trial(
            family=FAMILY_OF_FORMAT.get(before.format, measured.model.family),
            horizon=horizon,
            truth=request.context,
            crosses=session.crosses(anchor, request),
        )
        for name, meter in meters.items():
            yield replace(trial, estimator=name, guess=plain(seen.effective, anchor, meter))
        for name, constants in fits.items():
            if trial.family in constants:
                named = replace(trial, fitted_on=name)
                yield from _ours(named, session, (before, seen), measured, constants)


def _others(model: ModelInfo) -> Iterator[str]:
    with_ctok = bool(model.reconstruction) and claude_is_installed()
    return (name for name in OTHERS if with_ctok or name != CTOK)


def _ours(
    trial: Trial,
    session: Session,
    seen: tuple[Transcript, Transcript],
    measured: Measurement,
    constants: Constants,
) -> Iterator[Trial]:
    """Yield what ``stats`` says with these constants, of a session before and as far as known."""
    before, known = seen
    with_ctok = bool(measured.model.reconstruction) and claude_is_installed()
    ways = {OURS: known} | ({OURS_CTOK: known} if with_ctok else {})
    if trial.family in FAMILY_OF_FORMAT.values():
        ways[GIVEN] = with_reasoning(known, before)
    with using(constants):
        found = [
            _estimated(replace(trial, estimator=name), way, session, measured)
            for name, way in ways.items()
        ]
    yield from found


def _estimated(trial: Trial, seen: Transcript, session: Session, measured: Measurement) -> Trial:
    meter = Meter(session.counter(trial.estimator, measured.model))
    framed = RequestMeter(meter, overhead_for(measured.model, meter.counter))
    return _told(trial, seen, replace(measured, meter=meter, framed=framed))


def _told(trial: Trial, seen: Transcript, measured: Measurement) -> Trial:
    """Estimate as ``stats`` does, and say of the estimate what it says."""
    now = replace(measured, limits=measure(seen, MeasureOptions()).limits)
    size = context_size(seen, now)
    low, high = size.range or (None, None)
    return replace(
        trial,
        guess=size.total,
        low=low,
        high=high,
        unexplained=size.unexplained,
        fits=fit_of(size.total, now.limits).fits,
        is_shown=now.limits.budget.window > _unshown(seen, now.model),
    )


def _unshown(transcript: Transcript, model: ModelInfo) -> int:
    """Return the window that is assumed where no request was answered."""
    return window_of(replace(transcript, messages=()), model).tokens


def plain(messages: Sequence[Message], anchor: Asked, meter: Meter) -> float:
    """Return what others estimate: the report of the anchor and the text from its answer on."""
    start = next((i for i, m in enumerate(messages) if m.response_id == anchor.response), None)
    added = messages if start is None else messages[start:]
    is_framed = meter.counter.id.startswith("neurolink")
    frames = NEUROLINK_TOKENS_PER_MESSAGE * len(added) if is_framed else 0
    return (0 if start is None else anchor.context) + meter.total(added) + frames


def judged(session: Session) -> Judged:
    """Judge every answered request of a session by what was reported for it."""
    messages = session.transcript.messages
    above = {False: 0, True: 0}
    for request in session.requests:
        info = session.transcript.session
        known = replace(
            session.transcript,
            messages=messages[: request.place],
            session=replace(info, model=messages[request.place].model or info.model),
        )
        model = resolve_model(known.session.model)
        window = window_of(known, model).tokens
        if request.context > window:
            above[window > _unshown(known, model)] += 1
    return Judged(answered=len(session.requests), before=above[False], after=above[True])
