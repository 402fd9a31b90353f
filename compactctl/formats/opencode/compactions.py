"""What OpenCode leaves of a compaction beside the summary, and of outputs that it cleared."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Any

from compactctl.formats.opencode.parts import cleared_at
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.json_values import list_or_empty, object_or_empty
from compactctl.model.message import JsonPath, RecordLocation


def compaction_request(
    lines: Iterable[Decoded], summary: RecordLocation
) -> tuple[RecordLocation, ...]:
    """Return where the user message stands that a summary answers; () where there is none.

    Without the summary the client would take it for a compaction that is still to be made.
    """
    records = dict(_records(lines, summary[1][:-1]))
    name = object_or_empty(object_or_empty(records.get(summary)).get("info")).get("parentID")
    return tuple(
        place
        for place, record in records.items()
        if name
        and object_or_empty(record.get("info")).get("id") == name
        and _is_compaction_request(record)
    )


def cleared_outputs(lines: Iterable[Decoded]) -> Iterator[tuple[int, JsonPath, dict[str, Any]]]:
    """Yield the line and path of each ``time`` that says an output was cleared, and the rest of it.

    The output itself is still there, and is sent again where nothing says so.
    """
    for line in lines:
        for path, record in _messages(line):
            for index, part in enumerate(list_or_empty(record.get("parts"))):
                if cleared_at(object_or_empty(part)) is not None:
                    time = object_or_empty(object_or_empty(part.get("state")).get("time"))
                    rest = {name: value for name, value in time.items() if name != "compacted"}
                    yield line.index, (*path, "parts", index, "state", "time"), rest


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
    """Yield the messages of a line: itself, those of its array, or those of its document."""
    for value in line.values:
        paths: Sequence[JsonPath] = [()]
        if isinstance(value, list):
            paths = [(index,) for index in range(len(value))]
        elif isinstance(value, dict) and isinstance(value.get("messages"), list):
            paths = list(product(("messages",), range(len(value["messages"]))))
        for path in paths:
            found = value
            for step in path:
                found = found[step]
            if isinstance(found, dict):
                yield path, found
