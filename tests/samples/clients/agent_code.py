"""Sessions of agent-code."""

import json
from collections.abc import Mapping
from typing import Any

from samples.clients.recorder import CLAUDE, Record, Recorder
from samples.errands import errands
from samples.picture import png_base64
from samples.stamps import opaque
from samples.story import Step
from samples.workbench import ROOT

_SUMMARY = """[Conversation compacted] The models of the harbour are corrected one by one.
Never touch migrations/. The tests of each model pass."""


class Session(Recorder):
    """A document of messages with blocks."""

    tools: Mapping[str, str] = {
        "read": "FileRead",
        "edit": "FileEdit",
        "write": "FileWrite",
        "search": "Grep",
        "run": "Bash",
    }
    arguments: Mapping[str, str] = {"path": "file_path", "old": "old_string", "new": "new_string"}
    call_prefix = "toolu_01"

    def put(self, kind: str, content: Any, **fields: Any) -> None:
        """Write a message."""
        self.records.append({"type": kind, "uuid": self.ids.uuid(),
                             "timestamp": self.clock.tick(), "content": content,
                             **fields})  # fmt: skip

    def user(self, *blocks: Record, is_meta: bool = False, is_summary: bool = False) -> None:
        """Write a message of the user, or of the client in that role."""
        self.put("user", [*blocks], is_meta=is_meta, is_compact_summary=is_summary)

    def prompt(self, words: str, *, picture: bool = False) -> None:
        image = {"type": "image", "media_type": "image/png", "data": png_base64()}
        self.user({"type": "text", "text": words}, *([image] if picture else []))
        self.entered(words, pictures=int(picture))

    def respond(self, step: Step) -> None:
        calls = self.calls(step)
        usage = self.request(step, calls)
        blocks: list[Record] = []
        if step.thinking is not None:
            signature = opaque(self.rng, 120)
            blocks.append({"type": "thinking", "thinking": step.thinking, "signature": signature})
        blocks += [{"type": "text", "text": step.text}] if step.text else []
        blocks += [{"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments}
                   for call in calls]  # fmt: skip
        counts = {"input_tokens": 5, "output_tokens": usage.output,
                  "cache_creation_input_tokens": max(0, usage.fresh - 5),
                  "cache_read_input_tokens": usage.cached}  # fmt: skip
        self.put("assistant", blocks, model=CLAUDE.name, usage=counts,
                 stop_reason="tool_use" if calls else "end_turn")  # fmt: skip
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": call.result,
                    "is_error": call.failed, "extra_content": []} for call in calls]  # fmt: skip
        if results:
            self.user(*results, is_meta=True)
        self.answered(calls)
        self.put("system", "took 3 s", subtype="turn_duration", level="info")

    def compact(self) -> None:
        """Let the client put a summary in the place of all but the newest messages."""
        kept = self.records[-3:]
        self.records.clear()
        self.user({"type": "text", "text": _SUMMARY}, is_meta=True, is_summary=True)
        self.records += kept
        self.summarized(_SUMMARY, *(json.dumps(record["content"]) for record in kept))

    def document(self) -> bytes:
        """Return the session's file."""
        about = {"id": "0a1b2c3d", "created_at": self.clock.stamp(), "cwd": ROOT,
                 "updated_at": self.clock.stamp(), "model": CLAUDE.name, "turn_count": 9,
                 "messages": self.records, "total_cost_usd": 0.1, "plan_mode": False,
                 "tags": []}  # fmt: skip
        return json.dumps(about, indent=2).encode()


def long() -> bytes:
    """A session of which all is sent."""
    session = Session("agent-code long")
    session.play(errands("agent-code long", 6))
    return session.document()


def compacted() -> bytes:
    """A session that the client compacted twice."""
    session = Session("agent-code compacted")
    turns = errands("agent-code compacted", 5)
    session.play(turns[:2])
    session.compact()
    session.play(turns[2:3])
    session.compact()
    session.play(turns[3:])
    return session.document()


SESSIONS = {"long.json": long, "compacted.json": compacted}
