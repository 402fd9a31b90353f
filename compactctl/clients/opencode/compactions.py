"""Records of OpenCode's own compactions that have to be undone together with them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

from compactctl.clients.opencode.parts import cleared_at
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import list_or_empty, object_or_empty
from compactctl.model.message import JsonPath, RecordLocation


def compaction_request(
    lines: Iterable[Decoded], summary: RecordLocation
) -> tuple[RecordLocation, ...]:
    """Return the location of the user message that a summary answers; () if there is none.

    Without the summary, the client would take it for a request to compact.
    """
    records = dict(_records(lines, summary[1][:-1]))
    parent_id = object_or_empty(object_or_empty(records.get(summary)).get("info")).get("parentID")
    return tuple(
        location
        for location, record in records.items()
        if parent_id
        and object_or_empty(record.get("info")).get("id") == parent_id
        and _is_compaction_request(record)
    )


def cleared_outputs(
    lines: Iterable[Decoded],
) -> Iterator[tuple[RecordLocation, dict[str, Any]]]:
    """Yield the location of each ``time`` that marks a cleared output, and its other fields.

    The output itself is still in the file, and is sent again once the mark is removed.
    """
    for line in lines:
        for path, record in _messages(line):
            for index, part in enumerate(list_or_empty(record.get("parts"))):
                if cleared_at(object_or_empty(part)) is not None:
                    time = object_or_empty(object_or_empty(part.get("state")).get("time"))
                    unmarked = {name: value for name, value in time.items() if name != "compacted"}
                    yield (line.index, (*path, "parts", index, "state", "time")), unmarked


def _is_compaction_request(record: dict[str, Any]) -> bool:
    parts = map(object_or_empty, list_or_empty(record.get("parts")))
    return any(part.get("type") == "compaction" for part in parts)


def _records(
    lines: Iterable[Decoded], container: JsonPath
) -> Iterator[tuple[RecordLocation, dict[str, Any]]]:
    for line in lines:
        for path, record in _messages(line):
            if path[:-1] == container:
                yield (line.index, path), record


def _messages(line: Decoded) -> Iterator[tuple[JsonPath, dict[str, Any]]]:
    """Yield the messages of a line, which is a message, an array, or a document with messages."""
    for value in line.values:
        paths: Sequence[JsonPath] = [()]
        if isinstance(value, list):
            paths = [(index,) for index in range(len(value))]
        elif isinstance(value, dict) and isinstance(value.get("messages"), list):
            paths = list(product(("messages",), range(len(value["messages"]))))
        for path in paths:
            message = value
            for step in path:
                message = message[step]
            if isinstance(message, dict):
                yield path, message
