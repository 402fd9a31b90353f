"""Tells model responses apart that have one id, as some proxies give to all of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from compactctl.model.message import Message


@dataclass(frozen=True, slots=True)
class _Response:
    """The newest response with an id: its number, and the context that it reports.

    ``ends`` is how often a response had ended before it.
    """

    number: int
    ends: int
    context: int


def with_responses(messages: Sequence[Message], *, interleaves: bool = True) -> Iterator[Message]:
    """Yield messages with ids of responses that no two responses share.

    The records of one response are in one turn and repeat the size of its request, as those of all
    8,626 responses in 76 real files do. ``interleaves`` tells that results may stand between them,
    as clients write them that run the first call before the last one has come. What reports
    something without an id of a response is a response of its own.
    """
    # What no response goes on after, by conversation; several subagents may run at once.
    ends: Counter[int] = Counter()
    newest: dict[tuple[int, bool, str], _Response] = {}
    for message in messages:
        is_end = message.starts_turn if interleaves else message.role != "assistant"
        ends[message.conversation] += is_end and not message.aside
        if message.response_id is None:
            yield replace(message, response_id=message.id) if message.usage else message
            continue
        key = (message.conversation, message.aside, message.response_id)
        ended = 0 if message.aside else ends[message.conversation]
        response = newest[key] = _response(message, newest.get(key), ended)
        name = f"{message.response_id}#{response.number}"
        yield message if response.number == 1 else replace(message, response_id=name)


def _response(message: Message, newest: _Response | None, ended: int) -> _Response:
    context = max(0, message.usage.context) if message.usage else 0
    if newest is None:
        return _Response(1, ended, context)
    if ended == newest.ends and context in (0, newest.context or context):
        return replace(newest, context=newest.context or context)
    return _Response(newest.number + 1, ended, context)
