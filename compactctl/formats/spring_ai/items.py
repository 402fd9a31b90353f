"""Tool calls and tool responses of an event: a list, or a text of the database that holds one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compactctl.formats.content.unknown_block import text_and_media
from compactctl.formats.records.json_text import json_text
from compactctl.formats.records.json_values import list_or_empty, text_or_empty
from compactctl.model.message import CallId, JsonPath, Part, ToolCallPart, ToolResultPart
from compactctl.model.paths import json_in

ARGUMENTS = "arguments"
RESPONSE = "responseData"


@dataclass(frozen=True, slots=True)
class _Item:
    """A call or a response, and where it stands."""

    value: Mapping[str, Any]
    at: JsonPath

    @property
    def call_id(self) -> CallId:
        return CallId(text_or_empty(self.value.get("id")))

    @property
    def tool(self) -> str:
        return text_or_empty(self.value.get("name"))


def calls(value: object, path: JsonPath) -> tuple[Part, ...]:
    """Return the tool calls in ``value``, which stands at ``path``."""
    return tuple(
        ToolCallPart(
            call_id=item.call_id,
            tool=item.tool,
            arguments=_text(item.value.get(ARGUMENTS)),
            path=(*item.at, ARGUMENTS),
        )
        for item in _items(value, path)
    )


def responses(value: object, path: JsonPath) -> tuple[Part, ...]:
    """Return the tool responses in ``value``, which stands at ``path``."""
    return tuple(_response(item) for item in _items(value, path))


def _response(item: _Item) -> ToolResultPart:
    path = (*item.at, RESPONSE)
    text, media = text_and_media(item.value.get(RESPONSE), path)
    return ToolResultPart(call_id=item.call_id, tool=item.tool, text=text, media=media, path=path)


def _items(value: object, path: JsonPath) -> Iterator[_Item]:
    for index, item in enumerate(list_or_empty(json_in(value))):
        if isinstance(item, Mapping):
            yield _Item(item, (*path, index))


def _text(value: object) -> str:
    return "" if value is None else json_text(value)
