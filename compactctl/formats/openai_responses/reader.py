"""Reads items of the Responses API, bare or in requests and responses that follow one another."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from compactctl.formats.content.response_items import item_draft
from compactctl.formats.openai_responses.exchange import (
    Exchange,
    exchange_in,
    is_progress,
    reported,
)
from compactctl.formats.records.chat_log import ChatLogReader
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.json_text import json_size
from compactctl.formats.records.json_values import list_or_empty
from compactctl.formats.records.message_draft import MessageDraft
from compactctl.formats.records.response_names import ResponseNames
from compactctl.formats.records.rows.envelope import LogRow
from compactctl.model.message import JsonPath, Message, ReportedUsage, ToolCallPart


class ItemConversation:
    """Names the tool of each output by the call that it answers, and the items of a response."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.tools: dict[str, str] = {}
        self.names = ResponseNames(f"{number}-response-")
        self.response: str | None = None
        self.model: str | None = None

    def opening(
        self,
        request: Mapping[str, Any],  # noqa: ARG002 - see ``Exchange.opening``
        path: JsonPath,  # noqa: ARG002
    ) -> Iterable[tuple[JsonPath, MessageDraft]]:
        """What is sent before the items is told by their ``Exchange``."""
        return ()

    def answer(self, answer: Mapping[str, Any], path: JsonPath) -> None:
        """A response is a list of items, which ``ResponsesReader`` reads as such."""

    def usage(self, answer: Mapping[str, Any]) -> ReportedUsage | None:
        """Return the usage of a response; see ``reported``."""
        return reported(answer)

    def message(self, record: Mapping[str, Any], path: JsonPath) -> MessageDraft | None:
        """Return what an item says, as part of its response; see ``item_draft``."""
        draft = item_draft(record, path, self.tools)
        if draft is None or not draft.parts:
            return draft
        calls = (part for part in draft.parts if isinstance(part, ToolCallPart))
        self.tools.update((call.call_id, call.tool) for call in calls)
        name = self.names.name(draft)
        return (
            draft
            if name is None
            else replace(draft, response_id=self.response or name, model=self.model)
        )


@dataclass(frozen=True, slots=True)
class _Place:
    """An exchange in its conversation: the one it goes on from, and the places of its messages."""

    conversation: ItemConversation
    before: "_Place | None"
    opening: range
    items: range

    def path(self) -> Iterator["_Place"]:
        """Yield it and all that it goes on from."""
        place: _Place | None = self
        while place is not None:
            yield place
            place = place.before


class ResponsesReader(ChatLogReader):
    """Joins exchanges to conversations by what each says it goes on from."""

    def __init__(self, name: str) -> None:
        super().__init__(name, ItemConversation, members="input")
        self._places: list[_Place] = []
        # What goes on from a response, or from all of a conversation, names its id.
        self._named: dict[str, _Place] = {}

    def silent(self, record: Mapping[str, Any]) -> str:
        """Return what a record is that holds nothing to send."""
        return f"{record.get('type', 'message')} without content"

    def sent(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        """Return what the next request of each conversation sends, its own instructions first.

        Those of older requests are not sent again, nor is what another exchange went on from.
        """
        newest = {place.conversation.number: place for place in self._places}.values()
        opening = [at for place in newest for at in place.opening]
        path = {at for place in newest for each in place.path() for at in each.items}
        logged = {at for each in self._places for at in (*each.opening, *each.items)}
        rest = (at for at in range(len(messages)) if at in path or at not in logged)
        return tuple(messages[at] for at in (*opening, *rest))

    def row(self, value: Mapping[str, Any]) -> LogRow | None:
        """Return where items stand in a request, a response or an event of a stream."""
        found = is_progress(value) or exchange_in(value) is not None
        return LogRow((), (self.members,)) if found else None

    def _document(
        self,
        document: Mapping[str, Any],
        row: LogRow,  # noqa: ARG002 - an exchange tells it
        path: JsonPath,
        decoded: Decoded,
    ) -> None:
        exchange = exchange_in(document)
        if is_progress(document) or exchange is None:
            self.gather.meta("event of a stream", decoded.n_bytes)
        elif path:
            self.gather.opaque(decoded, "a request in an array", json_size(document))
        else:
            self._exchange(exchange, decoded)

    def _exchange(self, exchange: Exchange, decoded: Decoded) -> None:
        before = self._before(exchange)
        if exchange.previous and before is None:
            self.gather.warnings.append(
                f"line {decoded.index + 1}: what {exchange.previous} answered is not in the file,"
                " and what was sent up to it is not counted"
            )
        conversation = before.conversation if before else ItemConversation(self._next())
        start = len(self.gather.messages)
        for path, draft in exchange.opening():
            self._beside(draft, path, conversation, decoded)
        items = len(self.gather.messages)
        self._request(exchange, conversation, decoded)
        self._response(exchange, conversation, decoded)
        end = len(self.gather.messages)
        place = _Place(conversation, before, range(start, items), range(items, end))
        self._places.append(place)
        for name in filter(None, (exchange.response_id, exchange.conversation)):
            self._named[name] = place
        self._facts(exchange.request or exchange.response, LogRow((), None))

    def _before(self, exchange: Exchange) -> _Place | None:
        return self._named.get(exchange.previous or exchange.conversation or "")

    def _request(
        self, exchange: Exchange, conversation: ItemConversation, decoded: Decoded
    ) -> None:
        question = exchange.question()
        if question is not None:
            self._beside(question, ("input",), conversation, decoded)
        elif exchange.request:
            items = list_or_empty(exchange.request["input"])
            self._members(items, ("input",), conversation, decoded)

    def _response(
        self, exchange: Exchange, conversation: ItemConversation, decoded: Decoded
    ) -> None:
        if not exchange.response:
            return
        start = len(self.gather.messages)
        conversation.response, conversation.model = exchange.response_id, exchange.model
        path = (*exchange.path, "output")
        self._members(exchange.response["output"], path, conversation, decoded)
        conversation.response = conversation.model = None
        conversation.names.close()
        for at in reversed(range(start, len(self.gather.messages))):
            if self.gather.messages[at].response_id is not None:
                usage = reported(exchange.response)
                self.gather.messages[at] = replace(self.gather.messages[at], usage=usage)
                break
