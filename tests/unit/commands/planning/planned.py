"""Plans of compactions that count fast."""

from pathlib import Path

from file_commands import load_file

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.compact import compact
from compactctl.commands.compact.result import CompactOptions
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.fates import Fate
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.planning.plan_file import PlanFile, PlannedMessage
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.protection import ProtectOptions
from compactctl.model.transcript import Transcript
from compactctl.records import replace

FAST = MeasureOptions(counter="chars/4")


def with_fate(row: PlannedMessage, fate: Fate) -> PlannedMessage:
    """Return a message of a plan as who edits it by hand leaves it."""
    return replace(row, explained=replace(row.explained, fate=fate))


def plan_of(path: Path, *stages: str) -> tuple[Transcript, PlanFile]:
    """Return a transcript and the plan of a compaction by some stages."""
    options = CompactOptions(
        input=InputOptions(path=str(path)),
        recipe=Recipe(
            measure=FAST,
            plan=PlanOptions(stages=stages, keep=0.5),
            protect=ProtectOptions(keep_turns=0),
        ),
        output=OutputOptions(dry_run=True),
        plan_out="plan.json",
    )
    plan = compact(options).requested.plan_file
    assert plan is not None
    return load_file(path).transcript, plan
