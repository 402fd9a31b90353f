"""Every profile in every window, on files of every format: it fits, or says by how much not."""

from itertools import product
from pathlib import Path

import pytest
from real.choice import FILES, how_unusual, name_of, needs_files, orphaned, usual
from real.test_every_profile import WINDOWS, squeeze

from compactctl.commands.compact.compact import CompactResult
from compactctl.commands.loading.load import load
from compactctl.commands.rewind.rewind import RewindOptions, rewind
from compactctl.profiles.library import PROFILES
from compactctl.reports.rendering.screen import Facts
from compactctl.reports.terminal.compact import compact_screen

SAMPLES = Path(__file__).parents[2] / "sample_transcripts"
# The others are tried with every change.
_BUNDLED = ("codex-session", "gemini-cli-session", "openai-chat-conversations", "damaged")
# Small and middle ones, so that all of it is done in ten minutes.
_COUNT = 20
DEVELOPMENT = sorted(usual(2), key=how_unusual)[:_COUNT] if FILES else []


def verdict(result: CompactResult) -> str:
    """Return what the screen says of the size to reach, or of the limit."""
    facts = [
        each for item in compact_screen(result) if isinstance(item, Facts) for each in item.rows
    ]
    return next(fact.text for fact in facts if fact.label in ("target", "limit"))


def try_everywhere(path: Path, folder: Path) -> None:
    """Compact a file with every profile in every window, once more, and take it back."""
    before = path.read_bytes()
    parted = orphaned(load(str(path)).transcript.effective)
    for name, window in product(PROFILES, WINDOWS):
        output = folder / f"{name}-{window}" / f"run{path.suffix}"
        output.parent.mkdir()
        result = squeeze(path, output, name, window)
        over = result.largest_after - result.limit
        assert result.fits == (over <= 0)
        assert (f"STILL OVER by {over:,}" in verdict(result)) == (not result.fits)
        assert orphaned(load(str(output)).transcript.effective) <= parted, (name, window)
        again = squeeze(output, output.with_name(f"again{path.suffix}"), name, window)
        # What did not fit may be made smaller still; what fits is settled.
        is_smaller = again.largest_after < result.largest_after and not result.fits
        assert is_smaller or not again.compacted, (name, window, [r.detail for r in again.stages])
        if result.compacted:
            rewind(RewindOptions(path=str(output)))
        assert output.read_bytes() == before, (name, window)


@pytest.mark.long
@needs_files
@pytest.mark.parametrize("path", DEVELOPMENT, ids=name_of)
def test_real_transcripts_fit_or_say_by_how_much_not(path: Path, tmp_path: Path) -> None:
    try_everywhere(path, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("sample", _BUNDLED)
def test_bundled_transcripts_fit_or_say_by_how_much_not(sample: str, tmp_path: Path) -> None:
    try_everywhere(SAMPLES / f"{sample}.jsonl", tmp_path)
