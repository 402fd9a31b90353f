"""Whatever a file says was reported, its size is not below what is counted of it."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from false_usage import LIES, with_usage

from compactctl.commands.measuring.context_size import ContextSize, context_size
from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.commands.reading.transcript import parse, split
from compactctl.store.files.source import split_lines

SAMPLES = Path(__file__).resolve().parents[2] / "sample_transcripts"
# Messages to which what a provider would have reported is added here.
LOGS: Mapping[str, Callable[[int, int], dict[str, Any]]] = {
    "openai-chat.jsonl": lambda sent, said: {
        "model": "gpt-4o",
        "usage": {"prompt_tokens": sent, "completion_tokens": said},
    },
    "anthropic-messages.jsonl": lambda sent, said: {
        "model": "claude-sonnet-4-5",
        "stop_reason": "end_turn",
        "usage": {"input_tokens": sent, "output_tokens": said},
    },
}
REPORTED = (
    "claude-code-session.jsonl",
    "codex-session.jsonl",
    "gemini-cli-session.jsonl",
    *LOGS,
)
_OVERHEAD = 12_000


@cache
def sample(name: str) -> bytes:
    """Return a sample in which the provider reported each request."""
    data = (SAMPLES / name).read_bytes()
    report = LOGS.get(name)
    if report is None:
        return data
    lines, chosen = split(split_lines(data), name, None)
    transcript = parse(lines, chosen)
    framed = measure(transcript, MeasureOptions(model=report(0, 0)["model"])).framed
    sizes = [round(framed.visible(message)) for message in transcript.messages]
    sums = accumulate(sizes, initial=_OVERHEAD)
    reports = {
        message.line: report(sent, said)
        for message, sent, said in zip(transcript.messages, sums, sizes, strict=False)
        if message.role == "assistant"
    }
    records = [json.loads(line) for line in lines]
    return b"".join(
        json.dumps({**record, **reports.get(at, {})}).encode() + b"\n"
        for at, record in enumerate(records)
    )


def size_of(data: bytes, name: str) -> ContextSize:
    lines, chosen = split(split_lines(data), name, None)
    transcript = parse(lines, chosen)
    return context_size(transcript, measure(transcript, MeasureOptions()))


@pytest.mark.parametrize("name", REPORTED)
def test_what_a_provider_reported_is_believed(name: str) -> None:
    size = size_of(sample(name), name)
    assert (size.doubt, size.calibration is None) == ("", False)


@pytest.mark.each_choice
@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("name", REPORTED)
def test_a_false_report_is_named_and_makes_no_context_smaller(name: str, lie: str) -> None:
    size = size_of(with_usage(sample(name), LIES[lie]), name)
    assert size.doubt.startswith("line "), size
    # Of the counts here none is an error of more than a tenth.
    assert size.total > 0.9 * size.counted


@pytest.mark.parametrize("lie", LIES)
def test_sums_over_a_session_hide_no_false_report(lie: str) -> None:
    name = "codex-session.jsonl"
    size = size_of(with_usage((SAMPLES / name).read_bytes(), LIES[lie], in_sums=True), name)
    assert size.doubt.startswith("line "), size
    assert size.total > 0.9 * size.counted
