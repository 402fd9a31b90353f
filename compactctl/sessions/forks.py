"""A session under a new id, as its client would have written it: where it lies, what it says.

From the clients themselves in the versions that ``docs/sessions.md`` names: what a copy needs so
that it is listed and resumed, and that the turns said to it go to it alone.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, overload
from uuid import UUID

from compactctl.errors import NotUnderstoodError
from compactctl.formats.records.decode import decode, is_value
from compactctl.model.message import JsonPath
from compactctl.pipeline.record_splice import dump, with_fields
from compactctl.pipeline.spans import find_spans, splice
from compactctl.sessions.clients import claude_code, codex, pi
from compactctl.sessions.session import Session
from compactctl.store import places
from compactctl.store.places import Machine

_COMPACTED = re.compile(r" \(compacted(?: (\d+))?\)$")
# Lists cut longer titles off, and what tells two sessions apart stands at the end.
_SEEN = 48
_SESSION_ID: JsonPath = ("sessionId",)
_PAYLOAD: JsonPath = ("payload",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fresh:
    """What a new session is known by: random bits, the moment, and the machine it lies on."""

    bits: int
    now: datetime
    machine: Machine

    @property
    def random_id(self) -> str:
        """A UUID of version 4."""
        return str(UUID(int=self.bits, version=4))

    @property
    def timed_id(self) -> str:
        """A UUID of version 7 (RFC 9562): milliseconds since the epoch, then random bits."""
        moment = int(self.now.timestamp() * 1000) << 80
        number = moment | self.bits & (1 << 80) - 1
        number = number & ~(0xF << 76) | 7 << 76
        return str(UUID(int=number & ~(3 << 62) | 2 << 62))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork:
    """A session that is to be, beside the one it is made of.

    ``renamed`` returns a line of the original, given with its index, as it stands in the fork;
    lines that name no session stay the same bytes. ``added`` are lines that end the fork.
    """

    id: str
    path: Path
    original: Session
    renamed: Callable[[int, bytes], bytes]
    added: tuple[bytes, ...] = ()


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
        return self._count + len(self._fork.added)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines from the first to the last."""
        yield from (self._made(index, line) for index, line in enumerate(self._lines))
        yield from self._fork.added

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
            return self._fork.added[place - self._count]
        return self._made(place, self._lines[place])

    def _made(self, index: int, line: bytes) -> bytes:
        made = self._fork.renamed(index, line)
        return made if made.endswith(b"\n") else made + b"\n"


def fork_of(session: Session, fresh: Fresh) -> Fork | None:
    """Return the fork of a session, None for a client that none is written for, and for helpers."""
    write = _WRITERS.get(session.entry.client)
    if write is None or session.details.kind == "subagent":
        return None
    return write(session, fresh)


def _claude_code(session: Session, fresh: Fresh) -> Fork:
    """Name the file anew, and the session in every record; a title tells the two apart."""
    new, old = fresh.random_id, session.id
    title = {
        "type": "custom-title",
        "customTitle": _compacted_title(session.details.title),
        "sessionId": new,
    }
    return Fork(
        id=new,
        path=session.entry.path.with_name(f"{new}.jsonl"),
        original=session,
        renamed=lambda _, line: _with_session_id(line, old, new),
        added=(f"{dump(title)}\n".encode(),),
    )


def _compacted_title(title: str) -> str:
    """Return a title that tells a session from the one that was compacted less often."""
    found = _COMPACTED.search(title)
    mark = f" (compacted {int(found[1] or 1) + 1})" if found else " (compacted)"
    begins = title[: found.start()] if found else title
    room = _SEEN - len(mark)
    told = begins if len(begins) <= room else f"{begins[: room - 1].rstrip()}…"
    return f"{told}{mark}".lstrip()


def _with_session_id(line: bytes, old: str, new: str) -> bytes:
    """Return a record of the session with its new id; what cannot be parsed stays as it is."""
    if old.encode() not in line:
        return line
    values, damage = decode(line)
    if damage or not isinstance(values[0], dict) or values[0].get("sessionId") != old:
        return line
    named = f'"sessionId":"{old}"'.encode()
    # Unless the key is there again, or spelled with escapes, it need not be looked for.
    if named in line and line.count(b"sessionId") == 1 and b"\\u00" not in line:
        return line.replace(named, f'"sessionId":"{new}"'.encode())
    text = line.decode()
    return splice(text, {find_spans(text, [_SESSION_ID])[_SESSION_ID]: dump(new)}).encode()


def _codex(session: Session, fresh: Fresh) -> Fork:
    """Name the file anew, in the folder of its day, and the session in its first record."""
    new, day = fresh.timed_id, fresh.now.astimezone()
    folder = places.codex(fresh.machine) / "sessions" / f"{day:%Y}" / f"{day:%m}" / f"{day:%d}"

    def renamed(index: int, line: bytes) -> bytes:
        return line if index else _with_meta(line, session, new)

    return Fork(
        id=new,
        path=folder / f"rollout-{day:%Y-%m-%dT%H-%M-%S}-{new}.jsonl",
        original=session,
        renamed=renamed,
    )


def _with_meta(line: bytes, session: Session, new: str) -> bytes:
    text = _first_record(line, "session_meta", session)
    span = find_spans(text, [_PAYLOAD])[_PAYLOAD]
    meta = text[slice(*span)]
    # As old versions write it, a session has but one of them.
    also = {"session_id": new} if ("session_id",) in find_spans(meta, [("session_id",)]) else {}
    fields = {"id": new, **also, "forked_from_id": session.id}
    return splice(text, {span: with_fields(meta, fields)}).encode()


def _pi(session: Session, fresh: Fresh) -> Fork:
    """Name the file anew, and in its first record the session and the one it is made of."""
    new, moment = fresh.random_id, fresh.now.astimezone(UTC)
    time = f"{moment:%Y-%m-%dT%H-%M-%S}-{moment.microsecond // 1000:03}Z"
    fields = {"id": new, "parentSession": str(session.entry.path)}

    def renamed(index: int, line: bytes) -> bytes:
        if index:
            return line
        text = _first_record(line, "session", session)
        return with_fields(text, fields).encode()

    return Fork(
        id=new,
        path=session.entry.path.with_name(f"{time}_{new}.jsonl"),
        original=session,
        renamed=renamed,
    )


def _first_record(line: bytes, kind: str, session: Session) -> str:
    """Return the text of the record that names the session. NotUnderstoodError for another one."""
    record: Any = json.loads(line) if is_value(line) else None
    if not isinstance(record, dict) or record.get("type") != kind:
        raise NotUnderstoodError(
            f"{session.entry.path}: does not begin with the record that names the session "
            f"({kind}), so it cannot be given a new name; write a file elsewhere with -o"
        )
    return line.decode()


_WRITERS: Mapping[str, Callable[[Session, Fresh], Fork]] = {
    claude_code.NAME: _claude_code,
    codex.NAME: _codex,
    pi.NAME: _pi,
}
