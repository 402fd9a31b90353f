"""Codex CLI rollouts: conversation items among session records, each in an envelope."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from compactctl.clients.codex.record_kinds import RECORDS
from compactctl.clients.codex.usage import USAGE_FIELDS
from compactctl.clients.content.openai import new_content
from compactctl.clients.content.response_items import is_item
from compactctl.clients.format import Format, NativeAppend
from compactctl.clients.records.decode import Decoded
from compactctl.clients.records.json_values import text_or_empty
from compactctl.model.island import Island
from compactctl.model.message import JsonPath, Message, Synthetic
from compactctl.model.transcript import Transcript
from compactctl.model.unsent import UnsentRule, match_type
from compactctl.pipeline.writer import InsertionContext

# Events that repeat what tool calls did. To redraw a session, Codex needs only text and reasoning.
_TOOL_EVENTS = frozenset(
    {
        "exec_command_begin",
        "exec_command_end",
        "patch_apply_begin",
        "patch_apply_end",
        "mcp_tool_call_begin",
        "mcp_tool_call_end",
        "web_search_begin",
        "web_search_end",
        "view_image_tool_call",
    }
)
_KIND = ("payload", "type")
_REPORT = re.compile(rb'"last_token_usage":\s*\{')
_ANSWER = re.compile(
    rb'"type":\s*"(?:reasoning|function_call|custom_tool_call|local_shell_call)"'
    rb'|"role":\s*"assistant"'
)
_UNSENT = (
    UnsentRule(kind="copies", match={**match_type("event_msg"), _KIND: _TOOL_EVENTS}),
    UnsentRule(
        kind="snapshots",
        match={**match_type("response_item"), _KIND: frozenset({"ghost_snapshot"})},
    ),
)


class Codex(Format):
    """Reads and writes session files of Codex CLI."""

    name = "codex"
    title = "Codex CLI rollout"
    client = "Codex"
    provider = "openai-responses"
    usage_fields = USAGE_FIELDS
    unsent = _UNSENT
    new_content = staticmethod(partial(new_content, kind="input_text"))

    def sniff(self, records: Sequence[Mapping[str, Any]]) -> bool:
        """Recognize envelopes, or bare items beside a header or state of the oldest rollouts."""
        enveloped = [r for r in records if _kind(r) in RECORDS and _has_payload(r)]
        bare = [r for r in records if "type" in r and is_item(r)]
        oldest = [r for r in records if _is_oldest(r)]
        # A compaction may leave fewer items than there are state records.
        n_matching = max(len(enveloped), len(bare) + len(oldest) if bare and oldest else 0)
        return n_matching > 0 and n_matching * 2 >= len(records)

    def read(self, lines: Iterable[Decoded]) -> Transcript:
        """Read all lines; see ``Format.read``."""
        from compactctl.clients.codex.reader import CodexReader

        return CodexReader().read(lines)

    def is_sized_by_end(self, data: bytes) -> bool:
        """Return whether reports follow their answers: those of old clients come before them.

        Where only the end is known, both look the same: answer, report, answer, report, answer.
        """
        report = _REPORT.search(data)
        return report is None or _ANSWER.search(data, 0, report.start()) is not None

    def islands(self, lines: Iterable[Decoded]) -> tuple[Island, ...]:
        """Return what the next request does not send; see ``Format.islands``."""
        from compactctl.clients.codex.reader import CodexReader

        reader = CodexReader()
        reader.add_lines(lines)
        return reader.islands()

    def mark_omitted(self, history: Sequence[Message]) -> Sequence[Message]:
        """Mark what the client leaves out of the next request; see ``request.py``."""
        from compactctl.clients.codex.request import mark_omitted

        return mark_omitted(history)

    def native_append(self) -> NativeAppend:
        """Return how sessions are compacted by appending to them."""
        from compactctl.clients.codex.native import CodexNativeAppend

        return CodexNativeAppend()

    def without_compactions(
        self, lines: Sequence[bytes], dropped: Collection[int], repeated: Collection[int]
    ) -> Mapping[int, bytes]:
        """Return the newest history of compactctl without what these compactions hid."""
        from compactctl.clients.codex.histories import without_compactions

        return without_compactions(lines, dropped, repeated)

    def moved_out(self, line: bytes, place: JsonPath) -> bytes:
        """Return an item of the history on a line as a record of its own."""
        from compactctl.clients.codex.histories import moved_out

        return moved_out(line, place)

    def new_record(self, message: Synthetic, beside: InsertionContext) -> Mapping[str, Any]:
        """Build a user message. Items inside a compaction's history have no envelope."""
        content = [{"type": "input_text", "text": message.text}]
        item = {"type": "message", "role": "user", "content": content}
        if beside.anchor.record_path or not _has_payload(beside.neighbor):
            return item
        timestamp = (
            {"timestamp": beside.neighbor["timestamp"]} if "timestamp" in beside.neighbor else {}
        )
        return {**timestamp, "type": "response_item", "payload": item}


def _kind(record: Mapping[str, Any]) -> str:
    return text_or_empty(record.get("type"))


def _is_oldest(record: Mapping[str, Any]) -> bool:
    """Return whether this is the header of a rollout without envelopes, or a state record of it."""
    is_header = "instructions" in record and all(
        isinstance(record.get(name), str) for name in ("id", "timestamp")
    )
    return is_header or record.get("record_type") == "state"


def _has_payload(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("payload"), Mapping)
