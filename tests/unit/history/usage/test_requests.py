"""The requests that a conversation records."""

import pytest
from builders import assistant, call, conversation, message, result, thinking, user

from compactctl.history.usage.requests import find_requests, refused_request
from compactctl.model.message import Message, ReportedUsage
from compactctl.records import replace


def words(message: Message) -> float:
    texts = (getattr(part, "text", "") or getattr(part, "arguments", "") for part in message.parts)
    return float(sum(len(text.split()) for text in texts))


def with_thoughts(message: Message) -> float:
    return words(message) + 50 * message.has_unstored_reasoning


def test_a_request_has_its_place_its_turn_and_what_was_counted_before_it() -> None:
    first = ReportedUsage(context=100, output=9, cache_read=60)
    last = ReportedUsage(context=120, output=30, reasoning=20, growth=25)
    messages = conversation(
        user("one two"),
        replace(thinking("", opaque=True), response_id="r", usage=first),
        replace(assistant("a b c"), response_id="r", usage=last),
        user("three"),
        assistant("not reported", response_id="s"),
        replace(assistant("d"), usage=ReportedUsage(context=300)),
    )
    one, two = find_requests(messages, with_thoughts, words)
    assert (one.first_index, one.message_indices, one.turn) == (1, (1, 2), 1)
    assert (one.context, one.output, one.reported_answer, one.reasoning) == (100, 30, 25, 20)
    assert one.usage == first
    assert (one.counted_before, one.contents) == (2, 2)
    assert (one.counted_output, one.estimated_reasoning, one.hidden_reasoning) == (3, 50, True)
    assert (one.expiring_tokens, one.answer, one.is_output_reported) == (22, 25, True)
    assert (two.first_index, two.message_indices, two.turn) == (5, (5,), 2)
    assert (two.counted_before, two.contents) == (58, 8)
    assert (two.output, two.reported_answer, two.is_output_reported) == (None, None, False)
    assert (two.answer, two.expiring_tokens, two.hidden_reasoning) == (1, 0, False)


@pytest.mark.parametrize("context", [0, -1])
def test_a_report_that_is_not_a_size_makes_no_request(context: int) -> None:
    silent = replace(assistant("a"), response_id="r", usage=ReportedUsage(context=context))
    assert find_requests(conversation(user("go"), silent), words) == ()
    told = replace(assistant("b"), response_id="r", usage=ReportedUsage(context=1, output=5))
    (one,) = find_requests(conversation(user("go"), silent, told), words)
    assert (one.first_index, one.context, one.answer) == (1, 1, 5)


@pytest.mark.parametrize(
    ("output", "answer", "reported"), [(2, 5, False), (3, 5, True), (5, 5, True), (6, 6, True)]
)
def test_a_report_below_half_of_what_is_counted_is_not_one(
    output: int,
    answer: float,
    reported: bool,  # noqa: FBT001
) -> None:
    said = replace(
        assistant("a b c d e"), response_id="r", usage=ReportedUsage(context=9, output=output)
    )
    (one,) = find_requests(conversation(user("go"), said), words)
    assert (one.answer, one.is_output_reported) == (answer, reported)


def test_results_in_the_record_of_a_call_add_to_the_answer() -> None:
    parts = (*call("a", "Bash").parts, *result("a", "x y z").parts)
    usage = ReportedUsage(context=9, output=7)
    one = replace(message("assistant", *parts), response_id="r", usage=usage)
    two = replace(message("assistant", *call("b", "Bash").parts), response_id="r", usage=usage)
    (found,) = find_requests(conversation(user("go"), one, two), words)
    assert (found.result_tokens, found.counted_output, found.answer) == (3, 5, 10)


def test_a_refused_request_sent_all_and_has_no_answer() -> None:
    sent = conversation(user("one"), thinking("", opaque=True), user("two three"))
    found = refused_request(sent, 900, with_thoughts, words)
    assert (found.first_index, found.message_indices, found.context, found.turn) == (2, (), 900, 2)
    assert (found.counted_before, found.contents) == (53, 3)
    assert (found.answer, found.is_output_reported, found.expiring_tokens) == (0, False, 0)
    assert found.usage == ReportedUsage(context=900)
    assert not found.hidden_reasoning
