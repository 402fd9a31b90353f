"""A summary as a question and its answer, and as one message where there can be no answer."""

from pathlib import Path

import pytest
from file_commands import load_file, rewind_file

from compactctl.commands.client_sessions.write import OutputOptions
from compactctl.commands.compact.compact import CompactOptions, compact
from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.planning.plan import PlanOptions, Recipe
from compactctl.commands.reading.transcript import InputOptions
from compactctl.history.pairs import find_orphans
from compactctl.pipeline.layout import Layout

SAMPLES = Path(__file__).resolve().parents[2] / "sample_transcripts"
PAIR = ["user", "assistant"]
WRITTEN = {
    "anthropic-messages.jsonl": PAIR,
    "neurolink.jsonl": PAIR,
    "openai-chat.jsonl": PAIR,
    "codex-session.jsonl": ["user"],
}


def options(path: Path, output: Path, layout: Layout) -> CompactOptions:
    settings = {"recursive": {"keep_events": 5}}
    return CompactOptions(
        input=InputOptions(path=str(path)),
        output=OutputOptions(path=str(output), layout=layout),
        recipe=Recipe(
            measure=MeasureOptions(counter="chars/4"),
            plan=PlanOptions(stages=("recursive",), settings=settings),
        ),
    )


@pytest.mark.each_choice
@pytest.mark.parametrize("layout", ["split", "inline"])
@pytest.mark.parametrize("name", WRITTEN)
def test_an_answer_is_read_back_as_a_summary_and_taken_back(
    name: str, layout: Layout, tmp_path: Path
) -> None:
    path, out = SAMPLES / name, tmp_path / "out.jsonl"
    before = load_file(path).transcript.effective
    result = compact(options(path, out, layout))
    after = load_file(out).transcript
    ours = [message for message in after.effective if message.origin.is_synthetic]
    assert [message.role for message in ours] == WRITTEN[name]
    assert all(message.origin.is_summary and message.origin.is_injected for message in ours)
    assert {message.tags.condense_id for message in ours} == {result.stages[0].group}
    assert find_orphans(after.effective) <= find_orphans(before)
    again = compact(options(out, tmp_path / "again.jsonl", layout))
    assert not again.compacted
    rewind_file(out)
    assert out.read_bytes() == path.read_bytes()
