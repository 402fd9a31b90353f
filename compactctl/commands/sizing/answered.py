"""Which reported requests show that a model has a larger window than the tables say."""

from collections.abc import Sequence
from dataclasses import replace

from compactctl.history.conversations import conversations_of
from compactctl.history.usage.belief import ESTIMATE_ERROR, plausible
from compactctl.history.usage.health import health
from compactctl.history.usage.requests import requests
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript
from compactctl.tokens.framing import FramedMeter
from compactctl.tokens.models.lookup import ModelInfo, longest_window


def with_plausible_usage(
    transcript: Transcript, model: ModelInfo, framed: FramedMeter
) -> Transcript:
    """Return a transcript without usage that is too large for what was said up to it.

    Where the health check finds that far more is reported than counted, a report that would fit
    into the window at the size that was counted shows nothing. Nothing is counted unless a request
    is larger than a window that is known.
    """
    window = min(model.window, transcript.window or model.window)
    if all(m.usage is None or m.usage.context <= window for m in transcript.messages):
        return transcript
    excess = max(
        (_ratio(each, framed) for each in conversations_of(transcript.effective)), default=0.0
    )
    most = window * excess if excess > 1 + ESTIMATE_ERROR else 0.0
    shown: set[int] = set()
    for messages in conversations_of(transcript.messages):
        found = requests(messages, framed.whole, framed.visible)
        shown.update(
            messages[index].line
            for request in plausible(found, longest_window(model))
            for index in request.members
            if request.context > most
        )
    kept = (m if m.line in shown else replace(m, usage=None) for m in transcript.messages)
    return replace(transcript, messages=tuple(kept))


def _ratio(messages: Sequence[Message], framed: FramedMeter) -> float:
    """Return how many tokens were reported for each that was counted; 0 where too few were."""
    found = requests(messages, framed.whole, framed.visible)
    return health(messages, found, framed.visible, lambda _: 0.0, ESTIMATE_ERROR).ratio or 0.0
