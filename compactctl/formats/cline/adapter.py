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
# What only Roo Code writes: the marks of its own compaction, and the mode in the editor's state.
_ROO_MARKS = ("isSummary", "isTruncationMarker")
# Versions until early 2025 name the mode by its slug alone; Cline's are ACT MODE and PLAN MODE.
_ROO_STATE = re.compile(r"# Current Mode\n(?:<slug>|[\w-]+\n)|# Current Context Size \(Tokens\)")


class Cline(Format):
    """Reads and writes ``api_conversation_history.json`` of Cline."""

    name = "cline"
    title = "Cline task history"
    reads_arrays = True

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognise Anthropic messages of which some hold what only the client writes."""
        return _is_task(records) and not _is_of_roo(records)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        reader = ClineReader(self.name)
        for container in read_containers(lines, reader.builder):
            reader.add_container(container)
        return reader.finish()

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a user message, just older than the record it stands before."""
        name = {"id": self.new_id(message)} if "id" in beside.neighbour else {}
        ts = beside.neighbour.get("ts")
        time = {"ts": ts - 1} if isinstance(ts, int | float) else {}
        return {**name, "role": "user", "content": text_content([], message.text), **time}

    def new_value(self, message: Message, part: int, current: object, text: str) -> object:
        """Return new content; what stands in the same text before a result stays there."""
        return rewrite_value(message.parts[part], current, text, partial(_new_content, message))


def _new_content(message: Message, part: Part, current: object, text: str) -> object:
    shared = [each for each in message.parts if each.path == part.path]
    if any(isinstance(other, ToolCallPart) for other in shared):
        raise ValueError(f"a {type(part).__name__} has no replaceable content")
    if len(shared) == 1 or not isinstance(current, str):
        return new_content(part, current, text)
    return "".join(text if each is part else getattr(each, "text", "") for each in shared)


class Roo(Cline):
    """Reads and writes ``api_conversation_history.json`` of Roo Code."""

    name = "roo"
    title = "Roo Code task history"

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognise what Cline's are, with a mark or an editor's state of Roo Code's."""
        return _is_task(records) and _is_of_roo(records)


def _is_task(records: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether this is a task of Cline, or of a client that was made of it."""
    messages = sample_messages(records)
    known = [message for message in messages if _is_message(message)]
    is_session = any("agent" in record and "sessionId" in record for record in records)
    return len(known) * 2 > len(messages) and (is_session or _are_own(known))


def _is_of_roo(records: Sequence[Mapping[str, Any]]) -> bool:
    return any(map(_is_roo, sample_messages(records)))


def _is_message(record: Mapping[str, Any]) -> bool:
    return record.get("role") in _ROLES and isinstance(record.get("content"), str | list)


def _are_own(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether messages have the client's metrics, or times and its description of the editor.

    Times alone are in anybody's log, and the description alone in a gateway's.
    """
    if any(isinstance(m.get(name), Mapping) for m in messages for name in ("modelInfo", "metrics")):
        return True
    is_timed = any(isinstance(message.get("ts"), int | float) for message in messages)
    return is_timed and any(
        _is_roo(message) or any(ENVIRONMENT in text for text in _texts(message))
        for message in messages
    )


def _is_roo(record: Mapping[str, Any]) -> bool:
    if METADATA_KEY not in record and any(record.get(mark) is True for mark in _ROO_MARKS):
        return True
    return any(_ROO_STATE.search(text) for text in _texts(record))


def _texts(record: Mapping[str, Any]) -> Iterator[str]:
    content = record.get("content")
    blocks = [{"text": content}] if isinstance(content, str) else list_or_empty(content)
    texts = (block.get("text") for block in blocks if isinstance(block, Mapping))
    return (text for text in texts if isinstance(text, str))
