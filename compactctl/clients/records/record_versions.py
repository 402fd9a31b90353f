"""Sessions in which the last of several records with the same id counts."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from compactctl.clients.records.decode import Decoded, decode, decode_lines
from compactctl.model.tags import (
    APPENDED_KEY,
    METADATA_KEY,
    is_appended,
    read_metadata,
    without_marker,
)
from compactctl.model.transcript import RawLine
from compactctl.pipeline.record_splice import dump, with_fields
from compactctl.pipeline.spans import find_sole_record


class RecordChain(Protocol):
    """How the records of a session are linked."""

    @property
    def path(self) -> tuple[str, ...]:
        """The ids from the newest record back to the start of the conversation."""

    @property
    def included(self) -> frozenset[str]:
        """The ids of the path and of its side records."""


ChainType = TypeVar("ChainType", bound=RecordChain)


class RecordVersions(Generic[ChainType]):
    """The ``lines`` of a session by record id; ``newest`` maps an id to its last line.

    ``field`` is the key of a record's id, and ``chain_of`` links the records. A damaged line stays
    in its place, and counts as the records that were salvaged from it.
    """

    def __init__(
        self, lines: Sequence[bytes], field: str, chain_of: Callable[[Iterable[Decoded]], ChainType]
    ) -> None:
        self.lines = lines
        self._field = field
        # Several only on a damaged line.
        self._names_by_line: dict[int, list[str]] = defaultdict(list)
        self._first_line: dict[str, int] = {}
        self._appended_lines: set[int] = set()
        # The newest versions of records, if these are on damaged lines.
        self._salvaged: dict[str, bytes] = {}
        self._damaged_lines: set[int] = set()
        self.newest: dict[str, int] = {}
        raw = (RawLine(index, line) for index, line in enumerate(lines))
        self.chain = chain_of(map(self._add_decoded, decode_lines(raw)))

    def _add_decoded(self, decoded: Decoded) -> Decoded:
        if decoded.damage is not None:
            self._damaged_lines.add(decoded.index)
        for value in decoded.values:
            self._add_record(decoded.index, value)
        return decoded

    def _add_record(self, index: int, value: Any) -> None:  # noqa: ANN401 - JSON is any value
        name = value.get(self._field) if isinstance(value, dict) else None
        if not isinstance(name, str) or not name:
            return
        self._names_by_line[index].append(name)
        self._first_line.setdefault(name, index)
        self.newest[name] = index
        self._salvaged.pop(name, None)
        if index in self._damaged_lines:
            self._salvaged[name] = f"{dump(value)}\n".encode()
        elif is_appended(value):
            self._appended_lines.add(index)

    def line(self, name: str) -> bytes:
        """Return the newest line of a record."""
        return self._salvaged.get(name) or self.lines[self.newest[name]]

    def changes_to(self, desired: "RecordVersions[ChainType]") -> dict[str, bytes]:
        """Return the lines of ``desired`` whose records are new or have other content, by id."""
        return {name: desired.line(name) for name in desired.newest if self._differs(desired, name)}

    def _differs(self, desired: "RecordVersions[ChainType]", name: str) -> bool:
        return name not in self.newest or not self.says_same(name, desired.line(name))

    def says_same(self, name: str, line: bytes) -> bool:
        """Whether a record and a line have the same content, apart from append markers."""
        current_line = self.line(name)
        return current_line == line or _content(current_line) == _content(line)

    def same_chain(self, desired: "RecordVersions[ChainType]") -> bool:
        """Whether the same records are in effect as in ``desired``, in the same order."""
        current, desired_chain = self.chain, desired.chain
        return (current.path, current.included) == (desired_chain.path, desired_chain.included)

    def normalized(self) -> Iterator[bytes]:
        """Yield the newest line of each record; appended records go before their successor.

        file:    A, B, C, S (appended, parent B), C (again, parent S)
        yields:  A, B, S, C
        """
        before, trailing = self._inserted()
        for index, line in enumerate(self.lines):
            names = self._names_by_line.get(index, ())
            if index in self._damaged_lines or not names:
                yield from (self.line(inserted) for name in names for inserted in before[name])
                yield line
            elif index == self._first_line[names[0]] and index not in self._appended_lines:
                yield from map(self.line, before[names[0]])
                yield self.line(names[0])
        yield from map(self.line, trailing)

    def _inserted(self) -> tuple[Mapping[str, Sequence[str]], Sequence[str]]:
        """Return the appended records by the record that they go before, and those without one.

        Records beside the path go before the next earlier record that was appended again.
        """
        before: dict[str, list[str]] = defaultdict(list)
        inserted: list[str] = []
        for name in reversed(self.chain.path):
            if self._is_inserted(name):
                inserted.append(name)
            else:
                before[name], inserted = inserted, []
        trailing, path, beside = inserted, set(self.chain.path), list[str]()
        for index in sorted(self._appended_lines):
            [name] = self._names_by_line[index]
            if not self._is_inserted(name):
                before[name] = [*beside, *before[name]]
                beside = []
            elif name not in path and index == self._first_line[name]:
                beside.append(name)
        return before, trailing

    def _is_inserted(self, name: str) -> bool:
        return self._first_line.get(name) in self._appended_lines


def mark_appended(line: bytes, operation: str) -> bytes:
    """Return a complete line with its record marked as appended by an operation."""
    text = line.decode()
    start, end, _ = find_sole_record(text)
    metadata = {**read_metadata(decode(line)[0][0]), APPENDED_KEY: operation}
    return (with_fields(text[start:end], {METADATA_KEY: metadata}) + "\n").encode()


def sole_record(line: bytes) -> Mapping[str, Any]:
    """Return the record on a line; ValueError for a damaged line or another value."""
    values, damage = decode(line)
    if damage or len(values) != 1 or not isinstance(values[0], dict):
        raise ValueError("a damaged line")
    return values[0]


def _content(line: bytes) -> Mapping[str, Any]:
    return without_marker(decode(line)[0][0])
