"""Tells model responses apart that have one id, as some proxies give to all of them."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from compactctl.formats.records.message_draft import MessageDraft
from compactctl.model.message import Message

# A prompt that was queued may stand between the records of one response, and the first of them may
# repeat no size yet.
_FEW = 2


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
    8,626 responses in 76 real files do. Where several share an id (``find_reused_ids``), each also
    ends with a result. ``interleaves`` tells that results may stand between them, as clients write
    them that run the first call before the last one has come. What reports something without an id
    of a response is a response of its own.
    """
    shared = find_reused_ids(messages)
    # What no response goes on after, by conversation; several subagents may run at once.
    ends: Counter[int] = Counter()
    results: Counter[int] = Counter()
    newest: dict[tuple[int, bool, str], _Response] = {}
    for message in messages:
        is_end = message.starts_turn if interleaves else message.role != "assistant"
        ends[message.conversation] += is_end and not message.origin.is_subagent
        results[message.conversation] += message.role != "assistant"
        if message.response_id is None:
            yield replace(message, response_id=message.id) if message.usage else message
            continue
        key = (message.conversation, message.origin.is_subagent, message.response_id)
        ended = 0 if message.origin.is_subagent else ends[message.conversation]
        if message.response_id in shared:
            ended = results[message.conversation]
        response = newest[key] = _response(message, newest.get(key), ended)
        name = f"{message.response_id}#{response.number}"
        yield message if response.number == 1 else replace(message, response_id=name)


def find_reused_ids(messages: Sequence[Message]) -> frozenset[str]:
    """Return the ids that a proxy gave to several responses.

    They report more than ``_FEW`` sizes of requests, or none in more turns than that.
    """
    records = Counter(message.response_id for message in messages)
    contexts: dict[str, set[int]] = {n: set() for n, k in records.items() if n and k > _FEW}
    for message in messages if contexts else ():
        if message.response_id in contexts:
            contexts[message.response_id].add(max(0, message.usage.context) if message.usage else 0)
    silent = {name for name, sizes in contexts.items() if sizes == {0}}
    many = {name for name, sizes in contexts.items() if len(sizes) > _FEW}
    return frozenset(many | _of_many_turns(messages, silent) if silent else many)


def _of_many_turns(messages: Sequence[Message], names: set[str]) -> set[str]:
    turns: Counter[int] = Counter()
    found: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for message in messages:
        turns[message.conversation] += message.starts_turn
        if message.response_id is not None and message.response_id in names:
            at = (message.conversation, turns[message.conversation])
            found[message.response_id].add(at)
    return {name for name, each in found.items() if len(each) > _FEW}


def _response(message: Message, newest: _Response | None, ended: int) -> _Response:
    context = max(0, message.usage.context) if message.usage else 0
    if newest is None:
        return _Response(1, ended, context)
    if ended == newest.ends and context in (0, newest.context or context):
        return replace(newest, context=newest.context or context)
    return _Response(newest.number + 1, ended, context)


class ResponseNamer:
    """Groups what the model said up to the first output: parallel calls are one response."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._count = 0
        self._open = False

    def name_for(self, draft: MessageDraft) -> str | None:
        """Return the name of the response that the next item is part of, None outside of one."""
        if draft.role != "assistant" or draft.is_summary:
            self._open = False
            return None
        self._count += not self._open
        self._open = True
        return f"{self._prefix}{self._count}"

    def close(self) -> None:
        """End the newest response."""
        self._open = False
