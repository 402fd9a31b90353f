"""Which token counts a client would take for the size of a context that has become smaller."""

from collections.abc import Callable, Sequence

from compactctl.commands.sizing.prompt_cache import same_front
from compactctl.history.conversations import conversations_of
from compactctl.model.counts import Restated
from compactctl.model.message import Message
from compactctl.model.transcript import Transcript


def restatement(
    transcript: Transcript,
    after: Sequence[Message],
    tokens: int,
    size: Callable[[Message], int],
) -> Restated | None:
    """Return the record by which the client measures, and the tokens that it is to tell.

    ``after`` is what is left to be sent, ``tokens`` the size of the next request. What follows the
    newest answer is left out of them: clients add that themselves. None where what was reported for
    that answer still holds, where nothing was reported, and for several conversations.
    """
    if len(conversations_of(after)) != 1:
        return None
    beside = transcript.counts_line
    newest = _newest_answer(after, is_reported=beside is None)
    if newest is not None and newest < same_front(transcript.effective, after):
        return None
    behind = sum(map(size, after[newest + 1 :])) if newest is not None else 0
    left = max(1, tokens - behind)
    if beside is not None:
        return Restated(line=beside, tokens=left)
    if newest is None or after[newest].fixed:
        return None
    return Restated(line=after[newest].line, id=after[newest].id, tokens=left)


def _newest_answer(messages: Sequence[Message], *, is_reported: bool) -> int | None:
    for index in reversed(range(len(messages))):
        message = messages[index]
        is_answer = message.role == "assistant" and not message.synthetic
        is_told = message.usage is not None and message.usage.context > 0
        if is_answer and (is_told or not is_reported):
            return index
    return None
