"""Where the fields of a part stand in its record: its block, and its ids, names and types."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from compactctl.model.characters import without_halves
from compactctl.model.edit import FieldName, SetField
from compactctl.model.json_parser import parse_json
from compactctl.model.json_paths import value_at
from compactctl.model.message import (
    JsonPath,
    Part,
    ToolCallPart,
    ToolResultPart,
    block_path,
    media_of,
)
from compactctl.model.transcript import FieldValue

# The names of each field in the formats that are read, those of clients included.
_NAMES: Mapping[FieldName, frozenset[str]] = {
    "call_id": frozenset({
        "callID", "callId", "call_id", "id", "toolCallId", "toolUseId", "tool_call_id",
        "tool_use_id",
    }),
    "tool": frozenset({"name", "tool", "toolName", "tool_name"}),
    "media_type": frozenset({"mediaType", "media_type", "mimeType", "mime_type", "format"}),
}  # fmt: skip
# Other calls have their name beside their arguments.
_NAME_BESIDE_ID: Mapping[str, str] = {"toolCallId": "toolName", "callID": "tool"}
_SNAKE_CASE_CALL = "function_call"


def field_values(record: object, part: Part, edit: SetField, length: int) -> Iterator[FieldValue]:
    """Yield where in a record a field is set, and to which value; nothing if it is not stored.

    ``length`` is that of the path of the record in its line, with which a part's path begins.
    """
    path = part.path[length:]
    if edit.name == "text":
        yield from _whole_characters(value_at(record, path), path)
    elif edit.name == "input":
        yield FieldValue(path, parse_json(edit.value, strict=False))
    elif edit.name == "signature":
        is_snake_case = _SNAKE_CASE_CALL in part.path
        name = "thought_signature" if is_snake_case else "thoughtSignature"
        yield FieldValue(path=(*block_path(part)[length:], name), value=edit.value)
    else:
        paths = _paths(record, part, edit, length)
        yield from (FieldValue(path=path, value=edit.value) for path in islice(paths, 1))


def _whole_characters(value: object, path: JsonPath) -> Iterator[FieldValue]:
    """Yield the texts below a value that hold halves of characters, with U+FFFD instead."""
    match value:
        case str():
            text = without_halves(value)
            if text != value:
                yield FieldValue(path=path, value=text)
        case Mapping():
            for name, inner in value.items():
                yield from _whole_characters(inner, (*path, name))
        case list():
            for index, inner in enumerate(value):
                yield from _whole_characters(inner, (*path, index))
        case _:
            pass


def _paths(record: object, part: Part, edit: SetField, length: int) -> Iterator[JsonPath]:
    """Yield the paths of the members that hold the current value of a field, the nearest first."""
    names = _NAMES[edit.name]
    medium = media_of(part)[edit.medium or 0] if edit.name == "media_type" else None
    if medium is not None:
        yield from _below(record, medium.path[length:], names, medium.media_type)
        return
    current = _current(part, edit.name)
    path = part.path[length:]
    for end in range(len(path), -1, -1):
        holder = value_at(record, path[:end])
        if isinstance(holder, Mapping):
            held = (name for name in holder if name in names and _reads_as(holder[name], current))
            yield from ((*path[:end], name) for name in held)
    if edit.name == "tool" and not current:
        yield _path_of_missing_name(record, path)


def _reads_as(value: object, current: str) -> bool:
    """Whether a field with this value is read as ``current``: anything but text, as ""."""
    return (value if isinstance(value, str) else "") == current


def _path_of_missing_name(record: object, path: JsonPath) -> JsonPath:
    """Return where a call gets a name that has none; ``path`` is that of its arguments."""
    for end in range(len(path) - 1, -1, -1):
        holder = value_at(record, path[:end])
        for id_name, name in _NAME_BESIDE_ID.items():
            if isinstance(holder, Mapping) and id_name in holder:
                return (*path[:end], name)
    return (*path[:-1], "name")


def _current(part: Part, name: FieldName) -> str:
    if not isinstance(part, ToolCallPart | ToolResultPart):
        return ""
    return part.call_id if name == "call_id" else part.tool


def _below(
    record: object, path: JsonPath, names: frozenset[str], current: str
) -> Iterator[JsonPath]:
    holder: Any = value_at(record, path)
    if not isinstance(holder, Mapping):
        return
    for name, value in holder.items():
        if name in names and value == current:
            yield (*path, name)
        yield from _below(record, (*path, name), names, current)
