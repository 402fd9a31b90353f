"""Calls that a program run by the provider makes: no stage parts them from the program."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from file_commands import compact_file, load_file
from formats.claude_code import sessions as claude
from formats.jsonl import write_lines
from formats.logs import response_items as items

from compactctl.commands.planning.plan import PlanOptions
from compactctl.history.pairs import find_orphans
from compactctl.history.protection import ProtectOptions
from compactctl.model.message import ToolCallPart
from compactctl.stages.registry import ALL_STAGES

Record = dict[str, Any]
TURNS = range(6)


def log(name: str) -> str:
    return "\n".join(f"{name} line {n}: value {n * 7} in module {n % 13}" for n in range(40))


def blocks(turn: int) -> Iterator[tuple[str, list[Record]]]:
    """Yield the roles and blocks of a turn at Anthropic: code that makes two calls in two steps."""
    code = f"srvtoolu_{turn}"
    caller = {"type": "code_execution_20250825", "tool_id": code}
    run = {"type": "server_tool_use", "id": code, "name": "code_execution", "input": {"code": "x"}}
    yield "user", [{"type": "text", "text": f"Which region sold most in month {turn}?"}]
    for name, first in ((f"toolu_{turn}a", [run]), (f"toolu_{turn}b", [])):
        call = {"type": "tool_use", "id": name, "name": "query", "input": {}, "caller": caller}
        yield "assistant", [*first, call]
        yield "user", [{"type": "tool_result", "tool_use_id": name, "content": log(name)}]
    output = {"type": "code_execution_result", "stdout": log(code), "return_code": 0}
    result = {"type": "code_execution_tool_result", "tool_use_id": code, "content": output}
    yield "assistant", [result, {"type": "text", "text": f"East sold most in month {turn}."}]


def messages() -> list[Record]:
    return [{"role": role, "content": parts} for turn in TURNS for role, parts in blocks(turn)]


def session() -> list[Record]:
    records: list[Record] = []
    for role, parts in ((role, parts) for turn in TURNS for role, parts in blocks(turn)):
        name, parent = f"u{len(records)}", records[-1]["uuid"] if records else None
        if role == "user":
            records.append(claude.user(name, parent, parts))
        else:
            fields = {"inner": {"content": parts}}
            records.append(claude.response_line(name, parent, {}, "", **fields))
    return records


def response_items() -> list[Record]:
    return [item for turn in TURNS for item in program(turn)]


def program(turn: int) -> Iterator[Record]:
    name = f"prog_{turn}"
    caller = {"type": "program", "caller_id": name}
    yield items.said("user", f"Which region sold most in month {turn}?")
    yield {"type": "program", "id": f"p{turn}", "call_id": name, "code": "x", "fingerprint": "f"}
    for call in (f"{turn}a", f"{turn}b"):
        yield {**items.call(call), "caller": caller}
        yield {**items.output(call, log(call)), "caller": caller}
    yield {"type": "program_output", "id": f"o{turn}", "call_id": name, "result": log(name)}
    yield items.said("assistant", f"East sold most in month {turn}.")


CONTAINERS: dict[str, Callable[[], list[Any]]] = {
    "messages": messages,
    "a request": lambda: [
        {"model": "claude-opus-4-6", "system": "Be kind.", "messages": messages()}
    ],
    "a session": session,
    "items": response_items,
    "a request of items": lambda: [{"model": "gpt-5.1", "input": response_items()}],
}


@pytest.mark.parametrize("stage", [stage.name for stage in ALL_STAGES])
@pytest.mark.parametrize("container", CONTAINERS)
def test_no_stage_parts_a_call_from_the_code_that_made_it(
    container: str, stage: str, tmp_path: Path
) -> None:
    path = write_lines(tmp_path / "talk.jsonl", *CONTAINERS[container]())
    before = load_file(path).transcript.effective
    assert sum(bool(call.caller) for m in before for call in m.calls) == 2 * len(TURNS)
    assert find_orphans(before) == frozenset()
    for keep in (0.7, 0.4, 0.2):
        output = tmp_path / f"{keep}.jsonl"
        compact_file(
            path,
            output=output,
            plan=PlanOptions(stages=(stage,), keep=keep),
            protect=ProtectOptions(keep_steps=1),
            layout="messages",
        )
        assert find_orphans(load_file(output).transcript.effective) == frozenset()


@pytest.mark.parametrize("container", CONTAINERS)
def test_code_that_is_lost_is_found(container: str, tmp_path: Path) -> None:
    text = "".join(f"{json.dumps(record)}\n" for record in CONTAINERS[container]())
    for name in ("srvtoolu_3", "prog_3"):
        text = text.replace(f'"id": "{name}"', '"id": "x"', 1)
        text = text.replace(f'"call_id": "{name}", "code"', '"call_id": "x", "code"', 1)
    path = tmp_path / "talk.jsonl"
    path.write_text(text)
    after = load_file(path).transcript.effective
    lost = {orphan.call_id for orphan in find_orphans(after)}
    calls = [part for m in after for part in m.parts if isinstance(part, ToolCallPart)]
    made = {call.call_id for call in calls if call.caller in ("srvtoolu_3", "prog_3")}
    assert len(made) == 2
    assert made <= lost
