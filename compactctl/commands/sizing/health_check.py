"""Whether the counts behind a context's size can be right, by what the provider reported."""

from compactctl.commands.sizing.context_size import ContextSize
from compactctl.commands.sizing.measure import Measure
from compactctl.history.conversations import conversations_of
from compactctl.history.usage.health import Health, health
from compactctl.model.transcript import Transcript
from compactctl.tokens.framing import frame_tokens

# How far from 1 reported tokens for each counted one may be in the median of a session. With the
# vocabulary of the model eight sessions of one project were at 1.00; with factors, which fit some
# content better than other, 13 of two projects were at 0.90 to 1.05. An OpenAI session with the
# factor of the nearest Claude is at 0.85.
_BY_VOCABULARY, _BY_FACTOR = 0.05, 0.12


def health_check(size: ContextSize, transcript: Transcript, measured: Measure) -> Health | None:
    """Check the counts of a conversation; None where nothing was reported to check them by."""
    if size.calibration is None:
        return None
    [messages] = conversations_of(transcript.effective)
    is_factor = measured.counter.exactness == "estimate"
    return health(
        messages,
        size.calibration.requests,
        measured.meter.message,
        lambda message: frame_tokens(message, measured.framed.framing),
        _BY_FACTOR if is_factor else _BY_VOCABULARY,
    )
