"""Split a file into conversations: objects with ``messages``, arrays, and the bare lines."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from compactctl.clients.records.builder import TranscriptBuilder
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import json_size, object_or_empty
from compactctl.model.message import JsonPath
from compactctl.records import Record

# What of the object around a conversation is read, or never sent: a session's title and folder.
_READ_PATHS: frozenset[JsonPath] = frozenset({("messages",), ("system_prompt",), ("info",)})


class ContainedRecord(Record, kw_only=False):
    """A JSON value where a message is expected, and its path in its line."""

    value: Any
    record_path: JsonPath
    decoded: Decoded

    @property
    def record(self) -> Mapping[str, Any]:
        """The value; {} if it is not an object."""
        return object_or_empty(self.value)

    @property
    def n_bytes(self) -> int:
        """The size of its line, or of the value as compact text inside a container."""
        return json_size(self.value) if self.record_path else self.decoded.n_bytes


class Container(Record, kw_only=False):
    """The entries of a conversation; ``document`` is the object around them, or {}."""

    document: Mapping[str, Any]
    entries: tuple[ContainedRecord, ...]
    decoded: Decoded


def read_containers(lines: Iterable[Decoded], builder: TranscriptBuilder) -> Iterator[Container]:
    """Yield the conversations of a file, bare lines last; count every line in ``builder``."""
    bare: list[ContainedRecord] = []
    for decoded in lines:
        builder.add_line(decoded)
        for value in decoded.values:
            inner = value.get("messages") if isinstance(value, Mapping) else None
            if isinstance(value, Mapping) and isinstance(inner, list):
                builder.unread.add_row(value, (), set(_READ_PATHS), (), decoded.index)
                yield Container(value, _entries(inner, ("messages",), decoded), decoded)
            elif isinstance(value, list):
                yield Container({}, _entries(value, (), decoded), decoded)
            else:
                bare.append(ContainedRecord(value, (), decoded))
    if bare:
        yield Container({}, tuple(bare), bare[-1].decoded)


def _entries(values: list[Any], path: JsonPath, decoded: Decoded) -> tuple[ContainedRecord, ...]:
    return tuple(
        ContainedRecord(value, (*path, index), decoded) for index, value in enumerate(values)
    )
