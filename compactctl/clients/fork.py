"""Forks: a new session beside an existing one, with its own id, title and file."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Literal, overload
from uuid import UUID

from compactctl.clients.records.decode import decode, is_wrapped
from compactctl.clients.records.json_values import object_or_empty
from compactctl.clients.session import Session
from compactctl.errors import NotUnderstoodError
from compactctl.model.message import JsonPath
from compactctl.pipeline.record_splice import value_replacements
from compactctl.pipeline.spans import splice
from compactctl.records import Record
from compactctl.store.client_folders import UserEnvironment

TitleMark = Literal["compacted", "whole"]
"""The mark in a fork's title: a compacted copy of the session, or the whole session again."""
ID_KEY = "sessionId"

_MARKED = re.compile(r" \((compacted|whole)(?: (\d+))?\)$")
# Lists cut off longer titles, and the mark is at the end.
_MAX_TITLE = 48


class ForkIdentity(Record):
    """The values from which a fork's id, title and path are derived.

    Attributes:
        random_bits: 128 random bits.
        now: when the fork is made.
        machine: whose folders the client uses.
        title_mark: the mark in its title.
        titles: titles of other sessions in the store, which the fork must not repeat.
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
        time = int(self.now.timestamp() * 1000) << 80
        bits = time | self.random_bits & (1 << 80) - 1
        # The version is in bits 76 to 79, the variant in bits 62 and 63.
        bits = bits & ~(0xF << 76) | 7 << 76
        return str(UUID(int=bits & ~(3 << 62) | 2 << 62))

    def fork_title(self, title: str) -> str:
        """Return the title of a fork of the session ``title``; numbered if it would be taken.

        "Fix tides" becomes "Fix tides (compacted)", and that "Fix tides (compacted 2)".
        """
        match = _MARKED.search(title)
        first = int(match[2] or 1) + 1 if match and match[1] == self.title_mark else 1
        base = title[: match.start()] if match else title
        candidates = (self._marked_title(base, number) for number in count(first))
        return next(candidate for candidate in candidates if candidate not in self.titles)

    def _marked_title(self, base: str, number: int) -> str:
        mark = f" ({self.title_mark} {number})" if number > 1 else f" ({self.title_mark})"
        room = _MAX_TITLE - len(mark)
        text = base if len(base) <= room else f"{base[: room - 1].rstrip()}…"
        return f"{text}{mark}".lstrip()


class Fork(Record):
    """A session to be written beside the one it is forked from.

    Attributes:
        id: the client's id of the fork.
        path: the file to write.
        original: the session that is forked.
        rewrite_line: takes the index and the bytes of an original line and returns the fork's line;
            lines that do not name the session are returned unchanged.
        trailing_lines: lines after those of the original.
        extra_files: other files the client keeps for a session, with their contents.
        index_entry: the client's list of sessions, and the line to append to it.
        import_command: imports ``path``, for a client whose store is never written directly.
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
    """The lines of a fork, rewritten from the original's on access; each ends in a newline."""

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
            return tuple(self[i] for i in range(*index.indices(len(self))))
        # A range resolves a negative index and raises IndexError beyond the end.
        index = range(len(self))[index]
        if index >= self._count:
            return self._fork.trailing_lines[index - self._count]
        return self._forked(index, self._lines[index])

    def _forked(self, index: int, line: bytes) -> bytes:
        forked = self._fork.rewrite_line(index, line)
        return forked if forked.endswith(b"\n") else forked + b"\n"


def with_session_id(line: bytes, path: JsonPath, old: str, new: str) -> bytes:
    """Replace the session id at ``path`` of a record.

    Lines that are damaged or have another id there are returned unchanged.
    """
    if old.encode("utf-8", "surrogatepass") not in line:
        return line
    values, damage = decode(line)
    if damage or _value_at(values[0], path) != old:
        return line
    named = f'"{ID_KEY}":"{old}"'.encode("utf-8", "surrogatepass")
    # If the key occurs once and nothing is escaped, this is the value at the path: skip the parser.
    if named in line and line.count(ID_KEY.encode()) == 1 and b"\\u00" not in line:
        return line.replace(named, f'"{ID_KEY}":"{new}"'.encode())
    text = line.decode()
    return splice(text, value_replacements(text, [(path, new)])).encode()


def session_id_replacer(old: str, new: str) -> Callable[[bytes], bytes]:
    """Return a function that replaces the session id wherever it follows its key in JSON."""
    named = re.compile(
        rb'("%s"\s*:\s*)"%s"' % (ID_KEY.encode(), re.escape(old.encode("utf-8", "surrogatepass")))
    )
    return lambda data: named.sub(rb'\g<1>"%s"' % new.encode(), data)


def header_text(line: bytes, kind: str, session: Session, holder: str = "") -> str:
    """Return a session's first line as text, without a byte order mark: clients refuse that.

    Raises:
        NotUnderstoodError: it is not a record of type ``kind``, which alone names the session,
            there is no object in its field ``holder``, if that is named, or it is damaged.
    """
    values, damage = decode(line)
    record = object_or_empty(values[0] if damage is None and values else None)
    is_header = record.get("type") == kind and not is_wrapped(line)
    if not is_header or (holder and not isinstance(record.get(holder), dict)):
        raise NotUnderstoodError(
            f"{session.entry.path}: line 1 is not the record that names the session ({kind}), so "
            "it cannot become a new session; use --in-place, or write elsewhere with -o"
        )
    return line.decode().lstrip("\ufeff \t")


def _value_at(value: object, path: JsonPath) -> object:
    for step in path:
        value = object_or_empty(value).get(str(step))
    return value
