"""What an error of a provider is about: the records of the transcript, and what is wrong there."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice

from compactctl.history.faults import (
    Fault,
    Recipient,
    Spot,
    fault_at,
    follows_reasoning,
    may_break,
)
from compactctl.history.pairs import PartIndex, iter_parts
from compactctl.history.turns import find_turns
from compactctl.model.message import (
    Message,
    MessageId,
    OmittedPart,
    Part,
    ToolCallPart,
    ToolResultPart,
    block_path,
    media_of,
)
from compactctl.model.refusal_rule import UNKNOWN, ErrorPlace, RefusalError, RefusalRule
from compactctl.records import Record, replace

# Of an answer, or of a turn, the provider takes all reasoning back or none.
_OF_ANSWER, _OF_TURN = "thinking-modified", "thinking-missing"
_UNREADABLE = "image-readable"
_ENCRYPTED = frozenset({"reasoning-encrypted", "compaction-encrypted"})
# Providers that take each message, or each item, as it is; for others, adjacent ones are joined.
_UNJOINED = frozenset({"openai", "openai-responses", "mistral"})


class ErrorSubject(Record):
    """What an error is about.

    Attributes:
        recipient: who refused the request, with what the error says of them.
        rule: the rule that was broken, as far as the error tells.
        faults: the places that break it.
        place: the place that the error names, if nothing in the transcript breaks the rule there.
        is_exact: whether the error itself names the places.
    """

    recipient: Recipient
    rule: RefusalRule
    faults: tuple[Fault, ...] = ()
    place: Fault | None = None
    is_exact: bool = False

    @property
    def in_document(self) -> "ErrorSubject":
        """The same in a file whose only line it is."""
        faults = tuple(replace(fault, is_in_document=True) for fault in self.faults)
        place = self.place and replace(self.place, is_in_document=True)
        return replace(self, faults=faults, place=place)


def find_subject(
    error: RefusalError,
    faults: Iterable[Fault],
    sent: Sequence[Message],
    stored: Sequence[Message],
    recipient: Recipient,
) -> ErrorSubject:
    """Return what an error is about.

    ``faults`` are those that the transcript shows, and ``sent`` are the messages of the request;
    ``stored`` are those of the file, which an older client may have sent, () if it is the same.
    The place in the error decides between several faults, and between what the transcript does not
    show to be faulty. Faults elsewhere count if nothing there can be meant, since a client may put
    messages of its own into the request.
    """
    rule_ids = {rule.id for rule in error.rules}
    is_unknown = UNKNOWN in error.rules
    candidates = [fault for fault in faults if is_unknown or fault.rule.id in rule_ids]
    with_id = [*_named_by_id(error.place, sent)]
    with_stored_id = [*_named_by_id(error.place, stored)]
    if named := _among(candidates, with_stored_id, error.place, stored):
        return replace(_subject(named, recipient), is_exact=True)
    places = [with_id] if with_id else [*_named_by_index(error, sent, recipient)]
    for parts in places:
        named = _among(candidates, parts, error.place, sent)
        if named := named or _suspected(error, parts, sent, recipient):
            named = _of_medium(named, error.place.medium, sent)
            return replace(_subject(named, recipient), is_exact=True)
    if error.place.call_id or error.place.item_id or is_unknown:
        # What is not a message has no id here.
        named = [fault for fault in candidates if fault.record is not None]
    else:
        named = candidates or _suspected_anywhere(error, sent, recipient)
    if named:
        return _subject(named, recipient)
    rule, first = error.rules[0], next(filter(None, places), [])[:1]
    place = next(iter(_faults_at(rule, first, sent, recipient)), None)
    return ErrorSubject(recipient=recipient, rule=rule, place=place)


def _subject(faults: Sequence[Fault], recipient: Recipient) -> ErrorSubject:
    """Return the faults as the subject of an error, also for those who look for them again."""
    named = frozenset(fault.place for fault in faults if fault.message)
    return ErrorSubject(
        recipient=replace(recipient, named=named),
        rule=faults[0].rule,
        faults=tuple(replace(fault, is_named=True) for fault in faults),
    )


def _named_by_id(place: ErrorPlace, sent: Sequence[Message]) -> Iterator[PartIndex]:
    for index, part in iter_parts(sent):
        item_id = sent[index.message].item_id
        is_item = item_id is not None and item_id.text == place.item_id
        if is_item or _has_call_id(part, place):
            yield index


def _has_call_id(part: Part, place: ErrorPlace) -> bool:
    """Whether a call or result has the id; pi joins that of the call to that of its item.

    call_7|fc_9
    """
    if not isinstance(part, ToolCallPart | ToolResultPart) or not part.call_id:
        return False
    call_id, bar, item_id = part.call_id.partition("|")
    is_item = bool(bar) and isinstance(part, ToolCallPart) and item_id == place.item_id
    return is_item or place.call_id in (part.call_id, call_id)


def _named_by_index(
    error: RefusalError, sent: Sequence[Message], recipient: Recipient
) -> Iterator[list[PartIndex]]:
    """Yield the parts of the block or call that an error names, then those of its message."""
    place = error.place
    index = place.item if place.message is None else place.message
    if index is None:
        yield []
        return
    blocks = [*_blocks(_messages_at(index, error, sent, recipient), sent)]
    if place.block is not None:
        yield [part for number, part in blocks if number == place.block]
    if place.call is not None:
        calls = [p for _, p in blocks if isinstance(_part_at(p, sent), ToolCallPart)]
        yield calls[place.call : place.call + 1]
    yield [part for _, part in blocks]


def _blocks(numbers: Iterable[int], sent: Sequence[Message]) -> Iterator[tuple[int, PartIndex]]:
    """Yield the parts of a message of the request, each with the number of its block.

    A block may have several parts, and one that a client leaves out has none.
    """
    start = 0
    for number in numbers:
        parts = sent[number].parts
        is_whole = not any(isinstance(part, OmittedPart) for part in parts)
        last = start - 1
        for n, part in enumerate(parts):
            if isinstance(part, OmittedPart):
                continue
            depth, path = len(sent[number].record_path), block_path(part)
            block = path[-1] if len(path) > depth and is_whole else None
            last = start + block if isinstance(block, int) else last + 1
            yield last, PartIndex(number, n)
        start = last + 1


def _messages_at(
    index: int, error: RefusalError, sent: Sequence[Message], recipient: Recipient
) -> Sequence[int]:
    """Return the messages, by index, that are the one of that index in the request."""
    if not recipient.client and any(message.record_path for message in sent):
        return [number for number, message in enumerate(sent) if _index_in_list(message) == index]
    return next(islice(_sent_messages(error, sent, recipient), index, None), ())


def _index_in_list(message: Message) -> int | None:
    return next((step for step in reversed(message.record_path) if isinstance(step, int)), None)


def _sent_messages(
    error: RefusalError, sent: Sequence[Message], recipient: Recipient
) -> Iterator[Sequence[int]]:
    """Yield the messages of the request in order, each as those of ``sent`` that it is made of.

    A client sends its system prompt outside of the list, or as its first message.
    """
    has_prompt = bool(sent) and sent[0].role == "system"
    provider = error.provider or recipient.provider
    if provider in _UNJOINED:
        is_listed = provider != "openai-responses"
        if is_listed and recipient.client and not has_prompt:
            yield ()
        yield from ((number,) for number in range(0 if is_listed else has_prompt, len(sent)))
        return
    said = (number for number, message in enumerate(sent) if message.role != "system")
    for _, numbers in groupby(said, lambda number: sent[number].role == "assistant"):
        yield tuple(numbers)


def _among(
    candidates: Iterable[Fault],
    parts: Iterable[PartIndex],
    place: ErrorPlace,
    sent: Sequence[Message],
) -> list[Fault]:
    """Return the faults that are at one of the parts, or on the line that an error names."""
    places: set[tuple[MessageId, int | None]] = set()
    for index in parts:
        places |= {(sent[index.message].id, index.part), (sent[index.message].id, None)}
    return [
        fault
        for fault in candidates
        if (fault.message, fault.part) in places or fault.line + 1 == place.line
    ]


def _of_medium(faults: list[Fault], number: int | None, sent: Sequence[Message]) -> list[Fault]:
    """Return those of the medium in the block of a tool result with that number, or all."""
    if number is None:
        return faults
    parts = {message.id: message.parts for message in sent}
    chosen = [
        replace(fault, medium=index)
        for fault in faults
        if fault.message is not None and fault.part is not None
        for index, medium in enumerate(media_of(parts[fault.message][fault.part]))
        if number in medium.path[-2:] and fault.medium in (None, index)
    ]
    return chosen or faults


def _suspected(
    error: RefusalError, parts: Sequence[PartIndex], sent: Sequence[Message], recipient: Recipient
) -> list[Fault]:
    """Return what an error means by the parts although the transcript shows no fault there."""
    for rule in error.rules:
        if rule.id == _OF_TURN and parts:
            turn = next(turn for turn in find_turns(sent) if parts[0].message in turn)
            parts = [index for index, _ in iter_parts(sent) if index.message in turn]
        breaking = [part for part in parts if _may_break(rule, part, sent)]
        if breaking:
            return _faults_at(rule, _with_siblings(rule, breaking, sent), sent, recipient)
    return []


def _suspected_anywhere(
    error: RefusalError, sent: Sequence[Message], recipient: Recipient
) -> list[Fault]:
    """Return what an error may mean that names no place where it can be.

    The provider has read what is before the newest answer, so that of images only later ones can be
    unreadable.
    """
    for rule in error.rules:
        parts = [index for index, _ in iter_parts(sent) if _may_break(rule, index, sent)]
        if rule.id in (_OF_ANSWER, _OF_TURN):
            parts = _with_siblings(rule, parts[-1:], sent)
        elif rule.id == _UNREADABLE:
            answers = (n for n, message in enumerate(sent) if message.role == "assistant")
            newest = max(answers, default=-1)
            parts = [part for part in parts if part.message > newest]
        elif rule.id not in _ENCRYPTED:
            parts = []
        if parts:
            return _faults_at(rule, parts, sent, recipient)
    return []


def _part_at(place: PartIndex, sent: Sequence[Message]) -> Part:
    return sent[place.message].parts[place.part]


def _may_break(rule: RefusalRule, place: PartIndex, sent: Sequence[Message]) -> bool:
    return may_break(rule.id, sent[place.message], _part_at(place, sent))


def _with_siblings(
    rule: RefusalRule, parts: Sequence[PartIndex], sent: Sequence[Message]
) -> list[PartIndex]:
    """Return parts with those that the same request would be refused for next."""
    if not parts:
        return []
    first = sent[parts[0].message]
    match rule.id:
        case "thinking-modified":
            numbers = _answer(parts[0].message, sent)
        case "thinking-missing":
            numbers = next(turn for turn in find_turns(sent) if parts[0].message in turn)
        case "thinking-signature":
            models = {first.model} - {_newest_model(sent), None}
            numbers = [n for n, message in enumerate(sent) if message.model in models]
        case "reasoning-encrypted":
            numbers = range(len(sent))
        case "reasoning-missing":
            numbers = [n for n in range(len(sent)) if not follows_reasoning(n, sent)]
        case _:
            numbers = ()
    messages = set(numbers)
    siblings = (index for index, _ in iter_parts(sent) if index.message in messages)
    return sorted({*parts, *(part for part in siblings if _may_break(rule, part, sent))})


def _answer(number: int, sent: Sequence[Message]) -> Sequence[int]:
    """Return the messages that one answer of the model is stored in."""
    response = sent[number].response_id
    if response is None:
        return (number,)
    return [n for n, message in enumerate(sent) if message.response_id == response]


def _newest_model(sent: Sequence[Message]) -> str | None:
    return next((message.model for message in reversed(sent) if message.model), None)


def _faults_at(
    rule: RefusalRule, parts: Iterable[PartIndex], sent: Sequence[Message], recipient: Recipient
) -> list[Fault]:
    return [fault_at(sent, Spot(*part), rule, recipient) for part in parts]
