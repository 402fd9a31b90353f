"""Rounds: the requests of a session one by one, with what each sent anew and what it paid again."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal, TypeVar

from compactctl.history.breakdown import message_tokens
from compactctl.history.categories import Category
from compactctl.history.stand_ins import edit_points
from compactctl.history.turns import find_steps, split_conversations
from compactctl.history.usage.requests import Request, find_requests
from compactctl.model.message import Message, MessageId, ReportedUsage
from compactctl.model.transcript import Transcript
from compactctl.tokens.meter import Meter

K = TypeVar("K", bound=str)

RoundMark = Literal["compacted", "compactctl", "fell", "missed", "model", "idle"]

# How long providers keep a prompt that is not used again, in seconds: Anthropic five minutes, or an
# hour where the client asks for it; OpenAI five to ten minutes as a rule.
CACHE_LIFETIME = 300.0
LONG_CACHE_LIFETIME = 3_600.0
# Shorter prompts go into no provider's cache, in tokens.
MIN_CACHEABLE = 1_024
# Providers read a cache in blocks, and never what ended the request before: less than all is usual.
_MIN_HIT_RATIO = 0.5
# No request and no answer has more tokens; a file may hold any number.
_MAX_TOKENS = 10**12
# Smaller falls are reasoning that ended with its turn.
_SHRINK_RATIO = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundPlace:
    """Where a round is in its session.

    Attributes:
        number: counts from 1 through all conversations of the file.
        conversation: counts from 0; ``turn`` counts in it, 0 before anybody spoke.
        step: counts the rounds of a turn from 1.
        message: the id of the first message of the answer, which begins on the raw line of index
            ``line``.
    """

    number: int
    conversation: int
    turn: int
    step: int
    message: MessageId
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A request to the model and its answer. Sizes are in tokens, as the provider reported them.

    Attributes:
        place: where it is in the session.
        model: the model that answered.
        time: when the answer was begun, in seconds since 1970.
        idle: seconds from the answer before to what was sent next; None where that is not known.
        usage: what was reported, without sizes that cannot be.
        output: the answer, by count where ``is_output_reported`` is false.
        context_growth: by how much the context is more than in the round before, whose answer it
            holds as well; negative where the context fell. Of the first round it is all of it.
        cache_miss_tokens: what was sent before and was not read from the cache, at most: the
            smaller one of this context and that before, without what was read. 0 in the first round
            and after a compaction, None where the cache was not reported.
        entered: counted tokens by category of what was said from the answer before on.
        tools: those of tool results by tool.
        marks: what happened before it or in it:
            ``compacted`` the client compacted or cleared results; ``compactctl`` compactctl did;
            ``fell`` the context is smaller by more than a tenth; ``missed`` less than half of what
            was sent before was read from a cache that had worked before, and neither a compaction
            nor another model explains that; ``model`` another model answers than before; ``idle``
            nothing was sent for longer than a cache lasts.
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
    def is_output_reported(self) -> bool:
        """Whether the size of the answer was reported; else it is counted."""
        return self.usage.output is not None

    @property
    def sent(self) -> int:
        """All input that it is billed for."""
        return self.usage.context + (self.usage.resent.context if self.usage.resent else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """All rounds of a session in file order, and how many requests its subagents made."""

    rounds: tuple[Round, ...]
    subagent_requests: int

    @property
    def turns(self) -> int:
        """How many turns have a round."""
        return len({(each.place.conversation, each.place.turn) for each in self.rounds})

    @property
    def sent(self) -> int:
        """The contexts of all rounds added up, in tokens, with what was sent again in them."""
        return sum(each.sent for each in self.rounds)

    @property
    def cache_read(self) -> int:
        """What of that was read from a cache."""
        resent = [each.usage.resent.cache_read or 0 for each in self.rounds if each.usage.resent]
        return sum(each.usage.cache_read or 0 for each in self.rounds) + sum(resent)

    @property
    def cache_reports(self) -> int:
        """How many rounds report what was read from a cache."""
        return sum(each.usage.cache_read is not None for each in self.rounds)

    @property
    def cache_miss_tokens(self) -> int:
        """What was sent before and was not read from a cache, at most."""
        return sum(each.cache_miss_tokens or 0 for each in self.rounds)

    @property
    def output(self) -> int:
        """The answers of all rounds, in tokens."""
        return sum(each.output for each in self.rounds)

    def count_marked(self, *marks: RoundMark) -> int:
        """Return how many rounds have all of these marks."""
        return sum(set(marks).issubset(each.marks) for each in self.rounds)


def find_rounds(transcript: Transcript, meter: Meter) -> Rounds:
    """Return the rounds of everything that was ever sent, abandoned branches included.

    Requests of subagents are left out, unless there are no others.
    """
    main = tuple(message for message in transcript.messages if not message.origin.is_subagent)
    aside = tuple(message for message in transcript.messages if message.origin.is_subagent)
    if not any(message.usage for message in main):
        main, aside = transcript.messages, ()
    found: list[Round] = []
    for conversation in split_conversations(main):
        found += _rounds(conversation, transcript, meter, len(found))
    return Rounds(rounds=tuple(found), subagent_requests=len(find_requests(aside, meter.message)))


@dataclass(frozen=True, slots=True)
class _RequestSpan:
    """A request, and what was said from the one before it on.

    ``cache_seen`` tells whether a cache was of use before, ``lifetime`` how many seconds it lasts.
    """

    before: Request | None
    request: Request
    cache_seen: bool
    lifetime: float

    @property
    def new_indices(self) -> range:
        """The indices of the messages that the context has in addition to the one before."""
        return range(self.before.first_index if self.before else 0, self.request.first_index)


def _rounds(
    messages: Sequence[Message], transcript: Transcript, meter: Meter, earlier: int
) -> Iterator[Round]:
    """Yield the rounds of one conversation, numbered from behind ``earlier`` ones on."""
    each = message_tokens(messages, transcript.session.cwd, meter)
    edits = _edits(messages, transcript.compactions.lines)
    steps: Counter[int] = Counter()
    found = [each for each in find_requests(messages, meter.message) if each.context <= _MAX_TOKENS]
    for stretch in _request_spans(found):
        request, first = stretch.request, messages[stretch.request.first_index]
        steps[request.turn] += 1
        earlier += 1
        said = each[stretch.new_indices.start : stretch.new_indices.stop]
        idle = _idle(stretch, messages)
        marks = tuple(_marks(stretch, messages, edits, idle))
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
                number=earlier,
                conversation=first.conversation,
                turn=request.turn,
                step=steps[request.turn],
                message=first.id,
                line=first.line,
            ),
            model=first.model,
            time=first.timestamp,
            idle=idle,
            usage=usage,
            output=_clamp(round(request.answer)) if usage.output is None else usage.output,
            context_growth=request.context - (stretch.before.context if stretch.before else 0),
            cache_miss_tokens=_cache_miss_tokens(stretch, marks),
            entered=_sum(share.categories for share in said),
            tools=_sum(share.tools for share in said),
            marks=marks,
        )


def _plausible(usage: ReportedUsage) -> ReportedUsage:
    """Return what was reported with sizes as they can be, whatever a file says."""
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


def _clamp(reported: int, most: int = _MAX_TOKENS) -> int:
    """Return a number of tokens as it can be, whatever was reported."""
    return min(max(0, reported), most)


def _request_spans(found: Sequence[Request]) -> Iterator[_RequestSpan]:
    before, caches, lifetime = None, False, CACHE_LIFETIME
    for request in found:
        yield _RequestSpan(before, request, caches, lifetime)
        usage = request.usage
        caches = caches or bool(usage.cache_read or usage.cache_write)
        if usage.cache_write:
            is_long = 2 * usage.cache_write_1h > usage.cache_write
            lifetime = LONG_CACHE_LIFETIME if is_long else CACHE_LIFETIME
        before = request


def _sum(counts: Iterable[Counter[K]]) -> dict[K, int]:
    """Add counts up, the largest first, without those that are 0."""
    total: Counter[K] = Counter()
    for each in counts:
        total.update(each)
    return {name: count for name, count in total.most_common() if count > 0}


def _edits(messages: Sequence[Message], compactions: Sequence[int]) -> tuple[set[int], set[int]]:
    """Return the indices of the messages behind which the client or compactctl edited.

    compactctl notes which message was the newest one then.
    """
    places = edit_points(messages)
    ours, clients = set(), set()
    for index, message in enumerate(messages):
        if message.origin.is_synthetic or message.tags.through:
            place = places.get(index)
            ours.add(index if place is None else place)
        elif message.origin.is_summary:
            clients.add(index)
    lines = [message.line for message in messages]
    clients |= {at - 1 for line in compactions if (at := bisect_left(lines, line)) > 0}
    return clients, ours


def _idle(stretch: _RequestSpan, messages: Sequence[Message]) -> float | None:
    """Return the seconds from the answer before to the newest message that was sent next."""
    if stretch.before is None:
        return None
    ended = max(
        (messages[at].timestamp or 0.0 for at in stretch.before.message_indices), default=0.0
    )
    sent = (
        messages[stretch.new_indices.stop - 1].timestamp
        or messages[stretch.request.first_index].timestamp
    )
    # Clients put records with older times behind a compaction.
    return sent - ended if sent and ended and sent >= ended else None


def _marks(
    stretch: _RequestSpan,
    messages: Sequence[Message],
    edits: tuple[set[int], set[int]],
    idle: float | None,
) -> Iterator[RoundMark]:
    before, request = stretch.before, stretch.request
    if before is None:
        return
    clients, ours = (not each.isdisjoint(stretch.new_indices) for each in edits)
    changed = messages[before.first_index].model != messages[request.first_index].model
    found: dict[RoundMark, bool] = {
        "compacted": clients,
        "compactctl": ours,
        "fell": request.context < _SHRINK_RATIO * before.context,
        "missed": not (clients or ours or changed) and _missed(stretch, before),
        "model": changed,
        "idle": idle is not None and idle > stretch.lifetime,
    }
    yield from (mark for mark, is_so in found.items() if is_so)


def _missed(stretch: _RequestSpan, before: Request) -> bool:
    read, sent = _cache_read(stretch.request), min(before.context, stretch.request.context)
    return (
        stretch.cache_seen
        and read is not None
        and sent >= MIN_CACHEABLE
        and read < _MIN_HIT_RATIO * sent
    )


def _cache_miss_tokens(stretch: _RequestSpan, marks: Sequence[RoundMark]) -> int | None:
    before, read = stretch.before, _cache_read(stretch.request)
    if read is None:
        return None
    if before is None or "compacted" in marks or "compactctl" in marks:
        return 0
    return max(0, min(before.context, stretch.request.context) - read)


def counted_rounds(transcript: Transcript, meter: Meter) -> Rounds:
    """Return a round per answer in the effective history, whose context is what stands before it.

    Answers that nothing stands before are left out. Nothing is known of caches, and of what is no
    longer in the effective history.
    """
    messages = tuple(
        message
        for conversation in split_conversations(transcript.effective)
        for message in _counted(conversation, meter)
    )
    return find_rounds(replace(transcript, messages=messages), meter)


def _counted(messages: Sequence[Message], meter: Meter) -> Iterator[Message]:
    """Yield the messages, those of each answer as one response that was sent what is before it."""
    sums = [0, *accumulate(map(meter.message, messages))]
    answers = {index: step[0] for step in find_steps(messages) for index in step}
    for index, message in enumerate(messages):
        first = answers.get(index)
        if first is None or message.role != "assistant":
            yield replace(message, usage=None, response_id=None)
        else:
            usage = ReportedUsage(context=sums[first])
            yield replace(message, usage=usage, response_id=str(messages[first].id))
