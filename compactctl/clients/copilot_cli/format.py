"""Sessions of Copilot CLI: a list of events, each naming the one before it."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compactctl.clients.format import Format
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import object_or_empty, text_or_empty
from compactctl.model.message import (
    MediaPart,
    Message,
    Part,
    Synthetic,
    ToolResultPart,
)
from compactctl.model.transcript import Transcript
from compactctl.model.unsent import UnsentRule, match_type
from compactctl.model.usage_fields import UsageFields
from compactctl.pipeline.writer import InsertionContext

_ENVELOPE = frozenset({"type", "data", "id", "timestamp", "parentId"})
# What a ``session.shutdown`` event says of the context, which lists of sessions show. The client
# (1.0.102) counts anew when it resumes a session: neither these nor those of ``assistant.usage``,
# ``session.usage_info`` and ``session.usage_record`` made it compact one.
_COUNTS = UsageFields(
    path=("data",),
    input=("conversationTokens",),
    cached_inputs=(),
    output=("systemTokens",),
    others=(("toolDefinitionsTokens",),),
    total=("currentTokens",),
    is_of_session=True,
)
# Beside a record without a time that the client accepts.
_NO_TIME = "1970-01-01T00:00:00.000Z"
# In every session, some types of events start with these.
_FAMILIES = ("session.", "assistant.", "tool.", "hook.")
_UNSENT = (
    UnsentRule(kind="progress", match=match_type("hook.start", "hook.end")),
    UnsentRule(
        kind="copies",
        match=match_type("tool.execution_complete"),
        path=("data", "result", "detailedContent"),
    ),
)


class CopilotCli(Format):
    """Reads and writes ``events.jsonl`` of Copilot CLI."""

    name = "copilot-cli"
    title = "Copilot CLI session"
    client = "Copilot CLI"
    parent_path = ("parentId",)
    usage_fields = _COUNTS
    unsent = _UNSENT

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize events by envelope and type; VS Code writes them too, but without results."""
        events = [record for record in records if record.keys() >= _ENVELOPE]
        payloads = [event["data"] for event in events if isinstance(event["data"], Mapping)]
        if any("vscodeVersion" in payload for payload in payloads):
            return False
        has_types = any(text_or_empty(event["type"]).startswith(_FAMILIES) for event in events)
        return has_types and len(payloads) * 2 >= len(records)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        from compactctl.clients.copilot_cli.reader import CopilotReader

        return CopilotReader(self.name).read(lines)

    def mark_omitted(self, history: Sequence[Message]) -> Sequence[Message]:
        """Mark results that are not sent; see ``request.py``."""
        from compactctl.clients.copilot_cli.request import mark_omitted

        return mark_omitted(history)

    def new_id(self, message: Synthetic) -> str:
        """Return a UUID derived from the message's id."""
        digest = hashlib.sha256(message.id.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-a{digest[17:20]}-{digest[20:32]}"

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a user message event with the whole envelope, which the client requires.

        It is marked as another agent's, since the client repeats such prompts when it compacts.
        """
        from compactctl.clients.copilot_cli.required_fields import is_time

        timestamp = beside.neighbor.get("timestamp")
        return {
            "type": "user.message",
            "data": {"content": message.text, "attachments": [], "source": "agent-compactctl"},
            "id": self.new_id(message),
            "timestamp": timestamp if is_time(timestamp) else _NO_TIME,
            "parentId": beside.parent,
        }

    def new_content(self, part: Part, current: object, text: str) -> object:
        """Return a result or attachment with ``text`` in it; see ``Format.new_content``."""
        from compactctl.clients.copilot_cli.events import as_text, new_result

        if isinstance(part, ToolResultPart) and part.path[-1] == "result":
            return new_result(object_or_empty(current), text)
        if isinstance(part, MediaPart) and isinstance(current, Mapping):
            return as_text(current, text)
        return text
