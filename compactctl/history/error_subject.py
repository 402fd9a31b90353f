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
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.refusal_rule import ErrorPlace, RefusalError, RefusalRule
from compactctl.records import Record, replace

# Of an answer, or of a turn, the provider takes all reasoning back or none.
_OF_ANSWER, _OF_TURN = "thinking-modified", "thinking-missing"
_UNREADABLE = "image-readable"
# Providers that take each message, or each item, as it is; for others, adjacent ones are joined.
_UNJOINED = frozenset({"openai", "openai-responses", "mistral"})


class ErrorSubject(Record):
    """What an error is about.

    Attributes:
        recipient: who refused the request, with what the error says of them.
        rule: the rule that was broken, as far as the error tells.
        faults: the places that break it.
        place: the place that the error names, if nothing in the transcript breaks the rule there.
    """

    recipient: Recipient
    rule: RefusalRule
    faults: tuple[Fault, ...] = ()
    place: Fault | None = None

    @property
    def in_document(self) -> "ErrorSubject":
        """The same in a file whose only line it is."""
        faults = tuple(replace(fault, is_in_document=True) for fault in self.faults)
        place = self.place and replace(self.place, is_in_document=True)
        return replace(self, faults=faults, place=place)


def find_subject(
    error: RefusalError, faults: Iterable[Fault], sent: Sequence[Message], recipient: Recipient
) -> ErrorSubject:
    """Return what an error is about.

    ``faults`` are those that the transcript shows, and ``sent`` are the messages of the request.
    The place in the error decides between several faults, and between what the transcript does not
    show to be faulty. Faults elsewhere count if nothing there can be meant, since a client may put
    messages of its own into the request.
    """
    rule_ids = {rule.id for rule in error.rules}
    candidates = [fault for fault in faults if fault.rule.id in rule_ids]
    places = [[*_named_by_id(error.place, sent)]]
    if not places[0]:
        places = [*_named_by_index(error.place, sent, recipient)]
    for parts in places:
        if named := _among(candidates, parts, error.place, sent):
            return _subject(named, recipient)
        if suspects := _suspects(error.rules[0], parts, sent):
            return _subject(_faults_at(error.rules[0], suspects, sent, recipient), recipient)
    if candidates:
        return _subject(candidates, recipient)
    rule = error.rules[0]
    if suspects := _unnamed_suspects(rule, sent):
        return _subject(_faults_at(rule, suspects, sent, recipient), recipient)
    first = next(filter(None, places), [])[:1]
    place = next(iter(_faults_at(rule, first, sent, recipient)), None)
    return ErrorSubject(recipient=recipient, rule=rule, place=place)


def _subject(faults: Sequence[Fault], recipient: Recipient) -> ErrorSubject:
    """Return the faults as the subject of an error, also for those who look for them again."""
    named = frozenset(
        (fault.rule.id, fault.message, fault.part) for fault in faults if fault.message
    )
    return ErrorSubject(
        recipient=replace(recipient, named=named),
        rule=faults[0].rule,
        faults=tuple(replace(fault, is_named=True) for fault in faults),
    )


def _named_by_id(place: ErrorPlace, sent: Sequence[Message]) -> Iterator[PartIndex]:
    for index, part in iter_parts(sent):
        item_id = sent[index.message].item_id
        is_item = item_id is not None and item_id.text == place.item_id
        is_half = isinstance(part, ToolCallPart | ToolResultPart) and part.call_id == place.call_id
        if is_item or is_half:
            yield index


def _named_by_index(
    place: ErrorPlace, sent: Sequence[Message], recipient: Recipient
) -> Iterator[list[PartIndex]]:
    """Yield the parts of the block that an error names, then those of its whole message."""
    index = place.item if place.message is None else place.message
    if index is None:
        yield []
        return
    parts = [
        PartIndex(number, n)
        for number in _messages_at(index, sent, recipient)
        for n, part in enumerate(sent[number].parts)
        if not isinstance(part, OmittedPart)
    ]
    if place.block is not None:
        yield parts[place.block : place.block + 1]
    yield parts


def _messages_at(index: int, sent: Sequence[Message], recipient: Recipient) -> Sequence[int]:
    """Return the messages, by index, that are the one of that index in the request."""
    if not recipient.client and any(message.record_path for message in sent):
        return [number for number, message in enumerate(sent) if _index_in_list(message) == index]
    return next(islice(_sent_messages(sent, recipient), index, None), ())


def _index_in_list(message: Message) -> int | None:
    return next((step for step in message.record_path if isinstance(step, int)), None)


def _sent_messages(sent: Sequence[Message], recipient: Recipient) -> Iterator[Sequence[int]]:
    """Yield the messages of the request in order, each as those of ``sent`` that it is made of.

    A client sends its system prompt outside of the list, or as its first message.
    """
    has_prompt = bool(sent) and sent[0].role == "system"
    if recipient.provider in _UNJOINED:
        is_listed = recipient.provider != "openai-responses"
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


def _suspects(
    rule: RefusalRule, parts: Iterable[PartIndex], sent: Sequence[Message]
) -> list[PartIndex]:
    """Return the parts by which an error is meant although the transcript shows no fault there."""
    breaking = [part for part in parts if _may_break(rule, part, sent)]
    return _with_siblings(rule, breaking, sent) if breaking else []


def _unnamed_suspects(rule: RefusalRule, sent: Sequence[Message]) -> list[PartIndex]:
    """Return the suspects of an error that names no place where it can be.

    It was answered before the newest answer, so that of images only later ones can be unreadable.
    """
    parts = [index for index, _ in iter_parts(sent) if _may_break(rule, index, sent)]
    if rule.id in (_OF_ANSWER, _OF_TURN):
        return _with_siblings(rule, parts[-1:], sent)
    if rule.id == _UNREADABLE:
        answers = (n for n, message in enumerate(sent) if message.role == "assistant")
        newest = max(answers, default=-1)
        return [part for part in parts if part.message > newest]
    return parts if rule.id == "reasoning-encrypted" else []


def _may_break(rule: RefusalRule, place: PartIndex, sent: Sequence[Message]) -> bool:
    message = sent[place.message]
    return may_break(rule.id, message, message.parts[place.part])


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
