"""Broken tool pairs are repaired in files, and the files come back byte for byte."""

import json
from pathlib import Path
from typing import Any

import pytest
from file_commands import compact_file, load_file, rewind_file
from unit.commands.conversations import log_of

from compactctl.commands.compact.compact import CompactResult
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions
from compactctl.history.pairs import find_orphans
from compactctl.history.protection import ProtectOptions
from compactctl.model.message import Message
from compactctl.pipeline.layout import Layout
from compactctl.tokens.budget import TargetSize

NEUROLINK: list[dict[str, Any]] = [
    {"id": "1", "role": "user", "content": "go"},
    {"id": "2", "role": "tool_call", "content": "", "tool": "read", "args": {"path": "a"}},
    {"id": "3", "role": "user", "content": "on"},
    {"id": "4", "role": "tool_result", "content": "text of it", "tool": "grep"},
    {"id": "5", "role": "assistant", "content": "done"},
]
OPENAI: list[dict[str, Any]] = [
    {"role": "user", "content": "go"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        ],
    },
    {"role": "user", "content": "on"},
    {"role": "tool", "tool_call_id": "ghost", "content": "text of it"},
    {"role": "assistant", "content": "done"},
]
ANTHROPIC: list[dict[str, Any]] = [
    {"role": "user", "content": "go"},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "a", "name": "read", "input": {"path": "a"}}],
    },
    {"role": "user", "content": [{"type": "text", "text": "on"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "well"}]},
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "ghost", "content": "text of it"}],
    },
    {"role": "assistant", "content": "done"},
]
CHATS = {"neurolink": NEUROLINK, "openai-chat": OPENAI, "anthropic-messages": ANTHROPIC}


def written(folder: Path, name: str, *, array: bool = False) -> Path:
    path = folder / ("run.json" if array else "run.jsonl")
    lines = [json.dumps(record) for record in CHATS[name]]
    path.write_text("[" + ", ".join(lines) + "]" if array else "\n".join(lines) + "\n")
    return path


def repaired(path: Path, output: Path, policy: str, layout: Layout = "split") -> CompactResult:
    settings = {"repair": {"policy": policy}}
    return compact_file(
        path,
        output=output,
        layout=layout,
        measure=MeasureOptions(counter="chars/4"),
        plan=PlanOptions(stages=("repair",), settings=settings),
        protect=ProtectOptions(keep_turns=0),
    )


def shown(path: Path) -> tuple[Message, ...]:
    return load_file(path).transcript.effective


@pytest.mark.each_choice
@pytest.mark.parametrize("layout", ["split", "inline"])
@pytest.mark.parametrize("shape", ["lines", "array"])
@pytest.mark.parametrize("policy", ["drop", "synth"])
@pytest.mark.parametrize("name", CHATS)
def test_files_are_whole_after_a_repair_and_come_back(
    name: str, policy: str, shape: str, layout: Layout, tmp_path: Path
) -> None:
    path = written(tmp_path, name, array=shape == "array")
    output = tmp_path / f"out{path.suffix}"
    result = repaired(path, output, policy, layout)
    assert result.compacted
    assert result.stages[0].detail == "orphaned call fixed: 1; orphaned result fixed: 1"
    after = shown(output)
    assert find_orphans(after) == frozenset()
    assert len(after) == len(CHATS[name]) + (2 if policy == "synth" else -1)
    assert all(part.call_id for one in after for part in one.calls)
    assert all(part.call_id for one in after for part in one.results)
    again = repaired(output, tmp_path / f"again{path.suffix}", policy, layout)
    assert not again.compacted
    rewind_file(output)
    assert output.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", CHATS)
def test_a_repair_runs_within_the_target_too(name: str, tmp_path: Path) -> None:
    path, output = written(tmp_path, name), tmp_path / "out.jsonl"
    plan = PlanOptions(stages=("repair", "truncate"), target=TargetSize(value=9_000, unit="tokens"))
    result = compact_file(path, output=output, plan=plan)
    assert [record.outcome for record in result.stages] == ["applied", "not-needed"]


@pytest.mark.parametrize("name", CHATS)
def test_written_halves_stay_when_another_group_is_taken_back(name: str, tmp_path: Path) -> None:
    path, output = tmp_path / "run.jsonl", tmp_path / "out.jsonl"
    more = [{"role": "user", "content": f"{n} more " * 40} for n in range(9)]
    lines = [json.dumps({**r, "id": f"x{n}"}) for n, r in enumerate((*CHATS[name], *more))]
    path.write_text("\n".join(lines) + "\n")
    plan = PlanOptions(stages=("repair", "truncate"), settings={"repair": {"policy": "synth"}})
    protect = ProtectOptions(keep_turns=0)
    compact_file(path, output=output, plan=plan, protect=protect)
    (entry,) = log_of(output).operations
    groups = {group.stage: group.id for group in entry.groups}
    rewind_file(output, group=groups["truncate"])
    assert find_orphans(shown(output)) == frozenset()
    assert len(shown(output)) == len(lines) + 2
    rewind_file(output, all=True)
    assert output.read_bytes() == path.read_bytes()
