"""Tool calls and tool responses of an event: a list, or a text of the database that holds one."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compactctl.formats.content.unknown_block import text_and_media
from compactctl.formats.records.json_text import json_text
from compactctl.formats.records.json_values import list_or_empty, text_or_empty
from compactctl.model.message import CallId, JsonPath, Part, ToolCallPart, ToolResultPart
from compactctl.pipeline.spans import find_spans, splice

ARGUMENTS = "arguments"
RESPONSE = "responseData"


@dataclass(frozen=True, slots=True)
class _Item:
    """A call or a response, and where what can be rewritten of it stands under ``field``."""

    value: Mapping[str, Any]
    at: JsonPath
    is_text: bool

    def path(self, field: str) -> JsonPath:
        return self.at if self.is_text else (*self.at, field)

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
            path=item.path(ARGUMENTS),
        )
        for item in _items(value, path)
    )


def responses(value: object, path: JsonPath) -> tuple[Part, ...]:
    """Return the tool responses in ``value``, which stands at ``path``."""
    return tuple(_response(item) for item in _items(value, path))


def _response(item: _Item) -> ToolResultPart:
    path = item.path(RESPONSE)
    text, media = text_and_media(item.value.get(RESPONSE), path)
    return ToolResultPart(call_id=item.call_id, tool=item.tool, text=text, media=media, path=path)


def with_item_text(listed: str, position: int, field: str, text: str) -> str:
    """Return a text that holds a list with another text under a field of one of its objects."""
    found = enumerate(list_or_empty(_parsed(listed)))
    path: JsonPath = (
        [index for index, item in found if isinstance(item, Mapping)][position],
        field,
    )
    return splice(listed, {find_spans(listed, [path])[path]: json.dumps(text)})


def _items(value: object, path: JsonPath) -> Iterator[_Item]:
    is_text = isinstance(value, str)
    listed = _parsed(value) if isinstance(value, str) else value
    for index, item in enumerate(list_or_empty(listed)):
        if isinstance(item, Mapping):
            yield _Item(item, path if is_text else (*path, index), is_text)


def _parsed(text: str) -> object:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _text(value: object) -> str:
    return "" if value is None else json_text(value)
