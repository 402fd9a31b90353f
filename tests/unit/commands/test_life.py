"""A session's timeline: contexts by category that add up, and how long each message lived."""

from pathlib import Path

import pytest
from file_commands import stats_of_file

from compactctl.commands.measuring.measure import MeasureOptions
from compactctl.commands.measuring.timeline import OVERHEAD, Timeline
from compactctl.history.usage.costs import UNSEEN

SAMPLES = Path(__file__).parents[3] / "sample_transcripts"


def timeline_of(name: str) -> Timeline:
    measure = MeasureOptions(counter="chars/4")
    timeline = stats_of_file(SAMPLES / name, measure=measure, timeline=True).timeline
    assert timeline
    return timeline


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.json*")), ids=lambda path: path.name)
def test_what_requests_held_adds_up_to_their_contexts(path: Path) -> None:
    timeline = timeline_of(path.name)
    assert timeline.rounds.rounds
    for held, each in zip(timeline.contexts, timeline.rounds.rounds, strict=True):
        assert sum(held.values()) == each.usage.context
        assert min(held.values()) >= 0
        assert held[OVERHEAD] + held[UNSEEN] <= each.usage.context


@pytest.mark.parametrize("name", ["claude-code-session.jsonl", "codex-session.jsonl"])
def test_a_message_is_sent_from_the_request_behind_it_on(name: str) -> None:
    timeline = timeline_of(name)
    answers = {each.place.message: each.place.number for each in timeline.rounds.rounds}
    newest = 0
    for each in timeline.messages:
        newest = max(newest, answers.get(each.message.id, 0))
        assert each.first_round is None or each.first_round > newest
    assert timeline.messages[0].first_round == 1
    assert timeline.messages[-1].first_round is None
    assert any(each.is_sent for each in timeline.messages)


def test_reads_of_a_file_are_told_in_order_with_those_that_are_shown_again() -> None:
    files = timeline_of("claude-code-session.jsonl").files
    assert any(len(file.reads) > 1 and file.covered for file in files)
    for file in files:
        assert list(file.reads) == sorted(file.reads)
        assert file.covered < set(file.reads)
    assert [file.tokens for file in files] == sorted((f.tokens for f in files), reverse=True)
