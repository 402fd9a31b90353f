"""Sessions of Qwen Code: contents of Gemini's API, linked by parent ids."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compactctl.clients.content.gemini import new_content
from compactctl.clients.format import Format
from compactctl.clients.qwen_code.chain import read_row
from compactctl.clients.qwen_code.reader import COUNTS, QwenReader
from compactctl.clients.qwen_code.record_kinds import SUBTYPES
from compactctl.clients.qwen_code.request import mark_omitted
from compactctl.clients.records.builder import uuid_for
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import object_or_empty, text_or_empty
from compactctl.model.message import Message, Synthetic
from compactctl.model.transcript import Transcript
from compactctl.model.unsent import UnsentRule, match_type
from compactctl.pipeline.writer import InsertionContext

_COPIED_FIELDS = ("sessionId", "timestamp", "cwd", "version", "gitBranch")
_UNSENT = (
    UnsentRule(
        kind="copies", match=match_type("tool_result"), path=("toolCallResult", "resultDisplay")
    ),
)


class QwenCode(Format):
    """Reads and writes session files of Qwen Code."""

    name = "qwen-code"
    title = "Qwen Code session"
    client = "Qwen Code"
    provider = "openai"
    parent_path = ("parentUuid",)
    usage_fields = COUNTS
    unsent = _UNSENT
    new_content = staticmethod(new_content)

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize contents of Gemini's API, or states of this client, in linked records."""
        return any(read_row(record, 0) and _is_client_record(record) for record in records)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return QwenReader(self.name).read(lines)

    def mark_omitted(self, history: Sequence[Message]) -> Sequence[Message]:
        """Mark what the client leaves out of the next request; see ``request.py``."""
        return mark_omitted(history)

    def new_id(self, message: Synthetic) -> str:
        """Return a UUID derived from the message's id."""
        return uuid_for(message.id)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a user record that follows ``beside.parent``; among contents, a content."""
        content = {"role": "user", "parts": [{"text": message.text}]}
        if beside.anchor.record_path:
            return content
        return {
            "uuid": self.new_id(message),
            "parentUuid": beside.parent,
            "type": "user",
            "provenance": "system",
            **{name: beside.neighbor[name] for name in _COPIED_FIELDS if name in beside.neighbor},
            "message": content,
        }


def _is_client_record(record: Mapping[str, Any]) -> bool:
    message = object_or_empty(record.get("message"))
    is_state = "systemPayload" in record and text_or_empty(record.get("subtype")) in SUBTYPES
    return is_state or isinstance(message.get("parts"), list)
