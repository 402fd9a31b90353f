"""What Claude Code does with the rows of a conversation after it has chosen them.

Each step is a function of messages, named as the client names it. A part that is left out becomes
an ``OmittedPart``, so that all others keep their numbers. Known from clients 2.1.197 and 2.1.332;
where they differ, the newest counts. The names of the client's functions are those of 2.1.332.

Steps for which a row states the reason are applied when a session is read. What ``REQUEST_STEPS``
leave out depends on the other messages, and so on what a compaction hides.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from compactctl.clients.records.json_values import (
    count_or_none,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.history.omissions import omitted, with_answers, with_each
from compactctl.model.message import (
    CallId,
    MediaPart,
    Message,
    OmittedPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    media_of,
)
from compactctl.records import Record, replace
from compactctl.tokens.models.lookup import resolve_model

# What the client sends as the result of a call without one at the end. The file does not contain
# its words, so as many others are counted instead.
INTERRUPTED = (
    "[Claude Code puts a note here whose words this transcript lacks: no result of this call was"
    " recorded; look at what it did before it is repeated or taken for done, as nobody knows.]"
)
# Anywhere else it sends this.
MISSING = "[Tool result missing due to internal error]"
_BLANK = frozenset({"", "(no content)", "[Empty text removed]"})
_MAX_STAND_IN = 200
# At most so many media; if there are more, the oldest go until there are 20 fewer than that.
_MAX_MEDIA, _MAX_MEDIA_OF_LONG_WINDOWS, _SPARE_MEDIA = 100, 600, 20
_LONG_WINDOW = 1_000_000
# The same for their characters of base64: 24 MiB, and 10 MiB fewer.
_MAX_MEDIA_BYTES, _SPARE_MEDIA_BYTES = 24 * 2**20, 10 * 2**20
_MODEL = re.compile(
    r"(?:.*[./])?(claude-[\w.-]+?)(?:[-@]\d{8}|-latest)?(?:-v\d+(?::\d+)?)?(?:\[1m\])?",
    re.IGNORECASE | re.DOTALL,
)

Step = Callable[[Sequence[Message]], Sequence[Message]]


class ResultCut(Record):
    """Results that the client replaces by ``stand_in``."""

    calls: frozenset[CallId]
    stand_in: str


class ThinkingStrip(Record):
    """From where on the client leaves out the reasoning before a row.

    It is that from block ``index`` of response ``response`` on; of all responses if that is None.
    """

    response: str | None = None
    index: int = 0


def cut_of(record: Mapping[str, object]) -> ResultCut | None:
    """Return what an attachment ``tool_results_cut`` states (``Vco``, 2.1.332).

    With a cause it holds only under an experiment of the client.
    """
    attachment = object_or_empty(record.get("attachment"))
    stand_in = text_or_empty(attachment.get("standIn"))
    if attachment.get("type") != "tool_results_cut" or "cause" in attachment:
        return None
    if not 0 < len(stand_in) <= _MAX_STAND_IN:
        return None
    calls = list_or_empty(attachment.get("callIds"))
    return ResultCut(
        calls=frozenset(CallId(call) for call in calls if isinstance(call, str)), stand_in=stand_in
    )


def strip_of(record: Mapping[str, object]) -> ThinkingStrip | None:
    """Return what an attachment ``thinking_stripped`` states (``ebs``, 2.1.332)."""
    attachment = object_or_empty(record.get("attachment"))
    if attachment.get("type") != "thinking_stripped":
        return None
    start = object_or_empty(attachment.get("from"))
    response = text_or_none(start.get("messageId"))
    if attachment.get("scope") == "all" or response is None:
        return ThinkingStrip()
    return ThinkingStrip(response=response, index=count_or_none(start.get("thinkingIndex")) or 0)


def is_virtual(record: Mapping[str, object]) -> bool:
    """Whether a row is only shown (``yu``: ``Yp`` since 2.1.197, display only in 2.1.332)."""
    if record.get("type") in ("user", "assistant"):
        return record.get("isVirtual") is True
    return record.get("subtype") == "local_command" and record.get("isDisplayOnly") is True


def drop_virtual(message: Message) -> Message:
    """Return a message that is only shown as one of which nothing is sent (``yu``)."""
    return _without(message, lambda _: True, "message", "that is only shown")


def apply_cuts(messages: Iterable[Message], cuts: Iterable[ResultCut]) -> tuple[Message, ...]:
    """Replace results by the stand-in of the first cut of their call (``Vco``, ``Yco``; 2.1.332).

    Failures stay, and so do results that are no longer than the stand-in.
    """
    stand_ins: dict[CallId, str] = {}
    for cut in cuts:
        for call in cut.calls:
            stand_ins.setdefault(call, cut.stand_in)
    if not stand_ins:
        return tuple(messages)
    return tuple(
        with_each(message, lambda part: _cut_part(part, stand_ins)) for message in messages
    )


def _cut_part(part: Part, stand_ins: Mapping[CallId, str]) -> Part:
    if not isinstance(part, ToolResultPart) or part.outcome == "failed":
        return part
    stand_in = stand_ins.get(part.call_id)
    if stand_in is None or not (part.media or len(part.text) > len(stand_in)):
        return part
    return replace(part, text=stand_in, media=(), cleared=True)


def strip_thinking(
    messages: Sequence[Message], strips: Iterable[tuple[int, ThinkingStrip]]
) -> tuple[Message, ...]:
    """Leave out the reasoning before each strip, which stands before the message with its number.

    ``Ejn``, ``Ata`` and ``Zkr`` of 2.1.332. A block is counted within its response. If the response
    that a strip names is not there, all that is before the strip is left out.
    """
    limits: dict[str, int] = {}
    for place, strip in strips:
        for name, limit in _kept_reasoning(messages[:place], strip):
            limits[name] = min(limits.get(name, limit), limit)
    counts: Counter[str] = Counter()
    stripped: list[Message] = []
    for message in messages if limits else ():
        parts = list(message.parts)
        for number, part in enumerate(parts):
            if isinstance(part, ReasoningPart):
                name = _response(message)
                if counts[name] >= limits.get(name, counts[name] + 1):
                    parts[number] = omitted(part, "reasoning block", "that it has removed")
                counts[name] += 1
        stripped.append(replace(message, parts=tuple(parts)))
    return tuple(stripped) if limits else tuple(messages)


def _kept_reasoning(messages: Sequence[Message], strip: ThinkingStrip) -> Iterator[tuple[str, int]]:
    """Yield how many blocks of reasoning a strip leaves in the responses before it."""
    start = _start_of(messages, strip)
    before: Counter[str] = Counter()
    for index, message in enumerate(messages):
        if message.role != "assistant":
            continue
        name = _response(message)
        if index < (start or 0):
            before[name] += _n_reasoning(message)
        elif start is not None and name == strip.response:
            yield name, strip.index
        else:
            yield name, before[name]


def _start_of(messages: Sequence[Message], strip: ThinkingStrip) -> int | None:
    """Return the index of the message with the block from which a strip begins (``Xer``)."""
    count = 0
    for index, message in enumerate(messages):
        if message.role == "assistant" and _response(message) == strip.response:
            count += _n_reasoning(message)
            if count > strip.index:
                return index
    return None


def drop_unresolved(messages: Sequence[Message]) -> Sequence[Message]:
    """Leave out rows of answers whose calls all lack results (``filterUnresolvedToolUses``, Vce).

    Those of the newest answer, if no prompt follows it, get a result that the client makes up; so
    does 2.1.332, while 2.1.197 leaves them out too.
    """
    results = {part.call_id for message in messages for part in message.results}
    newest = _unanswered_response(messages)
    return [
        _unresolved(message, is_newest=_response(message) == newest)
        if _own_calls(message) and results.isdisjoint(call.call_id for call in _own_calls(message))
        else message
        for message in messages
    ]


def _unresolved(message: Message, *, is_newest: bool) -> Message:
    if is_newest:
        return with_answers(message, {call.call_id for call in message.calls}, INTERRUPTED)
    message = _without(
        message, lambda part: isinstance(part, ToolCallPart), "call", "without a result"
    )
    return _without(message, lambda _: True, "block", "beside a call without a result")


def _unanswered_response(messages: Sequence[Message]) -> str | None:
    """Return the newest response if no prompt follows it, else None."""
    for message in reversed(messages):
        if message.role == "assistant" and _substance(message):
            return _response(message)
        if message.role == "user" and not message.origin.is_injected and _live(message):
            return None
    return None


def drop_empty_answers(messages: Sequence[Message]) -> Sequence[Message]:
    """Leave out answers of nothing but reasoning and white space (``zq``: ``Ker``, ``Ger``).

    That is what remains of a response that was interrupted.
    """
    whole = {_response(message) for message in messages if _substance(message)}
    return [
        message
        if message.role != "assistant" or _response(message) in whole
        else _without(message, lambda _: True, "block", "of an empty answer")
        for message in messages
    ]


def drop_foreign_thinking(messages: Sequence[Message]) -> Sequence[Message]:
    """Leave out signed reasoning of another model than the current one (``pno``, ``vta``, ``pXe``).

    The current model is that of the newest answer. Names of a model with and without its date are
    the same. What the client learned of aliases while it ran (``kqr``) is in no file.
    """
    models = {message.model for message in messages if message.model}
    current = next((message.model for message in reversed(messages) if message.model), None)
    foreign = {model for model in models if _identity(model) != _identity(current or "")}
    if not foreign:
        return messages
    return [
        _without(message, _is_signed, "reasoning block", "of another model")
        if message.model in foreign
        else message
        for message in messages
    ]


def pair_results(messages: Sequence[Message]) -> Sequence[Message]:
    """Leave each call exactly one result, right behind its answer (``ensureToolResultPairing``).

    A second call with one id is left out, and a result that is not the first for a call of the
    answer before it; a call without a result gets one that the client makes up. ``tbs`` and ``xta``
    of 2.1.332, the same in 2.1.197.
    """
    new = list(messages)
    seen: set[CallId] = set()
    calls: set[CallId] = set()
    answers = (message for message in messages if message.role == "assistant")
    by_servers = {result.call_id for answer in answers for result in answer.results}
    groups = list(_turns(messages))
    for number, group in enumerate(groups):
        if new[group[0]].role != "assistant":
            answered: set[CallId] = set()
            for index in group:
                new[index] = _drop_results(new[index], calls, answered)
            continue
        for index in group:
            new[index] = _drop_calls(new[index], seen, by_servers)
        calls = {call.call_id for index in group for call in _own_calls(new[index])}
        following = groups[number + 1] if number + 1 < len(groups) else []
        results = {part.call_id for index in following for part in _results(new[index])}
        for index in group:
            new[index] = with_answers(new[index], calls - results, MISSING)
    return new


def _turns(messages: Sequence[Message]) -> Iterator[list[int]]:
    """Yield the indices of the messages that the client joins to one of the request.

    Consecutive ones of the user are one, and so are all of a response, as long as only results
    stand between them.
    """
    groups: list[list[int]] = []
    responses: dict[str, list[int]] = {}
    has_results = False
    for index, message in enumerate(messages):
        if not _live(message) or message.role == "system":
            continue
        is_answer = message.role == "assistant"
        if is_answer and _response(message) in responses:
            responses[_response(message)].append(index)
        elif not is_answer and groups and messages[groups[-1][0]].role != "assistant":
            groups[-1].append(index)
        else:
            groups.append([index])
            has_results = False
        has_results = has_results or bool(_results(message))
        if is_answer:
            responses.setdefault(_response(message), groups[-1])
        elif not has_results:
            responses = {}
    yield from groups


def _drop_calls(message: Message, seen: set[CallId], answered: set[CallId]) -> Message:
    """Leave out calls of an answer that were made before, and a server's without a result.

    The client looks for a server's result in the same answer only. That of code which calls tools
    stands in a later one, and no session of this client has been seen with it, so it is kept.
    """

    def sent(part: Part) -> Part:
        match part:
            case ToolCallPart() if part.embedded and part.call_id not in answered:
                return omitted(part, "call", "without a result")
            case ToolCallPart() if not part.embedded and part.call_id in seen:
                return omitted(part, "call", "with the id of an earlier one")
            case ToolCallPart() if not part.embedded:
                seen.add(part.call_id)
            case ToolResultPart() if not part.embedded:
                return omitted(part, "result", "without a matching call before it")
        return part

    return with_each(message, sent)


def _drop_results(message: Message, calls: set[CallId], answered: set[CallId]) -> Message:
    """Leave out results that are not the first for one of the calls, which are right before."""

    def sent(part: Part) -> Part:
        if not isinstance(part, ToolResultPart):
            return part
        if part.call_id not in calls:
            return omitted(part, "result", "without a matching call before it")
        if part.call_id in answered:
            return omitted(part, "result", "of a call that already has one")
        answered.add(part.call_id)
        return part

    return with_each(message, sent)


def cap_media(messages: Sequence[Message]) -> Sequence[Message]:
    """Leave out the oldest images and documents over what a request may hold (``ano``).

    100 of them, 600 for a window of a million tokens: as soon as there is one more, the oldest go
    until 80 are left. The same for 24 MiB of base64, down to 14. Both clients; the numbers are
    those of 2.1.332 at Anthropic's own address.
    """
    media = [
        (index, number, position, item)
        for index, message in enumerate(messages)
        for number, part in enumerate(message.parts)
        for position, item in _media(part)
    ]
    model = next((message.model for message in reversed(messages) if message.model), None)
    is_long = resolve_model(model).window >= _LONG_WINDOW
    limit = _MAX_MEDIA_OF_LONG_WINDOWS if is_long else _MAX_MEDIA
    dropped = _over_limits([_base64_size(item) for *_, item in media], limit)
    if not dropped:
        return messages
    new = list(messages)
    by_part = Counter((media[place][0], media[place][1]) for place in dropped)
    gone = {media[place][:3] for place in dropped}
    for index, number in by_part:
        parts = list(new[index].parts)
        part = parts[number]
        if isinstance(part, ToolResultPart):
            remaining = [m for k, m in enumerate(part.media) if (index, number, k) not in gone]
            parts[number] = replace(
                part, media=tuple(remaining), omitted_media=by_part[index, number]
            )
        else:
            parts[number] = omitted(part, "image", "over the limit of a request")
        new[index] = replace(new[index], parts=tuple(parts))
    return new


def _over_limits(sizes: Sequence[int], limit: int) -> set[int]:
    """Return the places of the media that are left out, given the sizes of all."""
    dropped: set[int] = set()
    held: list[int] = []
    for place, _ in enumerate(sizes):
        held.append(place)
        if len(held) > limit:
            surplus = len(held) - (limit - _SPARE_MEDIA)
            dropped.update(held[:surplus])
            held = held[surplus:]
        n_bytes = sum(sizes[other] for other in held)
        if n_bytes > _MAX_MEDIA_BYTES:
            while held and n_bytes > _MAX_MEDIA_BYTES - _SPARE_MEDIA_BYTES:
                n_bytes -= sizes[held[0]]
                dropped.add(held.pop(0))
    return dropped


REQUEST_STEPS: tuple[Step, ...] = (
    drop_unresolved,
    drop_empty_answers,
    drop_foreign_thinking,
    pair_results,
    cap_media,
)
"""What the client does with the history for each request, in its order."""


def mark_omitted(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the history with what the client leaves out of the next request marked as such."""
    for step in REQUEST_STEPS:
        messages = step(messages)
    return tuple(messages)


def _without(
    message: Message, is_dropped: Callable[[Part], bool], noun: str, detail: str
) -> Message:
    return with_each(
        message, lambda part: omitted(part, noun, detail) if is_dropped(part) else part
    )


def _response(message: Message) -> str:
    """Return the id that the provider gave a response; a proxy's second use has a suffix."""
    return (message.response_id or message.id).partition(" ")[0]


def _own_calls(message: Message) -> list[ToolCallPart]:
    """Return the calls that the client runs; a provider answers its own in the same message."""
    return [call for call in message.calls if not call.embedded]


def _results(message: Message) -> list[ToolResultPart]:
    return [result for result in message.results if message.role != "assistant"]


def _live(message: Message) -> bool:
    return any(not isinstance(part, OmittedPart) for part in message.parts)


def _substance(message: Message) -> bool:
    """Whether an answer has more than reasoning and white space (``sRe``)."""
    return message.role == "assistant" and any(
        part.text.strip() not in _BLANK
        if isinstance(part, TextPart)
        else not isinstance(part, ReasoningPart | OmittedPart)
        for part in message.parts
    )


def _n_reasoning(message: Message) -> int:
    return sum(isinstance(part, ReasoningPart) for part in message.parts)


def _is_signed(part: Part) -> bool:
    return isinstance(part, ReasoningPart) and bool(part.sealed or part.opaque)


def _identity(model: str) -> str:
    match = _MODEL.fullmatch(model)
    return match[1].lower() if match else model


def _media(part: Part) -> Iterator[tuple[int, MediaPart]]:
    """Yield the images and documents of a part and their numbers."""
    for number, item in enumerate(media_of(part)):
        if not item.media_type.startswith(("audio/", "video/")):
            yield number, item


def _base64_size(media: MediaPart) -> int:
    return -(-media.n_bytes // 3) * 4
