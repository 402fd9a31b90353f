"""Profiles in windows of all sizes."""

from pathlib import Path

from file_commands import compact_file

from compactctl.commands.compact.compact import CompactResult
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.profiles.registry import builtin_profile

# The first ones are those of Codebuddy's setting; short sessions are compacted in them, too.
WINDOWS = (4_000, 8_000, 16_000, 32_000, 128_000, 200_000)


def squeeze(path: Path, output: Path, name: str, window: int) -> CompactResult:
    """Compact with fast counting, which changes what fits but nothing that is proven here."""
    profile = builtin_profile(name)
    measure = MeasureOptions(counter="chars/4", window=window, profile=profile)
    return compact_file(path, output=output, measure=measure)
