"""Sessions of which, of several records with one name, the last counts where its parent puts it."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from compactctl.formats.records.decode import Decoded, decode, decode_lines
from compactctl.model.tags import (
    APPENDED_KEY,
    METADATA_KEY,
    is_appended,
    read_metadata,
    without_marker,
)
from compactctl.model.transcript import RawLine
from compactctl.pipeline.record_splice import with_fields
from compactctl.pipeline.spans import find_sole_record


class RecordChain(Protocol):
    """How records follow one another.

    Attributes:
        path: the records from the newest one back to where the conversation begins.
        included: those and what hangs beside them.
    """

    path: tuple[str, ...]
    included: frozenset[str]


ChainType = TypeVar("ChainType", bound=RecordChain)


class RecordVersions(Generic[ChainType]):
    """The lines of a session by the name of their record, ``newest`` the last with each.

    ``field`` is where records are named, and ``chain_of`` tells how they follow one another.
    """

    def __init__(
        self, lines: Sequence[bytes], field: str, chain_of: Callable[[Iterable[Decoded]], ChainType]
    ) -> None:
        self._lines = lines
        self._field = field
        self._names: dict[int, str] = {}
        self._first: dict[str, int] = {}
        self._appended: set[int] = set()
        self.newest: dict[str, int] = {}
        raw = (RawLine(at, line) for at, line in enumerate(lines))
        self.chain = chain_of(map(self._noted, decode_lines(raw)))

    def _noted(self, decoded: Decoded) -> Decoded:
        if decoded.damage is None and len(decoded.values) == 1:
            self._record(decoded.index, decoded.values[0])
        return decoded

    def _record(self, index: int, value: Any) -> None:  # noqa: ANN401 - JSON is any value
        name = value.get(self._field) if isinstance(value, dict) else None
        if isinstance(name, str) and name:
            self._names[index] = name
            self._first.setdefault(name, index)
            self.newest[name] = index
            if is_appended(value):
                self._appended.add(index)

    def line(self, name: str) -> bytes:
        """Return the newest line of a record."""
        return self._lines[self.newest[name]]

    def changes_to(self, desired: "RecordVersions[ChainType]") -> dict[str, bytes]:
        """Return the records of ``desired`` that say something else than here, or are not here."""
        return {name: desired.line(name) for name in desired.newest if self._differs(desired, name)}

    def _differs(self, desired: "RecordVersions[ChainType]", name: str) -> bool:
        return name not in self.newest or not self.says_same(name, desired.line(name))

    def says_same(self, name: str, line: bytes) -> bool:
        """Tell whether a record says the same as a line, whatever has appended either of them."""
        here = self.line(name)
        return here == line or _content(here) == _content(line)

    def same_chain(self, desired: "RecordVersions[ChainType]") -> bool:
        """Tell whether the records of ``desired`` are in effect here, in the same order."""
        here, there = self.chain, desired.chain
        return (here.path, here.included) == (there.path, there.included)

    def normalized(self) -> Iterator[bytes]:
        """Yield the lines, each record once; what was appended anew stands before what follows."""
        before, last = self._inserted()
        for index, line in enumerate(self._lines):
            name = self._names.get(index)
            if name is None:
                yield line
            elif index == self._first[name] and index not in self._appended:
                yield from map(self.line, before[name])
                yield self.line(name)
        yield from map(self.line, last)

    def _inserted(self) -> tuple[Mapping[str, Sequence[str]], Sequence[str]]:
        """Return, by what follows them, the records of the path that were not there before.

        And those that nothing follows.
        """
        before: dict[str, list[str]] = defaultdict(list)
        waiting: list[str] = []
        for name in reversed(self.chain.path):
            if self._first.get(name) in self._appended:
                waiting.append(name)
            else:
                before[name], waiting = waiting, []
        return before, waiting


def mark_appended(line: bytes, operation: str) -> bytes:
    """Return a whole line whose record is marked as appended by an operation."""
    text = line.decode()
    start, end, _ = find_sole_record(text)
    own = {**read_metadata(decode(line)[0][0]), APPENDED_KEY: operation}
    return (with_fields(text[start:end], {METADATA_KEY: own}) + "\n").encode()


def _content(line: bytes) -> Mapping[str, Any]:
    """Return the record of a line as it was before it was marked as appended."""
    return without_marker(decode(line)[0][0])
