"""What a request comes to with what is left of a conversation."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from compactctl.commands.measuring.context_size import ContextSize
from compactctl.commands.measuring.measure import Measurement
from compactctl.errors import UsageError
from compactctl.formats.records.decode import decode
from compactctl.formats.records.json_values import json_text
from compactctl.history.turns import split_conversations
from compactctl.history.usage.calibration import MessageWeights, weigh_messages
from compactctl.model.message import (
    FilePart,
    Message,
    MessageId,
    Origin,
    Part,
    Role,
    TextPart,
    ToolDefinitionPart,
)
from compactctl.model.transcript import Transcript
from compactctl.model.usage_fields import UsageRestatement
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.source import open_input
from compactctl.tokens.counters.estimates import NeuroLinkCounter
from compactctl.tokens.fit import Limits
from compactctl.tokens.meter import Meter
from compactctl.tokens.models.prices import MILLION, Price, PriceTable
from compactctl.tokens.trigger import TriggerInput


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestModel:
    """How many tokens a request holds with some of a conversation's messages, or with more.

    ``fixed`` is in every request: system prompt, tool definitions, what a client restores.
    """

    fixed: int
    weights: MessageWeights
    meter: Meter

    def tokens(self, messages: Sequence[Message]) -> int:
        """Return the tokens of a request with these messages."""
        return self.fixed + round(self.weights.total(messages))

    def unseen(self, messages: Sequence[Message]) -> int:
        """Return what of these tokens is not counted in the messages."""
        return self.tokens(messages) - self.meter.total(messages)

    def room(self, messages: Sequence[Message], limit: int) -> int:
        """Return to how many counted tokens ``messages`` may come for a request of ``limit``.

        What is left out is taken to weigh what the messages weigh on average; where it weighs less
        the room for what is left is smaller than it was.
        """
        counted, whole = self.meter.total(messages), self.weights.total(messages)
        left = limit - self.fixed
        if left <= 0 or whole <= 0:
            return left
        room = int(left * counted / whole)
        return max(room, counted) if round(whole) <= left else min(room, counted - 1)


def request_model(size: ContextSize, transcript: Transcript, measured: Measurement) -> RequestModel:
    """Return how the size of a conversation's next request follows from its messages.

    Of several conversations in one transcript nothing is known but what is counted.
    """
    conversations = split_conversations(transcript.effective)
    weights, meter = MessageWeights(visible=measured.meter.message), measured.meter
    if len(conversations) != 1:
        return RequestModel(fixed=0, weights=weights, meter=meter)
    if not _is_counted(size, measured):
        framed = measured.framed
        weights = weigh_messages(conversations[0], size.calibration, framed.total, framed.visible)
    weights = weights.scaled(
        conversations[0], size.total - size.overhead - size.missing - size.restored
    )
    # What the messages do not come to is in the request all the same.
    fixed = size.total - round(weights.total(conversations[0]))
    return RequestModel(fixed=fixed, weights=weights, meter=meter)


def _is_counted(size: ContextSize, measured: Measurement) -> bool:
    """Tell whether a message comes to what is counted, or in proportion to it."""
    if isinstance(measured.counter, NeuroLinkCounter):
        return size.calibration is None
    return not (size.frames or size.unexplained or size.hidden_reasoning)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheUse:
    """What a prompt cache that held the whole conversation holds of it now, in tokens.

    Attributes:
        line: of the first message that is not sent as it was, from 0.
        held: what is sent before it, system prompt and tool definitions included.
        resent: what is sent from there on, and has to be put into the cache.
        saved: by how much the request has become smaller.
    """

    line: int
    held: int
    resent: int
    saved: int

    def pays_after(self, price: Price) -> int | None:
        """Return how many requests it takes until all of them together cost less than before.

        Without the compaction each would have read all of the conversation from the cache. None
        where the request has not become smaller, or reading costs nothing.
        """
        gain = self.saved * price.cache_read
        if gain <= 0:
            return None
        loss = self.resent * max(0.0, price.cache_write - price.cache_read)
        return max(1, -int(-loss // gain))


@dataclass(frozen=True, slots=True)
class SentRequest:
    """A request in tokens; a prompt cache holds ``held`` of them from the one before."""

    tokens: int
    held: int


@dataclass(frozen=True, slots=True)
class InputCost:
    """What the input of requests costs in US dollars, with and without a prompt cache."""

    cached: float
    uncached: float


def input_cost(requests: Sequence[SentRequest], prices: PriceTable, model: str) -> InputCost | None:
    """Return what requests cost, without their answers; None for a model without a price."""
    cached = uncached = 0.0
    for request in requests:
        price = prices.price_for(model, request.tokens)
        if price is None:
            return None
        anew = request.tokens - request.held
        cached += request.held * price.cache_read + anew * price.cache_write
        uncached += request.tokens * price.input
    return InputCost(cached / MILLION, uncached / MILLION)


def cache_use(
    before: Sequence[Message], after: Sequence[Message], request: RequestModel
) -> CacheUse | None:
    """Compare a conversation before and after; None where nothing but its end has changed."""
    alike = common_prefix(before, after)
    if alike == len(before):
        return None
    held, now = request.tokens(after[:alike]), request.tokens(after)
    return CacheUse(
        line=before[alike].line,
        held=held,
        resent=now - held,
        saved=request.tokens(before) - now,
    )


def common_prefix(before: Sequence[Message], after: Sequence[Message]) -> int:
    """Return how many messages at the beginning are the same."""
    pairs = zip(before, after, strict=False)
    shorter = min(len(before), len(after))
    changed = (n for n, (old, new) in enumerate(pairs) if old is not new and old != new)
    return next(changed, shorter)


def restatement(
    transcript: Transcript,
    after: Sequence[Message],
    tokens: int,
    size: Callable[[Message], int],
) -> UsageRestatement | None:
    """Return the record by which the client measures, and the tokens that it is to tell.

    ``after`` is what is left to be sent, ``tokens`` the size of the next request. What follows the
    newest answer is left out of them: clients add that themselves. None where what was reported for
    that answer still holds, where nothing was reported, and for several conversations.
    """
    if len(split_conversations(after)) != 1:
        return None
    beside = transcript.session.usage_line
    newest = _newest_answer(after, is_reported=beside is None)
    if newest is not None and newest < common_prefix(transcript.effective, after):
        return None
    behind = sum(map(size, after[newest + 1 :])) if newest is not None else 0
    left = max(1, tokens - behind)
    if beside is not None:
        return UsageRestatement(line=beside, tokens=left)
    if newest is None or after[newest].locks.immutable_reason:
        return None
    return UsageRestatement(line=after[newest].line, id=after[newest].id, tokens=left)


def _newest_answer(messages: Sequence[Message], *, is_reported: bool) -> int | None:
    for index in reversed(range(len(messages))):
        message = messages[index]
        is_answer = message.role == "assistant" and not message.origin.is_synthetic
        is_told = message.usage is not None and message.usage.context > 0
        if is_answer and (is_told or not is_reported):
            return index
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraOptions:
    """Files and text to count on top of a transcript; ``prompt`` is text, the rest are paths."""

    system: str | None = None
    tools: str | None = None
    prompt: str | None = None
    attach: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What a request holds before a conversation and after it, beside the transcript."""

    before: tuple[Message, ...] = ()
    after: tuple[Message, ...] = ()

    def around(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Return messages with the extras where a request has them."""
        return (*self.before, *messages, *self.after)


NO_EXTRAS = Extras()


def read_extras(options: ExtraOptions) -> Extras:
    """Return what the options name.

    Raises NoInputError for a file that cannot be read, UsageError for tools that are not JSON.
    """
    return Extras(before=tuple(_before(options)), after=tuple(_after(options)))


def _before(options: ExtraOptions) -> Iterator[Message]:
    if options.system is not None:
        yield _message("--system", "system", TextPart(text=_text_of(options.system)))
    if options.tools is not None:
        yield _message("--tools", "system", *_definitions(options.tools))


def _after(options: ExtraOptions) -> Iterator[Message]:
    if options.prompt is not None:
        yield _message("--prompt", "user", TextPart(text=options.prompt))
    for path in options.attach:
        part = FilePart(file_path=path, text=_text_of(path))
        yield _message(f"--attach {path}", "user", part, injected=True)


def _message(name: str, role: Role, *parts: Part, injected: bool = False) -> Message:
    return Message(
        id=MessageId(name), role=role, parts=parts, line=-1, origin=Origin(is_injected=injected)
    )


def _text_of(path: str) -> str:
    return open_input(path, TEXT_LIMITS).data.decode("utf-8", "replace")


def _definitions(path: str) -> tuple[ToolDefinitionPart, ...]:
    values, damage = decode(open_input(path, TEXT_LIMITS).data)
    if damage is not None or not values:
        raise UsageError(f"{path}: is not JSON; --tools takes a JSON list of tool definitions")
    found = values[0]
    if isinstance(found, dict):
        found = found.get("tools", [found])
    if not isinstance(found, list):
        raise UsageError(f"{path}: holds no list; --tools takes a JSON list of tool definitions")
    return tuple(ToolDefinitionPart(name="", text=json_text(item)) for item in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedRequest:
    """A conversation as it would be sent next.

    ``messages`` are its own and, around them, what was given beside the transcript; ``counted``
    are their tokens, ``unseen`` those that are sent and not counted. ``n_messages`` and
    ``n_turns`` are of the conversation alone.
    """

    messages: tuple[Message, ...]
    counted: int
    unseen: int
    n_messages: int
    n_turns: int

    @property
    def tokens(self) -> int:
        """The size of the request."""
        return self.counted + self.unseen

    def situation(self, limits: Limits) -> TriggerInput:
        """Return what a trigger, or a level of a profile, looks at."""
        return TriggerInput(
            tokens=self.tokens,
            available=limits.base_tokens,
            turns=self.n_turns,
            messages=self.n_messages,
            window=limits.budget.window,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What is sent at one point of a transcript, in tokens.

    ``messages`` and ``tokens`` are those of all conversations, ``largest_counted`` are the tokens
    counted of the largest one, and ``unseen`` what its next request holds beside its messages.
    """

    messages: int
    tokens: int
    largest_counted: int
    unseen: int

    @property
    def request_tokens(self) -> int:
        """The size of the largest next request."""
        return self.largest_counted + self.unseen


def totals_of(messages: Sequence[Message], largest: SizedRequest, meter: Meter) -> Totals:
    """Return what all messages come to, of which ``largest`` has the largest conversation."""
    return Totals(
        messages=len(messages),
        tokens=meter.total(messages),
        largest_counted=largest.counted,
        unseen=largest.unseen,
    )


def sized_request(
    conversation: Sequence[Message], meter: Meter, unseen: int, extras: Extras = NO_EXTRAS
) -> SizedRequest:
    """Return the next request of one conversation; ``unseen`` is as ``SizedRequest`` has it."""
    messages = extras.around(conversation)
    return SizedRequest(
        messages=messages,
        counted=meter.total(messages),
        unseen=unseen,
        n_messages=len(conversation),
        n_turns=sum(message.starts_turn for message in conversation),
    )


def sized_requests(
    history: Sequence[Message], meter: Meter, unseen: int, extras: Extras = NO_EXTRAS
) -> tuple[SizedRequest, ...]:
    """Return the next request of each conversation in a history; of an empty one, an empty one."""
    conversations = split_conversations(history) or ((),)
    return tuple(sized_request(each, meter, unseen, extras) for each in conversations)


def largest_of(requests: Sequence[SizedRequest]) -> SizedRequest:
    """Return the largest request, of two the first: the one that stands for its file."""
    return max(requests, key=lambda request: request.tokens)
