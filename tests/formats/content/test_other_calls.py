"""Conversations whose calls and results have the names that Bedrock, the AI SDK or Haystack use."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from file_commands import compact_file, load_file
from formats.content.block_kinds import Block, words
from formats.jsonl import read
from stage_examples import EXAMPLES
from unit.commands.conversations import saved

from compactctl.commands.planning.plan import PlanOptions
from compactctl.history.pairs import find_orphans, tool_pairs
from compactctl.model.message import is_replaceable


class Shape(NamedTuple):
    """How one library writes a text, a call, a result, and the role of a result."""

    text: Callable[[str], Block]
    call: Callable[[str], Block]
    result: Callable[[str, str], Block]
    role: str = "tool"


def bedrock_result(call_id: str, text: str) -> Block:
    content = [{"text": text}, {"json": {"ok": True}}]
    return {"toolResult": {"toolUseId": call_id, "content": content, "status": "success"}}


def haystack_call(call_id: str) -> Block:
    return {"tool_call": {"id": call_id, "tool_name": "read_log", "arguments": {}}}


def haystack_result(call_id: str, text: str) -> Block:
    origin = haystack_call(call_id)["tool_call"]
    return {"tool_call_result": {"result": text, "origin": origin, "error": False}}


def ai_sdk(kind: str, call_id: str, **fields: object) -> Block:
    return {"type": kind, "toolCallId": call_id, "toolName": "read_log", **fields}


def typed(text: str) -> Block:
    return {"type": "text", "text": text}


SHAPES: Mapping[str, Shape] = {
    "bedrock": Shape(
        text=lambda text: {"text": text},
        call=lambda call_id: {"toolUse": {"toolUseId": call_id, "name": "read_log", "input": {}}},
        result=bedrock_result,
        role="user",
    ),
    "ai-sdk-5": Shape(
        text=typed,
        call=lambda call_id: ai_sdk("tool-call", call_id, input={}),
        result=lambda call_id, text: ai_sdk(
            "tool-result", call_id, output={"type": "text", "value": text}
        ),
    ),
    "ai-sdk-5-json": Shape(
        text=typed,
        call=lambda call_id: ai_sdk("tool-call", call_id, input={}),
        result=lambda call_id, text: ai_sdk(
            "tool-result", call_id, output={"type": "json", "value": {"found": text}}
        ),
    ),
    "ai-sdk-4": Shape(
        text=typed,
        call=lambda call_id: ai_sdk("tool-call", call_id, args={}),
        result=lambda call_id, text: ai_sdk("tool-result", call_id, result={"found": text}),
    ),
    # LangChain keeps items of the Responses API as content.
    "responses": Shape(
        text=typed,
        call=lambda call_id: {
            "type": "function_call",
            "call_id": call_id,
            "name": "read_log",
            "arguments": "{}",
        },
        result=lambda call_id, text: {
            "type": "function_call_output",
            "call_id": call_id,
            "output": text,
        },
    ),
    "agents-sdk-js": Shape(
        text=typed,
        call=lambda call_id: {
            "type": "function_call",
            "callId": call_id,
            "name": "read_log",
            "arguments": "{}",
        },
        result=lambda call_id, text: {
            "type": "function_call_result",
            "callId": call_id,
            "output": text,
        },
    ),
    "haystack": Shape(text=lambda text: {"text": text}, call=haystack_call, result=haystack_result),
}


def talk(shape: Shape, steps: int = 12) -> list[Block]:
    return [message for number in range(steps) for message in _step(shape, number)]


def _step(shape: Shape, number: int) -> Iterator[Block]:
    name = f"c{number}"
    yield {"role": "user", "content": [shape.text(f"Look at part {number}.")]}
    yield {"role": "assistant", "content": [shape.text("I look."), shape.call(name)]}
    yield {"role": shape.role, "content": [shape.result(name, words(number))]}
    yield {"role": "assistant", "content": [shape.text(f"Part {number} is fine.")]}


def skeleton(value: Any) -> Any:
    """Return which keys a block has, and which types are named in it."""
    if isinstance(value, Mapping):
        return {name: each if name == "type" else skeleton(each) for name, each in value.items()}
    return ["list"] if isinstance(value, list) else type(value).__name__


def shapes_in(messages: list[Block]) -> set[str]:
    blocks = (block for message in messages for block in message["content"])
    return {json.dumps(skeleton(block), sort_keys=True) for block in blocks}


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        *(pytest.param("openai-chat", shape, id=name) for name, shape in SHAPES.items()),
        pytest.param("anthropic-messages", SHAPES["bedrock"], id="bedrock with a system prompt"),
    ],
)
def test_calls_and_results_are_read_and_joined(shape: Shape, name: str) -> None:
    messages = read(name, *talk(shape)).effective
    assert sum(message.starts_turn for message in messages) == 12
    assert not find_orphans(messages)
    assert len(tool_pairs(messages)) == 12
    assert words(3)[:50] in messages[14].results[0].text.replace("\\n", "\n")
    assert [message.role for message in messages[:4]] == ["user", "assistant", "tool", "assistant"]


# What stands in a result that was an object and is rewritten as text.
REWRITTEN: Mapping[str, Block] = {
    "ai-sdk-5-json": {"output": {"type": "text", "value": "str"}},
    "ai-sdk-4": {"result": "str"},
}


@pytest.mark.parametrize("stages", [("prune",), ("summarize",), ()], ids="+".join)
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("head", ["bare", "system"])
def test_what_is_written_has_the_shape_of_what_was_there(
    name: str, head: str, stages: tuple[str, ...], tmp_path: Path
) -> None:
    shape = SHAPES[name]
    document: Block = {"messages": talk(shape)}
    if head == "system" and shape.role == "user":
        document["system"] = [shape.text("Be brief.")]
    path, out = saved(tmp_path / "run.jsonl", [document]), tmp_path / "o.jsonl"
    plan = PlanOptions(stages=stages, keep=0.4, settings=EXAMPLES)
    compact_file(path, output=out, plan=plan)
    written = json.loads(out.read_text())["messages"]
    assert len(json.dumps(written)) < 0.6 * len(json.dumps(document))
    new = skeleton(shape.result("c0", "x")) | REWRITTEN.get(name, {})
    allowed = shapes_in(document["messages"]) | {json.dumps(new, sort_keys=True)}
    assert shapes_in(written) <= allowed
    assert not find_orphans(load_file(out).transcript.effective)


def test_a_result_of_a_tool_that_the_provider_ran_stays() -> None:
    call = ai_sdk("tool-call", "c", input={}, providerExecuted=True)
    output = {"type": "json", "value": {"found": words(1)}}
    result = ai_sdk("tool-result", "c", output=output, providerExecuted=True)
    (message,) = read("openai-chat", {"role": "assistant", "content": [call, result]}).effective
    assert len(tool_pairs([message])) == 1
    assert not any(map(is_replaceable, message.parts))


def test_an_unknown_block_stays_that_may_name_its_call() -> None:
    block = {"type": "tool_return", "for": "c1", "value": [words(1)]}
    for fields, may_go in ({}, False), ({"tool_call_id": "c1"}, True):
        (message,) = read("openai-chat", {"role": "tool", "content": [block], **fields}).effective
        assert [is_replaceable(part) for part in message.parts] == [may_go]
