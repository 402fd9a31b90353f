"""Writes sessions of Claude Code from short descriptions, one record per call."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from clients.stub import PIXEL, Json

SESSION = "11111111-2222-4333-8444-555555555555"
MODEL, OTHER_MODEL = "claude-sonnet-4-5-20250929", "claude-opus-4-5-20251101"
MISSING = "99999999-aaaa-4bbb-8ccc-000000000000"
"""The uuid of a record that is in no session."""

_START = datetime(2026, 11, 1, 10, tzinfo=UTC)
_LAST = "the record before"
_USAGE = {
    "input_tokens": 100,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 10,
}


def text(value: str) -> Json:
    """Return a block of text."""
    return {"type": "text", "text": value}


def thinking(value: str, signature: str = "c2lnbmVk") -> Json:
    """Return a block of thinking, signed unless ``signature`` is empty."""
    return {"type": "thinking", "thinking": value, "signature": signature}


def call(call_id: str, tool: str = "Read", **arguments: Any) -> Json:
    """Return a block that calls a tool."""
    given = arguments or {"file_path": f"/x/{call_id}"}
    return {"type": "tool_use", "id": call_id, "name": tool, "input": given}


def result(call_id: str, content: str | Sequence[Json], **more: Any) -> Json:
    """Return a block with the result of a call."""
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}


def image() -> Json:
    """Return a picture."""
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    return {"type": "image", "source": source}


Block = str | Json
"""A block of content; a text stands for a block of it, alone for a plain text."""


def _content(content: tuple[Block, ...]) -> str | list[Json]:
    if len(content) == 1 and isinstance(content[0], str):
        return content[0]
    return [text(block) if isinstance(block, str) else block for block in content]


@dataclass(kw_only=True)
class Draft:
    """A session that is being written; each record follows the one before unless it says otherwise.

    Methods that add a record of the conversation return its uuid.
    """

    lines: list[bytes] = field(default_factory=list)
    last: str | None = None
    count: int = 0
    time: datetime = _START

    def user(self, *content: Block, **more: Any) -> str:
        """Add what was typed, or the results of tools: blocks, or one plain text."""
        message = {"role": "user", "content": _content(content)}
        return self.row("user", message=message, **more)

    def answer(self, *content: Block, response: str = "", model: str = MODEL, **more: Any) -> str:
        """Add an answer, or a part of the one with this id of a ``response``."""
        blocks = _content(content)
        message = {
            "id": response or f"msg_{self.count + 1:04}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [text(blocks)] if isinstance(blocks, str) else blocks,
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": _USAGE,
        }
        return self.row("assistant", message={**message, **more.pop("fields", {})}, **more)

    def turn(self, name: str) -> tuple[str, str]:
        """Add a question and its answer: ``Q1 NAME`` and ``A1 NAME``."""
        return self.user(f"Q1 {name}"), self.answer(f"A1 {name}")

    def read(self, call_id: str, content: str = "R1 lines", **more: Any) -> tuple[str, str]:
        """Add a call of a tool with a word before it, and its result."""
        asked = self.answer(f"A1 reads {call_id}", call(call_id))
        return asked, self.user(result(call_id, content), toolUseResult={"type": "text"}, **more)

    def system(self, subtype: str, content: str, **more: Any) -> str:
        """Add a record of the client's own."""
        return self.row("system", subtype=subtype, content=content, **more)

    def attachment(self, kind: str, **fields: Any) -> str:
        """Add an attachment."""
        return self.row("attachment", attachment={"type": kind, **fields})

    def compaction(
        self, summary: str = "S1 summary", *, metadata: Mapping[str, Any] | None = None
    ) -> tuple[str, str]:
        """Add a boundary and its summary, whose uuid stands for ``anchorUuid`` in ``metadata``."""
        facts = {"trigger": "auto", "preTokens": 1000, **(metadata or {})}
        for part in filter(lambda fact: isinstance(fact, dict), facts.values()):
            part["anchorUuid"] = self._uuid(self.count + 2)
        before = self.last
        boundary = self.row(
            "system",
            parent=None,
            subtype="compact_boundary",
            content="Conversation compacted",
            isMeta=False,
            level="info",
            compactMetadata=facts,
            logicalParentUuid=before,
        )
        return boundary, self.user(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def row(
        self, kind: str, *, parent: str | None = _LAST, seconds: float = 60, **fields: Any
    ) -> str:
        """Add a record of the conversation, ``seconds`` after the one before."""
        self.count += 1
        self.time += timedelta(seconds=seconds)
        uuid = self._uuid(self.count)
        record = {
            "parentUuid": self.last if parent == _LAST else parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": "/home/dev/quay",
            "sessionId": SESSION,
            "version": "2.1.332",
            "gitBranch": "",
            "type": kind,
            "uuid": uuid,
            "timestamp": f"{self.time:%Y-%m-%dT%H:%M:%S}.{self.time.microsecond // 1000:03}Z",
        }
        self.state(**{**record, **fields})
        self.last = fields.get("uuid", uuid)
        return str(self.last)

    def state(self, **record: Any) -> None:
        """Add a record as it is."""
        self.raw(json.dumps({"sessionId": SESSION, **record}).encode() + b"\n")

    def pointer(self, leaf: str | None, **more: Any) -> None:
        """Add the record that names the end of the conversation."""
        self.state(type="last-prompt", lastPrompt="x", leafUuid=leaf, **more)

    def raw(self, line: bytes) -> None:
        """Add bytes."""
        self.lines.append(line)

    def branch(self, uuid: str | None) -> None:
        """Let the next record follow this one."""
        self.last = uuid

    @property
    def data(self) -> bytes:
        """The session as it lies in its file."""
        return b"".join(self.lines)

    @staticmethod
    def _uuid(number: int) -> str:
        return f"{number:08x}-aaaa-4bbb-8ccc-{number:012x}"
