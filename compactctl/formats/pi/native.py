"""pi sessions that are changed by appending: of entries with one id the last counts.

The last entry of the file is the one to go on from. Seen with clients 0.50.7, 0.61.0 and 0.73.1
and files of version 3; they write those of earlier versions anew when they load them.
"""

from collections.abc import Iterable, Sequence

from compactctl.formats.format import NativeAppend
from compactctl.formats.pi.chain import PiChain
from compactctl.formats.pi.reader import PiReader
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.record_versions import RecordVersions, mark_appended
from compactctl.model.tags import APPENDED_BYTES
from compactctl.pipeline.record_splice import with_fields
from compactctl.pipeline.spans import find_sole_record


class PiNativeAppend(NativeAppend):
    """Later entries in place of earlier ones; see ``NativeAppend``."""

    version_of = "file"
    oldest_tested = (3,)
    newest_tested = (3,)

    def normalized(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Return each entry once, at its place in the conversation."""
        if not any(APPENDED_BYTES in line for line in lines):
            return lines
        return tuple(_session(lines).normalized())

    def lines_to_append(
        self, current: Sequence[bytes], desired: Sequence[bytes], operation: str
    ) -> list[bytes]:
        """Return entries that stand for earlier ones, and the newest of the conversation last."""
        there, goal = _session(current), _session(desired)
        changed = there.changes_to(goal)
        if not changed and there.same_chain(goal):
            return []
        # The client stops where a damaged line took an entry's parent: there it is told another.
        for name, parent in goal.chain.bridged.items():
            if name in goal.chain.included:
                changed[name] = _following(goal.line(name), parent)
        tip = goal.chain.path[0]
        end = changed.pop(tip, goal.line(tip))
        return [mark_appended(line, operation) for line in (*changed.values(), end)]


def _following(line: bytes, parent: str) -> bytes:
    """Return the line of an entry that follows ``parent``."""
    text = line.decode()
    start, end, _ = find_sole_record(text)
    return with_fields(text[start:end], {"parentId": parent}).encode()


def _session(lines: Sequence[bytes]) -> RecordVersions[PiChain]:
    return RecordVersions(lines, "id", _chain_of)


def _chain_of(lines: Iterable[Decoded]) -> PiChain:
    reader = PiReader("pi")
    reader.read(lines)
    return reader.chain
