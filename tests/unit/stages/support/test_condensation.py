"""The text of a summary and its size, and what a refusal says."""

import pytest
from builders import assistant, call, conversation, result, user
from unit.stages.support.trials import meter, view, words

from compactctl.model.edit import Proposal, SkippedStage
from compactctl.model.summary import Summary
from compactctl.records import replace
from compactctl.stages.plain import STAGE
from compactctl.stages.support.condensation import (
    CondenseSpec,
    SummaryFormat,
    condense,
    end_of_older,
    in_order,
    last_cut,
    skip_if_too_few,
    summary_room,
)

TALK = conversation(*(kind(words(10)) for kind in (user, assistant) * 3))


@pytest.mark.parametrize(
    ("suffix", "end"),
    [("", ""), ("that is all", "\nthat is all"), (" .", " ."), ("\n\n.", "\n\n.")],
)
def test_a_suffix_has_a_line_of_its_own_unless_it_starts_with_space(suffix: str, end: str) -> None:
    text = SummaryFormat(prefix="of {count}: ", suffix=suffix).text("short", 1_200)
    assert text == f"of 1,200: short{end}"


@pytest.mark.parametrize(("prompt", "tokens"), [("", 4), ("What was it?", 7)])
def test_a_summary_takes_its_prompt_as_well(prompt: str, tokens: int) -> None:
    summary_format = SummaryFormat(prefix="about ", prompt=prompt, suffix="the end")
    assert summary_format.tokens("it", 1, meter()) == tokens


@pytest.mark.parametrize(
    ("target", "window", "overhead", "room"),
    [
        (100, None, 0, 56),
        (None, 100, 0, 56),
        (100, 50, 3, 53),
        (45, None, 0, 1),
        (45, None, 1, 600),
        (9, None, 0, 600),
    ],
)
def test_a_summary_has_what_remains_of_the_target_or_else_of_the_window(
    target: int | None, window: int | None, overhead: int, room: int
) -> None:
    of = view(TALK, target=target, window=window)
    assert summary_room(of, meter(), TALK[2:], overhead) == room


@pytest.mark.parametrize(("limit", "cut"), [(0, 0), (1, 1), (2, 1), (3, 3), (4, 4)])
def test_a_cut_is_the_last_one_up_to_a_limit(limit: int, cut: int) -> None:
    talk = conversation(user("a"), call("b", "Bash"), result("b", "ok"), user("c"))
    assert last_cut(view(talk), limit) == cut


@pytest.mark.parametrize(("keep", "end"), [(0, 5), (1, 5), (2, 4), (6, 0), (9, 0)])
def test_the_newest_messages_are_not_among_the_older_ones(keep: int, end: int) -> None:
    assert end_of_older(view(TALK), keep) == end


@pytest.mark.parametrize(("count", "is_refused"), [(0, True), (1, True), (2, False), (3, False)])
def test_one_message_is_its_own_best_summary(count: int, *, is_refused: bool) -> None:
    refusal = skip_if_too_few("plain", TALK[:count], "keep less")
    assert (refusal is not None) is is_refused
    if refusal is not None:
        assert refusal.reason == "fewer than 2 messages are older than those to keep"
        assert refusal.detail == "keep less"


@pytest.mark.parametrize(("tokens", "is_refused"), [(18, False), (19, True), (20, True)])
def test_a_summary_has_to_be_smaller_than_what_it_replaces(
    tokens: int, *, is_refused: bool
) -> None:
    spec = CondenseSpec(stage="plain", options=STAGE.options(), format=SummaryFormat(prefix="so "))
    outcome = condense(view(TALK), meter(), TALK[:2], Summary(text=words(tokens)), spec)
    assert isinstance(outcome, SkippedStage if is_refused else Proposal)
    if isinstance(outcome, SkippedStage):
        assert outcome.reason == "a summary would be no smaller than the 20 tokens it replaces"


def test_a_summary_that_failed_says_why() -> None:
    spec = CondenseSpec(stage="plain", options=STAGE.options(), format=SummaryFormat(prefix=""))
    outcome = condense(view(TALK), meter(), TALK[:2], Summary(text="", note="no answer"), spec)
    assert isinstance(outcome, SkippedStage)
    assert (outcome.reason, outcome.detail) == ("no answer", "see --on-summarizer-failure")


def test_messages_without_a_rank_come_last() -> None:
    ranked = [replace(TALK[0], rank=2), TALK[1], replace(TALK[2], rank=0), replace(TALK[3], rank=1)]
    assert [message.id for message in in_order(ranked)] == ["m2", "m3", "m0", "m1"]
