"""Which lines of a compacted transcript differ from those of its source, and why they may.

Read from the raw JSON: nothing here asks the program which lines it meant to change. Only which
messages were edited is taken from what it reads of both files.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from compactctl.commands.reading.transcript import TranscriptFile

Record = dict[str, Any]
_LINK = re.compile(rb'"(parentUuid|parentId|logicalParentUuid|leafUuid)":\s*(?:"([^"]*)"|null)')
# What an edit may change of a record, beside its marks: the text, and the copies of it that a
# client keeps for its screen.
_TEXTS = {
    "message.content",
    "data.content",
    "data.result.content",
    "data.result.detailedContent",
    "data.toolRequests",
    "attachment.content",
    "attachment.prompt",
    "attachment.snippet",
    "toolUseResult",
}
_MARKS = {"compactctl", "editId"}
_USAGE = re.compile(r"message\.usage|payload\.info\.last_token_usage|compactctl")
_OWN_MARKS = {"editId", "condenseId", "truncationId", "compactctl"}


@dataclass(frozen=True, slots=True)
class _Change:
    line: int
    reason: str
    text: bytes


def unexplained(
    before: TranscriptFile, after: TranscriptFile, *, unsent: bool = False
) -> list[str]:
    """Return the lines that differ without a reason, or for which one is used too often.

    A line may differ because it holds a message that was written or edited; because the record it
    follows, or points to, is no longer there, or has one inserted after it; in the one record by
    which a client measures its context; in its missing line end, if it was the last one; and, with
    ``unsent``, by fields that are gone. Lines that stay keep their order.
    """
    if len(before.lines) == 1:
        return list(_of_documents(before, after, unsent=unsent))
    changes = _Changes(before, after, unsent=unsent)
    found = [changes.of(index) for index in range(len(after.lines))]
    restated = [change for change in found if change.reason == "usage"]
    places = [place for line in after.lines if (place := changes.place(bytes(line))) is not None]
    return [
        *(f"line {c.line + 1}: {c.text[:200]!r}" for c in found if not c.reason),
        *(f"line {c.line + 1}: usage restated again" for c in restated[1:]),
        *([] if places == sorted(places) else ["lines are in another order"]),
    ]


class _Changes:
    def __init__(self, before: TranscriptFile, after: TranscriptFile, *, unsent: bool) -> None:
        self._after, self._unsent = after, unsent
        old = [bytes(line) for line in before.lines]
        self._last = old[-1]
        self._places: dict[bytes, list[int]] = defaultdict(list)
        self._unlinked: dict[bytes, list[bytes]] = defaultdict(list)
        for index, line in enumerate(old):
            self._places[line].append(index)
            self._unlinked[_LINK.sub(rb"\1", line)].append(line)
        old_records = list(map(record_of, old))
        self._by_id = {name: each for each in old_records if (name := _id_of(each))}
        self._new_ids = {_id_of(record_of(bytes(line))) for line in after.lines}
        parts = {message.id: message.parts for message in before.transcript.messages}
        self._edited = {
            message.line
            for message in after.transcript.messages
            if parts.get(message.id) != message.parts
        }

    def place(self, line: bytes) -> int | None:
        """Return where a line was; None if it was not there, or is like others but for a link."""
        places = self._places.get(line, [])
        return (
            places[0] if len(self._unlinked[_LINK.sub(rb"\1", line)]) == 1 == len(places) else None
        )

    def of(self, index: int) -> _Change:
        line = bytes(self._after.lines[index])
        return _Change(index, self._reason(index, line), line)

    def _reason(self, index: int, line: bytes) -> str:
        if line in self._places:
            return "same"
        if line == self._last + b"\n":
            return "line end"
        if any(self._is_relinked(old, line) for old in self._unlinked[_LINK.sub(rb"\1", line)]):
            return "link"
        record = record_of(line)
        old = self._by_id.get(_id_of(record))
        if old is None:
            return self._of_unnamed(index, record)
        return self._of_fields(index, old, record)

    def _is_relinked(self, old: bytes, new: bytes) -> bool:
        pairs = zip(_LINK.findall(old), _LINK.findall(new), strict=True)
        return all(self._may_link(a[1].decode(), b[1].decode()) for a, b in pairs if a != b)

    def _may_link(self, old: str, new: str) -> bool:
        """Tell whether the one is gone, or the other was written; a root has no name."""
        is_gone = bool(old) and old not in self._new_ids
        return is_gone or (bool(new) and new not in self._by_id)

    def _of_unnamed(self, index: int, record: Record) -> str:
        """Return why a record is there that is not one of the source by its id."""
        if index in self._edited:
            return "edited"
        return "usage" if "reported" in record.get("compactctl", {}) else ""

    def _of_fields(self, index: int, old: Record, record: Record) -> str:
        fields = dict(_differing(old, record))
        links = {name for name in fields if _LINK.match(f'"{name}":null'.encode())}
        if not all(self._may_link(old[name] or "", record[name] or "") for name in links):
            return ""
        left = fields.keys() - links
        usage = {name for name in left if _USAGE.match(name)}
        if not left - usage and "reported" in record.get("compactctl", {}):
            return "usage"
        if index in self._edited and left - usage <= _TEXTS | _MARKS:
            return "edited"
        is_cut = self._unsent and all(fields[name] is None for name in left)
        return "unsent" if is_cut else ""


def _of_documents(before: TranscriptFile, after: TranscriptFile, *, unsent: bool) -> Iterator[str]:
    """Yield the records of a document that differ and bear no mark of an edit."""
    known = _records_of(before)
    for place, record in enumerate(_records_of(after)):
        is_cut = unsent and any(_is_part(record, old) for old in known)
        if record not in known and not _is_marked(record) and not is_cut:
            yield f"record {place + 1}: {str(record)[:200]}"


def _is_part(new: Any, old: Any) -> bool:
    """Tell whether JSON is what is left of some other when fields and items are taken out."""
    if isinstance(new, dict) and isinstance(old, dict):
        return all(name in old and _is_part(value, old[name]) for name, value in new.items())
    if isinstance(new, list) and isinstance(old, list):
        items = iter(old)
        return all(any(_is_part(value, item) for item in items) for value in new)
    return bool(new == old)


def _records_of(document: TranscriptFile) -> list[Any]:
    """Return the messages of a document: the longest list at its top."""
    value = json.loads(bytes(document.lines[0]))
    lists = [value] if isinstance(value, list) else list(value.values())
    return max((each for each in lists if isinstance(each, list)), key=len)


def _is_marked(value: Any) -> bool:
    if isinstance(value, dict):
        return bool(_OWN_MARKS & value.keys()) or any(map(_is_marked, value.values()))
    return isinstance(value, list) and any(map(_is_marked, value))


def record_of(line: bytes) -> Record:
    """Return a line as JSON; {} if it is none."""
    try:
        record = json.loads(line)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _id_of(record: Record) -> str:
    return str(record.get("uuid") or record.get("id") or "")


def _differing(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the paths of fields with another value, and that value."""
    if not (isinstance(old, dict) and isinstance(new, dict)) or path in _TEXTS | _MARKS:
        yield path, new
        return
    for name in old.keys() | new.keys():
        if old.get(name) != new.get(name):
            yield from _differing(old.get(name), new.get(name), f"{path}.{name}".lstrip("."))
