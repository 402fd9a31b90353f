"""The size of the next request: from a conversation's messages, with extras, and by totals."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from compactctl.asks import MEASURED, READS, ask
from compactctl.clients.records.decode import decode
from compactctl.clients.records.json_values import json_text
from compactctl.commands.measuring.context_size import ContextSize
from compactctl.commands.measuring.measure import Measurement
from compactctl.errors import UsageError
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
from compactctl.records import Record
from compactctl.store.files.limits import TEXT_LIMITS
from compactctl.store.files.source import open_input
from compactctl.tokens.counters.estimates import (
    NEUROLINK_TOKENS_PER_CONVERSATION,
    NEUROLINK_TOKENS_PER_MESSAGE,
    NeuroLinkCounter,
)
from compactctl.tokens.fit import Limits
from compactctl.tokens.meter import Meter
from compactctl.tokens.models.prices import MILLION, Price, PriceTable
from compactctl.tokens.trigger import TriggerInput


class RequestModel(Record):
    """Computes the tokens of a request from the messages in it.

    ``fixed`` is in every request: system prompt, tool definitions, what a client restores.
    """

    fixed: int
    weights: MessageWeights
    meter: Meter

    def tokens(self, messages: Sequence[Message]) -> int:
        """Return the tokens of a request with these messages."""
        return self.fixed + round(self.weights.total(messages))

    def unseen(self, messages: Sequence[Message]) -> int:
        """Return the part of these tokens that is not counted in the messages."""
        return self.tokens(messages) - self.meter.total(messages)

    def room(self, messages: Sequence[Message], limit: int) -> int:
        """Return the counted tokens that ``messages`` may have in a request of ``limit`` tokens.

        Removed messages are assumed to have average weight; if they have less, the room shrinks.

            limit 10,000, fixed 2,000; the messages count 8,000 and weigh 10,000: room 6,400
        """
        counted, weight = self.meter.total(messages), self.weights.total(messages)
        remaining = limit - self.fixed
        if remaining <= 0 or weight <= 0:
            return remaining
        room = int(remaining * counted / weight)
        return max(room, counted) if round(weight) <= remaining else min(room, counted - 1)


def request_model(size: ContextSize, transcript: Transcript, measured: Measurement) -> RequestModel:
    """Return the model of a conversation's requests; of several conversations, only the count."""
    conversations = split_conversations(transcript.effective)
    weights, meter = MessageWeights(visible=measured.meter.message), measured.meter
    if len(conversations) != 1:
        return RequestModel(fixed=0, weights=weights, meter=meter)
    if not _is_counted(size, measured):
        framed = measured.framed
        weights = weigh_messages(conversations[0], size.calibration, framed.total, framed.visible)
    elif size.frames:
        return RequestModel(
            fixed=0, weights=_neurolink_weights(conversations[0], meter), meter=meter
        )
    weights = weights.scaled(
        conversations[0], size.total - size.overhead - size.missing - size.restored
    )
    # Whatever the messages do not explain is still in the request.
    fixed = size.total - round(weights.total(conversations[0]))
    return RequestModel(fixed=fixed, weights=weights, meter=meter)


def _neurolink_weights(messages: Sequence[Message], meter: Meter) -> MessageWeights:
    """Return the weights with NeuroLink's frames.

    The frame of the conversation counts as part of the newest message, which always stays.
    """
    newest = {message.id: float(NEUROLINK_TOKENS_PER_CONVERSATION) for message in messages[-1:]}
    return MessageWeights(
        visible=lambda message: meter.message(message) + NEUROLINK_TOKENS_PER_MESSAGE,
        unstored=newest,
    )


def _is_counted(size: ContextSize, measured: Measurement) -> bool:
    """Return whether the weight of a message is its count, or proportional to it."""
    if isinstance(measured.counter, NeuroLinkCounter):
        return size.calibration is None
    return not (size.frames or size.unexplained or size.hidden_reasoning)


class CacheUse(Record):
    """The effect of a compaction on a prompt cache that held the whole conversation, in tokens.

    Attributes:
        line: the line of the first message that changed, from 0.
        held: tokens before it that stay cached, including system prompt and tool definitions.
        resent: tokens from there on, which have to be cached again.
        saved: tokens by which the request is smaller.
    """

    line: int
    held: int
    resent: int
    saved: int

    def pays_after(self, price: Price) -> int | None:
        """Return the number of requests after which the compaction has paid for the lost cache.

        Without it, each request would have read the whole conversation from the cache. None if the
        request is not smaller, or if cache reads cost nothing.

            saved 50,000 at 0.30 per million: gain 0.015 per request
            resent 30,000 at 3.75 - 0.30:     loss 0.1035       pays after 7 requests
        """
        gain = self.saved * price.cache_read
        if gain <= 0:
            return None
        loss = self.resent * max(0.0, price.cache_write - price.cache_read)
        return max(1, -int(-loss // gain))


class SentRequest(Record, kw_only=False):
    """A request in tokens, of which ``held`` are cached from the request before."""

    tokens: int
    held: int


class InputCost(Record, kw_only=False):
    """The cost of the input of requests in US dollars, with and without a prompt cache."""

    cached: float
    uncached: float


def input_cost(requests: Sequence[SentRequest], prices: PriceTable, model: str) -> InputCost | None:
    """Return the input cost of requests; None for a model without a price."""
    cached = uncached = 0.0
    for request in requests:
        price = prices.price_for(model, request.tokens)
        if price is None:
            return None
        uncached_tokens = request.tokens - request.held
        cached += request.held * price.cache_read + uncached_tokens * price.cache_write
        uncached += request.tokens * price.input
    return InputCost(cached / MILLION, uncached / MILLION)


def cache_use(
    before: Sequence[Message], after: Sequence[Message], request: RequestModel
) -> CacheUse | None:
    """Compare a conversation before and after; None if messages were only added at its end."""
    n_alike = common_prefix(before, after)
    if n_alike == len(before):
        return None
    held, after_tokens = request.tokens(after[:n_alike]), request.tokens(after)
    return CacheUse(
        line=before[n_alike].line,
        held=held,
        resent=after_tokens - held,
        saved=request.tokens(before) - after_tokens,
    )


def common_prefix(before: Sequence[Message], after: Sequence[Message]) -> int:
    """Return how many messages at the beginning are equal."""
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
    """Return which record's usage to rewrite, and its new tokens, so that the client sees the size.

    ``after`` are the messages still sent, ``tokens`` is the size of the next request. Messages
    after the newest answer are subtracted, since clients add these themselves. None if the reported
    usage is still right, if nothing was reported, and for several conversations.
    """
    if len(split_conversations(after)) != 1:
        return None
    usage_line = transcript.session.usage_line
    newest = _newest_answer(after, is_reported=usage_line is None)
    if newest is not None and newest < common_prefix(transcript.effective, after):
        return None
    later_tokens = sum(map(size, after[newest + 1 :])) if newest is not None else 0
    input_tokens = max(1, tokens - later_tokens)
    if usage_line is not None:
        return UsageRestatement(line=usage_line, tokens=input_tokens)
    if newest is None or after[newest].locks.immutable_reason:
        return None
    return UsageRestatement(line=after[newest].line, id=after[newest].id, tokens=input_tokens)


def _newest_answer(messages: Sequence[Message], *, is_reported: bool) -> int | None:
    for index in reversed(range(len(messages))):
        message = messages[index]
        is_answer = message.role == "assistant" and not message.origin.is_synthetic
        has_usage = message.usage is not None and message.usage.context > 0
        if is_answer and (has_usage or not is_reported):
            return index
    return None


class ExtraOptions(Record):
    """Files and text to count in addition to a transcript; ``prompt`` is text, others are paths."""

    system: str | None = ask(
        None,
        "Also count this system prompt.",
        MEASURED,
        READS,
        path="settings",
        metavar="FILE",
    )
    tools: str | None = ask(
        None,
        "Also count these tool definitions (JSON).",
        MEASURED,
        READS,
        path="settings",
        metavar="FILE",
    )
    prompt: str | None = ask(None, "Also count this prompt.", MEASURED, READS, metavar="TEXT")
    attach: tuple[str, ...] = ask(
        (),
        "Also count the text of this file (repeatable).",
        MEASURED,
        READS,
        path="settings",
        metavar="FILE",
    )


class Extras(Record):
    """Messages in a request before and after the conversation that are not in the transcript."""

    before: tuple[Message, ...] = ()
    after: tuple[Message, ...] = ()

    def around(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Return messages with the extras around them."""
        return (*self.before, *messages, *self.after)


NO_EXTRAS = Extras()


def read_extras(options: ExtraOptions) -> Extras:
    """Read the files that the options name.

    Raises NoInputError for an unreadable file, UsageError for tools that are not JSON.
    """
    return Extras(before=tuple(_before(options)), after=tuple(_after(options)))


def _before(options: ExtraOptions) -> Iterator[Message]:
    if options.system is not None:
        yield system_prompt(_text_of(options.system))
    if options.tools is not None:
        yield tool_definitions(_definitions(options.tools))


def system_prompt(text: str) -> Message:
    """Return a system prompt that is sent beside the messages."""
    return _message("--system", "system", TextPart(text=text))


def tool_definitions(definitions: Iterable[object]) -> Message:
    """Return tool definitions that are sent beside the messages, each a JSON value."""
    parts = (ToolDefinitionPart(name="", text=json_text(value)) for value in definitions)
    return _message("--tools", "system", *parts)


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


def _definitions(path: str) -> list[object]:
    values, damage = decode(open_input(path, TEXT_LIMITS).data)
    if damage is not None or not values:
        raise UsageError(f"{path}: is not JSON; --tools takes a JSON list of tool definitions")
    definitions = values[0]
    if isinstance(definitions, dict):
        definitions = definitions.get("tools", [definitions])
    if not isinstance(definitions, list):
        raise UsageError(f"{path}: not a list; --tools takes a JSON list of tool definitions")
    return definitions


class SizedRequest(Record):
    """The next request of a conversation.

    ``messages`` include the extras around the conversation; ``counted`` are their tokens,
    ``unseen`` those sent but not counted. ``n_messages`` and ``n_turns`` exclude extras.
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
        """Return the measurements that a trigger, or a level of a profile, compares."""
        return TriggerInput(
            tokens=self.tokens,
            available=limits.base_tokens,
            turns=self.n_turns,
            messages=self.n_messages,
            window=limits.budget.window,
        )


class Totals(Record):
    """The size of a transcript's effective history before or after a compaction.

    ``messages`` and ``tokens`` are those of all conversations, ``largest_counted`` is the count of
    the largest one, and ``unseen`` what its next request holds besides its messages.
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
    """Return the totals of all messages; ``largest`` is the largest conversation's request."""
    return Totals(
        messages=len(messages),
        tokens=meter.total(messages),
        largest_counted=largest.counted,
        unseen=largest.unseen,
    )


def sized_request(
    conversation: Sequence[Message], meter: Meter, unseen: int, extras: Extras = NO_EXTRAS
) -> SizedRequest:
    """Return the next request of one conversation; see ``SizedRequest`` for ``unseen``."""
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
    """Return the next request of each conversation; for an empty history one empty request."""
    conversations = split_conversations(history) or ((),)
    return tuple(
        sized_request(conversation, meter, unseen, extras) for conversation in conversations
    )


def largest_of(requests: Sequence[SizedRequest]) -> SizedRequest:
    """Return the largest request, which represents its file; of several the first."""
    return max(requests, key=lambda request: request.tokens)
