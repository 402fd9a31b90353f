"""Sessions of Gemini CLI: the log of newer versions, and the document of older ones."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from compactctl.formats.content.gemini import new_content
from compactctl.formats.content.rewritten import rewritten
from compactctl.formats.gemini_cli.reader import NAME, GeminiReader
from compactctl.formats.gemini_cli.replay import REWIND, SET, is_session
from compactctl.formats.records.decode import Decoded
from compactctl.model.counts import CountFields
from compactctl.model.message import JsonPath, Message, Synthetic
from compactctl.model.transcript import Transcript
from compactctl.model.unsent import EACH, UnsentRule, of_type
from compactctl.pipeline.writer import Beside

_SHOWN = ("toolCalls", EACH, "resultDisplay")
_UNSENT = (
    UnsentRule(kind="copies", where=of_type("gemini"), path=_SHOWN),
    UnsentRule(kind="copies", where={}, path=("messages", EACH, *_SHOWN)),
)


class GeminiCli:
    """Reads and writes sessions of Gemini CLI."""

    name = NAME
    title = "Gemini CLI session"
    reads_arrays = False
    writes_pairs = False
    parent_path: JsonPath | None = None
    counts: CountFields | None = None
    unsent: tuple[UnsentRule, ...] = _UNSENT

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognise the record that names a session, and the updates of its log."""
        return any(
            is_session(record)
            or isinstance(record.get(SET), Mapping)
            or isinstance(record.get(REWIND), str)
            for record in records
        )

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        reader = GeminiReader()
        for decoded in lines:
            reader.line(decoded)
        return reader.finish()

    def new_id(self, message: Synthetic) -> str:
        """Return the message's own id, by which the client knows it."""
        return message.id

    def new_record(self, message: Synthetic, beside: Beside) -> Mapping[str, Any]:
        """Build a user message, as old as the record it stands before."""
        time = {"timestamp": beside.like["timestamp"]} if "timestamp" in beside.like else {}
        return {"id": message.id, **time, "type": "user", "content": [{"text": message.text}]}

    def new_value(self, message: Message, part: int, current: Any, text: str) -> Any:  # noqa: ANN401
        """Return new content in the shape of the current one; see ``Writer.new_value``."""
        return rewritten(message.parts[part], current, text, new_content)
