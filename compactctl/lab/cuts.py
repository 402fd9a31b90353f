"""Cut a session before a request: the prefix it would have sent, and the future that followed."""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, groupby, islice, pairwise

from compactctl.history.pairs import cut_points
from compactctl.history.turns import find_steps, split_conversations
from compactctl.model.message import Message, MessageId, ToolResultPart
from compactctl.model.transcript import Transcript
from compactctl.records import Record, replace

MIN_LATER_REQUESTS = 8
"""Requests that must follow a cut, so that there is a future to measure by."""
MIN_PREFIX_TOKENS = 8_000
"""Tokens that must precede a cut, so that there is something to compact."""


class Cut(Record):
    """A session cut before a request.

    Attributes:
        prefix: the messages that this request would have sent.
        future: the messages up to the client's next compaction, a sequence per request: the
            answer, the results of its calls, and what came before the next request.
        share: the share of the stretch's requests that lies before the cut.
        tokens: size of the prefix.
    """

    prefix: tuple[Message, ...]
    future: tuple[tuple[Message, ...], ...]
    share: float
    tokens: int


def split_at_compactions(transcript: Transcript) -> Iterator[tuple[Message, ...]]:
    """Yield the stretches of a transcript between compactions by its client, without subagents.

    After a compaction the agent no longer saw what came before. A stretch begins with the summary,
    if the file holds one.
    """
    main = tuple(message for message in transcript.messages if not message.origin.is_subagent)
    for conversation in split_conversations(main or transcript.messages):
        lines = [message.line for message in conversation]
        bounds = {index for index, message in enumerate(conversation) if message.origin.is_summary}
        for line in transcript.compactions.lines:
            bounds.add(sum(message_line < line for message_line in lines))
        ends = sorted({0, *bounds, len(conversation)})
        yield from (conversation[start:end] for start, end in pairwise(ends))


def cuts_at(
    messages: Sequence[Message], shares: Sequence[float], size: Callable[[Message], int]
) -> Iterator[Cut]:
    """Yield the first safe cut at or after each share of the requests."""
    safe = _find_safe_cuts(messages, size)
    points = dict.fromkeys(
        next((point for point in safe.points if point.request >= share * safe.requests), None)
        for share in shares
    )
    yield from (safe.cut(point) for point in points if point and safe.is_usable(point))


def cuts_every(
    messages: Sequence[Message], tokens: int, size: Callable[[Message], int]
) -> Iterator[Cut]:
    """Yield the first safe cut after every further ``tokens`` tokens."""
    safe = _find_safe_cuts(messages, size)
    passed = 0
    for point in safe.points:
        if point.tokens // tokens > passed:
            passed = point.tokens // tokens
            if safe.is_usable(point):
                yield safe.cut(point)


def cut_after(
    messages: Sequence[Message], name: MessageId, size: Callable[[Message], int]
) -> Iterator[Cut]:
    """Yield the first safe cut after the message with this id, if it is among the messages."""
    safe = _find_safe_cuts(messages, size)
    last = max((i for i, piece in enumerate(safe.pieces) if piece.id == name), default=None)
    if last is not None:
        later = (point for point in safe.points if point.index > last)
        yield from (safe.cut(point) for point in islice(later, 1) if safe.is_usable(point))


class _CutPoint(Record, kw_only=False):
    """The index of a piece that opens a request, the request's number, and the tokens before it."""

    index: int
    request: int
    tokens: int


class _SafeCuts(Record, kw_only=False):
    """The cut points of a stretch; ``starts`` are the indexes at which requests begin."""

    pieces: Sequence[Message]
    starts: Sequence[int]
    points: Sequence[_CutPoint]

    @property
    def requests(self) -> int:
        return len(self.starts)

    def is_usable(self, point: _CutPoint) -> bool:
        is_long_enough = self.requests - point.request >= MIN_LATER_REQUESTS
        return is_long_enough and point.tokens >= MIN_PREFIX_TOKENS

    def cut(self, point: _CutPoint) -> Cut:
        bounds = [*self.starts[point.request :], len(self.pieces)]
        future = tuple(tuple(self.pieces[start:end]) for start, end in pairwise(bounds))
        return Cut(
            prefix=tuple(_join_pieces(self.pieces[: point.index])),
            future=future,
            share=point.request / self.requests,
            tokens=point.tokens,
        )


def _find_safe_cuts(messages: Sequence[Message], size: Callable[[Message], int]) -> _SafeCuts:
    """Find the points where a request begins and no tool call is separated from its result."""
    pieces = [piece for message in messages for piece in _split_requests(message)]
    starts = [step[0] for step in find_steps(pieces)]
    uncut = set(cut_points(pieces))
    tokens_before = [0, *accumulate(map(size, pieces))]
    points = [
        _CutPoint(start, request, tokens_before[start])
        for request, start in enumerate(starts)
        if start in uncut
    ]
    return _SafeCuts(pieces, starts, points)


def _split_requests(message: Message) -> Iterator[Message]:
    """Split a message that holds several requests after the tool results of each.

    Some formats keep a whole turn in one message: text, call, result | text, call, result | text.
    """
    is_result = [isinstance(part, ToolResultPart) for part in message.parts]
    ends = [
        index
        for index, (result_before, result_here) in enumerate(pairwise(is_result), 1)
        if result_before and not result_here
    ]
    if message.role != "assistant" or not ends:
        yield message
        return
    for start, end in pairwise([0, *ends, len(is_result)]):
        yield replace(message, parts=message.parts[start:end], response_id=None)


def _join_pieces(pieces: Sequence[Message]) -> Iterator[Message]:
    for _, group in groupby(pieces, key=lambda piece: piece.id):
        first, *rest = group
        parts = (*first.parts, *(part for piece in rest for part in piece.parts))
        yield replace(first, parts=parts) if rest else first
