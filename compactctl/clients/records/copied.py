"""Answers that a forked session copied: their requests were sent by the session it comes from."""

from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile

from compactctl.model.message import Message, MessageId

# No model answers within this time, in seconds, while a client copies many records in it.
_MIN_ANSWER_TIME = 0.1


def answers_before(messages: Iterable[Message], created: float | None) -> frozenset[MessageId]:
    """Return the answers from before the session was created; none if that is unknown."""
    return frozenset(m.id for m in messages if _is_answer(m) and _is_before(m, created))


def answers_copied_at_once(
    messages: Sequence[Message], created: float | None
) -> frozenset[MessageId]:
    """Return the answers before the first that the forked session asked for.

    Copies keep their times, from before the session was ``created``, or have that of the copying:
        12:00:00.100 prompt, 12:00:00.101 answer     copied
        12:00:05.000 prompt, 12:00:09.000 answer     the first of its own
    """
    pairs = pairwise((None, *messages))
    copies = takewhile(lambda pair: not _was_asked_for(*pair, created), pairs)
    return frozenset(m.id for _, m in copies if m is not None and _is_answer(m))


def _was_asked_for(before: Message | None, message: Message | None, created: float | None) -> bool:
    if message is None or not _is_answer(message) or _is_before(message, created):
        return False
    asked, answered = before.timestamp if before else None, message.timestamp
    return asked is None or answered is None or answered - asked >= _MIN_ANSWER_TIME


def _is_answer(message: Message) -> bool:
    return message.response_id is not None


def _is_before(message: Message, created: float | None) -> bool:
    return created is not None and message.timestamp is not None and message.timestamp < created
