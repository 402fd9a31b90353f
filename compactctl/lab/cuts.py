"""Where a session may be cut in two: what was sent up to a request, and what came of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, islice, pairwise

from compactctl.history.pairs import cut_points
from compactctl.history.turns import find_steps, split_conversations
from compactctl.model.message import Message, MessageId, ToolResultPart
from compactctl.model.transcript import Transcript

MIN_LATER_REQUESTS = 8
"""Requests that must follow a cut, so that there is a future to ask."""
MIN_PREFIX_TOKENS = 8_000
"""Tokens that must stand before it, so that there is something to compact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A session cut before a request.

    Attributes:
        prefix: the messages that this request would have sent.
        future: what followed up to the next compaction of the client, a sequence per request:
            the answer, the results of its calls, and what was said until the next one.
        share: the part of the stretch's requests that lies before the cut.
        tokens: those of the prefix.
    """

    prefix: tuple[Message, ...]
    future: tuple[tuple[Message, ...], ...]
    share: float
    tokens: int


def split_at_compactions(transcript: Transcript) -> Iterator[tuple[Message, ...]]:
    """Yield the stretches of a transcript between compactions of its client, subagents left out.

    Behind a compaction the agent no longer saw what was before it; a stretch begins with the
    summary, where the file holds one.
    """
    main = tuple(message for message in transcript.messages if not message.origin.is_subagent)
    for conversation in split_conversations(main or transcript.messages):
        lines = [message.line for message in conversation]
        bounds = {index for index, message in enumerate(conversation) if message.origin.is_summary}
        for line in transcript.compactions.lines:
            bounds |= {sum(each < line for each in lines)}
        ends = sorted({0, *bounds, len(conversation)})
        yield from (conversation[start:end] for start, end in pairwise(ends))


def cuts_at(
    messages: Sequence[Message], shares: Sequence[float], size: Callable[[Message], int]
) -> Iterator[Cut]:
    """Yield the first safe cut behind each share of the requests."""
    found = _safe(messages, size)
    places = dict.fromkeys(
        next((cut for cut in found.places if cut.number >= share * found.requests), None)
        for share in shares
    )
    yield from (found.cut(place) for place in places if place and found.is_usable(place))


def cuts_every(
    messages: Sequence[Message], tokens: int, size: Callable[[Message], int]
) -> Iterator[Cut]:
    """Yield the safe cuts at which another ``tokens`` tokens have come together."""
    found = _safe(messages, size)
    passed = 0
    for place in found.places:
        if place.tokens // tokens > passed:
            passed = place.tokens // tokens
            if found.is_usable(place):
                yield found.cut(place)


def cut_after(
    messages: Sequence[Message], name: MessageId, size: Callable[[Message], int]
) -> Iterator[Cut]:
    """Yield the first safe cut behind the message of that name, if it is among these."""
    found = _safe(messages, size)
    last = max((at for at, piece in enumerate(found.pieces) if piece.id == name), default=None)
    if last is not None:
        behind = (place for place in found.places if place.index > last)
        yield from (found.cut(place) for place in islice(behind, 1) if found.is_usable(place))


@dataclass(frozen=True, slots=True)
class _Place:
    """The index of a piece that opens a request, that request's number, and what is before it."""

    index: int
    number: int
    tokens: int


@dataclass(frozen=True, slots=True)
class _SafeCuts:
    """The safe places of a stretch; ``starts`` are the indices at which requests begin."""

    pieces: Sequence[Message]
    starts: Sequence[int]
    places: Sequence[_Place]

    @property
    def requests(self) -> int:
        return len(self.starts)

    def is_usable(self, place: _Place) -> bool:
        return (
            place.tokens >= MIN_PREFIX_TOKENS and self.requests - place.number >= MIN_LATER_REQUESTS
        )

    def cut(self, place: _Place) -> Cut:
        bounds = [*self.starts[place.number :], len(self.pieces)]
        future = tuple(tuple(self.pieces[start:end]) for start, end in pairwise(bounds))
        return Cut(
            prefix=tuple(_joined(self.pieces[: place.index])),
            future=future,
            share=place.number / self.requests,
            tokens=place.tokens,
        )


def _safe(messages: Sequence[Message], size: Callable[[Message], int]) -> _SafeCuts:
    """Find the places where a request begins and no tool pair is parted."""
    pieces = [piece for message in messages for piece in _pieces(message)]
    starts = [step[0] for step in find_steps(pieces)]
    uncut = set(cut_points(pieces))
    before = [0, *accumulate(map(size, pieces))]
    places = [
        _Place(start, number, before[start])
        for number, start in enumerate(starts)
        if start in uncut
    ]
    return _SafeCuts(pieces, starts, places)


def _pieces(message: Message) -> Iterator[Message]:
    """Split a message that holds several requests: what follows a result answers another one."""
    kinds = [isinstance(part, ToolResultPart) for part in message.parts]
    ends = [at for at, (one, other) in enumerate(pairwise(kinds), 1) if one and not other]
    if message.role != "assistant" or not ends:
        yield message
        return
    for start, end in pairwise([0, *ends, len(kinds)]):
        yield replace(message, parts=message.parts[start:end], response_id=None)


def _joined(pieces: Sequence[Message]) -> Iterator[Message]:
    for _, group in groupby(pieces, key=lambda piece: piece.id):
        first, *rest = group
        parts = (*first.parts, *(part for piece in rest for part in piece.parts))
        yield replace(first, parts=parts) if rest else first
