"""Claude Code sessions that are changed by appending: of records with one uuid the last counts.

The last line decides where a session goes on, so it is always the newest record of the
conversation; versions before 2.1.119 look at timestamps, which records keep. Seen with clients
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
from compactctl.pipeline.spans import line_place

# Of a file larger than this, in bytes, the client reads nothing before its newest compaction that
# kept no messages verbatim: 4.95 MB were read whole, 5.35 MB were not (clients 2.0.76 to 2.1.330).
_MAX_FULLY_READ = 5 * 2**20
_Session = RecordVersions[ClaudeChain]
_KEPT_FIELDS = ("parentUuid", "isSidechain", "userType", "cwd", "sessionId", "version")


class ClaudeNativeAppend(NativeAppend):
    """Later records in place of earlier ones; see ``NativeAppend``."""

    version_of = "client"
    oldest_tested = (2, 0, 76)
    newest_tested = (2, 1, 331)
    lists_open_since = (2, 1, 197)

    def normalized(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Return each record once, at its place in the conversation."""
        if not any(APPENDED_BYTES in line for line in lines):
            return lines
        return tuple(_session(lines).normalized())

    def lines_to_append(
        self, current: Sequence[bytes], desired: Sequence[bytes], operation: str
    ) -> list[bytes]:
        """Return records that stand for earlier ones, and the newest of the conversation last."""
        there, goal = _session(current), _session(desired)
        changed = _changed(there, goal)
        if not changed and there.same_chain(goal):
            return []
        tip = goal.chain.path[0]
        end = mark_appended(changed.pop(tip, goal.line(tip)), operation)
        found = [mark_appended(line, operation) for line in changed.values()]
        # What hung beside a record that is hidden may hang beside one that is left.
        beside = _session((*current, *found, end)).chain.included - goal.chain.included
        names = (name for name in there.newest if name in beside)
        found += [mark_appended(_blank_record(there.line(name)), operation) for name in names]
        if _session((*current, *found, end)).chain.path[0] != tip:
            found += [mark_appended(line, operation) for line in _pointing(current, tip)]
        _check_will_be_read((*current, *found, end), goal.chain.included)
        return [*found, end]


def _changed(there: _Session, goal: _Session) -> dict[str, bytes]:
    """Return the records of ``goal`` that say something else than here, or follow another one.

    The client passes over ``progress`` records and does not read them again: what followed one
    names the record before it instead.
    """
    before, after = there.chain.parents, goal.chain.parents
    names = [name for name in there.changes_to(goal) if name in after]
    moved = {name for name in goal.chain.included if before.get(name) != after[name]}
    names += sorted(moved.difference(names), key=goal.newest.__getitem__)
    lines = {name: _following(goal.line(name), after[name]) for name in names}
    return {
        name: line
        for name, line in lines.items()
        if name in moved or name not in there.newest or not there.says(name, line)
    }


def _pointing(lines: Sequence[bytes], tip: str) -> list[bytes]:
    """Return the newest ``last-prompt``, if any, as one that names ``tip`` as the end."""
    for line in reversed(lines):
        values, _ = decode(line) if b"last-prompt" in line else ((), None)
        for record in values:
            if isinstance(record, dict) and record.get("type") == "last-prompt":
                return [dump({**record, "leafUuid": tip}).encode()]
    return []


def _following(line: bytes, parent: str | None) -> bytes:
    """Return the line of a record that names ``parent`` as the one before it."""
    text = line.decode()
    start, end, _ = line_place(text)
    if decode(line)[0][0].get("parentUuid") == parent:
        return line
    return with_fields(text[start:end], {"parentUuid": parent}).encode()


def _check_will_be_read(lines: Sequence[bytes], included: Collection[str]) -> None:
    """Raise UsageError where the client would not read all of what is to be sent."""
    if sum(map(len, lines)) <= _MAX_FULLY_READ:
        return
    places: dict[str, int] = {}
    boundary = -1
    for each in decode_lines(RawLine(at, line) for at, line in enumerate(lines)):
        for record in each.values if each.damage is None else ():
            if isinstance(record, dict):
                places[str(record.get("uuid"))] = each.index
                boundary = each.index if boundary_of(record) == Boundary() else boundary
    if any(places.get(name, boundary) < boundary for name in included):
        raise UsageError(
            f"of a file this large the client reads nothing before its own compaction on line "
            f"{boundary + 1:,}"
        )


def _session(lines: Sequence[bytes]) -> _Session:
    return RecordVersions(lines, "uuid", build_chain)


def _blank_record(line: bytes) -> bytes:
    """Return a record of nothing that takes the place of another."""
    record = decode(line)[0][0]
    kept = {name: record[name] for name in _KEPT_FIELDS if name in record}
    said = {"type": "system", "subtype": "informational", "content": "", "level": "info"}
    named = {name: record[name] for name in ("uuid", "timestamp") if name in record}
    return dump({**kept, **said, "isMeta": True, **named}).encode()
