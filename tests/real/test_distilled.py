"""Real transcripts, distilled to several sizes: as asked, whole, restored, and settled."""

from pathlib import Path

from real.choice import chosen, each_file, name_of, needs_files, orphaned

from compactctl.commands.compact.compact import CompactOptions, compact
from compactctl.commands.loading.load import load
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.rewind.rewind import RewindOptions, rewind
from compactctl.commands.sizing.measure import MeasureOptions

_SHARES = ("0.5", "0.3", "0.15", "0.1")
# Of what is asked for, what is used at least, and the tokens that no line may be short enough for.
_LEAST, _SLACK = 0.92, 60
# Of what is asked for, the newest messages that stay as they are may take this much.
_TAIL = 0.2


def smallest(path: Path, measure: MeasureOptions) -> int:
    """Return the tokens of what is always kept of the largest conversation."""
    plan = PlanOptions(stages=("distill",), keep=1e-9)
    options = CompactOptions(path=str(path), dry_run=True, measure=measure, plan=plan)
    return compact(options).largest_after


@needs_files
@each_file
def test_it_lands_where_asked_and_comes_back(path: Path, tmp_path: Path) -> None:
    for share in chosen(_SHARES, name_of(path), 1):
        output, again = tmp_path / f"{share}{path.suffix}", tmp_path / f"again{path.suffix}"
        plan = PlanOptions(stages=("distill",), keep=float(share))
        measure = MeasureOptions(counter="chars/4")
        options = CompactOptions(path=str(path), output=str(output), measure=measure, plan=plan)
        result = compact(options)
        if not result.compacted:
            continue
        found = load(str(output)).transcript.effective
        assert orphaned(found) <= orphaned(load(str(path)).transcript.effective)
        if not any(message.conversation for message in found):
            wanted = result.target or 0
            used = wanted - result.largest_after
            assert used <= (1 - _LEAST) * wanted + _SLACK, result.stages
            least = 0 if used >= 0 else smallest(path, measure)
            assert result.largest_after <= max(wanted, least + wanted * _TAIL), result.stages
        second = CompactOptions(path=str(output), output=str(again), measure=measure, plan=plan)
        assert not compact(second).compacted
        rewind(RewindOptions(path=str(output)))
        assert output.read_bytes() == path.read_bytes()
