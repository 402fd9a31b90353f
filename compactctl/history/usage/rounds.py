"""Rounds: the requests of a session one by one, with new tokens, cache misses and compactions."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Literal, TypeVar

from compactctl.history.breakdown import message_tokens
from compactctl.history.categories import Category
from compactctl.history.stand_ins import edit_points
from compactctl.history.turns import find_steps, split_conversations
from compactctl.history.usage.requests import Request, find_requests
from compactctl.model.message import Message, MessageId, ReportedUsage
from compactctl.model.transcript import Transcript
from compactctl.records import Record, replace
from compactctl.tokens.meter import Meter

K = TypeVar("K", bound=str)

RoundMark = Literal["compacted", "compactctl", "fell", "missed", "model", "idle", "copied"]

# How long providers cache a prompt that is not used again, in seconds: Anthropic for five minutes,
# or an hour if the client asks for it; OpenAI usually for five to ten minutes.
CACHE_LIFETIME = 300.0
LONG_CACHE_LIFETIME = 3_600.0
# No provider caches prompts shorter than this, in tokens.
MIN_CACHEABLE = 1_024
# Providers cache in blocks, and never the end of a request, so a hit is usually less than all.
_MIN_HIT_RATIO = 0.5
# No request or answer has more tokens; a file may contain any number.
_MAX_TOKENS = 10**12
# If the context shrinks less, reasoning was dropped at the end of its turn.
_SHRINK_RATIO = 0.9


class RoundPlace(Record):
    """The position of a round in its session.

    Attributes:
        number: counts from 1 through all conversations of the file.
        conversation: counts from 0.
        turn: counts from 1 in the conversation; 0 before the first prompt.
        step: counts the rounds of a turn from 1.
        message: id of the first message of the answer.
        line: index of its raw line.
    """

    number: int
    conversation: int
    turn: int
    step: int
    message: MessageId
    line: int


class Round(Record):
    """A request to the model and its answer. Sizes are in tokens, as the provider reported them.

    Attributes:
        place: its position in the session.
        model: the model that answered.
        time: when the answer began, in seconds since 1970.
        idle: seconds from the previous answer to the newest message sent; None if unknown.
        usage: the reported usage, limited to possible sizes.
        output: the size of the answer; counted if ``is_output_reported`` is false.
        context_growth: growth of the context since the previous round, including that round's
            answer; negative if it shrank. The whole context in the first round.
        cache_miss_tokens: upper limit of what was sent before and was not read from the cache: the
            smaller of this context and the previous one, less what was read. 0 in the first round
            and after a compaction, None if cache reads were not reported.
        entered: counted tokens of the previous answer and the messages after it, by category.
        tools: those of tool results by tool.
        marks: what happened before or in the round:
            ``compacted`` the client compacted or cleared results; ``compactctl`` compactctl did;
            ``fell`` the context shrank by more than a tenth; ``missed`` less than half of what was
            sent before was read from a cache that had worked, and neither a compaction nor a
            change of model explains that; ``model`` the model changed; ``idle`` nothing was sent
            for longer than a cache lasts; ``copied`` the session that this one was forked from
            sent it, which is in no total.
    """

    place: RoundPlace
    model: str | None
    time: float | None
    idle: float | None
    usage: ReportedUsage
    output: int
    context_growth: int
    cache_miss_tokens: int | None
    entered: Mapping[Category, int]
    tools: Mapping[str, int]
    marks: tuple[RoundMark, ...]

    @property
    def is_copied(self) -> bool:
        """Whether the session that this one was forked from sent it."""
        return "copied" in self.marks

    @property
    def is_output_reported(self) -> bool:
        """Whether the size of the answer was reported; otherwise it is counted."""
        return self.usage.output is not None

    @property
    def sent(self) -> int:
        """All billed input, including input that the provider's tools sent again."""
        return self.usage.context + (self.usage.resent.context if self.usage.resent else 0)


class Rounds(Record):
    """All rounds of a session in file order, and how many requests its subagents made.

    Totals are those of the requests that the session itself sent.
    """

    rounds: tuple[Round, ...]
    subagent_requests: int

    @property
    def sent_rounds(self) -> tuple[Round, ...]:
        """The rounds that the session itself sent."""
        return tuple(round_ for round_ in self.rounds if not round_.is_copied)

    @property
    def turns(self) -> int:
        """Number of turns with a round."""
        return len({(r.place.conversation, r.place.turn) for r in self.sent_rounds})

    @property
    def sent(self) -> int:
        """The sum of ``Round.sent``, in tokens."""
        return sum(r.sent for r in self.sent_rounds)

    @property
    def cache_read(self) -> int:
        """The part of ``sent`` that was read from a cache."""
        resent = [r.usage.resent.cache_read or 0 for r in self.sent_rounds if r.usage.resent]
        return sum(r.usage.cache_read or 0 for r in self.sent_rounds) + sum(resent)

    @property
    def cache_reports(self) -> int:
        """Number of rounds that report cache reads, even of 0 tokens."""
        return sum(r.usage.cache_read is not None for r in self.sent_rounds)

    @property
    def cache_miss_tokens(self) -> int:
        """Upper limit of the tokens sent before that were not read from a cache."""
        return sum(r.cache_miss_tokens or 0 for r in self.sent_rounds)

    @property
    def output(self) -> int:
        """The size of all answers, in tokens."""
        return sum(r.output for r in self.sent_rounds)

    def count_marked(self, *marks: RoundMark) -> int:
        """Count the rounds that have all of these marks."""
        return sum(set(marks).issubset(r.marks) for r in self.sent_rounds)


def find_rounds(transcript: Transcript, meter: Meter) -> Rounds:
    """Return the rounds of everything that was ever sent, including abandoned branches.

    Requests of subagents are only counted, unless there are no others.
    """
    main = tuple(message for message in transcript.messages if not message.origin.is_subagent)
    of_subagents = tuple(message for message in transcript.messages if message.origin.is_subagent)
    if not any(message.usage for message in main):
        main, of_subagents = transcript.messages, ()
    rounds: list[Round] = []
    for conversation in split_conversations(main):
        rounds += _rounds(conversation, transcript, meter, len(rounds))
    return Rounds(
        rounds=tuple(rounds), subagent_requests=len(find_requests(of_subagents, meter.message))
    )


class _RequestSpan(Record, kw_only=False):
    """A request, and the messages since the previous one.

    ``cache_seen`` says whether an earlier request used a cache; ``lifetime`` is that of the cache,
    in seconds.
    """

    previous: Request | None
    request: Request
    cache_seen: bool
    lifetime: float

    @property
    def new_indices(self) -> range:
        """The indices of the messages that the previous context did not have."""
        return range(self.previous.first_index if self.previous else 0, self.request.first_index)


def _rounds(
    messages: Sequence[Message], transcript: Transcript, meter: Meter, n_earlier: int
) -> Iterator[Round]:
    """Yield the rounds of one conversation, numbered from ``n_earlier`` + 1."""
    tokens_by_message = message_tokens(messages, transcript.session.cwd, meter)
    edits = _edits(messages, transcript.compactions.lines)
    step_counts: Counter[int] = Counter()
    requests = [r for r in find_requests(messages, meter.message) if r.context <= _MAX_TOKENS]
    for number, span in enumerate(_request_spans(requests), n_earlier + 1):
        request, first = span.request, messages[span.request.first_index]
        step_counts[request.turn] += 1
        entered = tokens_by_message[span.new_indices.start : span.new_indices.stop]
        idle = _idle(span, messages)
        copied: tuple[RoundMark, ...] = ("copied",) if first.id in transcript.session.copied else ()
        marks = (*_marks(span, messages, edits, idle), *copied)
        usage = _plausible(
            replace(
                request.usage,
                context=request.context,
                output=request.output,
                reasoning=request.reasoning,
            )
        )
        yield Round(
            place=RoundPlace(
                number=number,
                conversation=first.conversation,
                turn=request.turn,
                step=step_counts[request.turn],
                message=first.id,
                line=first.line,
            ),
            model=first.model,
            time=first.timestamp,
            idle=idle,
            usage=usage,
            output=_clamp(round(request.answer)) if usage.output is None else usage.output,
            context_growth=request.context - (span.previous.context if span.previous else 0),
            cache_miss_tokens=_cache_miss_tokens(span, marks),
            entered=_sum(message.categories for message in entered),
            tools=_sum(message.tools for message in entered),
            marks=marks,
        )


def _plausible(usage: ReportedUsage) -> ReportedUsage:
    """Return the usage with every size limited to what is possible."""
    context = _clamp(usage.context)
    read = None if usage.cache_read is None else _clamp(usage.cache_read, context)
    write = None if usage.cache_write is None else _clamp(usage.cache_write, context - (read or 0))
    return replace(
        usage,
        context=context,
        output=None if usage.output is None else _clamp(usage.output),
        reasoning=_clamp(usage.reasoning),
        cache_read=read,
        cache_write=write,
        cache_write_1h=_clamp(usage.cache_write_1h, write or 0),
        resent=None if usage.resent is None else _plausible(usage.resent),
    )


def _cache_read(request: Request) -> int | None:
    read = request.usage.cache_read
    return None if read is None else _clamp(read, request.context)


def _clamp(tokens: int, limit: int = _MAX_TOKENS) -> int:
    return min(max(0, tokens), limit)


def _request_spans(requests: Sequence[Request]) -> Iterator[_RequestSpan]:
    previous, cache_seen, lifetime = None, False, CACHE_LIFETIME
    for request in requests:
        yield _RequestSpan(previous, request, cache_seen, lifetime)
        usage = request.usage
        cache_seen = cache_seen or bool(usage.cache_read or usage.cache_write)
        if usage.cache_write:
            is_long = 2 * usage.cache_write_1h > usage.cache_write
            lifetime = LONG_CACHE_LIFETIME if is_long else CACHE_LIFETIME
        previous = request


def _sum(counts: Iterable[Counter[K]]) -> dict[K, int]:
    """Add counters up; the largest count comes first, and counts of 0 are left out."""
    total: Counter[K] = Counter()
    for counter in counts:
        total.update(counter)
    return {name: count for name, count in total.most_common() if count > 0}


def _edits(messages: Sequence[Message], compactions: Sequence[int]) -> tuple[set[int], set[int]]:
    """Return the indices of the messages after which the client and compactctl edited.

    compactctl's edits note which message was the newest at that time.
    """
    points = edit_points(messages)
    by_compactctl, by_client = set(), set()
    for index, message in enumerate(messages):
        if message.origin.is_synthetic or message.tags.through:
            point = points.get(index)
            by_compactctl.add(index if point is None else point)
        elif message.origin.is_summary:
            by_client.add(index)
    lines = [message.line for message in messages]
    starts = (bisect_left(lines, line) for line in compactions)
    by_client |= {start - 1 for start in starts if start > 0}
    return by_client, by_compactctl


def _idle(span: _RequestSpan, messages: Sequence[Message]) -> float | None:
    """Return the seconds from the previous answer to the newest message sent; None if unknown."""
    if span.previous is None:
        return None
    ended = max(
        (messages[index].timestamp or 0.0 for index in span.previous.message_indices), default=0.0
    )
    sent = (
        messages[span.new_indices.stop - 1].timestamp
        or messages[span.request.first_index].timestamp
    )
    # Clients put records with older timestamps after a compaction.
    return sent - ended if sent and ended and sent >= ended else None


def _marks(
    span: _RequestSpan,
    messages: Sequence[Message],
    edits: tuple[set[int], set[int]],
    idle: float | None,
) -> Iterator[RoundMark]:
    previous, request = span.previous, span.request
    if previous is None:
        return
    by_client, by_compactctl = (not indices.isdisjoint(span.new_indices) for indices in edits)
    changed = messages[previous.first_index].model != messages[request.first_index].model
    flags: dict[RoundMark, bool] = {
        "compacted": by_client,
        "compactctl": by_compactctl,
        "fell": request.context < _SHRINK_RATIO * previous.context,
        "missed": not (by_client or by_compactctl or changed) and _missed(span, previous),
        "model": changed,
        "idle": idle is not None and idle > span.lifetime,
    }
    yield from (mark for mark, is_set in flags.items() if is_set)


def _missed(span: _RequestSpan, previous: Request) -> bool:
    read, sent = _cache_read(span.request), min(previous.context, span.request.context)
    return (
        span.cache_seen
        and read is not None
        and sent >= MIN_CACHEABLE
        and read < _MIN_HIT_RATIO * sent
    )


def _cache_miss_tokens(span: _RequestSpan, marks: Sequence[RoundMark]) -> int | None:
    previous, read = span.previous, _cache_read(span.request)
    if read is None:
        return None
    if previous is None or "compacted" in marks or "compactctl" in marks:
        return 0
    return max(0, min(previous.context, span.request.context) - read)


def counted_rounds(transcript: Transcript, meter: Meter) -> Rounds:
    """Return a round for each answer in the effective history; its context is counted.

    Answers with nothing before them are left out, and so is everything that is no longer in the
    effective history. Cache reads are unknown.
    """
    messages = tuple(
        message
        for conversation in split_conversations(transcript.effective)
        for message in _counted(conversation, meter)
    )
    return find_rounds(replace(transcript, messages=messages), meter)


def _counted(messages: Sequence[Message], meter: Meter) -> Iterator[Message]:
    """Yield the messages; those of an answer become one response to all messages before it."""
    sums = [0, *accumulate(map(meter.message, messages))]
    answers = {index: step[0] for step in find_steps(messages) for index in step}
    for index, message in enumerate(messages):
        first = answers.get(index)
        if first is None or message.role != "assistant":
            yield replace(message, usage=None, response_id=None)
        else:
            usage = ReportedUsage(context=sums[first])
            yield replace(message, usage=usage, response_id=str(messages[first].id))
