"""How NeuroLink repairs tool pairs, case by case.

T numbers are those of NeuroLink's own tests. A case that encodes a defect of NeuroLink, or that
the safe rule answers differently, stands in a table of deviations with its reason, and what
compactctl does is asserted.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from file_commands import compact_file, load_file
from formats.jsonl import write_lines
from golden.trying import Deviation, tried

from compactctl.commands.planning.plan import PlanOptions
from compactctl.history.pairs import find_orphans
from compactctl.history.protection import ProtectOptions


def record(role: str, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": fields.pop("content", "text"), **fields}


USER, SAID = record("user"), record("assistant")
CALL, RESULT = record("tool_call", tool="read", args={}), record("tool_result", tool="read")
OTHER = record("tool_result", tool="grep")

REPAIRS: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "valid": ([USER, CALL, RESULT, SAID], ["user", "tool_call", "tool_result", "assistant"]),
    "orphan call": ([USER, CALL, SAID], ["user", "tool_call", "tool_result", "assistant"]),
    "orphan result": ([USER, RESULT, SAID], ["user", "tool_call", "tool_result", "assistant"]),
    "two orphan calls": (
        [USER, CALL, USER, CALL, SAID],
        ["user", "tool_call", "tool_result", "user", "tool_call", "tool_result", "assistant"],
    ),
}
REPAIR_DEVIATIONS: dict[str, tuple[list[dict[str, Any]], Deviation]] = {
    "parallel calls": (
        [USER, CALL, CALL, RESULT, RESULT, SAID],
        Deviation(7, 6, "calls made together are answered together"),
    ),
    "one call, two results": (
        [USER, CALL, RESULT, RESULT, SAID],
        Deviation(5, 6, "the second result answers nothing"),
    ),
    "another tool's result": (
        [USER, CALL, OTHER, SAID],
        Deviation(4, 6, "a result of another tool answers nothing"),
    ),
    "a result that comes late": (
        [USER, CALL, USER, RESULT, SAID],
        Deviation(7, 5, "a far result still answers its call"),
    ),
}


def synthesized(records: list[dict[str, Any]], folder: Path) -> Path:
    named = [{"id": f"x{n}", **fields} for n, fields in enumerate(records)]
    path, output = folder / "run.jsonl", folder / "out.jsonl"
    write_lines(path, *named)
    plan = PlanOptions(stages=("repair",), settings={"repair": {"policy": "synth"}})
    protect = ProtectOptions(keep_turns=0)
    compact_file(path, format="neurolink", output=output, plan=plan, protect=protect)
    return output


@pytest.mark.parametrize("case", REPAIRS)
def test_t31_repairs(case: str, tmp_path: Path) -> None:
    records, roles = REPAIRS[case]
    output = synthesized(records, tmp_path)
    lines = [json.loads(line) for line in output.read_text().splitlines()]
    assert [line["role"] for line in lines] == roles
    written = [line for line in lines if line["id"].startswith("repair-")]
    assert len(written) == len(roles) - len(records)
    assert all("compacted" in line["content"] for line in written)
    assert all(line["metadata"] == {"truncated": True} for line in written)


def test_t31_nothing_at_all() -> None:
    assert tried("repair", ()).notes == (
        "every tool call has its result and every result its call",
    )


@pytest.mark.parametrize("case", REPAIR_DEVIATIONS)
def test_repair_deviations(case: str, tmp_path: Path) -> None:
    records, deviation = REPAIR_DEVIATIONS[case]
    found = load_file(synthesized(records, tmp_path), format="neurolink").transcript.effective
    assert len(found) == deviation.ours
    assert find_orphans(found) == frozenset()
