"""Task histories of Cline and of Roo Code, and sessions of Cline's SDK."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from compactctl.formats.cline.client_texts import ENVIRONMENT
from compactctl.formats.cline.reader import ClineReader
from compactctl.formats.content.anthropic import new_content, text_content
from compactctl.formats.content.part_rewrite import rewrite_value
from compactctl.formats.format import Format
from compactctl.formats.records.chat_log import sample_messages
from compactctl.formats.records.containers import read_containers
from compactctl.formats.records.decode import Decoded
from compactctl.formats.records.json_values import list_or_empty
from compactctl.model.message import Message, Part, Synthetic, ToolCallPart
from compactctl.model.tags import METADATA_KEY
from compactctl.model.transcript import Transcript
from compactctl.pipeline.writer import InsertionContext

_ROLES = ("user", "assistant")
# Only Roo Code writes these: flags of its own compaction, and the mode in the editor's state.
_ROO_FLAGS = ("isSummary", "isTruncationMarker")
# Versions until early 2025 name the mode by its slug alone; Cline's are ACT MODE and PLAN MODE.
_ROO_STATE = re.compile(r"# Current Mode\n(?:<slug>|[\w-]+\n)|# Current Context Size \(Tokens\)")


class Cline(Format):
    """Reads and writes ``api_conversation_history.json`` of Cline."""

    name = "cline"
    title = "Cline task history"
    reads_arrays = True

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize Anthropic messages of which some have fields or texts of the client."""
        return _is_task(records) and not _is_of_roo(records)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        reader = ClineReader(self.name)
        for container in read_containers(lines, reader.builder):
            reader.add_container(container)
        return reader.finish()

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a user message, one millisecond older than the record after it."""
        name = {"id": self.new_id(message)} if "id" in beside.neighbour else {}
        ts = beside.neighbour.get("ts")
        time = {"ts": ts - 1} if isinstance(ts, int | float) else {}
        return {**name, "role": "user", "content": text_content([], message.text), **time}

    def new_value(self, message: Message, part: int, current: object, text: str) -> object:
        """Return new content; a header before a result in the same text stays in place."""
        return rewrite_value(message.parts[part], current, text, partial(_new_content, message))


def _new_content(message: Message, part: Part, current: object, text: str) -> object:
    # A text block may hold a result's header and the result: replace only the latter.
    siblings = [sibling for sibling in message.parts if sibling.path == part.path]
    if any(isinstance(sibling, ToolCallPart) for sibling in siblings):
        raise ValueError(f"a {type(part).__name__} has no replaceable content")
    if len(siblings) == 1 or not isinstance(current, str):
        return new_content(part, current, text)
    return "".join(
        text if sibling is part else getattr(sibling, "text", "") for sibling in siblings
    )


class Roo(Cline):
    """Reads and writes ``api_conversation_history.json`` of Roo Code."""

    name = "roo"
    title = "Roo Code task history"

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize a task with a flag or an editor's state that only Roo Code writes."""
        return _is_task(records) and _is_of_roo(records)


def _is_task(records: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether this is a task of Cline or of a fork of it."""
    samples = sample_messages(records)
    messages = [record for record in samples if _is_message(record)]
    is_session = any("agent" in record and "sessionId" in record for record in records)
    return len(messages) * 2 > len(samples) and (is_session or _are_from_client(messages))


def _is_of_roo(records: Sequence[Mapping[str, Any]]) -> bool:
    return any(map(_is_roo, sample_messages(records)))


def _is_message(record: Mapping[str, Any]) -> bool:
    return record.get("role") in _ROLES and isinstance(record.get("content"), str | list)


def _are_from_client(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether messages have the client's metrics, or times and its editor description.

    Many logs have times, and a gateway's log may contain the description.
    """
    if any(isinstance(m.get(name), Mapping) for m in messages for name in ("modelInfo", "metrics")):
        return True
    is_timed = any(isinstance(message.get("ts"), int | float) for message in messages)
    return is_timed and any(
        _is_roo(message) or any(ENVIRONMENT in text for text in _texts(message))
        for message in messages
    )


def _is_roo(record: Mapping[str, Any]) -> bool:
    if METADATA_KEY not in record and any(record.get(mark) is True for mark in _ROO_FLAGS):
        return True
    return any(_ROO_STATE.search(text) for text in _texts(record))


def _texts(record: Mapping[str, Any]) -> Iterator[str]:
    content = record.get("content")
    blocks = [{"text": content}] if isinstance(content, str) else list_or_empty(content)
    texts = (block.get("text") for block in blocks if isinstance(block, Mapping))
    return (text for text in texts if isinstance(text, str))
