"""Claude Code sessions that are changed by appending: of records with one uuid the last counts.

The last line decides where a session goes on, so it is always the newest record of the
conversation; versions before 2.1.119 look at timestamps, which records keep. Seen with clients
2.0.76, 2.1.45, 2.1.79, 2.1.119, 2.1.197 and 2.1.330.
"""

from collections.abc import Sequence
from typing import Literal

from compactctl.formats.claude_code.adapter import chain_of
from compactctl.formats.format import Version
from compactctl.formats.records.decode import decode
from compactctl.formats.records.superseding import Superseding, marked
from compactctl.model.appended import MARK
from compactctl.pipeline.record_splice import dump

_KEPT_FIELDS = ("parentUuid", "isSidechain", "userType", "cwd", "sessionId", "version")


class ClaudeAppending:
    """Later records in place of earlier ones; see ``Appending``."""

    of: Literal["client", "file"] = "client"
    oldest: Version = (2, 0, 76)
    newest: Version = (2, 1, 330)
    notes_open: Version | None = (2, 1, 197)
    holds_files = False

    def settled(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Return each record once, at its place in the conversation."""
        if not any(MARK in line for line in lines):
            return lines
        return tuple(_session(lines).settled())

    def block(self, now: Sequence[bytes], wanted: Sequence[bytes], operation: str) -> list[bytes]:
        """Return records that stand for earlier ones, and the newest of the conversation last."""
        there, goal = _session(now), _session(wanted)
        changed = there.changed(goal)
        if not changed:
            return []
        tip = goal.chain.path[0]
        changed.pop(tip, None)
        end = marked(goal.line(tip), operation)
        found = [marked(line, operation) for line in changed.values()]
        # What hung beside a record that is hidden may hang beside one that is left.
        beside = _session((*now, *found, end)).chain.included - goal.chain.included
        names = (name for name in there.newest if name in beside)
        return [*found, *(marked(_silenced(there.line(name)), operation) for name in names), end]


def _session(lines: Sequence[bytes]) -> Superseding:
    return Superseding(lines, "uuid", chain_of)


def _silenced(line: bytes) -> bytes:
    """Return a record of nothing that takes the place of another."""
    record = decode(line)[0][0]
    kept = {name: record[name] for name in _KEPT_FIELDS if name in record}
    said = {"type": "system", "subtype": "informational", "content": "", "level": "info"}
    named = {name: record[name] for name in ("uuid", "timestamp") if name in record}
    return dump({**kept, **said, "isMeta": True, **named}).encode()
