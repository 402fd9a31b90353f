"""Estimates of recorded requests, each made with what was known when it was sent.

A session is cut right before a recorded request, as it lay there then, and everything that the
provider reported after an anchor is taken out: contexts, and the sizes of answers. The anchor is
the request 1 or 10 before it, or the first of the session. Requests whose context fell are
kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchmarks.estimates.fit import Constants, using
from benchmarks.estimates.recorded_session import (
    FAMILY_OF_FORMAT,
    OTHERS,
    OURS,
    Asked,
    Session,
    is_replaced,
    known_at,
    spread,
)
from compactctl.commands.measuring.context_size import context_size
from compactctl.commands.measuring.measure import Measurement, MeasureOptions, measure, window_of
from compactctl.history.turns import split_conversations
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript
from compactctl.tokens.counters.estimates import NEUROLINK_TOKENS_PER_MESSAGE
from compactctl.tokens.meter import Meter
from compactctl.tokens.models.lookup import ModelInfo, resolve_model
from compactctl.tokens.overhead import RequestMeter, overhead_for

# The newest request whose report is known.
TEN, FIRST = "10 requests earlier", "first request"
AHEAD = {"last request": 1, TEN: 10}
TURN, BOUNDARY = "last request, then a prompt", "last request, then a compaction"
HORIZONS = (*AHEAD, FIRST, TURN, BOUNDARY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One estimate of one request, in tokens.

    ``crosses`` says that a boundary lies between anchor and request. ``low`` and ``high`` are the
    stated range, None without one.
    """

    family: str
    horizon: str
    truth: int
    crosses: bool
    estimator: str = OURS
    guess: float = 0
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """How many answered requests lie above the window that is assumed when they are sent.

    ``before`` and ``after`` a request has shown that the window is larger than the model's.
    """

    answered: int
    before: int
    after: int


def trials(session: Session, each: int, constants: Constants) -> Iterator[Trial]:
    """Yield the estimates of a session, ours with these constants.

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
            yield from _of_request(session, before, session.requests[place], anchors, constants)


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
    constants: Constants,
) -> Iterator[Trial]:
    measured = measure(before, MeasureOptions())
    meters = {name: Meter(session.counter(name, measured.model)) for name in OTHERS}
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
        if trial.family in constants:
            with using(constants):
                estimated = _estimated(trial, seen, session, measured)
            yield estimated


def _estimated(trial: Trial, seen: Transcript, session: Session, measured: Measurement) -> Trial:
    """Estimate as ``stats`` does."""
    meter = Meter(session.counter(OURS, measured.model))
    now = replace(
        measured,
        meter=meter,
        framed=RequestMeter(meter, overhead_for(measured.model, meter.counter)),
        limits=measure(seen, MeasureOptions()).limits,
    )
    size = context_size(seen, now)
    low, high = size.range or (None, None)
    return replace(trial, guess=size.total, low=low, high=high)


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
