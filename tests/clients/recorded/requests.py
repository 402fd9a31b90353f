"""What clients sent for recorded sessions, as files that hold it version by version.

A request is kept as pieces, which say what was sent in the words of the session itself. What a
client says in words of its own is kept as a digest with its length.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clients.desk import bare
from clients.stub import Json

Piece = tuple[str, str, str]
"""Text, reasoning, call, result, picture; the id of its call; what it says.

``client text`` and ``client result`` are what a client adds that stands nowhere in the session.
"""
OF_CLIENT = "client "
PROMPT = "And now, please?"

_FOLDER = Path(__file__).parent
_SHORT = 60
# The name of something, and not a text.
_NAME = re.compile(r"(?:file://)?/?Z\d\d(?:\.pdf)?")
_MARK = re.compile(r"\bZ\d\d\b")


@dataclass(frozen=True, kw_only=True)
class Recording:
    """What versions of a client sent before the prompt; ``refusal`` is what they print instead.

    ``marks`` are the marks in whatever was sent, in order of their names; ``compacts`` tells
    whether the client compacted first, where it was left to decide.
    """

    versions: tuple[str, ...]
    pieces: tuple[Piece, ...] = ()
    marks: tuple[str, ...] = ()
    refusal: str = ""
    compacts: bool | None = None

    def same(self, other: "Recording") -> bool:
        """Whether the same was sent."""
        return replace(self, versions=()) == replace(other, versions=())


@dataclass(frozen=True, kw_only=True)
class RecordedSession:
    """What was sent for a session; ``digest`` is that of the session as it was then."""

    digest: str
    requests: tuple[Recording, ...]

    def of(self, version: str) -> Recording:
        """Return what a version sent."""
        return next(request for request in self.requests if version in request.versions)


def digest_of(session: bytes) -> str:
    """Return the digest by which a session is known."""
    return hashlib.sha256(session).hexdigest()[:12]


def order_of(version: str) -> list[int]:
    """Return a key that sorts versions."""
    return [int(number) for number in version.split(".")]


def newest(recordings: Iterable[Recording]) -> str:
    """Return the newest version of those that were recorded."""
    versions = (version for recording in recordings for version in recording.versions)
    return max(versions, key=order_of)


def read_rule(client: str, name: str) -> dict[str, RecordedSession]:
    """Return what was recorded for each session of a client's rule."""
    path = _FOLDER / client / f"{name}.json"
    if not path.is_file():
        return {}
    return {
        session: RecordedSession(
            digest=entry["digest"], requests=tuple(map(_recording, entry["requests"]))
        )
        for session, entry in json.loads(path.read_bytes())["sessions"].items()
    }


def write_rule(client: str, name: str, about: str, sessions: Mapping[str, RecordedSession]) -> None:
    """Write what was recorded for the sessions of a client's rule, a piece on a line."""
    entries = {
        name: {"digest": session.digest, "requests": [*map(_entry, session.requests)]}
        for name, session in sessions.items()
    }
    document = {"client": client, "rule": name, "about": about, "sessions": entries}
    text = json.dumps(document, indent=1, ensure_ascii=False)
    # A piece on a line.
    flat = re.sub(r"\[\s*((?:\"(?:[^\"\\]|\\.)*\",?\s*)+)\]", _on_a_line, text)
    folder = _FOLDER / client
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.json").write_text(f"{flat}\n")


def merged(recordings: Iterable[Recording], new: Recording) -> tuple[Recording, ...]:
    """Return recordings with one of a version, in the place of what that version sent before."""
    [version] = new.versions
    merged_recordings = []
    for recording in recordings:
        versions = {*recording.versions} - {version}
        if recording.same(new):
            versions.add(version)
        if versions:
            ordered = tuple(sorted(versions, key=order_of))
            merged_recordings.append(replace(recording, versions=ordered))
    if not any(recording.same(new) for recording in merged_recordings):
        merged_recordings.append(new)
    return tuple(sorted(merged_recordings, key=lambda recording: order_of(recording.versions[0])))


class Words:
    """The texts of a session, which alone are kept as they are."""

    def __init__(self, session: bytes) -> None:
        texts = (text for value in values_of(session) for text in strings_of(value))
        self._texts = {bare(_whole(text)) for text in texts}

    def canonical(self, piece: Piece) -> Piece:
        """Return a piece with a digest in place of a long text, or of a client's words."""
        kind, call, said = piece[0], piece[1], _whole(piece[2])
        if kind not in ("text", "result"):
            return piece
        is_own = self._is_own(said)
        shown = said if is_own and len(said) <= _SHORT else _digest(said)
        return kind if is_own else f"{OF_CLIENT}{kind}", call, shown

    def _is_own(self, said: str) -> bool:
        lines = said.split("\n")
        return said in self._texts or all(not line or line in self._texts for line in lines)


def _whole(text: str) -> str:
    """Return a text with U+FFFD in place of halves of pairs, as clients on Node.js send it."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _digest(said: str) -> str:
    return f"sha256 {hashlib.sha256(said.encode()).hexdigest()[:12]}, {len(said)} characters"


def marks_in(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the marks in texts."""
    return tuple(sorted({mark for text in texts for mark in _MARK.findall(text)}))


def marks_of_texts(session: bytes) -> frozenset[str]:
    """Return the marks of a session that stand in texts, without those in names and paths."""
    values = (text for value in values_of(session) for text in strings_of(value))
    return frozenset(marks_in(text for text in values if not _NAME.fullmatch(text)))


def conversation_of(request: Json) -> Any:
    """Return what a request holds beside its tools and its system prompt."""
    return next(request[key] for key in ("messages", "input", "contents") if key in request)


def strings_of(value: Any) -> Iterator[str]:
    """Yield all texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from strings_of(member)
    elif isinstance(value, list):
        for element in value:
            yield from strings_of(element)


def _recording(entry: Json) -> Recording:
    return Recording(
        versions=tuple(entry["versions"]),
        pieces=tuple((kind, call, said) for kind, call, said in entry.get("pieces", ())),
        marks=tuple(entry.get("marks", ())),
        refusal=entry.get("refusal", ""),
        compacts=entry.get("compacts"),
    )


def _entry(recording: Recording) -> Json:
    entry: Json = {"versions": recording.versions}
    if recording.refusal:
        return {**entry, "refusal": recording.refusal}
    if recording.compacts is not None:
        return {**entry, "compacts": recording.compacts}
    entry["pieces"] = recording.pieces
    return {**entry, "marks": recording.marks} if recording.marks else entry


def _on_a_line(match: re.Match[str]) -> str:
    values = re.sub(r"\s*\n\s*", " ", match[1].strip())
    return f"[{values}]"


def values_of(session: bytes) -> Iterator[Any]:
    """Yield the value of each line that is one."""
    for line in session.split(b"\n"):
        try:
            yield json.loads(line.lstrip(b"\0").decode("utf-8-sig", "replace"))
        except ValueError:
            continue
