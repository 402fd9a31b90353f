"""Task histories of Cline and of Roo Code, and sessions of Cline's SDK."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from compactctl.clients.cline.client_texts import ENVIRONMENT
from compactctl.clients.cline.request import blocks_of_result, is_of_sdk, mark_omitted
from compactctl.clients.content.anthropic import new_content, text_content
from compactctl.clients.content.part_rewrite import rewrite_value
from compactctl.clients.format import Format
from compactctl.clients.records.chat_log import sample_messages
from compactctl.clients.records.containers import read_containers
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import list_or_empty
from compactctl.model.message import Message, Part, Synthetic, ToolCallPart, ToolResultPart
from compactctl.model.tags import METADATA_KEY
from compactctl.model.transcript import Transcript
from compactctl.pipeline.writer import InsertionContext

_ROLES = ("user", "assistant")
# Only Roo Code writes these: flags of its own compaction, and the mode in the editor's state.
_ROO_FLAGS = ("isSummary", "isTruncationMarker")
# Versions until early 2025 name the mode by its slug alone; Cline's are ACT MODE and PLAN MODE.
_ROO_STATE = re.compile(r"# Current Mode\n(?:<slug>|[\w-]+\n)|# Current Context Size \(Tokens\)")


class Cline(Format):
    """Reads and writes ``api_conversation_history.json`` of Cline, and sessions of its SDK."""

    name = "cline"
    title = "Cline task history"
    client = "Cline"
    pair_order = "next turn"
    reads_arrays = True

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize Anthropic messages, some of which have fields or texts that Cline adds."""
        return _is_task(records) and not _has_roo_messages(records)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        from compactctl.clients.cline.reader import ClineReader

        reader = ClineReader(self.name)
        for container in read_containers(lines, reader.builder):
            reader.add_container(container)
        return reader.finish()

    def mark_omitted(self, history: Sequence[Message]) -> Sequence[Message]:
        """Mark what the client leaves out of the next request; see ``request.py``."""
        return mark_omitted(history)

    def warning_beside(self, path: Path, transcript: Transcript) -> str:
        """Warn of the client's own compaction, which is in another file."""
        from compactctl.clients.cline.store import compacted_beside

        return compacted_beside(path, transcript)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a user message, one millisecond older than the record after it."""
        id_field = {"id": self.new_id(message)} if "id" in beside.neighbor else {}
        timestamp = beside.neighbor.get("ts")
        time_field = {"ts": timestamp - 1} if isinstance(timestamp, int | float) else {}
        return {**id_field, "role": "user", "content": text_content([], message.text), **time_field}

    def new_value(self, message: Message, part: int, current: object, text: str) -> object:
        """Return new content; a header before a result in the same text stays."""
        return rewrite_value(message.parts[part], current, text, partial(_new_content, message))


def _new_content(message: Message, part: Part, current: object, text: str) -> object:
    # A text block may contain a result's header and the result: replace only the latter.
    siblings = [sibling for sibling in message.parts if sibling.path == part.path]
    if any(isinstance(sibling, ToolCallPart) for sibling in siblings):
        raise ValueError(f"a {type(part).__name__} has no replaceable content")
    if isinstance(part, ToolResultPart) and is_of_sdk([message]):
        blocks = blocks_of_result(text)
        if len(blocks) > 1:
            return blocks
    if len(siblings) == 1 or not isinstance(current, str):
        return new_content(part, current, text)
    return "".join(
        text if sibling is part else getattr(sibling, "text", "") for sibling in siblings
    )


class Roo(Cline):
    """Reads and writes ``api_conversation_history.json`` of Roo Code."""

    name = "roo"
    title = "Roo Code task history"
    client = "Roo Code"

    def mark_omitted(self, history: Sequence[Message]) -> Sequence[Message]:
        """Return the history: what is left out of a task is not known to depend on it."""
        return history

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize a task with a flag or an editor's state that only Roo Code writes."""
        return _is_task(records) and _has_roo_messages(records)


def _is_task(records: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether this is a task of Cline or of a fork of it."""
    samples = sample_messages(records)
    messages = [record for record in samples if _is_message(record)]
    is_session = any("agent" in record and "sessionId" in record for record in records)
    return len(messages) * 2 > len(samples) and (is_session or _has_client_fields(messages))


def _has_roo_messages(records: Sequence[Mapping[str, Any]]) -> bool:
    return any(map(_is_from_roo, sample_messages(records)))


def _is_message(record: Mapping[str, Any]) -> bool:
    return record.get("role") in _ROLES and isinstance(record.get("content"), str | list)


def _has_client_fields(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether messages have the client's metrics, or timestamps and its editor description.

    Neither is enough alone: many logs have timestamps, and a gateway logs the description as well.
    """
    if any(
        isinstance(message.get(name), Mapping)
        for message in messages
        for name in ("modelInfo", "metrics")
    ):
        return True
    is_timed = any(isinstance(message.get("ts"), int | float) for message in messages)
    return is_timed and any(
        _is_from_roo(message) or any(ENVIRONMENT in text for text in _iter_texts(message))
        for message in messages
    )


def _is_from_roo(record: Mapping[str, Any]) -> bool:
    if METADATA_KEY not in record and any(record.get(flag) is True for flag in _ROO_FLAGS):
        return True
    return any(_ROO_STATE.search(text) for text in _iter_texts(record))


def _iter_texts(record: Mapping[str, Any]) -> Iterator[str]:
    content = record.get("content")
    blocks = [{"text": content}] if isinstance(content, str) else list_or_empty(content)
    texts = (block.get("text") for block in blocks if isinstance(block, Mapping))
    return (text for text in texts if isinstance(text, str))
