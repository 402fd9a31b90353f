"""Claude Code sessions: one content block per line, linked by parent ids."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compactctl.clients.claude_code.reader import COUNTS, ClaudeReader
from compactctl.clients.claude_code.record_kinds import RECORDS
from compactctl.clients.claude_code.request import mark_omitted
from compactctl.clients.content.anthropic import new_content
from compactctl.clients.format import Format, NativeAppend
from compactctl.clients.records.builder import (
    uuid_for,
)
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import (
    text_or_none,
)
from compactctl.model.island import Island
from compactctl.model.message import Message, Synthetic
from compactctl.model.transcript import Transcript
from compactctl.model.unsent import UnsentRule, match_type
from compactctl.pipeline.writer import InsertionContext

_UUID = re.compile(rb'"uuid":\s*"([^"]+)"')
_PARENT = re.compile(rb'"parentUuid":\s*"([^"]+)"')
_SUBAGENT = re.compile(rb'"isSidechain":\s*true')
_CLEARING = b'"microcompact_boundary"'
_COPIED_FIELDS = ("isSidechain", "userType", "cwd", "sessionId", "version", "gitBranch", "slug")
_UNSENT = (
    UnsentRule(kind="progress", match=match_type("progress")),
    UnsentRule(kind="copies", match=match_type("user"), path=("toolUseResult",)),
    UnsentRule(kind="snapshots", match=match_type("file-history-snapshot")),
)


class ClaudeCode(Format):
    """Reads and writes session files of Claude Code."""

    name = "claude-code"
    title = "Claude Code session"
    can_write_results = True
    client = "Claude Code"
    provider = "anthropic"
    pair_order = "next turn"
    parent_path = ("parentUuid",)
    usage_fields = COUNTS
    unsent = _UNSENT
    new_content = staticmethod(new_content)

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize a file of known types where some records have fields only the client writes."""
        typed_records = [r for r in records if text_or_none(r.get("type")) in RECORDS]
        if not typed_records or len(typed_records) * 2 < len(records):
            return False
        return any(map(_is_client_record, typed_records))

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return ClaudeReader().read(lines)

    def islands(self, lines: Iterable[Decoded]) -> tuple[Island, ...]:
        """Return what the next request does not send; see ``Format.islands``."""
        reader = ClaudeReader()
        reader.add_lines(lines)
        return reader.islands()

    def is_sized_by_end(self, data: bytes) -> bool:
        """Return whether nothing was cleared for a while, and no subagent or gap is inside."""
        if _CLEARING in data or _SUBAGENT.search(data):
            return False
        return set(_PARENT.findall(data)) <= set(_UUID.findall(data))

    def mark_omitted(self, history: Sequence[Message]) -> Sequence[Message]:
        """Mark what the client leaves out of the next request; see ``request.py``."""
        return mark_omitted(history)

    def new_id(self, message: Synthetic) -> str:
        """Return a UUID derived from the message's id."""
        return uuid_for(message.id)

    def native_append(self) -> NativeAppend:
        """Return how sessions are compacted by appending to them."""
        from compactctl.clients.claude_code.native import ClaudeNativeAppend

        return ClaudeNativeAppend()

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a user record that follows ``beside.parent``, with the neighbor's session fields.

        A summary is marked as the client marks its own; any other text as written by the client.
        A result is a block.
        """
        flag = "isCompactSummary" if message.kind == "summary" else "isMeta"
        block = {"type": "tool_result", "tool_use_id": message.call_id, "content": message.text}
        is_result = message.kind == "result"
        return {
            "parentUuid": beside.parent,
            **{name: beside.neighbor[name] for name in _COPIED_FIELDS if name in beside.neighbor},
            "type": "user",
            "message": {"role": "user", "content": [block] if is_result else message.text},
            **({} if is_result else {flag: True}),
            "uuid": self.new_id(message),
            **(
                {"timestamp": beside.neighbor["timestamp"]}
                if "timestamp" in beside.neighbor
                else {}
            ),
        }


def _is_client_record(record: Mapping[str, Any]) -> bool:
    """Return whether only this client writes such a record; many logs have a type and a session."""
    if "parentUuid" in record or "leafUuid" in record:
        return True
    return "-" in record["type"] and ("sessionId" in record or "messageId" in record)
