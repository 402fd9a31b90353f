"""Which messages are one response, whatever ids a proxy gives."""

import pytest
from builders import assistant, call, conversation, result, user

from compactctl.clients.records.message_draft import MessageDraft
from compactctl.clients.records.responses import (
    ResponseNamer,
    find_reused_ids,
    with_responses,
)
from compactctl.clients.records.usage import find_newest_report
from compactctl.model.message import Message, Origin, ReportedUsage
from compactctl.records import replace


def of(message: Message, response: str | None, context: int | None = None) -> Message:
    usage = None if context is None else ReportedUsage(context=context)
    return replace(message, response_id=response, usage=usage)


def answers(*messages: Message, interleaves: bool = True) -> list[list[int]]:
    """Return the indices of the messages of each response."""
    found: dict[str, list[int]] = {}
    for index, each in enumerate(with_responses(conversation(*messages), interleaves=interleaves)):
        if each.response_id is not None:
            found.setdefault(each.response_id, []).append(index)
    return list(found.values())


CALLS = (call("a", "Read"), result("a", "A"), call("b", "Read"), result("b", "B"))


def steps(*contexts: int | None) -> list[Message]:
    """Return two calls and their results, all under one id, with what is reported of each."""
    first, one, second, two = CALLS
    return [of(first, "r", contexts[0]), one, of(second, "r", contexts[1]), two]


def test_results_may_stand_between_the_records_of_a_response_that_repeat_its_usage() -> None:
    assert answers(user("go"), *steps(900, 900)) == [[1, 3]]
    assert answers(user("go"), *steps(None, 900)) == [[1, 3]]


def test_another_context_is_another_request() -> None:
    assert answers(user("go"), *steps(900, 950), of(assistant("ok"), "r", 990)) == [[1], [3], [5]]


def test_a_response_ends_with_its_turn() -> None:
    talk = [user("go"), of(assistant("ok"), "r"), user("on"), of(assistant("ok"), "r")]
    assert answers(*talk) == [[1], [3]]


def test_an_id_of_many_turns_is_of_no_response() -> None:
    talk = [user("one"), *steps(None, None), user("two"), *steps(None, None), user("three")]
    assert answers(*talk, *steps(None, None)) == [[1], [3], [6], [8], [11], [13]]


def test_in_a_log_a_response_ends_with_a_result() -> None:
    assert answers(user("go"), *steps(None, None), interleaves=False) == [[1], [3]]
    said = [of(assistant("I look."), "r", 9), of(call("a", "Read"), "r", 9)]
    assert answers(user("go"), *said, interleaves=False) == [[1, 2]]


@pytest.mark.parametrize("context", [900, 0])
def test_what_reports_something_is_a_response(context: int) -> None:
    assert answers(user("go"), of(assistant("ok"), None, context), assistant("well")) == [[1]]


def test_subagents_that_run_at_once_are_not_told_apart_by_turns() -> None:
    [one, other] = (user("look", is_subagent=True) for _ in range(2))
    talk = [one, of(assistant("a"), "r", 9), other, of(assistant("b"), "r", 9)]
    assert answers(*(replace(message, origin=Origin(is_subagent=True)) for message in talk)) == [
        [1, 3]
    ]


def said(*contexts: int | None) -> list[Message]:
    """Return a question and answers under one id without a result between them."""
    return [user("go"), *(of(assistant("ok"), "r", context) for context in contexts)]


def test_responses_of_one_id_are_numbered() -> None:
    found = with_responses(conversation(user("go"), *steps(900, 950), *steps(990, 990)))
    names = [message.response_id for message in found]
    assert names == [None, "r", None, "r#2", None, "r#3", None, "r#4", None]


def test_an_id_is_reused_when_it_reports_more_than_two_contexts() -> None:
    assert find_reused_ids(conversation(*said(900, 950, 900))) == frozenset()
    assert find_reused_ids(conversation(*said(900, 950, 990))) == {"r"}
    # What is not reported, and what cannot be, is no context.
    assert find_reused_ids(conversation(*said(None, 0, -1, -2, -3))) == frozenset()


@pytest.mark.parametrize("contexts", [(None, None), (None, 0), (0, -9)])
def test_an_id_is_reused_when_it_reports_nothing_in_more_than_two_turns(
    contexts: tuple[int | None, int | None],
) -> None:
    turn = [user("go"), *steps(*contexts)]
    assert find_reused_ids(conversation(*turn, *turn)) == frozenset()
    assert find_reused_ids(conversation(*turn, *turn, *turn)) == {"r"}


def test_an_id_that_reports_one_context_is_not_reused() -> None:
    others = [of(assistant("hm"), "q", 900), of(assistant("hm"), "q", 900)]
    turn = [user("go"), *steps(None, None), *others]
    assert find_reused_ids(conversation(*turn, *turn, *turn)) == {"r"}


def test_a_response_with_a_reused_id_has_all_records_up_to_a_result() -> None:
    again = [of(assistant("I look."), "r", 950), *steps(950, 990)]
    assert answers(user("go"), of(assistant("hm"), "r", 900), *again) == [[1], [2, 3], [5]]


@pytest.mark.parametrize(
    ("contexts", "expected"),
    [
        ((900, None, 900), [[1, 2, 3]]),
        ((None, 900, None, 900), [[1, 2, 3, 4]]),
        ((900, None, 950), [[1, 2], [3]]),
        ((900, -5, 900), [[1, 2, 3]]),
        ((900, 901), [[1], [2]]),
    ],
)
def test_records_without_a_context_belong_to_the_one_before(
    contexts: tuple[int | None, ...], expected: list[list[int]]
) -> None:
    assert answers(*said(*contexts)) == expected


def test_consecutive_items_of_the_model_are_one_response() -> None:
    namer = ResponseNamer("p")
    answer = MessageDraft(role="assistant", parts=())
    other = MessageDraft(role="tool", parts=())
    summary = MessageDraft(role="assistant", parts=(), is_summary=True)
    drafts = [other, answer, answer, other, answer, summary, answer]
    names = [namer.name_for(draft) for draft in drafts]
    assert names == [None, "p1", "p1", None, "p2", None, "p3"]
    namer.close()
    assert [namer.name_for(answer) for _ in range(2)] == ["p4", "p4"]


@pytest.mark.parametrize(
    ("reports", "newest"),
    [
        ([], None),
        ([("r1", 5), ("r2", 6)], "r2"),
        ([("r1", 5), ("r2", None)], "r1"),
        ([("r1", 5), ("r2", 0)], "r1"),
        ([("r1", 5), (None, 6)], "r1"),
        ([("r1", 0), (None, 6), ("r3", None)], None),
    ],
)
def test_the_newest_report_is_of_a_response_and_above_zero(
    reports: list[tuple[str | None, int | None]], newest: str | None
) -> None:
    messages = [replace(of(assistant("done"), name, context), line=3) for name, context in reports]
    report = find_newest_report(messages)
    assert (report and report.response_id) == newest
    assert report is None or report.line == 3
