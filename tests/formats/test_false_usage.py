"""Whatever a file says was reported, its size is not below what is counted of it."""

from pathlib import Path

import pytest
from false_usage import LIES, with_usage

from compactctl.commands.loading.load import parse, split
from compactctl.commands.sizing.context_size import ContextSize, unseen_size
from compactctl.commands.sizing.measure import MeasureOptions, measure
from compactctl.store.files.lines import split_lines

SAMPLES = Path(__file__).resolve().parents[2] / "sample_transcripts"
REPORTED = ("claude-code-session.jsonl", "codex-session.jsonl", "gemini-cli-session.jsonl")


def size_of(data: bytes, name: str) -> ContextSize:
    lines, chosen = split(split_lines(data), name, None)
    transcript = parse(lines, chosen)
    return unseen_size(transcript, measure(transcript, MeasureOptions()))


@pytest.mark.parametrize("name", REPORTED)
def test_what_a_provider_reported_is_believed(name: str) -> None:
    size = size_of((SAMPLES / name).read_bytes(), name)
    assert (size.doubt, size.calibration is None) == ("", False)


@pytest.mark.each_choice
@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("name", REPORTED)
def test_a_false_report_is_named_and_makes_no_context_smaller(name: str, lie: str) -> None:
    size = size_of(with_usage((SAMPLES / name).read_bytes(), LIES[lie]), name)
    assert size.doubt.startswith("line "), size
    # Of the counts here none is an error of more than a tenth.
    assert size.total > 0.9 * size.counted


@pytest.mark.parametrize("lie", LIES)
def test_sums_over_a_session_hide_no_false_report(lie: str) -> None:
    name = "codex-session.jsonl"
    size = size_of(with_usage((SAMPLES / name).read_bytes(), LIES[lie], in_sums=True), name)
    assert size.doubt.startswith("line "), size
    assert size.total > 0.9 * size.counted
