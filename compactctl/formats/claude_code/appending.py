"""Claude Code sessions that are changed by appending: of records with one uuid the last counts.

The last line decides where a session goes on, so it is always the newest record of the
conversation; versions before 2.1.119 look at timestamps, which records keep. Seen with clients
2.0.76, 2.1.45, 2.1.79, 2.1.119, 2.1.197 and 2.1.330.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compactctl.formats.claude_code.adapter import chain_of
from compactctl.formats.format import Version
from compactctl.formats.records.decode import Decoded, decode, decode_lines
from compactctl.model.appended import APPENDED, MARK, is_appended, without_mark
from compactctl.model.counts import own_object
from compactctl.model.tags import OWN_KEY
from compactctl.model.transcript import RawLine
from compactctl.pipeline.record_splice import dump, with_fields
from compactctl.pipeline.spans import line_span

_KEPT_FIELDS = ("parentUuid", "isSidechain", "userType", "cwd", "sessionId", "version")


class ClaudeAppending:
    """Later records in place of earlier ones; see ``Appending``."""

    oldest: Version = (2, 0, 76)
    newest: Version = (2, 1, 330)
    notes_open: Version = (2, 1, 197)

    def settled(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Return each record once, at its place in the conversation."""
        if not any(MARK in line for line in lines):
            return lines
        return tuple(_Session(lines).settled())

    def block(self, now: Sequence[bytes], wanted: Sequence[bytes], operation: str) -> list[bytes]:
        """Return records that stand for earlier ones, and the newest of the conversation last."""
        there, goal = _Session(now), _Session(wanted)
        changed = {name: goal.line(name) for name in goal.newest if there.differs(goal, name)}
        if not changed:
            return []
        tip = goal.chain.path[0]
        changed.pop(tip, None)
        end = _marked(goal.line(tip), operation)
        found = [_marked(line, operation) for line in changed.values()]
        # What hung beside a record that is hidden may hang beside one that is left.
        beside = _Session((*now, *found, end)).chain.included - goal.chain.included
        names = (name for name in there.newest if name in beside)
        return [*found, *(_marked(_silenced(there.line(name)), operation) for name in names), end]


class _Session:
    """The lines of a session by the uuid of their record, ``newest`` the last with each."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines = lines
        self._names: dict[int, str] = {}
        self._first: dict[str, int] = {}
        self._own: set[int] = set()
        self.newest: dict[str, int] = {}
        raw = (RawLine(at, 0, line) for at, line in enumerate(lines))
        self.chain = chain_of(map(self._noted, decode_lines(raw)))

    def _noted(self, decoded: Decoded) -> Decoded:
        if decoded.damage is None and len(decoded.values) == 1:
            self._record(decoded.index, decoded.values[0])
        return decoded

    def _record(self, index: int, value: Any) -> None:  # noqa: ANN401 - JSON is any value
        name = value.get("uuid") if isinstance(value, dict) else None
        if isinstance(name, str) and name:
            self._names[index] = name
            self._first.setdefault(name, index)
            self.newest[name] = index
            if is_appended(value):
                self._own.add(index)

    def line(self, name: str) -> bytes:
        """Return the newest line of a record."""
        return self._lines[self.newest[name]]

    def differs(self, goal: "_Session", name: str) -> bool:
        """Tell whether a record of ``goal`` says something else than here, or is not here."""
        if name not in self.newest:
            return True
        here, there = self.line(name), goal.line(name)
        return here != there and _said(here) != _said(there)

    def settled(self) -> Iterator[bytes]:
        """Yield the lines, each record once; what was appended anew stands before what follows."""
        before, last = self._inserted()
        for index, line in enumerate(self._lines):
            name = self._names.get(index)
            if name is None:
                yield line
            elif index == self._first[name] and index not in self._own:
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
            if self._first.get(name) in self._own:
                waiting.append(name)
            else:
                before[name], waiting = waiting, []
        return before, waiting


def _said(line: bytes) -> Mapping[str, Any]:
    """Return the record of a line as it was before it was marked as appended."""
    return without_mark(decode(line)[0][0])


def _marked(line: bytes, operation: str) -> bytes:
    """Return a whole line whose record is marked as appended by an operation."""
    text = line.decode()
    start, end = line_span(text)
    own = {**own_object(decode(line)[0][0]), APPENDED: operation}
    return (with_fields(text[start:end], {OWN_KEY: own}) + "\n").encode()


def _silenced(line: bytes) -> bytes:
    """Return a record of nothing that takes the place of another."""
    record = decode(line)[0][0]
    kept = {name: record[name] for name in _KEPT_FIELDS if name in record}
    said = {"type": "system", "subtype": "informational", "content": "", "level": "info"}
    named = {name: record[name] for name in ("uuid", "timestamp") if name in record}
    return dump({**kept, **said, "isMeta": True, **named}).encode()
