"""Real transcripts: every group is taken back alone, and the numbers are those of the files."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from asked import asked
from examples import LONG
from file_commands import load_file, rewind_file
from real.choice import FILES, TRIED, chosen, client_of, each_file, name_of, orphaned

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.compact import CompactOptions, CompactResult, compact
from compactctl.commands.inspect.log import LogOptions, log
from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.stages.registry import ALL_STAGES

_SETTINGS = {"prune": {"min_savings": 100, "protect_tokens": 2_000}}
# Of the groups, how many are taken back one by one unless all are asked for.
_TRIED = 1
# Of the small ones some are a single turn, which every stage leaves alone.
_BIGGEST = sorted(FILES, key=lambda path: path.stat().st_size)[-3:]
_LARGE = _BIGGEST if LONG else [path for path in TRIED if client_of(path) == "claude-code"]


def squeezed(path: Path, output: Path, **fields: Any) -> CompactResult:
    """Compact with all stages and fast counting unless told otherwise."""
    usual = CompactOptions(
        input=InputOptions(path=str(path)),
        recipe=Recipe(
            measure=MeasureOptions(counter="chars/4"),
            plan=PlanOptions(stages=tuple(stage.name for stage in ALL_STAGES), settings=_SETTINGS),
        ),
        output=OutputOptions(path=str(output)),
    )
    return compact(asked(usual, **fields))


def parted(path: Path) -> Counter[str]:
    """Count calls and results without their other half."""
    return orphaned(load_file(path).transcript.effective)


@pytest.mark.long
@each_file
def test_every_group_comes_back_alone_and_goes_again(path: Path, tmp_path: Path) -> None:
    output = tmp_path / f"run{path.suffix}"
    result = squeezed(path, output)
    if not result.compacted:
        pytest.skip("no stage finds anything to do in this file")
    compacted, whole = output.read_bytes(), parted(path)
    (entry,) = log(LogOptions(input=InputOptions(path=str(output)))).operations
    assert entry.operation is not None
    # A file of many conversations has many groups of a stage; the first stands for all.
    groups = list({group.stage: group.id for group in reversed(entry.groups)}.values())
    rewind_file(output, group=groups[0])
    rewind_file(output, to=entry.operation.id)
    assert output.read_bytes() == compacted
    for group in chosen(groups, name_of(path), _TRIED):
        rewind_file(output, group=group)
        assert parted(output) <= whole
        assert group not in [
            g.id
            for e in log(LogOptions(input=InputOptions(path=str(output)))).operations
            if e.in_effect
            for g in e.groups
        ]
    rewind_file(output, all=True)
    assert output.read_bytes() == path.read_bytes()


@pytest.mark.long
@each_file
def test_inline_groups_come_back_one_by_one(path: Path, tmp_path: Path) -> None:
    output = tmp_path / f"run{path.suffix}"
    whole = parted(path)
    if not squeezed(path, output, layout="inline").compacted:
        pytest.skip("no stage finds anything to do in this file")
    (entry,) = log(LogOptions(input=InputOptions(path=str(output)))).operations
    groups = chosen([group.id for group in entry.groups], name_of(path), _TRIED)
    for group in groups:
        rewind_file(output, group=group)
        assert parted(output) <= whole
    if len(entry.groups) > len(groups):
        rewind_file(output, all=True)
    assert output.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", _LARGE, ids=name_of)
def test_exact_counting_adds_up_and_reaches_the_target(path: Path, tmp_path: Path) -> None:
    output = tmp_path / f"run{path.suffix}"
    plan = PlanOptions(settings=_SETTINGS, keep=0.5)
    result = squeezed(path, output, measure=MeasureOptions(), plan=plan)
    found = load_file(output).transcript
    size = measure(found, MeasureOptions()).meter.total(found.effective)
    assert size == result.outcome.after.tokens < result.outcome.before.tokens
    assert result.outcome.before.tokens - size == sum(
        record.tokens_saved for record in result.stages
    )
    rewind_file(output)
    assert output.read_bytes() == path.read_bytes()
