"""Sessions of Copilot CLI: a list of events, each naming the one before it."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compactctl.formats.content.rewritten import rewritten
from compactctl.formats.copilot_cli.events import new_result
from compactctl.formats.copilot_cli.media import as_text
from compactctl.formats.copilot_cli.reader import CopilotReader
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.json_values import text_or_empty
from compactctl.model.counts import CountFields
from compactctl.model.message import (
    JsonPath,
    MediaPart,
    Message,
    Part,
    Synthetic,
    ToolResultPart,
)
from compactctl.model.transcript import Transcript
from compactctl.model.unsent import UnsentRule, of_type
from compactctl.pipeline.writer import Beside

_ENVELOPE = frozenset({"type", "data", "id", "timestamp", "parentId"})
# Some types of events begin so in every session.
_FAMILIES = ("session.", "assistant.", "tool.", "hook.")
_UNSENT = (
    UnsentRule(kind="progress", where=of_type("hook.start", "hook.end")),
    UnsentRule(
        kind="copies",
        where=of_type("tool.execution_complete"),
        path=("data", "result", "detailedContent"),
    ),
)


class CopilotCli:
    """Reads and writes ``events.jsonl`` of Copilot CLI."""

    name = "copilot-cli"
    title = "Copilot CLI session"
    reads_arrays = False
    writes_pairs = False
    parent_path: JsonPath | None = ("parentId",)
    counts: CountFields | None = None
    unsent: tuple[UnsentRule, ...] = _UNSENT

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize events and their types; VS Code has them too, but not what tools returned."""
        events = [record for record in records if record.keys() >= _ENVELOPE]
        data = [event["data"] for event in events if isinstance(event["data"], Mapping)]
        if any("vscodeVersion" in each for each in data):
            return False
        is_own = any(text_or_empty(event["type"]).startswith(_FAMILIES) for event in events)
        return is_own and len(data) * 2 >= len(records)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        reader = CopilotReader()
        for decoded in lines:
            reader.line(decoded)
        return reader.finish(self.name)

    def new_id(self, message: Synthetic) -> str:
        """Return a UUID derived from the message's id."""
        digest = hashlib.sha256(message.id.encode()).hexdigest()
        return f"{digest[:8]}-{digest[8:12]}-5{digest[13:16]}-a{digest[17:20]}-{digest[20:32]}"

    def new_record(self, message: Synthetic, beside: Beside) -> Mapping[str, Any]:
        """Build a user message event with the whole envelope: the client refuses any less."""
        return {
            "type": "user.message",
            "data": {"content": message.text, "attachments": [], "source": "system"},
            "id": self.new_id(message),
            "timestamp": beside.like.get("timestamp"),
            "parentId": beside.parent,
        }

    def new_value(self, message: Message, part: int, current: Any, text: str) -> Any:  # noqa: ANN401
        """Return new content in the shape of the current one; see ``Writer.new_value``."""
        return rewritten(message.parts[part], current, text, _new_content)


def _new_content(old: Part, current: Any, text: str) -> object:  # noqa: ANN401 - JSON is any value
    if isinstance(old, ToolResultPart) and old.path[-1] == "result":
        return new_result(current, text)
    if isinstance(old, MediaPart) and isinstance(current, Mapping):
        return as_text(current, text)
    return text
