"""Estimates recorded requests from what was known when they were sent.

A session is cut right before a recorded request, as it was then, and every report after an anchor
is hidden: contexts, and the sizes of answers. The anchor is the request 1 or 10 before it, or the
first of the session. Requests whose context fell count as well.
"""

from collections.abc import Iterator, Mapping, Sequence

from benchmarks.estimates.fit import Constants, use_constants
from benchmarks.estimates.recorded_session import (
    FAMILY_OF_FORMAT,
    OTHERS,
    OURS,
    RecordedRequest,
    Session,
    hide_reports_after,
    is_report_void,
    pick_evenly,
)
from compactctl.commands.measuring.context_size import context_size
from compactctl.commands.measuring.measure import Measurement, MeasureOptions, measure, window_of
from compactctl.history.turns import split_conversations
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript
from compactctl.records import Record, replace
from compactctl.tokens.counters.estimates import NEUROLINK_TOKENS_PER_MESSAGE
from compactctl.tokens.meter import Meter
from compactctl.tokens.models.lookup import resolve_model
from compactctl.tokens.overhead import RequestMeter, overhead_for

# The newest request whose report is known.
TEN, FIRST = "10 requests earlier", "first request"
AHEAD = {"last request": 1, TEN: 10}
TURN, BOUNDARY = "last request, then a prompt", "last request, then a compaction"
HORIZONS = (*AHEAD, FIRST, TURN, BOUNDARY)


class Trial(Record):
    """One estimate of one request, in tokens.

    ``crosses`` says that the client compacted between anchor and request. ``low`` and ``high`` are
    the stated range, None without one.
    """

    family: str
    horizon: str
    truth: int
    crosses: bool
    estimator: str = OURS
    guess: float = 0
    low: int | None = None
    high: int | None = None


def run_trials(session: Session, most: int, constants: Constants) -> Iterator[Trial]:
    """Yield the estimates of a session, ours with these constants.

    Up to ``most`` requests are tried, up to as many that follow a prompt, and all that follow a
    compaction.
    """
    due = pick_evenly(range(1, len(session.requests)), most)
    turns = pick_evenly(sorted(session.turns - session.boundaries), most)
    for place in sorted({*due, *turns, *session.boundaries}):
        if session.follows(session.requests[place]):
            before = session.before(session.requests[place])
            anchors = dict(_anchors(session, before, place, is_due=place in due))
            if place in turns:
                anchors[TURN] = session.requests[place - 1]
            yield from _trials_of(session, before, session.requests[place], anchors, constants)


def _anchors(
    session: Session, before: Transcript, place: int, *, is_due: bool
) -> Iterator[tuple[str, RecordedRequest]]:
    earlier = session.requests[:place]
    if place in session.boundaries and is_report_void(before, earlier[-1]):
        yield BOUNDARY, earlier[-1]
    if not is_due:
        return
    for horizon, ahead in AHEAD.items():
        if place >= ahead:
            yield horizon, earlier[-ahead]
    yield FIRST, earlier[0]


def _trials_of(
    session: Session,
    before: Transcript,
    request: RecordedRequest,
    anchors: Mapping[str, RecordedRequest],
    constants: Constants,
) -> Iterator[Trial]:
    measured = measure(before, MeasureOptions())
    meters = {name: Meter(session.counter(name, measured.model)) for name in OTHERS}
    for horizon, anchor in anchors.items():
        visible = hide_reports_after(before, anchor)
        if len(split_conversations(visible.effective)) != 1:
            continue
        trial = Trial(
            family=FAMILY_OF_FORMAT.get(before.format, measured.model.family),
            horizon=horizon,
            truth=request.context,
            crosses=session.crosses(anchor, request),
        )
        for name, meter in meters.items():
            yield replace(
                trial, estimator=name, guess=estimate_plainly(visible.effective, anchor, meter)
            )
        if trial.family in constants:
            with use_constants(constants):
                estimate = _estimate(trial, visible, session, measured)
            yield estimate


def _estimate(trial: Trial, visible: Transcript, session: Session, measured: Measurement) -> Trial:
    """Estimate as ``stats`` does."""
    meter = Meter(session.counter(OURS, measured.model))
    now = replace(
        measured,
        meter=meter,
        framed=RequestMeter(meter, overhead_for(measured.model, meter.counter)),
        limits=measure(visible, MeasureOptions()).limits,
    )
    size = context_size(visible, now)
    low, high = size.range or (None, None)
    return replace(trial, guess=size.total, low=low, high=high)


def estimate_plainly(messages: Sequence[Message], anchor: RecordedRequest, meter: Meter) -> float:
    """Estimate as others do: the report of the anchor, and the text from its answer on."""
    start = next((i for i, m in enumerate(messages) if m.response_id == anchor.response), None)
    added = messages if start is None else messages[start:]
    is_framed = meter.counter.id.startswith("neurolink")
    frames = NEUROLINK_TOKENS_PER_MESSAGE * len(added) if is_framed else 0
    return (0 if start is None else anchor.context) + meter.total(added) + frames


def count_above_window(session: Session) -> int:
    """Count the answered requests above the window that was assumed for them.

    Requests after a larger one do not count, because that one has shown the real window.
    """
    messages = session.transcript.messages
    info = session.transcript.session
    above = 0
    for request in session.requests:
        before = replace(
            session.transcript,
            messages=messages[: request.place],
            session=replace(info, model=messages[request.place].model or info.model),
        )
        model = resolve_model(before.session.model)
        window = window_of(before, model).tokens
        is_assumed = window <= window_of(replace(before, messages=()), model).tokens
        above += is_assumed and request.context > window
    return above
