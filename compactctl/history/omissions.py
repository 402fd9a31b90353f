"""What a client leaves out of the history when it makes a request, and what edits do to it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise

from compactctl.model.edit import Edit, Hide
from compactctl.model.message import (
    CallId,
    Message,
    MessageId,
    OmittedPart,
    Part,
    ToolCallPart,
    ToolResultPart,
)
from compactctl.model.transcript import Omission, Transcript
from compactctl.records import replace


def omitted(part: Part, noun: str, detail: str) -> OmittedPart:
    """Return what stands for a part that is not sent; one that already was not stays as it is."""
    if isinstance(part, OmittedPart):
        return part
    return OmittedPart(noun=noun, detail=detail, path=part.path)


def with_each(message: Message, change: Callable[[Part], Part]) -> Message:
    """Return a message with each of its parts as ``change`` returns it."""
    parts = tuple(map(change, message.parts))
    return message if parts == message.parts else replace(message, parts=parts)


def sent_messages(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return the messages without those of which nothing is sent."""
    return tuple(message for message in messages if not _is_omitted(message))


def as_sent(
    transcript: Transcript,
    history: tuple[Message, ...],
    marked: Iterable[Message],
    others: Iterable[Omission] = (),
) -> Transcript:
    """Return a transcript with what its client sends of a history.

    ``marked`` is the history with what the client leaves out as omitted parts; ``others`` are what
    it cuts or replaces, of which only what it sends counts.
    """
    marked = tuple(marked)
    effective = sent_messages(marked)
    sent_ids = {message.id for message in effective}
    return replace(
        transcript,
        effective=effective,
        with_omitted=() if effective == history else history,
        omissions=(
            *find_omissions(marked),
            *(omission for omission in others if omission.message in sent_ids),
        ),
    )


def with_answers(message: Message, calls: Collection[CallId], answer: str) -> Message:
    """Add what the client makes up as a result to those of ``calls`` that have none yet."""

    def answered(part: Part) -> Part:
        if not isinstance(part, ToolCallPart) or part.embedded or part.added:
            return part
        return replace(part, added=answer) if part.call_id in calls else part

    return with_each(message, answered)


def find_omissions(messages: Iterable[Message]) -> Iterator[Omission]:
    """Yield what is left out of each message."""
    for message in messages:
        for part in message.parts:
            match part:
                case OmittedPart():
                    yield Omission(message=message.id, noun=part.noun, detail=part.detail)
                case ToolResultPart() if part.omitted_media:
                    yield Omission(
                        message=message.id,
                        noun="image",
                        detail="over the limit of a request",
                        count=part.omitted_media,
                    )


def cut_results(message: MessageId, count: int = 1) -> Omission:
    """Return that long results of a message are sent without what is in their middle."""
    return Omission(
        message=message, noun="part", detail="in the middle of long results", count=count
    )


def replaced_results(
    before: Iterable[Message], after: Iterable[Message], detail: str = "replaced by a note"
) -> Iterator[Omission]:
    """Yield the results instead of which the client sends a note, given both histories."""
    for old, new in zip(before, after, strict=True):
        count = sum(
            isinstance(part, ToolResultPart) and part.cleared and not was.cleared
            for was, part in zip(old.parts, new.parts, strict=True)
            if isinstance(was, ToolResultPart)
        )
        if count:
            yield Omission(message=old.id, noun="result", detail=detail, count=count)


def with_omitted_hidden(
    edits: Sequence[Edit], history: Sequence[Message], sent: Iterable[Message]
) -> tuple[Edit, ...]:
    """Return the edits, which also hide what is not sent of the messages that they hide.

    It belongs to them if it is of the same response or stands right behind them. Otherwise the
    client would send it again as soon as the reason why it does not is hidden: the second call with
    an id, for example, once the first one is gone.
    """
    sent_ids = {message.id for message in sent}
    hides = [edit for edit in edits if isinstance(edit, Hide)]
    if not hides or len(sent_ids) == len(history):
        return tuple(edits)
    owner: dict[MessageId, Hide] = {}
    for hide in hides:
        owner |= dict.fromkeys((name for name in hide.ids if name not in owner), hide)
    responses = {
        message.response_id: owner[message.id] for message in history if message.id in owner
    }
    more: dict[int, list[MessageId]] = {}
    staying = [m for m in history if m.id in sent_ids and m.id not in owner]
    calls = {call.call_id for message in staying for call in message.calls}
    for before, message in pairwise((None, *history)):
        if message is None or message.id in sent_ids or message.id in owner:
            continue
        if message.locks.immutable_reason or message.locks.unmovable_reason:
            continue
        if any(result.call_id in calls for result in message.results):
            # Its call stays, and would not be sent either without any result.
            continue
        beside = responses.get(message.response_id) if message.response_id else None
        owning = beside or (owner.get(before.id) if before else None)
        if owning is not None:
            owner[message.id] = owning
            more.setdefault(id(owning), []).append(message.id)
    return tuple(
        replace(edit, ids=_in_order((*edit.ids, *more[id(edit)]), history))
        if id(edit) in more and isinstance(edit, Hide)
        else edit
        for edit in edits
    )


def _in_order(ids: Collection[MessageId], history: Iterable[Message]) -> tuple[MessageId, ...]:
    """Return ids in the order of the history; those that are not in it come first."""
    places = {message.id: place for place, message in enumerate(history)}
    return tuple(sorted(ids, key=lambda name: places.get(name, -1)))


def _is_omitted(message: Message) -> bool:
    return bool(message.parts) and all(isinstance(part, OmittedPart) for part in message.parts)
