"""Every profile in every window of Codebuddy's setting: it fits, or says by how much not."""

from itertools import product
from pathlib import Path

import pytest
from file_commands import load_file, rewind_file
from golden.windows import WINDOWS, squeeze

from compactctl.history.pairs import find_orphans
from compactctl.profiles.registry import PROFILES

SAMPLES = Path(__file__).parents[2] / "sample_transcripts"


@pytest.mark.each_choice
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(
    "given",
    list(product(PROFILES, ["neurolink", "openai-chat", "anthropic-messages"])),
    ids=lambda pair: f"{pair[0]}-{pair[1]}",
)
def test_it_fits_or_says_by_how_much_not(
    given: tuple[str, str], window: int, tmp_path: Path
) -> None:
    name, sample = given
    source, output = SAMPLES / f"{sample}.jsonl", tmp_path / "out.jsonl"
    result = squeeze(source, output, name, window)
    assert result.fits == (result.largest_after <= result.limit)
    before, after = (
        load_file(source).transcript,
        load_file(output).transcript,
    )
    assert find_orphans(after.effective) <= find_orphans(before.effective)
    assert not squeeze(output, tmp_path / "again.jsonl", name, window).compacted
    if result.compacted:
        rewind_file(output)
    assert output.read_bytes() == source.read_bytes()
