"""The records of each conversation in a file whose records only make sense all together.

A conversation is an object with ``messages``, an array, or all bare lines of the file.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compactctl.formats.records.builder import TranscriptBuilder
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.json_values import json_size, object_or_empty
from compactctl.model.message import JsonPath


@dataclass(frozen=True, slots=True)
class ContainedRecord:
    """A JSON value where a message is expected, and where it stands."""

    value: Any
    record_path: JsonPath
    decoded: Decoded

    @property
    def record(self) -> Mapping[str, Any]:
        """The value, empty when it is not an object."""
        return object_or_empty(self.value)

    @property
    def n_bytes(self) -> int:
        """The size of the value: of its line, or as compact text inside a container."""
        return json_size(self.value) if self.record_path else self.decoded.n_bytes


@dataclass(frozen=True, slots=True)
class Container:
    """A conversation's entries; ``document`` is the object around them, empty without one."""

    document: Mapping[str, Any]
    entries: tuple[ContainedRecord, ...]
    decoded: Decoded


def read_containers(lines: Iterable[Decoded], builder: TranscriptBuilder) -> Iterator[Container]:
    """Yield the conversations of a file, bare lines last; every line is taken in as such."""
    bare: list[ContainedRecord] = []
    for decoded in lines:
        builder.add_line(decoded)
        for value in decoded.values:
            inner = value.get("messages") if isinstance(value, Mapping) else None
            if isinstance(value, Mapping) and isinstance(inner, list):
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
