"""Messages on lines of their own and whole conversations, in turn in one file."""

import json
from pathlib import Path
from typing import Any

import pytest
from file_commands import scan_file
from formats.neurolink_talk import answered, called, note
from formats.squeeze import each_plan, squeezed

from compactctl.pipeline.layout import Layout

TEXT = "The cart adds the shipping twice when a voucher is used. " * 12
_Records = list[dict[str, Any]]


def openai_messages(number: int) -> _Records:
    call = {"id": f"c{number}", "function": {"name": "Read", "arguments": '{"file_path": "a.py"}'}}
    return [
        {"role": "user", "content": f"Look at part {number}. {TEXT}"},
        {"role": "assistant", "content": "I look.", "tool_calls": [call | {"type": "function"}]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"{number}: {TEXT}"},
        {"role": "assistant", "content": f"Part {number} is done. {TEXT}"},
    ]


def anthropic_messages(number: int) -> _Records:
    name = f"t{number}"
    call = {"type": "tool_use", "id": name, "name": "Read", "input": {"file_path": "a.py"}}
    result = {"type": "tool_result", "tool_use_id": name, "content": f"{number}: {TEXT}"}
    return [
        {"role": "user", "content": f"Look at part {number}. {TEXT}"},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."}, call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": f"Part {number} is done. {TEXT}"},
    ]


def neurolink_messages(number: int) -> _Records:
    return [
        note(f"{number}a", "user", f"Look at part {number}. {TEXT}"),
        called(f"{number}b", "read", path="a.py"),
        answered(f"{number}c", "read", f"{number}: {TEXT}"),
        note(f"{number}d", "assistant", f"Part {number} is done. {TEXT}"),
    ]


MESSAGES = {
    "openai-chat": openai_messages,
    "anthropic-messages": anthropic_messages,
    "neurolink": neurolink_messages,
}


def in_turn(format_name: str) -> bytes:
    messages = MESSAGES[format_name]
    records: _Records = []
    for number in range(0, 9, 3):
        document = {"messages": [*messages(number), *messages(number + 1)]}
        records += [document, *messages(number + 2)]
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.mark.parametrize("layout", ["split", "inline"])
@pytest.mark.parametrize("format_name", MESSAGES)
@each_plan()
@pytest.mark.each_choice
def test_every_stage_compacts_conversations_in_turn(
    format_name: str, layout: Layout, stages: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(in_turn(format_name))
    transcript = scan_file(path)
    assert transcript.format == format_name
    numbers = [message.conversation for message in transcript.effective]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) == 4
    squeezed(path, stages, layout, tmp_path)
