"""What room a target leaves for a text beside the messages that stay."""

from collections.abc import Sequence

from compactctl.history.pairs import cut_points
from compactctl.history.view import View
from compactctl.model.message import Message, MessageId, TextPart
from compactctl.stages.support.truncation import newest_start
from compactctl.tokens.meter import Meter

# What joins a prefix and a text may cost.
_MARGIN = 4


def without(messages: Sequence[Message], hidden: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages that stay when ``hidden`` ones go."""
    gone = {message.id for message in hidden}
    return tuple(message for message in messages if message.id not in gone)


def tail_start(view: View, meter: Meter, room: int) -> int:
    """Return the cut point behind which the newest messages take at most ``room`` tokens.

    What must stay at the end stays, whatever it takes.
    """
    newest = newest_start(view)
    left = room - meter.total(view.messages[newest:])
    end = newest
    for cut in reversed([cut for cut in cut_points(view.messages) if cut < newest]):
        left -= meter.total(view.messages[cut:end])
        if left < 0:
            break
        end = cut
    return end


def room_beside(view: View, meter: Meter, kept: Sequence[Message], target: int) -> int:
    """Return the tokens that ``target`` leaves for a text beside what is ``kept``, if any."""
    taken = meter.total(kept)
    room = target - taken
    # What is left weighs otherwise than what there was: tried with texts of that size.
    while view.room is not None and room > 0:
        fits = view.room((*kept, _probe(room))) - taken
        if fits >= room:
            break
        room = fits
    return room - _MARGIN


def _probe(tokens: int) -> Message:
    """Return a message that stands for a text of so many tokens."""
    text = TextPart(text="word " * tokens)
    return Message(id=MessageId("text"), role="user", parts=(text,), line=0)
