"""Every profile on real transcripts: it fits or says by how much not, and all of it comes back."""

from itertools import product
from pathlib import Path

import pytest
from file_commands import load_file, rewind_file
from golden.windows import WINDOWS, squeeze
from real.choice import (
    FILES,
    chosen,
    each_file,
    how_unusual,
    name_of,
    orphaned,
    usual,
)

from compactctl.commands.compact.compact import CompactResult
from compactctl.profiles.registry import PROFILES
from compactctl.views.results.compact import compact_terminal
from compactctl.views.terminal.screen import Accent

# Of profiles and windows, how many each file is tried with unless all are asked for.
_TRIED = 3

SAMPLES = Path(__file__).parents[2] / "sample_transcripts"
# The others are tried with every change.
_BUNDLED = ("codex-session", "gemini-cli-session", "openai-chat-conversations", "damaged")
# Small and middle ones, so that all of it is done in ten minutes.
_COUNT = 20
DEVELOPMENT = sorted(usual(2), key=how_unusual)[:_COUNT] if FILES else []


@pytest.mark.long
@each_file
def test_every_profile_fits_or_says_so_keeps_pairs_settles_and_rewinds(
    path: Path, tmp_path: Path
) -> None:
    before = path.read_bytes()
    found = load_file(path).transcript
    for name, window in chosen(tuple(product(PROFILES, WINDOWS)), name_of(path), _TRIED):
        output = tmp_path / f"{name}-{window}" / f"run{path.suffix}"
        output.parent.mkdir()
        result = squeeze(path, output, name, window)
        after = load_file(output).transcript
        assert orphaned(after.effective) <= orphaned(found.effective), name
        limit = (
            result.measure.budget.available
            if result.outcome.target is None
            else result.outcome.target
        )
        assert result.fits == (result.largest_after <= limit)
        again = squeeze(output, output.with_name(f"again{path.suffix}"), name, window)
        assert not again.compacted, (name, window, [record.detail for record in again.stages])
        if result.compacted:
            rewind_file(output)
        assert output.read_bytes() == before, name


def verdict(result: CompactResult) -> str:
    """Return the first line of the screen."""
    first = next(iter(compact_terminal(result)))
    assert isinstance(first, Accent)
    return first.text


def try_everywhere(path: Path, folder: Path) -> None:
    """Compact a file with every profile in every window, once more, and take it back."""
    before = path.read_bytes()
    parted = orphaned(load_file(path).transcript.effective)
    for name, window in product(PROFILES, WINDOWS):
        output = folder / f"{name}-{window}" / f"run{path.suffix}"
        output.parent.mkdir()
        result = squeeze(path, output, name, window)
        over = result.largest_after - result.limit
        assert result.fits == (over <= 0)
        assert (f": {over:,} over " in verdict(result)) == (not result.fits)
        assert orphaned(load_file(output).transcript.effective) <= parted, (
            name,
            window,
        )
        again = squeeze(output, output.with_name(f"again{path.suffix}"), name, window)
        # What did not fit may be made smaller still; what fits is settled.
        is_smaller = again.largest_after < result.largest_after and not result.fits
        assert is_smaller or not again.compacted, (name, window, [r.detail for r in again.stages])
        if result.compacted:
            rewind_file(output)
        assert output.read_bytes() == before, (name, window)


@pytest.mark.long
@pytest.mark.parametrize("path", DEVELOPMENT, ids=name_of)
def test_real_transcripts_fit_or_say_by_how_much_not(path: Path, tmp_path: Path) -> None:
    try_everywhere(path, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("sample", _BUNDLED)
def test_bundled_transcripts_fit_or_say_by_how_much_not(sample: str, tmp_path: Path) -> None:
    try_everywhere(SAMPLES / f"{sample}.jsonl", tmp_path)
