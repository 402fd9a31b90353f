"""What a request comes to with what is left of a conversation."""

from collections.abc import Sequence
from dataclasses import dataclass

from compactctl.commands.sizing.context_size import ContextSize
from compactctl.commands.sizing.measure import Measure
from compactctl.history.conversations import conversations_of
from compactctl.history.usage.weights import Weights, weigh
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript
from compactctl.tokens.counters.chars import NeuroLinkCounter
from compactctl.tokens.meter import Meter


@dataclass(frozen=True, slots=True, kw_only=True)
class NextRequest:
    """What a request comes to with some of a conversation's messages, in tokens.

    ``fixed`` is in every request: system prompt, tool definitions, what a client restores.
    """

    fixed: int
    weights: Weights
    meter: Meter

    def tokens(self, messages: Sequence[Message]) -> int:
        """Return the tokens of a request with these messages."""
        return self.fixed + round(self.weights.total(messages))

    def unseen(self, messages: Sequence[Message]) -> int:
        """Return what of these tokens is not counted in the messages."""
        return self.tokens(messages) - self.meter.total(messages)

    def room(self, messages: Sequence[Message], limit: int) -> int:
        """Return to how many counted tokens ``messages`` may come for a request of ``limit``.

        What is left out is taken to weigh what the messages weigh on average; where it weighs less
        the room for what is left is smaller than it was.
        """
        counted, whole = self.meter.total(messages), self.weights.total(messages)
        left = limit - self.fixed
        if left <= 0 or whole <= 0:
            return left
        room = int(left * counted / whole)
        return max(room, counted) if round(whole) <= left else min(room, counted - 1)


def next_request(size: ContextSize, transcript: Transcript, measured: Measure) -> NextRequest:
    """Tell how the size of a conversation's next request goes with its messages.

    Of several conversations in one transcript nothing is known but what is counted.
    """
    conversations = conversations_of(transcript.effective)
    weights, meter = Weights(visible=measured.meter.message), measured.meter
    if len(conversations) != 1:
        return NextRequest(fixed=0, weights=weights, meter=meter)
    if not _is_counted(size, measured):
        framed = measured.framed
        weights = weigh(conversations[0], size.calibration, framed.whole, framed.visible)
    weights = weights.scaled(
        conversations[0], size.total - size.overhead - size.missing - size.restored
    )
    # What the messages do not come to is in the request all the same.
    fixed = size.total - round(weights.total(conversations[0]))
    return NextRequest(fixed=fixed, weights=weights, meter=meter)


def _is_counted(size: ContextSize, measured: Measure) -> bool:
    """Tell whether a message comes to what is counted, or in proportion to it."""
    if isinstance(measured.counter, NeuroLinkCounter):
        return size.calibration is None
    return not (size.frames or size.unexplained or size.hidden_reasoning)
