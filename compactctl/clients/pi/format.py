"""Sessions of pi and its relatives: entries in a tree, in version 1 in a list."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from compactctl.clients.content.anthropic import new_content
from compactctl.clients.format import Format, NativeAppend
from compactctl.clients.pi.messages import COUNTS, PI_ROLES
from compactctl.clients.records.decode import Decoded
from compactctl.model.island import Island
from compactctl.model.message import Synthetic
from compactctl.model.transcript import Transcript
from compactctl.model.unsent import UnsentRule, match_type
from compactctl.pipeline.writer import InsertionContext

# The length of the client's entry ids.
_ID_LENGTH = 8
_RESULTS = {**match_type("message"), ("message", "role"): frozenset({"toolResult"})}
_UNSENT = (UnsentRule(kind="copies", match=_RESULTS, path=("message", "details")),)


class Pi(Format):
    """Reads and writes session files of pi."""

    name = "pi"
    title = "pi session"
    client = "pi"
    parent_path = ("parentId",)
    usage_fields = COUNTS
    unsent = _UNSENT
    new_content = staticmethod(new_content)

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize a session's header, or messages that only pi writes."""
        return any(_is_header(record) or _is_pi_message(record) for record in records)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        from compactctl.clients.pi.reader import PiReader

        return PiReader(self.name).read(lines)

    def islands(self, lines: Iterable[Decoded]) -> tuple[Island, ...]:
        """Return what the next request does not send; see ``Format.islands``."""
        from compactctl.clients.pi.reader import PiReader

        reader = PiReader(self.name)
        reader.add_lines(lines)
        return reader.islands()

    def new_id(self, message: Synthetic) -> str:
        """Return an entry id derived from the message's id."""
        return hashlib.sha256(message.id.encode("utf-8", "surrogatepass")).hexdigest()[:_ID_LENGTH]

    def native_append(self) -> NativeAppend:
        """Return how sessions are compacted by appending to them."""
        from compactctl.clients.pi.native import PiNativeAppend

        return PiNativeAppend()

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a user message; entries of version 1 have no ids."""
        linked = (
            {"id": self.new_id(message), "parentId": beside.parent}
            if "id" in beside.neighbor
            else {}
        )
        content = [{"type": "text", "text": message.text}]
        inner = {"role": "user", "content": content, "timestamp": _milliseconds(beside.neighbor)}
        return {
            "type": "message",
            **linked,
            "timestamp": beside.neighbor.get("timestamp"),
            "message": inner,
        }


def _is_header(record: Mapping[str, Any]) -> bool:
    return record.get("type") == "session" and isinstance(record.get("id"), str)


def _is_pi_message(record: Mapping[str, Any]) -> bool:
    message = record.get("message")
    if record.get("type") != "message" or not isinstance(message, Mapping):
        return False
    role = message.get("role")
    return "stopReason" in message or (isinstance(role, str) and role in PI_ROLES)


def _milliseconds(entry: Mapping[str, Any]) -> int:
    """Return an entry's timestamp in milliseconds since the epoch; 0 if it has none."""
    try:
        time = datetime.fromisoformat(str(entry.get("timestamp")))
    except ValueError:
        return 0
    time = time if time.tzinfo else time.replace(tzinfo=UTC)
    return round(time.timestamp() * 1_000)
