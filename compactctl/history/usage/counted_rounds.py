"""The rounds of a session that records no usage, as large as they are counted."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from compactctl.history.conversations import conversations_of
from compactctl.history.turns import steps
from compactctl.history.usage.rounds import Rounds, rounds
from compactctl.model.message import Message, ReportedUsage
from compactctl.model.transcript import Transcript
from compactctl.tokens.meter import Meter


def counted_rounds(transcript: Transcript, meter: Meter) -> Rounds:
    """Return a round per answer in the effective history, whose context is what stands before it.

    Answers that nothing stands before are left out. Nothing is known of caches, and of what is no
    longer in the effective history.
    """
    messages = tuple(
        message
        for conversation in conversations_of(transcript.effective)
        for message in _counted(conversation, meter)
    )
    return rounds(replace(transcript, messages=messages), meter)


def _counted(messages: Sequence[Message], meter: Meter) -> Iterator[Message]:
    """Yield the messages, those of each answer as one response that was sent what is before it."""
    sums = [0, *accumulate(map(meter.message, messages))]
    answers = {index: step[0] for step in steps(messages) for index in step}
    for index, message in enumerate(messages):
        first = answers.get(index)
        if first is None or message.role != "assistant":
            yield replace(message, usage=None, response_id=None)
        else:
            usage = ReportedUsage(context=sums[first])
            yield replace(message, usage=usage, response_id=str(messages[first].id))
