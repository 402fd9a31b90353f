"""Tool definitions stay wherever they stand, and ``--keep`` does not measure them."""

import json
from typing import Any

import pytest
from formats.squeeze import each_plan, plan

from compactctl.commands.compact.in_memory import CompactedLines, compact_lines
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.protection import ProtectOptions
from compactctl.model.message import Message, ToolDefinitionPart
from compactctl.profiles.registry import PROFILES, load_profile
from compactctl.tokens.budget import TargetSize

TOOLS = [f"mcp__tracker__tool_{n}: does thing number {n} in the tracker" for n in range(60)]
OPENAI_TOOL = {"type": "function", "function": {"name": "bash", "description": " ".join(TOOLS)}}
ANTHROPIC_TOOL = {"name": "Bash", "description": " ".join(TOOLS), "input_schema": {}}
STEPS = 12


def output(number: int) -> str:
    return "\n".join(f"line {n} of output {number}: value_{n * number}" for n in range(40))


def claude_code() -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []

    def add(kind: str, **fields: Any) -> None:
        parent = records[-1]["uuid"] if records else None
        uuid = f"u{len(records)}"
        records.append(
            {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s"} | fields
        )

    def define(kind: str, key: str) -> None:
        add("attachment", attachment={"type": kind, key: TOOLS})

    add("user", message={"role": "user", "content": "Find the slow query."})
    define("deferred_tools_delta", "addedLines")
    for n in range(STEPS):
        use = {"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": f"run {n}"}}
        answer = {"type": "tool_result", "tool_use_id": f"t{n}", "content": output(n)}
        add("assistant", message={"id": f"r{n}", "role": "assistant", "content": [use]})
        add("user", message={"role": "user", "content": [answer]})
        if n == STEPS // 3:
            define("mcp_instructions_delta", "addedBlocks")
            define("agent_listing_delta", "addedLines")
        if n == STEPS // 2:
            define("deferred_tools_delta", "addedLines")
            add("user", message={"role": "user", "content": "Now fix it."})
    return records


def codex() -> list[dict[str, Any]]:
    payloads: list[tuple[str, dict[str, Any]]] = [
        ("session_meta", {"id": "s", "cwd": "/app", "dynamic_tools": [ANTHROPIC_TOOL]}),
        ("response_item", said("Find the slow query.")),
    ]
    for n in range(STEPS):
        name = "tool_search" if n == STEPS // 3 else "exec_command"
        call = {"type": "function_call", "call_id": f"c{n}", "name": name, "arguments": "{}"}
        answer: dict[str, Any] = {
            "type": "function_call_output",
            "call_id": f"c{n}",
            "output": output(n),
        }
        answer |= {"tools": [ANTHROPIC_TOOL]} if name == "tool_search" else {}
        payloads += [("response_item", call), ("response_item", answer)]
        payloads += [("response_item", said("Now fix it."))] if n == STEPS // 2 else []
    return [{"timestamp": "", "type": kind, "payload": payload} for kind, payload in payloads]


def said(text: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return {"type": "message", "role": "user", "content": content}


def openai() -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Find the slow query."}]
    messages += [{"role": "assistant", "content": output(n)} for n in range(STEPS)]
    messages.append({"role": "user", "content": "Now fix it."})
    return [{"model": "gpt-4o", "tools": [OPENAI_TOOL], "messages": messages}]


def anthropic() -> list[dict[str, Any]]:
    return [{**openai()[0], "model": "claude-opus-4-5", "tools": [ANTHROPIC_TOOL]}]


SESSIONS = {
    "claude-code": claude_code(),
    "codex": codex(),
    "openai-chat": openai(),
    "anthropic-messages": anthropic(),
}
USUAL = {"default", "roo", "claude-api"}
FORMATS = pytest.mark.parametrize("format_name", SESSIONS)


def compacted(format_name: str, chosen: PlanOptions) -> CompactedLines:
    return made_of(format_name, Recipe(plan=chosen, protect=ProtectOptions(keep_turns=0)))


def made_of(format_name: str, recipe: Recipe) -> CompactedLines:
    lines = [json.dumps(record).encode() + b"\n" for record in SESSIONS[format_name]]
    return compact_lines(lines, InputOptions(path="session", format=format_name), recipe)


def definitions(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
    parts = (part for message in messages for part in message.parts)
    return [(part.name, part.text) for part in parts if isinstance(part, ToolDefinitionPart)]


def check(result: CompactedLines) -> None:
    before = definitions(result.transcript.effective)
    assert before
    assert definitions(result.run.applied.after) == before


@FORMATS
@each_plan()
def test_every_stage_leaves_them_alone(format_name: str, stages: tuple[str, ...]) -> None:
    check(compacted(format_name, plan(stages)))


@FORMATS
@pytest.mark.parametrize(
    "profile",
    [name if name in USUAL else pytest.param(name, marks=pytest.mark.long) for name in PROFILES],
)
def test_every_profile_leaves_them_alone(format_name: str, profile: str) -> None:
    plan = PlanOptions(target=TargetSize(value=100, unit="tokens"))
    measure = MeasureOptions(profile=load_profile(profile))
    check(made_of(format_name, Recipe(measure=measure, plan=plan)))


@FORMATS
@pytest.mark.parametrize("share", [0.6, 0.3])
def test_a_share_is_one_of_the_rest(format_name: str, share: float) -> None:
    result = made_of(format_name, Recipe(plan=PlanOptions(keep=share)))
    check(result)
    size = result.measured.meter.total
    defining = [
        m for m in result.transcript.effective if m.locks.immutable_reason or m.role == "system"
    ]
    rest = result.tokens_before - size(defining)
    left = result.tokens_after - size(defining)
    assert 0.8 * share * rest <= left <= share * rest
