"""What a session reported tells a wrong counter and lost results from a healthy transcript."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from file_commands import scan_file
from real.choice import TRIED, each_file, name_of
from transcripts import FOLDER, needs_real

from compactctl.commands.measuring.context_size import context_size, health_check
from compactctl.commands.measuring.measure import MeasureOptions, measure
from compactctl.history.usage.count_check import MIN_STEPS, CountCheck
from compactctl.model.message import Message, Part, ToolResultPart
from compactctl.model.transcript import Transcript
from compactctl.records import replace

_WITHOUT_MIDDLE = FOLDER / "claude-code" / "cli-5d107d-0.jsonl"
# The figures are those of this counter, whatever is installed.
_COUNTED = MeasureOptions(counter="o200k_base")
_FLAGGED = ("other tokens", "content missing")
_MODELS = {"OpenAI o200k": "gpt-5.4", "Claude up to 4.6": "opus-4-5", "Claude 4.7": "opus-4-8"}


def checked(transcript: Transcript, model: str | None = None) -> CountCheck | None:
    measured = measure(transcript, MeasureOptions(model=model))
    return health_check(context_size(transcript, measured), transcript, measured)


def emptied(transcript: Transcript) -> Transcript:
    """Return the transcript with every other tool result of its context emptied."""
    numbers = count()
    left = tuple(_emptied(message, numbers) for message in transcript.effective)
    return replace(transcript, effective=left)


def _emptied(message: Message, numbers: Iterator[int]) -> Message:
    return replace(message, parts=tuple(_lost(part, numbers) for part in message.parts))


def _lost(part: Part, numbers: Iterator[int]) -> Part:
    if isinstance(part, ToolResultPart) and next(numbers) % 2:
        return replace(part, text="")
    return part


@each_file
def test_a_healthy_session_is_told_from_one_with_the_tokens_of_another_family(path: Path) -> None:
    transcript = scan_file(path)
    found = checked(transcript)
    if found is None or found.verdict == "too few":
        pytest.skip("too little was reported")
    assert found.verdict == "as expected"
    family = measure(transcript, MeasureOptions()).model.family
    for other, model in _MODELS.items():
        if not family.startswith(other):
            swapped = checked(transcript, model)
            assert swapped is not None
            assert swapped.verdict in _FLAGGED, model


def test_lost_results_are_found_in_nearly_every_session_with_enough_of_them() -> None:
    verdicts = {}
    for path in TRIED:
        transcript = scan_file(path)
        found = checked(emptied(transcript))
        if found is not None and found.checked >= MIN_STEPS:
            verdicts[name_of(path)] = found.verdict
    silent = [name for name, verdict in verdicts.items() if verdict not in _FLAGGED]
    assert verdicts
    assert len(silent) <= 0.05 * len(verdicts), silent


@each_file
def test_no_file_lacks_history_that_is_sent(path: Path) -> None:
    assert missing(path) == 0


@needs_real
def test_history_that_is_cut_off_is_no_overhead() -> None:
    transcript = scan_file(_WITHOUT_MIDDLE)
    size = context_size(transcript, measure(transcript, _COUNTED))
    # The overhead is that of the first request of the file, which is no longer sent.
    assert (size.overhead, size.missing) == (41_784, 0)


def missing(path: Path) -> int:
    transcript = scan_file(path)
    return context_size(transcript, measure(transcript, _COUNTED)).missing
