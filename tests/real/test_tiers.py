"""Codebuddy's tiers on sessions of clients: each does something, settles and is taken back."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from file_commands import compact_file, load_file, rewind_file
from real.choice import name_of, orphaned, written
from transcripts import FOLDER, needs_real

from compactctl.commands.compact.compact import CompactResult
from compactctl.commands.inspect.log import LogOptions, log
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.reading.transcript import InputOptions
from compactctl.model.message import ToolCallPart
from compactctl.pipeline.layout import Layout
from compactctl.stages.registry import ALL_STAGES

FIRST = written("claude-code/branches.jsonl")
REAL = [
    FOLDER / name
    for name in (
        "claude-code/cc-2.1.79-userfork.jsonl",
        "codex/codex-0.58-2025-11.jsonl",
        "openai-chat/hf-messages-reasoning-tools.jsonl",
        "roo/heavy-uncondensed/api_conversation_history.json",
    )
]
_MARKS = (pytest.mark.long, needs_real)


def squeezed(path: Path, output: Path, stage: str, layout: Layout = "split") -> CompactResult:
    return compact_file(
        path,
        output=output,
        layout=layout,
        measure=MeasureOptions(counter="chars/4", window=32_000),
        plan=PlanOptions(stages=(stage,), settings={"strip": {"keep_recent": 1}}),
    )


@pytest.mark.parametrize("stage", [stage.name for stage in ALL_STAGES if stage.codebuddy_tier])
@pytest.mark.parametrize(
    "path", [FIRST, *(pytest.param(path, marks=_MARKS) for path in REAL)], ids=name_of
)
def test_a_tier_shrinks_keeps_pairs_settles_and_rewinds(
    path: Path, stage: str, tmp_path: Path
) -> None:
    output = tmp_path / f"run{path.suffix}"
    result = squeezed(path, output, stage)
    assert result.compacted
    before, after = (load_file(each).transcript.effective for each in (path, output))
    assert orphaned(after) <= orphaned(before)
    assert not squeezed(output, tmp_path / f"again{path.suffix}", stage).compacted
    (entry,) = log(LogOptions(input=InputOptions(path=str(output)))).operations
    rewind_file(output, group=entry.groups[0].id)
    assert orphaned(load_file(output).transcript.effective) <= orphaned(before)
    rewind_file(output, all=True)
    assert output.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", [FIRST, written("openai-chat/document.json")], ids=name_of)
def test_stripped_arguments_stay_readable_and_come_back_from_the_file_itself(
    path: Path, tmp_path: Path
) -> None:
    output = tmp_path / f"run{path.suffix}"
    squeezed(path, output, "strip", "inline")
    shortened = [text for text in arguments(output) if "[args truncated]" in text]
    assert shortened
    assert len(list(arguments(output))) == len(list(arguments(path)))
    rewind_file(output)
    assert output.read_bytes() == path.read_bytes()


def arguments(path: Path) -> Iterator[str]:
    for message in load_file(path).transcript.effective:
        yield from (part.arguments for part in message.parts if isinstance(part, ToolCallPart))
