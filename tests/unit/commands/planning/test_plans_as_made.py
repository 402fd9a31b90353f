"""A plan that nobody edited gives the file that its run gives, byte for byte."""

import re
from pathlib import Path

import pytest
from cli.asking import SAMPLES
from file_commands import compact_file

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.compact import compact
from compactctl.commands.compact.result import CompactOptions
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.planning.plan_file import plan_text, read_plan
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.protection import ProtectOptions
from compactctl.stages.registry import ALL_STAGES

ALL = tuple(stage.name for stage in ALL_STAGES)
PLANS = {**{name: (name,) for name in ALL}, "all": ALL}
# Enough of each sample, whose sessions are long.
LINES = 120


def without_operation(data: bytes) -> bytes:
    """Return a file without the ids of operations, in which options of stages count too."""
    return re.sub(rb'"op": ?"[0-9a-f]{12}"', b"", data)


@pytest.mark.each_choice
@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("*.jsonl")), ids=lambda path: path.stem)
@pytest.mark.parametrize("stages", PLANS.values(), ids=PLANS)
def test_a_plan_and_its_run_write_the_same_bytes(
    sample: Path, stages: tuple[str, ...], tmp_path: Path
) -> None:
    path, file = tmp_path / sample.name, tmp_path / "plan.json"
    path.write_bytes(b"".join(sample.read_bytes().splitlines(keepends=True)[:LINES]))
    run = CompactOptions(
        input=InputOptions(path=str(path)),
        recipe=Recipe(
            measure=MeasureOptions(counter="chars/4"),
            plan=PlanOptions(
                stages=stages,
                keep=0.5,
                settings={"unsent": {"snapshots": True}, "drop": {"tools": ("Read",)}},
            ),
            protect=ProtectOptions(keep_turns=0),
        ),
        output=OutputOptions(path=str(tmp_path / "out.jsonl")),
        plan_out="plan.json",
    )
    made = compact(run)
    assert made.requested.plan_file is not None
    by_run = Path(run.output.path or "").read_bytes()
    file.write_text(plan_text(made.requested.plan_file), encoding="utf-8")
    plan = read_plan(str(file))
    assert plan == made.requested.plan_file
    carried = compact_file(
        path, measure=run.recipe.measure, plan_file=plan, output=run.output.path, force=True
    )
    assert without_operation(Path(run.output.path or "").read_bytes()) == without_operation(by_run)
    assert carried.compacted == made.compacted
    assert carried.outcome.after.tokens == made.outcome.after.tokens
