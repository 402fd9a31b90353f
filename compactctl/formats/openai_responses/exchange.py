"""Where a logged request to the Responses API, and its response, stand in a record."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compactctl.formats.content.openai import content_parts
from compactctl.formats.content.response_items import is_item, is_own_item
from compactctl.formats.content.tool_definitions import tool_definitions
from compactctl.formats.records.json_values import (
    integer_or_none,
    list_or_empty,
    object_or_empty,
    text_or_empty,
    text_or_none,
)
from compactctl.formats.records.message_draft import MessageDraft
from compactctl.model.message import JsonPath, Part, ReportedUsage, TextPart

# Fields of a request that the API of no other model provider has (``ResponseCreateParams`` of
# openai 3.57).
_OWN_FIELDS = frozenset(
    {
        "conversation",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "previous_response_id",
        "truncation",
    }
)
# Events of a stream that hold the response as it is at their time; the last one holds all of it.
_EVENT = "response."
_FINAL_EVENTS = frozenset({"response.completed", "response.incomplete", "response.failed"})


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its response, each empty where it is not logged.

    ``path`` is that of the response; a request is always the whole record.
    """

    request: Mapping[str, Any]
    response: Mapping[str, Any]
    path: JsonPath

    @property
    def previous(self) -> str | None:
        """The id of the response that it goes on from."""
        return self._first("previous_response_id")

    @property
    def conversation(self) -> str | None:
        """The id of the conversation that the API keeps, and that it goes on with."""
        for each in (self.request, self.response):
            value = each.get("conversation")
            name = text_or_none(object_or_empty(value).get("id") if value else value)
            if name or text_or_none(value):
                return name or text_or_none(value)
        return None

    @property
    def response_id(self) -> str | None:
        """The id of the response, which the SDKs call by names of their own."""
        keys = ("id", "response_id", "responseId")
        return next(filter(None, (text_or_none(self.response.get(key)) for key in keys)), None)

    @property
    def model(self) -> str | None:
        """The model that answered, or was asked."""
        return text_or_none(self.response.get("model")) or self._first("model")

    def _first(self, key: str) -> str | None:
        return text_or_none(self.request.get(key)) or text_or_none(self.response.get(key))

    def opening(self) -> Iterator[tuple[JsonPath, MessageDraft]]:
        """Yield what is sent before all items, with the path where it stands."""
        sent = self.request or self.response
        path = () if self.request else self.path
        tools = tool_definitions(sent.get("tools"), (*path, "tools"))
        if tools:
            yield (*path, "tools"), MessageDraft(role="system", parts=tools, injected=True)
        path = (*path, "instructions")
        parts = tuple(_instructions(sent.get("instructions"), path))
        if parts:
            yield path, MessageDraft(role="system", parts=parts, fixed="system prompt")

    def question(self) -> MessageDraft | None:
        """Return the input where it is one text, None where it is a list of items."""
        text = self.request.get("input")
        if not isinstance(text, str) or not text:
            return None
        part = TextPart(text=text, path=("input",))
        return MessageDraft(role="user", parts=(part,), fixed="the input of its request")


def exchange_in(record: Mapping[str, Any]) -> Exchange | None:
    """Return the request and response that a record holds, None where it holds neither."""
    if is_item(record):
        return None
    request = record if isinstance(record.get("input"), list | str) else {}
    if isinstance(record.get("output"), list):
        return Exchange(request, record, ())
    inner = object_or_empty(record.get("response"))
    if isinstance(inner.get("output"), list):
        return Exchange(request, inner, ("response",))
    return Exchange(request, {}, ()) if request else None


def is_exchange(record: Mapping[str, Any]) -> bool:
    """Tell whether a record is a request to this API or a response of it."""
    if is_progress(record):
        return True
    exchange = exchange_in(record)
    if exchange is None:
        return False
    response, items = exchange.response, list_or_empty(exchange.request.get("input"))
    output = list_or_empty(response.get("output"))
    if response.get("object") == "response" or any(map(_is_own, output)):
        return True
    if response or "output" in record:
        return False
    return bool(_OWN_FIELDS & exchange.request.keys()) or any(map(_is_own, items))


def is_progress(record: Mapping[str, Any]) -> bool:
    """Tell whether this is an event of a stream whose response a later event holds."""
    kind = text_or_empty(record.get("type"))
    return kind.startswith(_EVENT) and kind not in _FINAL_EVENTS


def reported(response: Mapping[str, Any]) -> ReportedUsage | None:
    """Return the usage of a response, also under the names of the Agents SDK for JavaScript."""
    usage = object_or_empty(response.get("usage"))
    context = integer_or_none(_field(usage, "input_tokens"))
    if context is None:
        return None
    read, thought = (
        object_or_empty(_field(usage, name))
        for name in ("input_tokens_details", "output_tokens_details")
    )
    return ReportedUsage(
        context=context,
        output=integer_or_none(_field(usage, "output_tokens")),
        reasoning=max(0, integer_or_none(_field(thought, "reasoning_tokens")) or 0),
        cache_read=integer_or_none(_field(read, "cached_tokens")),
        cache_write=integer_or_none(_field(read, "cache_write_tokens")),
    )


def _field(usage: Mapping[str, Any], name: str) -> object:
    first, *rest = name.split("_")
    return usage.get(name, usage.get("".join((first, *map(str.capitalize, rest)))))


def _instructions(value: object, path: JsonPath) -> Iterator[Part]:
    """Yield the parts of instructions, which a response may hold as messages."""
    if isinstance(value, str):
        yield from content_parts(value, path)
    for index, item in enumerate(map(object_or_empty, list_or_empty(value))):
        yield from content_parts(item.get("content"), (*path, index, "content"))


def _is_own(item: object) -> bool:
    return isinstance(item, Mapping) and is_own_item(item)
