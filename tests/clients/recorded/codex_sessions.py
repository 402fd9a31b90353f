"""Small sessions of Codex, for each side of each rule by which it makes a request.

A function writes one session; its name is the name of the session. The rules are those of Codex
0.171.0.
"""

import json
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from clients.recorded.rules import Rule

THREAD = "01a2229d-cc7e-75c3-8bc7-6c96cec952e3"


@dataclass(kw_only=True)
class Draft:
    """A rollout that is being written."""

    lines: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.record(
            "session_meta",
            id=THREAD,
            session_id=THREAD,
            timestamp=self._time(),
            cwd="/home/dev/quay",
            originator="codex_exec",
            cli_version="0.171.0",
            source="exec",
            model_provider="stub",
        )

    def record(self, kind: str, **payload: Any) -> None:
        """Add a record."""
        number = len(self.lines)
        record = {"timestamp": self._time(), "ordinal": number, "type": kind, "payload": payload}
        self.lines.append(json.dumps(record).encode() + b"\n")

    def item(self, kind: str, **fields: Any) -> None:
        """Add an item of a conversation."""
        self.record("response_item", type=kind, **fields)

    def user(self, text: str) -> None:
        """Add what was typed."""
        content = [{"type": "input_text", "text": text}]
        self.item("message", role="user", content=content)

    def answer(self, text: str) -> None:
        """Add an answer."""
        content = [{"type": "output_text", "text": text}]
        self.item("message", role="assistant", content=content)

    def call(self, call_id: str, command: str = "x") -> None:
        """Add a call of a tool."""
        arguments = json.dumps({"cmd": command})
        self.item("function_call", name="exec_command", arguments=arguments, call_id=call_id)

    def output(self, call_id: str, output: Any) -> None:
        """Add what a tool has returned."""
        self.item("function_call_output", call_id=call_id, output=output)

    @property
    def data(self) -> bytes:
        """The rollout as it lies in its file."""
        return b"".join(self.lines)

    def _time(self) -> str:
        return f"2026-11-01T10:{len(self.lines):02}:00.000Z"


_rule = partial(Rule[Draft], draft=Draft)

PAIRS = _rule(
    name="pairs",
    about="a call without an output gets one (ensure_call_outputs_present)",
)


@PAIRS
def call_without_output(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.call("call_1")
    draft.answer("A1 answer")


@PAIRS
def both(draft: Draft) -> None:
    draft.user("Q1 ask")
    draft.call("call_1")
    draft.output("call_1", "R1 lines")
    draft.answer("A1 answer")


RULES = tuple(rule for rule in globals().values() if isinstance(rule, Rule))
