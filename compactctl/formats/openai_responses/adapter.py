"""OpenAI's Responses API: items as lines or an array, requests, and responses."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from compactctl.formats.content.openai import new_content
from compactctl.formats.content.response_items import is_item, is_own_item
from compactctl.formats.content.rewritten import rewritten
from compactctl.formats.openai_responses.exchange import is_exchange
from compactctl.formats.openai_responses.reader import ResponsesReader
from compactctl.formats.records.decode import Decoded
from compactctl.model.counts import CountFields
from compactctl.model.message import JsonPath, Message, Synthetic
from compactctl.model.transcript import Transcript
from compactctl.model.unsent import UnsentRule
from compactctl.pipeline.writer import Beside


class OpenAIResponses:
    """Reads and writes items as OpenAI's Responses API and its Agents SDKs take them."""

    name = "openai-responses"
    title = "OpenAI Responses items"
    reads_arrays = True
    writes_pairs = False
    parent_path: JsonPath | None = None
    counts: CountFields | None = None
    unsent: tuple[UnsentRule, ...] = ()

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize requests and responses, and items of which some are of this API alone."""
        exchanges = [record for record in records if is_exchange(record)]
        items = [record for record in records if is_item(record)]
        known = len(exchanges) + (len(items) if any(map(is_own_item, items)) else 0)
        return known > 0 and known * 2 >= len(records)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        return ResponsesReader(self.name).read(lines)

    def new_id(self, message: Synthetic) -> str:
        """Return the message's own id: items need none."""
        return message.id

    def new_record(self, message: Synthetic, beside: Beside) -> Mapping[str, Any]:  # noqa: ARG002 - all items are alike
        """Build a user message of one text."""
        content = [{"type": "input_text", "text": message.text}]
        return {"type": "message", "role": "user", "content": content}

    def new_value(self, message: Message, part: int, current: Any, text: str) -> Any:  # noqa: ANN401
        """Return new content in the shape of the current one; see ``Writer.new_value``."""
        shaped = partial(new_content, kind="input_text")
        return rewritten(message.parts[part], current, text, shaped)
