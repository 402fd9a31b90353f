"""Real transcripts audited: what the built-in summaries say of them stands in them."""

from pathlib import Path

import pytest
from file_commands import compact_file
from real.choice import chosen, each_file, name_of

from compactctl.commands.inspect.audit import AuditOptions, audit
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.reading.transcript import InputOptions

_STAGES = ("summarize", "distill", "partial", "chunk", "recursive", "plain")
_MEASURE = MeasureOptions(counter="chars/4")


@pytest.mark.long
@each_file
def test_the_built_in_summaries_make_nothing_up(path: Path, tmp_path: Path) -> None:
    for stage in chosen(_STAGES, name_of(path), 1):
        output = tmp_path / f"{stage}{path.suffix}"
        plan = PlanOptions(stages=(stage,))
        done = compact_file(path, output=output, measure=_MEASURE, plan=plan)
        found = audit(
            AuditOptions(input=InputOptions(path=str(output)), measure=_MEASURE)
        ).compactions
        own = [each.audit for each in found if each.compaction.operation]
        assert bool(own) == done.compacted
        assert [each.invented for each in own if each] == [()] * len(own)
