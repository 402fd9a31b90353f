"""The Anthropic sample: bare messages, one per line, with content blocks."""

from random import Random
from typing import Any

from samples.stamps import Ids, jsonl, opaque
from samples.story import Step, tell
from samples.workbench import Workbench

TOOLS = {
    "read": "view_file",
    "edit": "replace_in_file",
    "search": "search_files",
    "find": "find_files",
    "run": "run_shell",
}
INPUTS = {
    "read": ("path", "offset", "limit"),
    "edit": ("path", "old", "new"),
    "search": ("pattern", "path"),
    "find": ("pattern",),
    "run": ("command",),
}


class Dialog:
    """Messages whose roles alternate; results stand first in the next user message."""

    def __init__(self) -> None:
        self.rng = Random("anthropic-messages")
        self.ids = Ids("anthropic-messages")
        self.bench = Workbench("anthropic-messages")
        self.messages: list[dict[str, Any]] = []

    def say(self, text: str) -> None:
        """Add a person's words."""
        self.messages.append({"role": "user", "content": [{"type": "text", "text": text}]})

    def respond(self, step: Step) -> None:
        """Add one response, and the message with the results of its calls."""
        blocks: list[dict[str, Any]] = []
        if step.thinking is not None:
            signature = opaque(self.rng, 160)
            blocks.append({"type": "thinking", "thinking": step.thinking, "signature": signature})
        if step.text:
            blocks.append({"type": "text", "text": step.text})
        asked = [self._call(call) for call in step.calls]
        self.messages.append({"role": "assistant", "content": blocks + asked})
        results = [
            self._result(call, block["id"]) for call, block in zip(step.calls, asked, strict=True)
        ]
        if results:
            self.messages.append({"role": "user", "content": results})

    def _call(self, call: dict[str, Any]) -> dict[str, Any]:
        given = {key: call[key] for key in INPUTS[call["do"]] if key in call}
        call_id = self.ids.token("toolu_01", 22)
        return {"type": "tool_use", "id": call_id, "name": TOOLS[call["do"]], "input": given}

    def _result(self, call: dict[str, Any], call_id: str) -> dict[str, Any]:
        outcome = self.bench.carry_out(call)
        content = [{"type": "text", "text": outcome.text}]
        block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        return block | {"is_error": True} if outcome.failed else block


def build() -> bytes:
    """The bytes of the sample."""
    told = Dialog()
    for turn in tell("anthropic_story.toml"):
        told.say(turn.person)
        for step in turn.steps:
            told.respond(step)
    return jsonl(told.messages)
