"""A conversation of a table and the tools beside it, as the request that they were sent in."""

import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compactctl.clients.apis.api_format import API_LOG
from compactctl.clients.content.response_items import is_api_item
from compactctl.clients.detection import detect
from compactctl.clients.format import Format
from compactctl.clients.records.decode import decode_lines, parse_value
from compactctl.clients.records.json_values import list_or_empty, object_or_empty
from compactctl.clients.registry import format_named
from compactctl.commands.compact.in_memory import (
    CompactedLines,
    lines_of,
    value_of,
    without_nulls,
)
from compactctl.errors import NotUnderstoodError, OutputFaultError
from compactctl.model.json_paths import json_in
from compactctl.model.transcript import RawLine
from compactctl.pipeline.layout import NewLine
from compactctl.pipeline.spans import find_array
from compactctl.records import Record
from compactctl.store.files.conversation_types import is_text
from compactctl.store.files.parquet_dataset import TOOL_COLUMNS

_BOM = BOM_UTF8.decode()


class StoredRequest(Record):
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
    def of(
        cls,
        value: Any,  # noqa: ANN401
        kind: Any,  # noqa: ANN401
        *tools: object,
        format_name: str | None = None,
    ) -> "StoredRequest":
        """Return the request of a row with the first of ``tools`` that are any.

        A conversation's own tools are taken instead of others.
        """
        lines = tuple(lines_of(value, kind))
        definitions = next(filter(None, map(_definitions_in, tools)), None)
        text = lines[0] if is_text(kind) else b"[%s]" % b",".join(map(bytes.strip, lines))
        frame = _frame_around(text, definitions, format_name) if definitions else None
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


def _definitions_in(tools: object) -> Any:  # noqa: ANN401 - data sets store tools in any shape
    """Return tool definitions as in a request, without its ``toolConfig``; None if none."""
    text = tools.decode("utf-8-sig", "replace") if isinstance(tools, bytes) else tools
    value = json_in(without_nulls(text.removeprefix(_BOM) if isinstance(text, str) else text))
    return value or None


class _Frame(Record, kw_only=False):
    """What stands around a conversation in its request: ``head`` instead of its ``opening``."""

    head: bytes
    opening: bytes = b""
    tail: bytes = b""

    def remove_from(self, request: bytes) -> bytes:
        """Return the conversation in a request. Raises OutputFaultError for changed tools."""
        if not (request.startswith(self.head) and request.endswith(self.tail)):
            raise OutputFaultError(
                "compactctl made a mistake: the compaction would change the tools; nothing was "
                "changed; please report this"
            )
        return self.opening + request[len(self.head) : len(request) - len(self.tail)]


def _frame_around(text: bytes, definitions: object, format_name: str | None) -> _Frame | None:
    """Return the frame of a conversation in JSON.

    None if it has tools itself, is damaged, or is of a format that stores no tools.
    """
    bom = BOM_UTF8 if text.startswith(BOM_UTF8) else b""
    try:
        value = parse_value(text[len(bom) :])
    except ValueError:
        return None
    path = _format_of(text, format_name).tools_path
    tools = _member(path, definitions)
    if not tools:
        return None
    if isinstance(value, list):
        head = b'%s{%s,"%s":' % (bom, tools, _messages_key(value).encode())
        return _Frame(head, bom, b"}")
    if not isinstance(value, Mapping) or not value or any(map(value.get, (*TOOL_COLUMNS, *path))):
        return None
    opening = text[: text.index(b"{") + 1]
    return _Frame(b"%s%s," % (opening, tools), opening)


def _format_of(text: bytes, name: str | None) -> Format:
    """Return the format of a conversation; that of most if it is of none alone."""
    try:
        return format_named(name) if name else detect(decode_lines([RawLine(0, text)]), "")
    except NotUnderstoodError:
        return format_named(API_LOG)


def _member(path: Sequence[str], definitions: object) -> bytes:
    """Return tools as the member of a request that is at a path, b"" for none.

    A column may hold all of ``{"tools": [...]}`` as well.
    """
    if not path:
        return b""
    *holders, key = path
    if holders and isinstance(definitions, Mapping):
        definitions = definitions.get(key, [definitions])
    elif holders and not isinstance(definitions, list):
        definitions = [definitions]
    value: object = definitions
    for holder in reversed(path[1:]):
        value = {holder: value}
    return json.dumps({path[0]: value}, default=str)[1:-1].encode()


def _messages_key(messages: Iterable[object]) -> str:
    """Return what requests call these messages."""
    records = [message for message in messages if isinstance(message, Mapping)]
    if any(is_api_item(record) for record in records):
        return "input"
    parts = [part for record in records for part in list_or_empty(record.get("parts"))]
    # The parts of other APIs have types.
    is_content = bool(parts) and not any("type" in object_or_empty(part) for part in parts)
    return "contents" if is_content else "messages"
