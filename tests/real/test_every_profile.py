"""Every profile on real transcripts: it fits or says by how much not, and all of it comes back."""

from itertools import product
from pathlib import Path

import pytest
from real.choice import chosen, each_file, name_of, needs_files, orphaned

from compactctl.commands.compact.compact import CompactOptions, CompactResult, compact
from compactctl.commands.loading.load import load
from compactctl.commands.planning.plan import PlanOptions
from compactctl.commands.rewind.rewind import RewindOptions, rewind
from compactctl.commands.sizing.measure import MeasureOptions
from compactctl.profiles.library import PROFILES, built_in

# Short sessions are compacted, too, in a window as small as the first ones.
WINDOWS = (4_000, 8_000, 16_000, 32_000, 128_000, 200_000)
# Of profiles and windows, how many each file is tried with unless all are asked for.
_TRIED = 3


def squeeze(path: Path, output: Path, name: str, window: int) -> CompactResult:
    """Compact with fast counting, which changes what fits but nothing that is proven here."""
    profile = built_in(name)
    measure = MeasureOptions(counter="chars/4", window=window, profile=profile)
    return compact(
        CompactOptions(
            path=str(path), output=str(output), measure=measure, plan=PlanOptions(profile=profile)
        )
    )


@pytest.mark.long
@needs_files
@each_file
def test_every_profile_fits_or_says_so_keeps_pairs_settles_and_rewinds(
    path: Path, tmp_path: Path
) -> None:
    before = path.read_bytes()
    found = load(str(path)).transcript
    for name, window in chosen(tuple(product(PROFILES, WINDOWS)), name_of(path), _TRIED):
        output = tmp_path / f"{name}-{window}" / f"run{path.suffix}"
        output.parent.mkdir()
        result = squeeze(path, output, name, window)
        after = load(str(output)).transcript
        assert orphaned(after.effective) <= orphaned(found.effective), name
        limit = result.measure.budget.available if result.target is None else result.target
        assert result.fits == (result.largest_after <= limit)
        again = squeeze(output, output.with_name(f"again{path.suffix}"), name, window)
        assert not again.compacted, (name, window, [record.detail for record in again.stages])
        if result.compacted:
            rewind(RewindOptions(path=str(output)))
        assert output.read_bytes() == before, name
