"""Distinguish model responses that share an id, as some proxies give one id to all of them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from compactctl.clients.records.message_draft import MessageDraft
from compactctl.model.message import Message
from compactctl.records import replace

# A queued prompt may be written between the records of one response, and its first record may not
# report a size yet. More sizes or turns than this mean that the id was reused.
_MAX_COINCIDENCES = 2


class _Response(NamedTuple):
    """The newest response with an id: its number, and its reported context.

    ``n_ends`` is how many ends of responses came before it.
    """

    number: int
    n_ends: int
    context: int


def with_responses(messages: Sequence[Message], *, interleaves: bool = True) -> Iterator[Message]:
    """Yield messages with response ids that are unique to their response.

    The records of one response are in one turn and repeat the size of its request, as in all 8,626
    responses of 76 real files. A response with a reused id also ends at a tool result::

        id r, context 100    r
        id r, context 100    r
        id r, context 250    r#2

    ``interleaves`` is whether results may be written between the records of one response, as by
    clients that run the first call before the last one has arrived. A message that reports usage
    without a response id is a response by itself.
    """
    reused_ids = find_reused_ids(messages)
    # Counts of what ends a response, by conversation; subagents may run in parallel.
    ends: Counter[int] = Counter()
    results: Counter[int] = Counter()
    newest: dict[tuple[int, bool, str], _Response] = {}
    for message in messages:
        conversation, is_subagent = message.conversation, message.origin.is_subagent
        if message.role != "assistant":
            results[conversation] += 1
            if not is_subagent and (message.starts_turn or not interleaves):
                ends[conversation] += 1
        if message.response_id is None:
            yield replace(message, response_id=message.id) if message.usage else message
            continue
        key = (conversation, is_subagent, message.response_id)
        n_ends = 0 if is_subagent else ends[conversation]
        if message.response_id in reused_ids:
            n_ends = results[conversation]
        response = newest[key] = _next_response(message, newest.get(key), n_ends)
        new_id = f"{message.response_id}#{response.number}"
        yield message if response.number == 1 else replace(message, response_id=new_id)


def find_reused_ids(messages: Sequence[Message]) -> frozenset[str]:
    """Return the ids that a proxy gave to several responses.

    They report more than ``_MAX_COINCIDENCES`` sizes of requests, or none in more turns than that.
    """
    counts = Counter([message.response_id for message in messages])
    frequent = (name for name, count in counts.items() if name and count > _MAX_COINCIDENCES)
    contexts: dict[str, set[int]] = {name: set() for name in frequent}
    for message in messages if contexts else ():
        if message.response_id in contexts:
            usage = message.usage
            contexts[message.response_id].add(usage.context if usage and usage.context > 0 else 0)
    unreported = {name for name, sizes in contexts.items() if sizes == {0}}
    reused = {name for name, sizes in contexts.items() if len(sizes) > _MAX_COINCIDENCES}
    return frozenset(reused | _ids_in_many_turns(messages, unreported) if unreported else reused)


def _ids_in_many_turns(messages: Sequence[Message], names: set[str]) -> set[str]:
    turns: Counter[int] = Counter()
    turns_by_id: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for message in messages:
        turns[message.conversation] += message.starts_turn
        if message.response_id is not None and message.response_id in names:
            turn = (message.conversation, turns[message.conversation])
            turns_by_id[message.response_id].add(turn)
    return {name for name, id_turns in turns_by_id.items() if len(id_turns) > _MAX_COINCIDENCES}


def _next_response(message: Message, newest: _Response | None, n_ends: int) -> _Response:
    usage = message.usage
    context = usage.context if usage and usage.context > 0 else 0
    if newest is None:
        return _Response(1, n_ends, context)
    if n_ends == newest.n_ends and context in (0, newest.context or context):
        return newest if newest.context else newest._replace(context=context)
    return _Response(newest.number + 1, n_ends, context)


class ResponseNamer:
    """Name responses: consecutive items of the model are one, so parallel calls share a name."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._count = 0
        self._open = False

    def name_for(self, draft: MessageDraft) -> str | None:
        """Return the name of the response that an item belongs to; None if it is not in one."""
        if draft.role != "assistant" or draft.is_summary:
            self._open = False
            return None
        self._count += not self._open
        self._open = True
        return f"{self._prefix}{self._count}"

    def close(self) -> None:
        """End the current response."""
        self._open = False
