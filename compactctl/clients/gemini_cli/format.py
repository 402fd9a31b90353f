"""Sessions of Gemini CLI: the log of newer versions, and the document of older ones."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compactctl.clients.content.gemini import new_content
from compactctl.clients.format import Format
from compactctl.clients.gemini_cli.record_kinds import REWIND, SET
from compactctl.clients.gemini_cli.replay import is_session
from compactctl.clients.gemini_cli.usage import COUNTS
from compactctl.clients.records.decode import Decoded
from compactctl.model.message import Synthetic
from compactctl.model.transcript import Transcript
from compactctl.model.unsent import ANY_INDEX, UnsentRule, match_type
from compactctl.pipeline.writer import InsertionContext

_SHOWN = ("toolCalls", ANY_INDEX, "resultDisplay")
_UNSENT = (
    UnsentRule(kind="copies", match=match_type("gemini"), path=_SHOWN),
    UnsentRule(kind="copies", match={}, path=("messages", ANY_INDEX, *_SHOWN)),
)


class GeminiCli(Format):
    """Reads and writes sessions of Gemini CLI."""

    name = "gemini-cli"
    title = "Gemini CLI session"
    client = "Gemini CLI"
    provider = "gemini"
    usage_fields = COUNTS
    unsent = _UNSENT
    repeats_session = True
    new_content = staticmethod(new_content)

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize the record that names a session, and the updates of its log."""
        return any(
            is_session(record)
            or isinstance(record.get(SET), Mapping)
            or isinstance(record.get(REWIND), str)
            for record in records
        )

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        from compactctl.clients.gemini_cli.reader import GeminiReader

        return GeminiReader(self.name).read(lines)

    def said_since(self, earlier: Sequence[bytes], added: Sequence[bytes]) -> Sequence[bytes]:
        """Return what was said in lines that may repeat the session; see ``Format.said_since``."""
        from compactctl.clients.gemini_cli.since import said_since

        return said_since(self.name, earlier, added)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a user message with the timestamp of the record after it."""
        time = {"timestamp": beside.neighbor["timestamp"]} if "timestamp" in beside.neighbor else {}
        return {"id": message.id, **time, "type": "user", "content": [{"text": message.text}]}
