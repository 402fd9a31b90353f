from collections.abc import Callable

import pytest
from builders import assistant, call, conversation, result, summary, system, user
from unit.stages.support.trials import (
    carried_out,
    hidden,
    joined,
    meter,
    propose,
    skipped,
    skips,
    view,
    words,
)

from compactctl.history.pairs import find_orphans
from compactctl.model.edit import Insert, Proposal
from compactctl.model.message import Message, Synthetic
from compactctl.model.summary import Summary, SummaryRequest
from compactctl.stages.recursive import PREFIX, STAGE


def chat(turns: int, size: int = 60) -> tuple[Message, ...]:
    pairs = ((user(f"{n} {words(size)}"), assistant(words(size))) for n in range(turns))
    return conversation(*(m for pair in pairs for m in pair))


def written(proposal: Proposal) -> list[Synthetic]:
    return [edit.message for edit in proposal.edits if isinstance(edit, Insert)]


def test_a_question_and_its_answer_stand_for_what_is_older() -> None:
    of = view(chat(10), can_write_assistant=True)
    proposal = propose(STAGE, of)
    assert hidden(proposal) == [f"m{n}" for n in range(10)]
    shadow, answer = written(proposal)
    assert (shadow.role, shadow.text) == ("user", "Summarize the conversation we had so far.")
    assert (answer.role, answer.kind, answer.group) == ("assistant", "summary", shadow.group)
    assert answer.text
    assert answer.details["messages"] == 10
    assert [m.id for m in carried_out(of, proposal).messages][:3] == [shadow.id, answer.id, "m10"]


@pytest.mark.parametrize(("pairs", "shadow"), [(False, "What happened?"), (True, "")])
def test_one_message_says_it_where_there_can_be_no_answer(pairs: bool, shadow: str) -> None:  # noqa: FBT001 - a case of the table
    proposal = propose(STAGE, view(chat(10), can_write_assistant=pairs), shadow=shadow)
    (only,) = written(proposal)
    assert only.role == "user"
    assert only.text.startswith(PREFIX)


def test_the_system_prompt_and_what_is_protected_stay() -> None:
    messages = joined(system("be good"), *chat(10))
    of = view(messages, protected=["m3"], can_write_assistant=True)
    after = carried_out(of, propose(STAGE, of)).messages
    assert [m.role for m in after[:4]] == ["system", "user", "assistant", "user"]
    assert after[3].id == "m3"


def test_tool_pairs_stay_whole() -> None:
    pairs = ((call(f"c{n}", "Bash"), result(f"c{n}", words(60))) for n in range(10))
    of = view(conversation(user("go"), *(m for pair in pairs for m in pair)))
    proposal = propose(STAGE, of, keep_events=5, snap="none", min_keep_turns=0)
    assert len(hidden(proposal)) == 15
    assert find_orphans(carried_out(of, proposal).messages) == frozenset()


def test_one_long_turn_is_not_summarized_unless_asked_for() -> None:
    messages = conversation(user("go"), *(assistant(words(60)) for _ in range(40)))
    refused = skipped(STAGE, view(messages))
    assert refused.reason == "fewer than 2 messages that can be hidden are older"
    assert len(hidden(propose(STAGE, view(messages), snap="none", min_keep_turns=0))) == 31
    assert len(hidden(propose(STAGE, view(messages), min_keep_turns=0))) == 40


def test_few_messages_are_left_alone() -> None:
    assert skipped(STAGE, view(())).reason == "there are no more than the 10 messages to keep"
    assert skips(STAGE, view(joined(summary("before"), *chat(5))))


def test_a_second_run_finds_nothing() -> None:
    of = view(chat(10), can_write_assistant=True)
    after = carried_out(of, propose(STAGE, of))
    assert skipped(STAGE, after).reason == "there are no more than the 10 messages to keep"
    outcome = skipped(STAGE, after, keep_events=4)
    assert outcome.reason == "nothing was added since the last summary"


def test_an_answer_is_at_most_half_of_what_it_replaces() -> None:
    of = view(chat(20), can_write_assistant=True)
    proposal = propose(STAGE, of, summary_tokens=100_000)
    replaced = meter().total(m for m in of.messages if m.id in set(hidden(proposal)))
    assert meter().text(written(proposal)[1].text) <= replaced // 2


def test_what_the_summarizer_could_not_do_is_told() -> None:
    failed = Summary(text="", note="the command timed out")
    of = view(chat(10), summarizer=lambda _request, _count: failed)
    outcome = skipped(STAGE, of)
    assert outcome.reason == "the command timed out"
    assert outcome.detail == "see --on-summarizer-failure"


def test_a_summary_without_text_is_called_empty() -> None:
    of = view(chat(10), summarizer=lambda _request, _count: Summary(text=" "))
    assert skipped(STAGE, of).reason == "the summary of 10 messages is empty, so they stay"


def test_an_answer_that_saves_nothing_is_not_written() -> None:
    long = Summary(text=words(700))
    of = view(chat(10), summarizer=lambda _request, _count: long)
    assert "would be no smaller than" in skipped(STAGE, of).reason


@pytest.mark.parametrize(("overlap", "shown"), [(0, []), (1, ["m10"]), (2, ["m10", "m11"])])
def test_a_model_is_shown_the_first_messages_that_stay(overlap: int, shown: list[str]) -> None:
    requests = []

    def summarizer(request: SummaryRequest, _: Callable[[str], int]) -> Summary:
        requests.append(request)
        return Summary(text="short", writer="model")

    proposal = propose(STAGE, view(chat(10), summarizer=summarizer), overlap=overlap)
    assert hidden(proposal) == [f"m{n}" for n in range(10)]
    assert [message.id for message in requests[0].lookahead] == shown
