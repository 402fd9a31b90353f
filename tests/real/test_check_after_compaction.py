"""What ``compact`` promises of a session is what ``check`` then finds."""

from pathlib import Path

import pytest
from file_commands import compact_file
from real.choice import each_file, is_written

from compactctl.commands.inspect.check import CheckOptions, check
from compactctl.commands.inspect.stats import StatsOptions
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.reading.transcript import InputOptions


@each_file
def test_a_compacted_session_is_as_large_as_promised_and_not_due(
    path: Path, tmp_path: Path
) -> None:
    output = tmp_path / path.name
    # Written sessions are short: none of them is due.
    plan = PlanOptions(keep=0.3) if is_written(path) else PlanOptions()
    told = compact_file(path, output=output, plan=plan)
    if not told.compacted:
        pytest.skip("nothing was compacted")
    found = check(CheckOptions(stats=StatsOptions(input=InputOptions(path=str(output)))))
    assert found.situation.tokens == told.largest_after
    assert found.stats.measure.model == told.measure.model
    assert found.stats.measure.limits == told.measure.limits
    assert not (found.due and told.fits)
