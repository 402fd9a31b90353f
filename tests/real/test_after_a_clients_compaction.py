"""After a client's own compaction the next request is near what was then reported."""

from collections.abc import Iterator
from pathlib import Path
from statistics import median

import orjson
import pytest
from examples import LONG
from file_commands import load_file
from real.choice import FILES, client_of, is_written, written
from transcripts import needs_real

from compactctl.commands.measuring.context_size import context_size
from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.commands.reading.transcript import TranscriptFile, parse

BOUNDARY = b'"subtype":"compact_boundary"'
_TRIED = 99 if LONG else 4


def compacted() -> list[Path]:
    """Return sessions in which a client restored what it does: nobody can invent how much."""
    real = (path for path in FILES if client_of(path) == "claude-code" and not is_written(path))
    found = [path for path in real if BOUNDARY in path.read_bytes()]
    return sorted(found, key=lambda path: path.stat().st_size)[:_TRIED]


def next_requests(loaded: TranscriptFile) -> Iterator[tuple[int, int]]:
    """Yield the lines of the first answers after compactions, with the reported contexts."""
    lines = [bytes(line) for line in loaded.lines]
    for place, line in enumerate(lines):
        if BOUNDARY not in line:
            continue
        for index in range(place + 1, len(lines)):
            context = context_of(lines[index])
            if context:
                yield index, context
                break


def context_of(line: bytes) -> int:
    record = orjson.loads(line)
    if record.get("type") != "assistant" or record.get("isSidechain"):
        return 0
    usage = record["message"].get("usage") or {}
    kinds = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return sum(usage.get(kind, 0) for kind in kinds)


def errors_in(path: Path) -> Iterator[tuple[float, bool]]:
    """Yield by how much of it a request is expected too large, and whether its size is in range."""
    loaded = load_file(path)
    for line, context in next_requests(loaded):
        cut = parse(loaded.lines[:line], loaded.format)
        size = context_size(cut, measure(cut, MeasureOptions()))
        if size.source:
            assert size.range is not None
            yield (size.total - context) / context, size.range[0] <= context <= size.range[1]


@needs_real
def test_the_next_request_is_not_the_summary_alone() -> None:
    found = [each for path in compacted() for each in errors_in(path)]
    errors = [error for error, _ in found]
    assert len(errors) >= (16 if LONG else _TRIED)
    # 10% and 2% over 19 compactions. Without what the client restores it is 21% and -16%.
    assert median(map(abs, errors)) < 0.15
    assert abs(median(errors)) < 0.08
    assert sum(is_in_range for _, is_in_range in found) / len(found) >= 0.75


@pytest.mark.parametrize("name", ["compacted-twice", "preserved"])
def test_files_are_expected_again_unless_the_client_has_written_them(name: str) -> None:
    found = list(errors_in(written(f"claude-code/{name}.jsonl")))
    assert found
    assert all(abs(error) < 0.05 and is_in_range for error, is_in_range in found)
