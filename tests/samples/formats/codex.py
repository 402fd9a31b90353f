"""The Codex sample: a rollout with its screen copies, token counts and one compaction."""

import json
import re
from random import Random
from typing import Any

from samples.formats.codex_texts import AGENTS, BASE_INSTRUCTIONS, ENVIRONMENT, PERMISSIONS, SUMMARY
from samples.stamps import Clock, Ids, jsonl, opaque, tokens
from samples.story import Step, Turn, tell
from samples.workbench import ROOT, Outcome, Workbench

MODEL = "gpt-5.2-codex"
WINDOW = 258_400
# Tool definitions, which the rollout does not hold.
OVERHEAD = 6_210
COMPACT_AFTER = 2
LINE_NUMBER = re.compile(r"^ *\d+→", re.MULTILINE)


class Rollout:
    """Writes the lines of one session."""

    def __init__(self, name: str = "codex-session") -> None:
        self.rng = Random(name)
        self.ids = Ids(name)
        self.clock = Clock("2025-03-24T13:02:40+00:00", self.rng)
        self.bench = Workbench(name)
        self.records: list[dict[str, Any]] = []
        self.prompts: list[dict[str, Any]] = []
        self.context = OVERHEAD + tokens(BASE_INSTRUCTIONS)
        self.cached = 0
        self.total = _usage(0, 0, 0, 0)
        self.turn_id = ""

    def put(self, kind: str, payload: dict[str, Any]) -> None:
        """Write one line."""
        stamp = self.clock.tick(0.05, 4)
        self.records.append({"timestamp": stamp, "type": kind, "payload": payload})

    def event(self, kind: str, **fields: object) -> None:
        """Write a line for the screen; it never reaches the model."""
        self.put("event_msg", {"type": kind} | fields)

    def item(self, payload: dict[str, Any], text: str) -> None:
        """Write a line that the model gets to read."""
        self.put("response_item", payload)
        self.context += tokens(text) + 4

    def play(self, turns: list[Turn]) -> None:
        """Write the whole session."""
        self.open()
        for number, turn in enumerate(turns):
            self.play_turn(turn)
            if number == COMPACT_AFTER:
                self.compact()

    def open(self) -> None:
        """Write the header and what the client tells the model first."""
        meta = {
            "id": self.ids.uuid(),
            "timestamp": self.clock.stamp(),
            "cwd": ROOT,
            "originator": "codex_cli_rs",
            "cli_version": "0.104.0",
            "source": "cli",
            "model_provider": "openai",
            "base_instructions": {"text": BASE_INSTRUCTIONS},
            "git": {"commit_hash": f"{self.rng.getrandbits(160):040x}", "branch": "statements"},
        }
        self.put("session_meta", meta)
        self.item(message("developer", PERMISSIONS), PERMISSIONS)
        for text in (AGENTS, ENVIRONMENT):
            self.item(message("user", text), text)

    def play_turn(self, turn: Turn) -> None:
        """Write one turn."""
        self.clock.wait(turn.pause)
        self.turn_id = self.ids.uuid()
        self.event("task_started", turn_id=self.turn_id, model_context_window=WINDOW)
        self._turn_context()
        self.prompts.append(message("user", turn.person))
        self.item(self.prompts[-1], turn.person)
        self.event("user_message", message=turn.person, images=[], local_images=[])
        for number, step in enumerate(turn.steps, start=1):
            self._respond(step, final=number == len(turn.steps))
        last = turn.steps[-1].text
        self.event("task_complete", turn_id=self.turn_id, last_agent_message=last)

    def _turn_context(self) -> None:
        context = {
            "turn_id": self.turn_id,
            "cwd": ROOT,
            "approval_policy": "on-request",
            "sandbox_policy": {"type": "workspace-write"},
            "model": MODEL,
            "effort": "medium",
            "summary": "auto",
            "truncation_policy": {"mode": "tokens", "limit": 10_000},
        }
        self.put("turn_context", context)

    def _respond(self, step: Step, *, final: bool) -> None:
        before, reasoning = self.context, self.rng.randrange(64, 900)
        if step.thinking is not None:
            self._reason(step.thinking)
        if step.text:
            phase = "final_answer" if final else "commentary"
            self.event("agent_message", message=step.text, phase=phase)
            self.item(message("assistant", step.text) | {"phase": phase}, step.text)
        waiting = [self._call(call) for call in step.calls]
        self.count(before, self.context - before + reasoning, reasoning)
        for call, call_id in waiting:
            self._answer(call, call_id)

    def _reason(self, headline: str) -> None:
        payload = {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": headline}],
            "content": None,
            "encrypted_content": opaque(self.rng, self.rng.randrange(400, 1100)),
        }
        self.event("agent_reasoning", text=headline)
        self.item(payload, headline)

    def _call(self, call: dict[str, Any]) -> tuple[dict[str, Any], str]:
        call_id = self.ids.token("call_")
        if call["do"] in {"edit", "write"}:
            patch = patch_text(call)
            payload = {"type": "custom_tool_call", "status": "completed", "call_id": call_id}
            self.item(payload | {"name": "apply_patch", "input": patch}, patch)
        else:
            name, given = function(call)
            arguments = json.dumps(given, ensure_ascii=False)
            payload = {"type": "function_call", "name": name, "arguments": arguments}
            self.item(payload | {"call_id": call_id}, arguments)
        return call, call_id

    def _answer(self, call: dict[str, Any], call_id: str) -> None:
        outcome = self.bench.carry_out(call)
        code = int(outcome.failed)
        if call["do"] in {"edit", "write"}:
            text = f"Exit code: {code}\nWall time: 0.1 seconds\nOutput:\nM {call['path']}\n"
            self._patch_event(call, call_id, outcome)
            payload = {"type": "custom_tool_call_output", "call_id": call_id, "output": text}
        else:
            printed = LINE_NUMBER.sub("", outcome.text) if call["do"] == "read" else outcome.text
            text = self._printed(call, printed, code)
            if call["do"] == "run":
                self._exec_event(call, call_id, printed, code)
            payload = {"type": "function_call_output", "call_id": call_id, "output": text}
        self.item(payload, text)

    def _printed(self, call: dict[str, Any], printed: str, code: int) -> str:
        if call["do"] == "todo":
            return "Plan updated"
        seconds = self.rng.uniform(0.01, 3)
        return (
            f"Chunk ID: {self.rng.getrandbits(24):06x}\nWall time: {seconds:.4f} seconds\n"
            f"Process exited with code {code}\nOutput:\n{printed}\n"
        )

    def _exec_event(self, call: dict[str, Any], call_id: str, printed: str, code: int) -> None:
        self.event(
            "exec_command_end",
            call_id=call_id,
            turn_id=self.turn_id,
            command=["/bin/bash", "-lc", call["command"]],
            cwd=ROOT,
            stdout=printed,
            stderr="",
            exit_code=code,
        )

    def _patch_event(self, call: dict[str, Any], call_id: str, outcome: Outcome) -> None:
        change = {"type": "add" if call["do"] == "write" else "update"}
        self.event(
            "patch_apply_end",
            call_id=call_id,
            turn_id=self.turn_id,
            stdout=outcome.text,
            stderr="",
            success=not outcome.failed,
            changes={f"{ROOT}/{call['path']}": change},
        )

    def count(self, sent: int, output: int, reasoning: int) -> None:
        """Report one request; now and then the client writes the same numbers twice."""
        last = _usage(sent, min(self.cached, sent), output, reasoning)
        self.total = {key: self.total[key] + last[key] for key in last}
        self.cached = sent // 128 * 128
        for _ in range(self.rng.choice((1, 1, 2))):
            self._token_count(last)

    def _token_count(self, last: dict[str, Any]) -> None:
        info = {
            "total_token_usage": dict(self.total),
            "last_token_usage": last,
            "model_context_window": WINDOW,
        }
        self.event("token_count", info=info, rate_limits=None)

    def compact(self) -> None:
        """The client replaces its history; what stood before stays in the file."""
        history = [*self.prompts, message("user", SUMMARY)]
        self.put("compacted", {"message": SUMMARY, "replacement_history": history, "window_id": 1})
        kept = sum(tokens(entry["content"][0]["text"]) + 4 for entry in history)
        self.context, self.cached = OVERHEAD + tokens(BASE_INSTRUCTIONS) + kept, 0
        self._turn_context()
        self._token_count(_usage(0, 0, 0, 0) | {"total_tokens": self.context})
        self.event("context_compacted")


def message(role: str, text: str) -> dict[str, Any]:
    """A message item."""
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def function(call: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Name and arguments of a function call."""
    match call["do"]:
        case "read":
            first = call.get("offset", 1)
            last = first + call.get("limit", 240) - 1
            return _exec(f"sed -n '{first},{last}p' {call['path']}")
        case "search":
            return _exec(f"rg -n '{call['pattern']}' {call.get('path', '.')}")
        case "todo":
            return "update_plan", {"plan": [{"step": s, "status": t} for s, t in call["items"]]}
        case _:
            return _exec(call["command"])


def _exec(command: str) -> tuple[str, dict[str, Any]]:
    return "exec_command", {"cmd": command, "workdir": ROOT, "max_output_tokens": 10_000}


def patch_text(call: dict[str, Any]) -> str:
    """The patch of an edit or of a new file."""
    if call["do"] == "write":
        added = "\n".join(f"+{line}" for line in call["text"].splitlines())
        body = f"*** Add File: {call['path']}\n{added}"
    else:
        old = "\n".join(f"-{line}" for line in call["old"].strip("\n").split("\n"))
        new = "\n".join(f"+{line}" for line in call["new"].strip("\n").split("\n"))
        body = f"*** Update File: {call['path']}\n@@\n{old}\n{new}"
    return f"*** Begin Patch\n{body}\n*** End Patch\n"


def _usage(sent: int, cached: int, output: int, reasoning: int) -> dict[str, int]:
    return {
        "input_tokens": sent,
        "cached_input_tokens": cached,
        "output_tokens": output,
        "reasoning_output_tokens": reasoning,
        "total_tokens": sent + output,
    }


def build() -> bytes:
    """The bytes of the sample."""
    rollout = Rollout()
    rollout.play(tell("codex_story.toml"))
    return jsonl(rollout.records)
