"""Compact Claude Code sessions by appending: of records with one uuid, the last counts.

The client resumes from the last line, so that is always the newest record of the conversation.
Versions before 2.1.119 compare timestamps instead, which appended records keep. Tested with clients
2.0.76, 2.1.45, 2.1.79, 2.1.119, 2.1.197, 2.1.330 and 2.1.331.
"""

from collections.abc import Collection, Sequence

from compactctl.errors import UsageError
from compactctl.formats.claude_code.adapter import build_chain
from compactctl.formats.claude_code.boundaries import Boundary, boundary_of
from compactctl.formats.claude_code.chain import ClaudeChain
from compactctl.formats.format import NativeAppend
from compactctl.formats.records.decode import decode, decode_lines
from compactctl.formats.records.record_versions import RecordVersions, mark_appended
from compactctl.model.tags import APPENDED_BYTES
from compactctl.model.transcript import RawLine
from compactctl.pipeline.record_splice import dump, with_fields
from compactctl.pipeline.spans import find_sole_record

# In a larger file (bytes), the client skips everything before its newest compaction that preserved
# no messages: 4.95 MB were read whole, 5.35 MB were not (clients 2.0.76 to 2.1.330).
_MAX_FULLY_READ = 5 * 2**20
_Session = RecordVersions[ClaudeChain]
_COPIED_FIELDS = ("parentUuid", "isSidechain", "userType", "cwd", "sessionId", "version")


class ClaudeNativeAppend(NativeAppend):
    """Replace records by appending new versions of them; see ``NativeAppend``."""

    version_of = "client"
    oldest_tested = (2, 0, 76)
    newest_tested = (2, 1, 331)
    lists_open_since = (2, 1, 197)

    def normalized(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Return each record once, at its position in the conversation."""
        if not any(APPENDED_BYTES in line for line in lines):
            return lines
        return tuple(_session(lines).normalized())

    def lines_to_append(
        self, current: Sequence[bytes], desired: Sequence[bytes], operation: str
    ) -> list[bytes]:
        """Return new versions of the changed records; the conversation's newest record is last."""
        current_session, desired_session = _session(current), _session(desired)
        changed = _changed_records(current_session, desired_session)
        if not changed and current_session.same_chain(desired_session):
            return []
        desired_chain = desired_session.chain
        tip = desired_chain.path[0]
        tip_line = mark_appended(changed.pop(tip, desired_session.line(tip)), operation)
        appended = [mark_appended(line, operation) for line in changed.values()]
        # A record beside a hidden one may now be sent beside a remaining one: blank it.
        result = _session((*current, *appended, tip_line))
        surplus = result.chain.included - desired_chain.included
        appended += [
            mark_appended(_blank_record(current_session.line(name)), operation)
            for name in current_session.newest
            if name in surplus
        ]
        if _session((*current, *appended, tip_line)).chain.path[0] != tip:
            pointers = _resume_pointer(current, tip)
            appended += [mark_appended(line, operation) for line in pointers]
        _check_will_be_read((*current, *appended, tip_line), desired_chain.included)
        return [*appended, tip_line]


def _changed_records(current: _Session, desired: _Session) -> dict[str, bytes]:
    """Return the lines of ``desired`` whose content or parent differs from ``current``, by uuid.

    The client skips ``progress`` records and does not read them again, so a record that followed
    one names the record before it instead.
    """
    old_parents, new_parents = current.chain.parents, desired.chain.parents
    names = [name for name in current.changes_to(desired) if name in new_parents]
    moved = {n for n in desired.chain.included if old_parents.get(n) != new_parents[n]}
    names += sorted(moved.difference(names), key=desired.newest.__getitem__)
    lines = {name: _with_parent(desired.line(name), new_parents[name]) for name in names}
    return {
        name: line
        for name, line in lines.items()
        if name in moved or name not in current.newest or not current.says_same(name, line)
    }


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
    if decode(line)[0][0].get("parentUuid") == parent:
        return line
    return with_fields(text[start:end], {"parentUuid": parent}).encode()


def _check_will_be_read(lines: Sequence[bytes], included: Collection[str]) -> None:
    """Raise UsageError if the client would skip records that are to be sent."""
    if sum(map(len, lines)) <= _MAX_FULLY_READ:
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
    return RecordVersions(lines, "uuid", build_chain)


def _blank_record(line: bytes) -> bytes:
    """Return an empty notice with the uuid of a record, which supersedes it."""
    record = decode(line)[0][0]
    copied = {name: record[name] for name in _COPIED_FIELDS if name in record}
    notice = {"type": "system", "subtype": "informational", "content": "", "level": "info"}
    identity = {name: record[name] for name in ("uuid", "timestamp") if name in record}
    return dump({**copied, **notice, "isMeta": True, **identity}).encode()
