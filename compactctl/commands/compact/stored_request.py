"""A conversation of a table and the tools beside it, as the request that they were sent in."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from compactctl.commands.compact.in_memory import (
    CompactedLines,
    lines_of,
    value_of,
    without_nulls,
)
from compactctl.errors import IntegrityError
from compactctl.formats.content.response_items import is_api_item
from compactctl.formats.records.decode import parse_value
from compactctl.formats.records.json_values import list_or_empty, object_or_empty
from compactctl.model.json_paths import json_in
from compactctl.pipeline.layout import NewLine
from compactctl.pipeline.spans import find_array
from compactctl.records import dataclass
from compactctl.store.files.conversation_types import is_text
from compactctl.store.files.parquet_dataset import TOOL_COLUMNS


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRequest:
    """A value of a column of the Arrow type ``kind``, and the ``tools`` of the same row.

    The raw ``lines`` are those of the conversation. With tools they are a request, which holds the
    text of the conversation unchanged in a frame::

        {"tools": [...], "messages": TEXT}
    """

    value: Any
    kind: Any
    lines: tuple[bytes, ...]
    frame: "_Frame | None" = None

    @classmethod
    def of(cls, value: Any, kind: Any, tools: object = None) -> "StoredRequest":  # noqa: ANN401
        """Return the request of a row; a conversation's own tools are taken instead of others."""
        lines = tuple(lines_of(value, kind))
        definitions = _json_of(tools)
        text = lines[0] if is_text(kind) else b"[%s]" % b",".join(map(bytes.strip, lines))
        frame = _frame_around(text, definitions) if definitions else None
        if frame is None:
            return cls(value=value, kind=kind, lines=lines)
        request = frame.head + text[len(frame.opening) :] + frame.tail
        return cls(value=value, kind=kind, lines=(request,), frame=frame)

    def new_value(self, compacted: CompactedLines) -> Any:  # noqa: ANN401
        """Return the compacted conversation as a value of its column; see ``value_of``."""
        if self.frame is None:
            return value_of(self.value, self.kind, compacted.lines)
        data = b"".join(line.data for line in compacted.lines)
        text = self.frame.remove_from(data)
        if is_text(self.kind):
            return value_of(self.value, self.kind, [NewLine(text, 0)])
        return value_of(self.value, self.kind, self._messages(text.decode()))

    def _messages(self, text: str) -> list[NewLine]:
        """Return the elements of an array of messages, each with the message that it is, if any."""
        originals = [line.strip() for line in lines_of(self.value, self.kind)]
        messages: list[NewLine] = []
        start = 0
        for span in find_array(text, ()).elements:
            data = text[slice(*span)].encode()
            index = next((i for i in range(start, len(originals)) if originals[i] == data), None)
            start = start if index is None else index + 1
            messages.append(NewLine(data, index, is_unchanged=index is not None))
        return messages


def _json_of(tools: object) -> bytes:
    """Return the JSON of tool definitions as in a request; b"" if there are none."""
    text = tools.decode("utf-8", "replace") if isinstance(tools, bytes) else tools
    value = json_in(without_nulls(text))
    return json.dumps(value, default=str).encode() if value else b""


@dataclass(frozen=True, slots=True)
class _Frame:
    """What stands around a conversation in its request: ``head`` instead of its ``opening``."""

    head: bytes
    opening: bytes = b""
    tail: bytes = b""

    def remove_from(self, request: bytes) -> bytes:
        """Return the conversation in a request. Raises IntegrityError for changed tools."""
        if not (request.startswith(self.head) and request.endswith(self.tail)):
            raise IntegrityError("the compaction would change the tools; nothing was changed")
        return self.opening + request[len(self.head) : len(request) - len(self.tail)]


def _frame_around(text: bytes, definitions: bytes) -> _Frame | None:
    """Return the frame of a conversation in JSON; None if it has tools itself, or is damaged."""
    try:
        value = parse_value(text)
    except ValueError:
        return None
    if isinstance(value, list):
        head = b'{"tools":%s,"%s":' % (definitions, _messages_key(value).encode())
        return _Frame(head, tail=b"}")
    if not isinstance(value, Mapping) or not value or any(map(value.get, TOOL_COLUMNS)):
        return None
    opening = text[: text.index(b"{") + 1]
    return _Frame(b'%s"tools":%s,' % (opening, definitions), opening)


def _messages_key(messages: Iterable[object]) -> str:
    """Return what requests call these messages."""
    records = [message for message in messages if isinstance(message, Mapping)]
    if any(is_api_item(record) for record in records):
        return "input"
    parts = [part for record in records for part in list_or_empty(record.get("parts"))]
    # The parts of other APIs have types.
    is_content = bool(parts) and not any("type" in object_or_empty(part) for part in parts)
    return "contents" if is_content else "messages"
