"""A session that is to be, beside the one it is made of: where it lies, what it says."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Literal, overload
from uuid import UUID

from compactctl.errors import NotUnderstoodError
from compactctl.formats.records.decode import decode, is_wrapped
from compactctl.formats.records.json_values import object_or_empty
from compactctl.model.message import JsonPath
from compactctl.pipeline.record_splice import value_replacements
from compactctl.pipeline.spans import splice
from compactctl.sessions.session import Session
from compactctl.store.client_folders import UserEnvironment

TitleMark = Literal["compacted", "whole"]
"""How a title tells a session from the one it is made of: less of it, or all of it again."""

_MARKED = re.compile(r" \((compacted|whole)(?: (\d+))?\)$")
# Lists cut longer titles off, and what tells two sessions apart stands at the end.
_SEEN = 48


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkIdentity:
    """What a new session is known by: random bits, the moment, its machine, a mark in its title.

    ``titles`` are those of sessions beside it, of which it gets none.
    """

    random_bits: int
    now: datetime
    machine: UserEnvironment
    title_mark: TitleMark = "compacted"
    titles: frozenset[str] = frozenset()

    @property
    def random_id(self) -> str:
        """A UUID of version 4."""
        return str(UUID(int=self.random_bits, version=4))

    @property
    def timed_id(self) -> str:
        """A UUID of version 7 (RFC 9562): milliseconds since the epoch, then random bits."""
        moment = int(self.now.timestamp() * 1000) << 80
        number = moment | self.random_bits & (1 << 80) - 1
        number = number & ~(0xF << 76) | 7 << 76
        return str(UUID(int=number & ~(3 << 62) | 2 << 62))

    def fork_title(self, title: str) -> str:
        """Return a title that tells a session from the one it is made of, counted where it must."""
        found = _MARKED.search(title)
        first = int(found[2] or 1) + 1 if found and found[1] == self.title_mark else 1
        begins = title[: found.start()] if found else title
        return next(
            made for n in count(first) if (made := self._marked(begins, n)) not in self.titles
        )

    def _marked(self, begins: str, number: int) -> str:
        mark = f" ({self.title_mark} {number})" if number > 1 else f" ({self.title_mark})"
        room = _SEEN - len(mark)
        told = begins if len(begins) <= room else f"{begins[: room - 1].rstrip()}…"
        return f"{told}{mark}".lstrip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork:
    """A session that is to be, beside the one it is made of.

    Attributes:
        rewrite_line: returns a line of the original, given with its index, as it stands in the
            fork; lines that name no session stay the same bytes.
        trailing_lines: lines that end the fork.
        extra_files: other files that the client keeps of a session, with what they hold.
        index_entry: a line about the session, and the client's list that it is appended to.
        import_command: the command that gives the session to a client whose store is only read.
    """

    id: str
    path: Path
    original: Session
    rewrite_line: Callable[[int, bytes], bytes]
    trailing_lines: tuple[bytes, ...] = ()
    extra_files: tuple[tuple[Path, bytes], ...] = ()
    index_entry: tuple[Path, bytes] | None = None
    import_command: str = ""


class ForkedLines(Sequence[bytes]):
    """The lines of a fork, made of those of the original whenever they are needed.

    All of them are terminated, as a client leaves them.
    """

    def __init__(self, lines: Sequence[bytes], fork: Fork) -> None:
        self._lines, self._fork = lines, fork

    @cached_property
    def _count(self) -> int:
        return len(self._lines)

    def __len__(self) -> int:
        """Return how many lines there are."""
        return self._count + len(self._fork.trailing_lines)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines from the first to the last."""
        yield from (self._forked(index, line) for index, line in enumerate(self._lines))
        yield from self._fork.trailing_lines

    @overload
    def __getitem__(self, index: int) -> bytes: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[bytes, ...]: ...

    def __getitem__(self, index: int | slice) -> bytes | tuple[bytes, ...]:
        """Return one line, or some."""
        if isinstance(index, slice):
            return tuple(self[place] for place in range(*index.indices(len(self))))
        place = range(len(self))[index]
        if place >= self._count:
            return self._fork.trailing_lines[place - self._count]
        return self._forked(place, self._lines[place])

    def _forked(self, index: int, line: bytes) -> bytes:
        made = self._fork.rewrite_line(index, line)
        return made if made.endswith(b"\n") else made + b"\n"


ID_KEY = "sessionId"


def with_session_id(line: bytes, path: JsonPath, old: str, new: str) -> bytes:
    """Return a record that names the session at a path with its new id.

    A record of another session, and what cannot be parsed, stay as they are.
    """
    if old.encode() not in line:
        return line
    values, damage = decode(line)
    if damage or _value_at(values[0], path) != old:
        return line
    named = f'"{ID_KEY}":"{old}"'.encode()
    # Unless the key is there again, or spelled with escapes, it need not be looked for.
    if named in line and line.count(ID_KEY.encode()) == 1 and b"\\u00" not in line:
        return line.replace(named, f'"{ID_KEY}":"{new}"'.encode())
    text = line.decode()
    return splice(text, value_replacements(text, [(path, new)])).encode()


def session_id_replacer(old: str, new: str) -> Callable[[bytes], bytes]:
    """Return what renames the session wherever some JSON names it, over however many lines."""
    named = re.compile(rb'("%s"\s*:\s*)"%s"' % (ID_KEY.encode(), re.escape(old.encode())))
    return lambda data: named.sub(rb'\g<1>"%s"' % new.encode(), data)


def header_text(line: bytes, kind: str, session: Session) -> str:
    """Return the text of the record that names the session. NotUnderstoodError for another one."""
    values, _ = decode(line)
    record = values[0] if values and not is_wrapped(line) else None
    if not isinstance(record, dict) or record.get("type") != kind:
        raise NotUnderstoodError(
            f"{session.entry.path}: does not begin with the record that names the session "
            f"({kind}), so it cannot be given a new name; write a file elsewhere with -o"
        )
    return line.decode()


def _value_at(value: object, path: JsonPath) -> object:
    for step in path:
        value = object_or_empty(value).get(str(step))
    return value
