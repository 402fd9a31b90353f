"""What a provider or client refuses in a conversation: the rule, the place and the limit."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from compactctl.history.pair_faults import MISPLACED, PAIR_RULES, PairOrder, find_pair_faults
from compactctl.history.pairs import PartIndex, iter_parts
from compactctl.model.characters import has_halves
from compactctl.model.island import Island
from compactctl.model.message import (
    FilePart,
    JsonPath,
    MediaPart,
    Message,
    MessageId,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinitionPart,
    ToolResultPart,
    block_path,
    is_compaction,
    media_of,
)
from compactctl.model.refusal_rule import RefusalRule
from compactctl.model.transcript import RefusedRecord
from compactctl.records import Record, field, replace
from compactctl.tokens.client_sizes import parse_version
from compactctl.tokens.media import base64_length

# Ids of calls and names of tools.
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_BEDROCK_ID = re.compile(r"[a-zA-Z0-9_.:-]+")
IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
# The number of images from which the smaller limit of pixels holds, by Anthropic's page on vision.
_MANY_IMAGES = 20
_LONG_WINDOW = 200_000
# Fewer characters than any signature or encrypted reasoning that a provider was seen to give.
_MIN_SIGNATURE = 100
# The actions of OpenAI's web search.
_SEARCH_ACTIONS = frozenset({"search", "open_page", "find_in_page"})
_MEGABYTE = 1 << 20
_ENDED_BY_PROMPT = frozenset({"ends-with-assistant"})
# Providers whose limit of an image is one of its base64; that of others is one of its bytes.
_COUNTING_BASE64 = frozenset({"anthropic"})
_IN_BYTES = frozenset({"image-bytes", "document-bytes", "request-bytes"})
NamedPlace = tuple[str, MessageId | None, int | None, int | None]
"""The id of a rule, and the message, the part and the medium, by index, that break it."""
_PAIRS: Mapping[str, RefusalRule] = {
    rule.id: rule
    for rule in (
        RefusalRule(
            id="call-without-result",
            providers=(),
            says="tool call without a result",
            repaired="tool call without a result left out",
            source="every provider",
        ),
        RefusalRule(
            id="result-without-call",
            providers=(),
            says="tool result without a call",
            repaired="tool result without a call left out",
            source="every provider",
        ),
    )
}


class Recipient(Record):
    """Who gets the next request, and what they refuse.

    Attributes:
        provider: the API, as the rules name it; "" if unknown.
        client: the display name of the client that makes the request, "" for none.
        version: that of the client that wrote the newest record, None if unknown.
        model: the model; "" if unknown.
        window: its context window in tokens, None if unknown.
        rules: all rules by id; by default those that every provider has.
        pair_order: where the result of a call must stand.
        is_request: whether the messages are one request, which is sent as it is.
        sees_all: whether all text of the messages was read.
        named: what an error of the provider is about; it may show only there.
    """

    provider: str = ""
    client: str = ""
    version: str | None = None
    model: str = ""
    window: int | None = None
    rules: Mapping[str, RefusalRule] = field(default_factory=lambda: _PAIRS)
    pair_order: PairOrder = "anywhere"
    is_request: bool = False
    sees_all: bool = True
    named: frozenset[NamedPlace] = frozenset()

    def limit(self, rule: RefusalRule) -> int:
        """Return the largest number that the provider accepts; 0 if the rule has no limit."""
        if (self.window or 0) > _LONG_WINDOW:
            return rule.limits.get(f"{self.provider}-long", rule.limits.get(self.provider, 0))
        return rule.limits.get(self.provider, 0)

    def refuses_by(self, rule: RefusalRule) -> bool:
        """Whether the rule holds for the provider; every provider may require whole pairs."""
        return self.provider in rule.providers or (not self.provider and rule.id in PAIR_RULES)

    def fixed_since(self, rule: RefusalRule) -> str | None:
        """Return since which version the client fixes such faults, None if its own does not.

        A version that cannot be read is taken for a newer one.
        """
        since = rule.fixed_by.get(self.client)
        version = parse_version(self.version or "")
        is_older = since is not None and () < version < parse_version(since)
        return None if is_older else since


class Spot(NamedTuple):
    """Where a rule is broken: a message and a part of it by index, and a medium of the part.

    ``actual`` is the number that is over the limit, 0 for none.
    """

    message: int
    part: int | None = None
    medium: int | None = None
    actual: int = 0


class Fault(Record):
    """A place for which the next request, or the session, is refused.

    Attributes:
        rule: the rule that it breaks.
        line: the index of its line.
        path: leads to it in its line.
        message: the message, None if it is in none.
        part: the index of the part, None for the whole message.
        medium: the index of a medium in the part, None for the part itself.
        limit: the largest number that is accepted, 0 if the rule has none.
        actual: the number that is over the limit.
        fixed_since: the version since which the client fixes it by itself; None if it does not,
            "" if it is not known since when.
        who: the provider or client that refuses it.
        record: the record, if a client refuses the file.
        is_named: whether an error of the provider is about it.
        is_in_document: whether its line is the whole file, so that only the path names the place.
    """

    rule: RefusalRule
    line: int
    path: JsonPath = ()
    message: MessageId | None = None
    part: int | None = None
    medium: int | None = None
    limit: int = 0
    actual: int = 0
    fixed_since: str | None = None
    who: str = ""
    record: RefusedRecord | None = None
    is_named: bool = False
    is_in_document: bool = False

    @property
    def island(self) -> Island | None:
        """What a cut in the history leaves out; None if it is none."""
        return None if self.record is None else self.record.island

    @property
    def place(self) -> NamedPlace:
        """Where it is, as an error names it."""
        return self.rule.id, self.message, self.part, self.medium

    @property
    def is_refused(self) -> bool:
        """Whether it was refused, or is certain to be and the client does not fix it by itself."""
        return self.is_named or (self.fixed_since is None and self.rule.certain)

    @property
    def outlasts_prompt(self) -> bool:
        """Whether it is refused although the user's next prompt is added to the messages."""
        return self.is_refused and self.rule.id not in _ENDED_BY_PROMPT

    @property
    def text(self) -> str:
        """What is wrong, as a clause; of a cut in the history, what it costs."""
        if self.island is not None:
            return _cost_of(self.island, is_repaired=bool(self.rule.repaired))
        if self.record is not None and self.record.reason:
            return self.record.reason
        actual, limit = f"{self.actual:,}", f"{self.limit:,}"
        if self.rule.id in _IN_BYTES:
            sizes = [f"{number / _MEGABYTE:,.1f} MB" for number in (self.actual, self.limit)]
            # 32.0 MB over a limit of 32.0 MB tells nothing.
            is_told = len(set(sizes)) == len(sizes)
            actual, limit = sizes if is_told else (f"{actual} bytes", f"{limit} bytes")
        says = self.rule.says
        if self.who not in _COUNTING_BASE64:
            says = says.replace(" as base64", "")
        return says.replace("{actual}", actual).replace("{limit}", limit)


def _cost_of(island: Island, *, is_repaired: bool) -> str:
    """Return what a cut leaves out, and whether that comes back."""
    cost = f"the client will not send {island.describe('earlier record')}"
    if not is_repaired:
        return f"{cost}: the context may have been cleared"
    return f"{cost}; rescue brings {'it' if len(island.messages) == 1 else 'them'} back"


def refused_among(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return the faults for which the request, or the session, will be refused."""
    return tuple(fault for fault in faults if fault.is_refused)


def find_faults(
    sent: Sequence[Message],
    stored: Sequence[Message],
    refused: Iterable[RefusedRecord],
    recipient: Recipient,
) -> tuple[Fault, ...]:
    """Return the faults of one conversation, in the order of their lines.

    ``sent`` are its messages as the client sends them, ``stored`` as the file has them, () if that
    is the same: a fault that only the file has is one that the client fixes. ``refused`` are the
    faults of the file.
    """
    in_file = tuple(_faults_in(stored, recipient)) if stored else ()
    # Of a result in a wrong place the client sends nothing: its call only seems to have none.
    misplaced = {(fault.message, fault.part) for fault in in_file if fault.rule.id in MISPLACED}
    as_sent = [
        fault
        for fault in _faults_in(sent, recipient)
        if fault.rule.id not in PAIR_RULES or (fault.message, fault.part) not in misplaced
    ]
    places = {_place(fault) for fault in as_sent}
    only_stored = [_fixed(fault, recipient) for fault in in_file if _place(fault) not in places]
    of_file = [_of_record(record, recipient) for record in refused]
    return tuple(sorted((*of_file, *as_sent, *only_stored), key=_order))


def may_break(rule: str, message: Message, part: Part) -> bool:
    """Whether a part may break a rule although the transcript does not show that it does."""
    match rule:
        case (
            "thinking-signature" | "thinking-modified" | "thinking-missing" | "reasoning-encrypted"
        ):
            return isinstance(part, ReasoningPart) and not part.is_compaction
        case "compaction-encrypted":
            return isinstance(part, ReasoningPart) and part.is_compaction
        case "image-readable":
            return bool(media_of(part))
        case "reasoning-missing":
            return message.item_id is not None
        case _:
            return False


def _place(fault: Fault) -> tuple[str, MessageId | None, int | None]:
    return fault.rule.id, fault.message, fault.part


def _order(fault: Fault) -> tuple[int, tuple[int, ...]]:
    return fault.line, tuple(step for step in fault.path if isinstance(step, int))


def _fixed(fault: Fault, recipient: Recipient) -> Fault:
    """Return a fault that the newest client fixes, unless an older one is in use."""
    is_rated = recipient.client in fault.rule.fixed_by
    return fault if is_rated else replace(fault, fixed_since="")


def _of_record(record: RefusedRecord, recipient: Recipient) -> Fault:
    rule = recipient.rules[record.rule]
    return Fault(
        rule=rule,
        line=record.line,
        path=record.path,
        fixed_since=recipient.fixed_since(rule),
        who=record.client,
        record=record,
    )


def _faults_in(messages: Sequence[Message], recipient: Recipient) -> Iterator[Fault]:
    shown = tuple(_shown_faults(messages, recipient))
    yield from shown
    named = recipient.named.difference(fault.place for fault in shown)
    indices = {message.id: index for index, message in enumerate(messages)} if named else {}
    for name, message_id, part, medium in sorted(named, key=str):
        index = indices.get(message_id or MessageId(""))
        rule = recipient.rules.get(name)
        if index is None or rule is None or part is None:
            continue
        message = messages[index]
        if part < len(message.parts) and may_break(name, message, message.parts[part]):
            yield fault_at(messages, Spot(index, part, medium), rule, recipient)


def _shown_faults(messages: Sequence[Message], recipient: Recipient) -> Iterator[Fault]:
    """Yield what the messages alone show to be refused."""
    parts = tuple(iter_parts(messages))
    calls, media = tuple(_calls(parts)), tuple(_media(parts))
    for name, find_spots in _FINDERS.items():
        rule = recipient.rules.get(name)
        if rule is not None and recipient.refuses_by(rule):
            request = _Request(messages, recipient, recipient.limit(rule), parts, calls, media)
            yield from (fault_at(messages, spot, rule, recipient) for spot in find_spots(request))
    for name, index in find_pair_faults(messages, recipient.pair_order):
        rule = recipient.rules.get(name)
        # A data set may write calls as text of its own, which no request has.
        is_text = recipient.provider == "openai" and _is_embedded(messages, index)
        if rule is not None and recipient.refuses_by(rule) and not is_text:
            yield fault_at(messages, Spot(*index), rule, recipient)


def _is_embedded(messages: Sequence[Message], index: PartIndex) -> bool:
    part = messages[index.message].parts[index.part]
    return isinstance(part, ToolCallPart | ToolResultPart) and part.embedded


def fault_at(
    messages: Sequence[Message], spot: Spot, rule: RefusalRule, recipient: Recipient
) -> Fault:
    """Return the fault of a rule that is broken at a place in the messages."""
    message = messages[spot.message]
    part = None if spot.part is None else message.parts[spot.part]
    since = recipient.fixed_since(rule)
    if isinstance(part, ToolCallPart) and part.added and recipient.client not in rule.fixed_by:
        since = ""
    return Fault(
        rule=rule,
        line=message.line,
        path=message.record_path if part is None else part.path,
        message=message.id,
        part=spot.part,
        medium=spot.medium,
        limit=recipient.limit(rule),
        actual=spot.actual,
        fixed_since=since,
        who=recipient.provider,
        is_named=(rule.id, message.id, spot.part, spot.medium) in recipient.named,
    )


class _Request(NamedTuple):
    """One conversation, also part by part, who gets it, and the limit of the rule in question."""

    messages: Sequence[Message]
    recipient: Recipient
    limit: int
    parts: Sequence[tuple[PartIndex, Part]]
    calls: Sequence[tuple[PartIndex, ToolCallPart]]
    media: "Sequence[_Medium]"


_Finder = Callable[[_Request], Iterator[Spot]]


def _empty_texts(request: _Request) -> Iterator[Spot]:
    """Yield the empty texts; Anthropic takes the blank ones back that its models wrote."""
    for index, part in request.parts:
        if not isinstance(part, TextPart) or part.embedded or part.is_compaction:
            continue
        # A system prompt that is a text instead of a block may be empty.
        if request.messages[index.message].role == "system" and not block_path(part):
            continue
        is_answer = request.messages[index.message].role == "assistant"
        text = part.text + part.added
        if not (text if is_answer and request.recipient.provider == "anthropic" else text.strip()):
            yield Spot(*index)


def _empty_messages(request: _Request) -> Iterator[Spot]:
    """Yield the messages without content; one without parts may have some that was not read."""
    if not request.recipient.sees_all:
        return
    last = len(request.messages) - 1
    for index, message in enumerate(request.messages):
        is_final_answer = index == last and message.role == "assistant"
        if not message.parts and message.role != "system" and not is_final_answer:
            yield Spot(index)


def _repeated_ids(request: _Request) -> Iterator[Spot]:
    earlier_ids: set[str] = set()
    for index, call in request.calls:
        if call.call_id in earlier_ids:
            yield Spot(*index)
        earlier_ids.add(call.call_id)


def _invalid_ids(request: _Request) -> Iterator[Spot]:
    pattern = _BEDROCK_ID if request.recipient.provider == "bedrock" else _ID
    for index, call in request.calls:
        if call.call_id and not pattern.fullmatch(call.call_id):
            yield Spot(*index)


def _long_ids(request: _Request) -> Iterator[Spot]:
    for index, call in request.calls:
        if len(call.call_id) > request.limit > 0:
            yield Spot(*index, actual=len(call.call_id))


def _invalid_names(request: _Request) -> Iterator[Spot]:
    for index, call in request.calls:
        is_too_long = 0 < request.limit < len(call.tool)
        if not call.embedded and (is_too_long or not _ID.fullmatch(call.tool)):
            yield Spot(*index)


def _invalid_inputs(request: _Request) -> Iterator[Spot]:
    is_chat = request.recipient.provider == "openai"
    for index, call in request.calls:
        # In OpenAI's chat, a custom tool takes a free text, and no arguments are an empty one.
        is_free_text = is_chat and (call.path[-1:] != ("arguments",) or not call.arguments)
        if not call.embedded and not is_free_text and not is_object(call.arguments):
            yield Spot(*index)


def is_object(arguments: str) -> bool:
    """Whether the arguments of a call are a JSON object."""
    if not arguments.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        return False


def _lone_surrogates(request: _Request) -> Iterator[Spot]:
    for index, part in request.parts:
        if any(has_halves(text) for text in _texts(part)):
            yield Spot(*index)


def _texts(part: Part) -> tuple[str, ...]:
    match part:
        case TextPart() | ReasoningPart() | ToolResultPart() | FilePart():
            return (part.text,)
        case ToolCallPart():
            return (part.arguments,)
        case _:
            return ()


def _trailing_space(request: _Request) -> Iterator[Spot]:
    if (
        not request.recipient.is_request
        or not request.messages
        or request.messages[-1].role != "assistant"
    ):
        return
    parts = request.messages[-1].parts
    text = parts[-1] if parts else None
    if isinstance(text, TextPart) and text.text != text.text.rstrip():
        yield Spot(len(request.messages) - 1, len(parts) - 1)


def _ends_with_assistant(request: _Request) -> Iterator[Spot]:
    if (
        request.recipient.is_request
        and request.messages
        and request.messages[-1].role == "assistant"
    ):
        yield Spot(len(request.messages) - 1)


def _starts_with_assistant(request: _Request) -> Iterator[Spot]:
    first = next(
        (n for n, message in enumerate(request.messages) if message.role != "system"), None
    )
    if first is None or request.recipient.pair_order == "anywhere":
        return
    message = request.messages[first]
    if message.origin.is_logged_answer:
        return
    if message.role == "assistant" and (request.recipient.provider != "gemini" or message.calls):
        yield Spot(first)


def _undefined_tools(request: _Request) -> Iterator[Spot]:
    has_tools = any(isinstance(part, ToolDefinitionPart) for _, part in request.parts)
    if request.recipient.is_request and not has_tools:
        calls = (index for index, call in request.calls if not call.embedded)
        yield from (Spot(*index) for index in islice(calls, 1))


def _user_after_result(request: _Request) -> Iterator[Spot]:
    for index in range(1, len(request.messages)):
        if request.messages[index].role == "user" and request.messages[index - 1].role == "tool":
            yield Spot(index)


def _surplus_marks(request: _Request) -> Iterator[Spot]:
    n_marks = sum(len(message.cache_marks) for message in request.messages)
    if n_marks > request.limit:
        first = next(n for n, message in enumerate(request.messages) if message.cache_marks)
        yield Spot(first, actual=n_marks)


def _unsigned_reasoning(request: _Request) -> Iterator[Spot]:
    """Yield thinking whose signature cannot be Anthropic's; redacted thinking has none.

    Clients that know several APIs send it as text.
    """
    if request.recipient.pair_order == "anywhere":
        return
    for index, part in request.parts:
        if (
            isinstance(part, ReasoningPart)
            and part.path[-1:] == ("thinking",)
            and part.sealed < _MIN_SIGNATURE
        ):
            yield Spot(*index)


def _unsigned_calls(request: _Request) -> Iterator[Spot]:
    """Yield the first call of each answer of Gemini 3 that has no thought signature before it."""
    if request.recipient.client or not request.recipient.model.startswith("gemini-3"):
        return
    for index, message in enumerate(request.messages):
        for number, part in enumerate(message.parts):
            if isinstance(part, ToolCallPart):
                before = message.parts[:number]
                if not any(isinstance(p, ReasoningPart) and p.sealed for p in before):
                    yield Spot(index, number)
                break


def follows_reasoning(number: int, messages: Sequence[Message]) -> bool:
    """Whether an item of the Responses API, by its index, has reasoning before it in its answer."""
    while number >= 0 and messages[number].role == "assistant":
        if any(isinstance(part, ReasoningPart) for part in messages[number].parts):
            return True
        number -= 1
    return False


def _reasoning_alone(request: _Request) -> Iterator[Spot]:
    for index, message in enumerate(request.messages):
        following = request.messages[index + 1] if index + 1 < len(request.messages) else None
        is_alone = message.is_only_reasoning and not any(map(is_compaction, message.parts))
        if is_alone and (following is None or following.role != "assistant"):
            yield Spot(index)


def _reasoning_without_seal(request: _Request) -> Iterator[Spot]:
    yield from (index for index, part in _without_seal(request) if not part.is_compaction)


def _compactions_without_seal(request: _Request) -> Iterator[Spot]:
    yield from (index for index, part in _without_seal(request) if part.is_compaction)


def _without_seal(request: _Request) -> Iterator[tuple[Spot, ReasoningPart]]:
    for index, part in request.parts:
        if isinstance(part, ReasoningPart) and part.opaque and part.sealed < _MIN_SIGNATURE:
            yield Spot(*index), part


def _reasoning_with_content(request: _Request) -> Iterator[Spot]:
    for index, part in request.parts:
        # Of other APIs, all reasoning stands in the content of a message.
        is_item = part.path[-1:] != ("thinking",)
        if isinstance(part, ReasoningPart) and is_item and "content" in part.path and part.text:
            yield Spot(*index)


def _invalid_searches(request: _Request) -> Iterator[Spot]:
    for index, call in request.calls:
        if call.tool == "web_search" and call.path[-1:] == ("action",):
            action = json.loads(call.arguments) if is_object(call.arguments) else {}
            if action.get("type", "search") not in _SEARCH_ACTIONS:
                yield Spot(*index)


def _empty_results(request: _Request) -> Iterator[Spot]:
    for index, part in request.parts:
        if isinstance(part, ToolResultPart) and part.has_failed and not (part.text or part.media):
            yield Spot(*index)


class _Medium(NamedTuple):
    """A medium of a conversation and its place."""

    spot: Spot
    media: MediaPart

    @property
    def is_image(self) -> bool:
        return self.media.media_type.lower().startswith("image")

    @property
    def pixels(self) -> int:
        return max(self.media.width, self.media.height)

    @property
    def n_encoded(self) -> int:
        return base64_length(self.media.n_bytes)


def _media(parts: Iterable[tuple[PartIndex, Part]]) -> Iterator[_Medium]:
    for index, part in parts:
        is_result = isinstance(part, ToolResultPart)
        for number, media in enumerate(media_of(part)):
            yield _Medium(Spot(*index, medium=number if is_result else None), media)


def _large_images(request: _Request) -> Iterator[Spot]:
    is_base64 = request.recipient.provider in _COUNTING_BASE64
    for medium in request.media:
        n_bytes = medium.n_encoded if is_base64 else medium.media.n_bytes
        if medium.is_image and n_bytes > request.limit > 0:
            yield medium.spot._replace(actual=n_bytes)


def _long_images(request: _Request) -> Iterator[Spot]:
    for medium in request.media:
        if medium.is_image and medium.pixels > request.limit > 0:
            yield medium.spot._replace(actual=medium.pixels)


def _long_images_among_many(request: _Request) -> Iterator[Spot]:
    images = [medium for medium in request.media if medium.is_image]
    if len(images) > _MANY_IMAGES:
        yield from _long_images(request)


def _surplus_images(request: _Request) -> Iterator[Spot]:
    """Yield as many of the oldest images as there are beyond the limit."""
    images = [medium for medium in request.media if medium.is_image or _is_pdf(medium.media)]
    for medium in images[: max(0, len(images) - request.limit)] if request.limit else ():
        yield medium.spot._replace(actual=len(images))


def _unreadable_images(request: _Request) -> Iterator[Spot]:
    for medium in request.media:
        if medium.is_image and medium.media.real_type == "":
            yield medium.spot


def _mistyped_images(request: _Request) -> Iterator[Spot]:
    for medium in request.media:
        real = medium.media.real_type
        if real and (real != _normal_type(medium.media.media_type) or real not in IMAGE_TYPES):
            yield medium.spot


def _normal_type(media_type: str) -> str:
    media_type = media_type.lower()
    return "image/jpeg" if media_type == "image/jpg" else media_type


def _is_pdf(media: MediaPart) -> bool:
    return media.media_type.lower() == "application/pdf"


def _long_documents(request: _Request) -> Iterator[Spot]:
    for medium in request.media:
        if medium.media.pages > request.limit > 0:
            yield medium.spot._replace(actual=medium.media.pages)


def _large_documents(request: _Request) -> Iterator[Spot]:
    for medium in request.media:
        if not medium.is_image and medium.media.n_bytes > request.limit > 0:
            yield medium.spot._replace(actual=medium.media.n_bytes)


def request_size(messages: Sequence[Message]) -> int:
    """Return how large a request with these messages is at least, in bytes."""
    parts = tuple(iter_parts(messages))
    n_bytes = sum(medium.n_encoded for medium in _media(parts) if medium.media.n_bytes)
    return n_bytes + sum(len(text) for _, part in parts for text in _texts(part))


def _large_request(request: _Request) -> Iterator[Spot]:
    """Yield the oldest media without which the request is within its limit of bytes.

    Its first message stands for a request whose texts alone are too large.
    """
    media = [medium for medium in request.media if medium.media.n_bytes]
    actual = n_bytes = request_size(request.messages)
    for medium in media:
        if n_bytes <= request.limit or not request.limit:
            return
        n_bytes -= medium.n_encoded
        yield medium.spot._replace(actual=actual)
    if n_bytes > request.limit > 0:
        yield Spot(0, actual=actual)


def _calls(
    parts: Iterable[tuple[PartIndex, Part]],
) -> Iterator[tuple[PartIndex, ToolCallPart]]:
    return ((index, part) for index, part in parts if isinstance(part, ToolCallPart))


_FINDERS: Mapping[str, _Finder] = {
    "text-empty": _empty_texts,
    "message-empty": _empty_messages,
    "call-id-unique": _repeated_ids,
    "call-id-pattern": _invalid_ids,
    "call-id-length": _long_ids,
    "call-name-pattern": _invalid_names,
    "call-input-object": _invalid_inputs,
    "surrogate": _lone_surrogates,
    "trailing-space": _trailing_space,
    "ends-with-assistant": _ends_with_assistant,
    "first-user": _starts_with_assistant,
    "tools-defined": _undefined_tools,
    "role-order": _user_after_result,
    "cache-control-count": _surplus_marks,
    "thinking-signature": _unsigned_reasoning,
    "thought-signature": _unsigned_calls,
    "reasoning-alone": _reasoning_alone,
    "reasoning-encrypted": _reasoning_without_seal,
    "compaction-encrypted": _compactions_without_seal,
    "reasoning-content": _reasoning_with_content,
    "item-value": _invalid_searches,
    "result-empty": _empty_results,
    "image-bytes": _large_images,
    "image-pixels": _long_images,
    "image-pixels-many": _long_images_among_many,
    "image-count": _surplus_images,
    "image-readable": _unreadable_images,
    "image-media-type": _mistyped_images,
    "pdf-pages": _long_documents,
    "document-bytes": _large_documents,
    "request-bytes": _large_request,
}
