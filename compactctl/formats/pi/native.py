"""pi sessions that are changed by appending: of entries with one id the last counts.

The last entry of the file is the one to go on from. Seen with clients 0.50.7, 0.61.0 and 0.73.1
and files of version 3; they write those of earlier versions anew when they load them.
"""

from collections.abc import Iterable, Sequence

from compactctl.formats.format import Appending
from compactctl.formats.pi.chain import PiChain
from compactctl.formats.pi.reader import PiReader
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.record_versions import Superseding, marked
from compactctl.model.tags import MARK
from compactctl.pipeline.record_splice import with_fields
from compactctl.pipeline.spans import line_place


class PiAppending(Appending):
    """Later entries in place of earlier ones; see ``Appending``."""

    of = "file"
    oldest = (3,)
    newest = (3,)

    def settled(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Return each entry once, at its place in the conversation."""
        if not any(MARK in line for line in lines):
            return lines
        return tuple(_session(lines).settled())

    def block(self, now: Sequence[bytes], wanted: Sequence[bytes], operation: str) -> list[bytes]:
        """Return entries that stand for earlier ones, and the newest of the conversation last."""
        there, goal = _session(now), _session(wanted)
        changed = there.changed(goal)
        if not changed and there.reads_like(goal):
            return []
        # The client stops where a damaged line took an entry's parent: there it is told another.
        for name, parent in goal.chain.resumed.items():
            if name in goal.chain.included:
                changed[name] = _following(goal.line(name), parent)
        tip = goal.chain.path[0]
        end = changed.pop(tip, goal.line(tip))
        return [marked(line, operation) for line in (*changed.values(), end)]


def _following(line: bytes, parent: str) -> bytes:
    """Return the line of an entry that follows ``parent``."""
    text = line.decode()
    start, end, _ = line_place(text)
    return with_fields(text[start:end], {"parentId": parent}).encode()


def _session(lines: Sequence[bytes]) -> Superseding[PiChain]:
    return Superseding(lines, "id", _chain_of)


def _chain_of(lines: Iterable[Decoded]) -> PiChain:
    reader = PiReader("pi")
    reader.read(lines)
    return reader.chain
