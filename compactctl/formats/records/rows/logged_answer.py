"""What a logged answer says: an object as its API gave it, a text, or messages."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from compactctl.formats.records.json_values import list_or_empty, object_or_empty
from compactctl.formats.records.message_draft import MessageDraft
from compactctl.model.message import JsonPath, TextPart
from compactctl.model.paths import value_at

_Said = tuple[JsonPath, MessageDraft | None]

# Where an object has a message that is not wrapped as its API does: in Ollama's answers and in
# those of tracers, or it is one itself.
_MESSAGE: tuple[JsonPath, ...] = (("message",), ())
# Where it has several.
_MESSAGES: tuple[JsonPath, ...] = (("output",), ("messages",))


class AnswerReader(Protocol):
    """What is asked of a conversation for this."""

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        """Return what a record at ``path`` says, None when it is not a message."""

    def answer(
        self, answer: Mapping[str, Any], path: JsonPath
    ) -> tuple[JsonPath, MessageDraft] | None:
        """Return what an API answered at ``path``, and where the message in it stands."""


def said_in(value: object, path: JsonPath, conversation: AnswerReader) -> Iterable[_Said]:
    """Return the messages of an answer at ``path``, with the places where they stand.

    What stands in a list and is not a message is None.
    """
    if isinstance(value, str):
        return ((path, MessageDraft(role="assistant", parts=(TextPart(text=value, path=path),))),)
    if not isinstance(value, Mapping):
        return _each(list_or_empty(value), path, conversation)
    said = conversation.answer(value, path) or _one(value, path, conversation)
    if said is not None:
        return (said,)
    lists = ((value_at(value, at), (*path, *at)) for at in _MESSAGES)
    return [said for items, at in lists for said in _each(list_or_empty(items), at, conversation)]


def _one(value: Mapping[str, Any], path: JsonPath, conversation: AnswerReader) -> _Said | None:
    for at in _MESSAGE:
        place = (*path, *at)
        draft = conversation.message(object_or_empty(value_at(value, at)), place)
        if draft is not None:
            return place, draft
    return None


def _each(items: list[Any], path: JsonPath, conversation: AnswerReader) -> Iterator[_Said]:
    for index, item in enumerate(map(object_or_empty, items)):
        at = (*path, index)
        # Gemini streams an answer as a list of such.
        yield conversation.answer(item, at) or _one(item, at, conversation) or (at, None)
