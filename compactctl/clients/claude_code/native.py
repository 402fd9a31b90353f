"""Compact Claude Code sessions by appending: of records with one uuid, the last counts.

The client resumes from the last line, so that is always the newest record of the conversation.
Versions before 2.1.119 compare timestamps instead, which appended records keep. Tested with clients
2.0.76, 2.1.45, 2.1.79, 2.1.119, 2.1.197, 2.1.330, 2.1.331 and 2.1.332.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

from compactctl.clients.claude_code.boundaries import Boundary, boundary_of
from compactctl.clients.claude_code.chain import is_read_whole
from compactctl.clients.claude_code.reader import sent_chain
from compactctl.clients.claude_code.rows import ROW_TYPES
from compactctl.clients.claude_code.sent import SentChain
from compactctl.clients.format import NativeAppend
from compactctl.clients.records.decode import decode, decode_lines
from compactctl.clients.records.json_values import text_or_none
from compactctl.clients.records.record_versions import RecordVersions, mark_appended, sole_record
from compactctl.errors import UsageError
from compactctl.model.tags import APPENDED_BYTES, read_tags
from compactctl.model.transcript import RawLine
from compactctl.pipeline.record_splice import dump, with_fields, without_fields
from compactctl.pipeline.spans import find_sole_record

_DISPLAYED = "toolUseResult"
_Session = RecordVersions[SentChain]
_Parents = Mapping[str, str | None]
_COPIED_FIELDS = ("parentUuid", "isSidechain", "userType", "cwd", "sessionId", "version")


class ClaudeNativeAppend(NativeAppend):
    """Replace records by appending new versions of them; see ``NativeAppend``."""

    version_of = "client"
    oldest_tested = (2, 0, 76)
    newest_tested = (2, 1, 332)
    lists_open_since = (2, 1, 197)

    def normalized(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Return each record once, at its position in the conversation."""
        if not any(APPENDED_BYTES in line for line in lines):
            return lines
        return tuple(_session(lines).normalized())

    def lines_to_append(
        self, current: Sequence[bytes], desired: Sequence[bytes], operation: str
    ) -> list[bytes]:
        """Return new versions of the changed records; the conversation's newest record is last.

        In a large file the client reads nothing beside the path, so all that is sent is put on it.
        """
        old, new = _session(current), _session(desired)
        parents, tip = dict(new.chain.parents), new.chain.path[0]
        appended = _shortest_block(old, new, parents, tip, operation)
        beside = new.chain.included.difference(new.chain.path)
        if beside and not is_read_whole(sum(map(len, (*current, *appended)))):
            order = pairwise(reversed(new.chain.order))
            parents |= {
                name: prior for name, prior in order if not beside.isdisjoint((name, prior))
            }
            appended = _shortest_block(old, new, parents, new.chain.order[-1], operation)
        _check_will_be_read((*current, *appended), new.chain.included)
        return appended

    def carry(
        self, block: Sequence[bytes], grown: Sequence[bytes], operation: str
    ) -> Iterable[bytes]:
        """Return the block, and after it the newest record of the conversation once more."""
        newest = None
        for line in grown:
            record = sole_record(line)
            if boundary_of(record) is not None:
                raise ValueError("compacted by the client")
            is_chained = record.get("type") in ROW_TYPES and record.get("isSidechain") is not True
            newest = line if is_chained and record.get("uuid") else newest
        return block if newest is None else [*block, mark_appended(newest, operation)]


def _shortest_block(
    old: _Session, new: _Session, parents: _Parents, tip: str, operation: str
) -> list[bytes]:
    """Return the records after which ``old`` is sent as ``new``, without detours if these fail.

    ``parents`` are those that the records of ``new`` get, and ``tip`` is the last of them. A
    detour over the summary of a compaction that preserved messages would send these after it.
    """
    block = _block(old, new, parents, tip, operation, by_detours=True)
    order = _session((*old.lines, *block)).chain.order
    sent = [name for name in order if name in new.chain.included]
    if sent == list(new.chain.order):
        return block
    return _block(old, new, parents, tip, operation, by_detours=False)


def _block(  # noqa: PLR0913 - all of it decides what is appended
    old: _Session,
    new: _Session,
    parents: _Parents,
    tip: str,
    operation: str,
    *,
    by_detours: bool,
) -> list[bytes]:
    changed = _changed_records(old, new, parents)
    if not changed and old.chain.order == new.chain.order:
        return []
    tip_line = mark_appended(changed.pop(tip, new.line(tip)), operation)
    blank = _shorter_detours(old, new, parents, changed) if by_detours else {}
    appended = [mark_appended(line, operation) for line in (*changed.values(), *blank.values())]
    # A compaction that is undone would still move what it preserved.
    undone = {name for name in old.newest if name not in new.newest and _compacts(old, name)}
    appended += _blank_records(old, undone - blank.keys(), operation)
    # A record beside a hidden one may now be sent beside a remaining one: blank it.
    result = _session((*old.lines, *appended, tip_line))
    surplus = result.chain.included - new.chain.included - blank.keys()
    appended += _blank_records(old, surplus, operation)
    if _session((*old.lines, *appended, tip_line)).chain.path[0] != tip:
        appended += [mark_appended(line, operation) for line in _resume_pointer(old.lines, tip)]
    return [*appended, tip_line]


def _changed_records(old: _Session, new: _Session, parents: _Parents) -> dict[str, bytes]:
    """Return the lines of ``new`` whose content or parent differs from ``old``, by uuid.

    The client skips ``progress`` records and does not read them again, so a record that followed
    one names the record before it instead.
    """
    names = [name for name in old.changes_to(new) if name in parents]
    old_parents = old.chain.parents
    moved = {name for name in new.chain.included if old_parents.get(name) != parents[name]}
    names += sorted(moved.difference(names), key=new.newest.__getitem__)
    lines = {name: _without_copy(_with_parent(new.line(name), parents[name])) for name in names}
    return {
        name: line
        for name, line in lines.items()
        if name in moved or name not in old.newest or not old.says_same(name, line)
    }


def _blank_records(session: _Session, names: Collection[str], operation: str) -> list[bytes]:
    """Return blank versions of records, in file order, to append."""
    return [
        mark_appended(_blank_record(session.line(name)), operation)
        for name in session.newest
        if name in names
    ]


def _compacts(session: _Session, name: str) -> bool:
    line = session.line(name)
    return b"compact_boundary" in line and boundary_of(sole_record(line)) is not None


def _shorter_detours(
    old: _Session, new: _Session, parents: _Parents, changed: dict[str, bytes]
) -> dict[str, bytes]:
    """Return blank versions of hidden records that link the records after them to those before.

    These records are removed from ``changed`` if only their parent differs, and if repeating them,
    once more when it is undone, would take more bytes.

        now:   A <- H (hidden) <- K        appended: H, blank, with parent A, instead of K
    """
    old_parents = old.chain.parents
    followers: dict[str, list[str]] = defaultdict(list)
    for name in new.chain.order:
        parent = old_parents.get(name)
        if parent in old.newest and parent not in new.chain.included:
            followers[parent].append(name)
    detours: dict[str, bytes] = {}
    for hidden, names in followers.items():
        parent, *others = {parents[name] for name in names}
        repeated = [changed[name] for name in names if _is_only_moved(old, name, changed)]
        if parent is None or others or len(repeated) < len(names):
            continue
        line = _with_parent(_blank_record(old.line(hidden)), parent)
        if len(line) + len(old.line(hidden)) < 2 * sum(map(len, repeated)):
            detours[hidden] = line
            for name in names:
                del changed[name]
    return detours


def _is_only_moved(old: _Session, name: str, changed: Mapping[str, bytes]) -> bool:
    """Return whether a record would be appended only because it gets another parent."""
    if name not in changed:
        return False
    return old.says_same(name, _with_parent(changed[name], _parent_in(old.line(name))))


def _resume_pointer(lines: Sequence[bytes], tip: str) -> list[bytes]:
    """Return a copy of the newest ``last-prompt`` that names ``tip``; [] if there is none."""
    for line in reversed(lines):
        values, _ = decode(line) if b"last-prompt" in line else ((), None)
        for record in values:
            if isinstance(record, dict) and record.get("type") == "last-prompt":
                return [dump({**record, "leafUuid": tip}).encode()]
    return []


def _with_parent(line: bytes, parent: str | None) -> bytes:
    text = line.decode()
    start, end, _ = find_sole_record(text)
    if _parent_in(line) == parent:
        return line
    return with_fields(text[start:end], {"parentUuid": parent}).encode()


def _parent_in(line: bytes) -> str | None:
    return text_or_none(decode(line)[0][0].get("parentUuid"))


def _without_copy(line: bytes) -> bytes:
    """Return a rewritten tool result without the copy of the original that is only displayed."""
    if _DISPLAYED.encode() not in line or not read_tags(decode(line)[0][0]).edit_id:
        return line
    text = line.decode()
    start, end, _ = find_sole_record(text)
    return without_fields(text[start:end], [_DISPLAYED]).encode()


def _check_will_be_read(lines: Sequence[bytes], included: Collection[str]) -> None:
    """Raise UsageError if the client would skip records that are to be sent."""
    if is_read_whole(sum(map(len, lines))):
        return
    line_by_uuid: dict[str, int] = {}
    boundary = -1
    for decoded in decode_lines(RawLine(index, line) for index, line in enumerate(lines)):
        for record in decoded.values if decoded.damage is None else ():
            if isinstance(record, dict):
                line_by_uuid[str(record.get("uuid"))] = decoded.index
                boundary = decoded.index if boundary_of(record) == Boundary() else boundary
    if any(line_by_uuid.get(name, boundary) < boundary for name in included):
        raise UsageError(
            "of a file this large the client reads nothing before its compaction on line "
            f"{boundary + 1:,}"
        )


def _session(lines: Sequence[bytes]) -> _Session:
    return RecordVersions(lines, "uuid", sent_chain)


def _blank_record(line: bytes) -> bytes:
    """Return an empty notice with the uuid of a record, which supersedes it."""
    record = decode(line)[0][0]
    copied = {name: record[name] for name in _COPIED_FIELDS if name in record}
    notice = {"type": "system", "subtype": "informational", "content": "", "level": "info"}
    identity = {name: record[name] for name in ("uuid", "timestamp") if name in record}
    return dump({**copied, **notice, "isMeta": True, **identity}).encode()
