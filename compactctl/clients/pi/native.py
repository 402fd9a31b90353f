"""Compact pi sessions by appending: of entries with one id, the last counts.

The client resumes from the last entry of the file. Tested with clients 0.50.7, 0.61.0, 0.73.1
and 1.6.0 and files of version 3; they rewrite files of earlier versions when they load them.
"""

from collections.abc import Iterable, Sequence

from compactctl.clients.format import NativeAppend
from compactctl.clients.pi.chain import PiChain
from compactctl.clients.pi.reader import PiReader
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.record_versions import RecordVersions, mark_appended, sole_record
from compactctl.model.tags import APPENDED_BYTES
from compactctl.pipeline.record_splice import with_fields
from compactctl.pipeline.spans import find_sole_record


class PiNativeAppend(NativeAppend):
    """Replace entries by appending new versions of them; see ``NativeAppend``."""

    version_of = "file"
    oldest_tested = (3,)
    newest_tested = (3,)

    def normalized(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Return each entry once, at its position in the conversation."""
        if not any(APPENDED_BYTES in line for line in lines):
            return lines
        return tuple(_session(lines).normalized())

    def lines_to_append(
        self, current: Sequence[bytes], desired: Sequence[bytes], operation: str
    ) -> list[bytes]:
        """Return new versions of the changed entries; the conversation's newest entry is last."""
        current_session, desired_session = _session(current), _session(desired)
        changed = current_session.changes_to(desired_session)
        if not changed and current_session.same_chain(desired_session):
            return []
        chain = desired_session.chain
        # The client stops at an entry whose parent a damaged line has lost, so that gets another.
        for name, parent in chain.bridged.items():
            if name in chain.included:
                changed[name] = _with_parent(desired_session.line(name), parent)
        tip = chain.path[0]
        tip_line = changed.pop(tip, desired_session.line(tip))
        return [mark_appended(line, operation) for line in (*changed.values(), tip_line)]

    def carry(
        self, block: Sequence[bytes], grown: Sequence[bytes], operation: str
    ) -> Iterable[bytes]:
        """Return the block, and after it the newest entry once more."""
        for line in grown:
            if sole_record(line).get("type") in ("compaction", "branch_summary", "context_edit"):
                raise ValueError("compacted by the client")
        return [*block, mark_appended(grown[-1], operation)]


def _with_parent(line: bytes, parent: str) -> bytes:
    text = line.decode()
    start, end, _ = find_sole_record(text)
    return with_fields(text[start:end], {"parentId": parent}).encode()


def _session(lines: Sequence[bytes]) -> RecordVersions[PiChain]:
    return RecordVersions(lines, "id", _build_chain)


def _build_chain(lines: Iterable[Decoded]) -> PiChain:
    reader = PiReader("pi")
    reader.read(lines)
    return reader.chain
