"""Commands on one file, with options by the names of their fields, as ``asked`` takes them."""

from pathlib import Path
from typing import Any

from asked import asked

from compactctl.commands.compact.compact import compact
from compactctl.commands.compact.result import CompactOptions, CompactResult
from compactctl.commands.inspect.stats import StatsOptions, StatsResult, stats
from compactctl.commands.reading.transcript import InputOptions, TranscriptFile, load, scan
from compactctl.commands.rewind.rewind import RewindOptions, RewindResult, rewind
from compactctl.model.transcript import Transcript


def load_file(path: Path | str, **fields: Any) -> TranscriptFile:
    return load(InputOptions(path=str(path), **fields))


def scan_file(path: Path | str, **fields: Any) -> Transcript:
    return scan(InputOptions(path=str(path), **fields))


def stats_of_file(path: Path | str, **fields: Any) -> StatsResult:
    return stats(asked(StatsOptions(input=InputOptions(path=str(path))), **fields))


def compact_file(path: Path | str, **fields: Any) -> CompactResult:
    return compact(asked(CompactOptions(input=InputOptions(path=str(path))), **fields))


def rewind_file(path: Path | str, **fields: Any) -> RewindResult:
    return rewind(asked(RewindOptions(input=InputOptions(path=str(path))), **fields))
