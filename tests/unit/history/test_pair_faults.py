"""Where the results of calls must stand, and which calls and results have no other half."""

import pytest
from builders import (
    assistant,
    call,
    call_part,
    conversation,
    image,
    message,
    result,
    result_part,
    system,
    user,
)

from compactctl.history.pair_faults import PairOrder, count_unpaired, find_pair_faults
from compactctl.history.pairs import PartIndex
from compactctl.model.message import Message, TextPart
from compactctl.records import replace

NOTE = TextPart(text="a note")


def faults(order: PairOrder, *messages: Message) -> list[tuple[str, int, int]]:
    end = (assistant("so"), user("on"))
    indexed = find_pair_faults(conversation(*messages, *end), order)
    return sorted((rule, *index) for rule, index in indexed)


CALLS = message("assistant", call_part("a", "Read"), call_part("b", "Read"))
PAIR = (call("a", "Read"), result("a", "x"))
TWO_RESULTS = message("user", result_part("b", "y"), result_part("a", "x"))


@pytest.mark.parametrize("order", ["anywhere", "next turn", "next messages"])
@pytest.mark.parametrize(
    "messages",
    [
        (),
        PAIR,
        (*PAIR, *PAIR),
        (CALLS, result("b", "y"), result("a", "x")),
        (call("a", "Read"), system("a word of the client"), result("a", "x")),
        (call("a", "Read"), result("a", "x"), user("and")),
        (message("assistant", replace(call_part("a", "Read"), embedded=True)), result("a", "x")),
    ],
)
def test_results_right_behind_their_calls_are_accepted(
    order: PairOrder, messages: tuple[Message, ...]
) -> None:
    assert faults(order, user("go"), *messages) == []


@pytest.mark.parametrize("order", ["anywhere", "next turn", "next messages"])
def test_halves_are_unpaired_wherever_results_must_stand(order: PairOrder) -> None:
    assert faults(order, user("go"), call("a", "Read")) == [("call-without-result", 1, 0)]
    assert faults(order, user("go"), result("a", "x")) == [("result-without-call", 1, 0)]
    early = (result("a", "x"), call("a", "Read"))
    rules = {rule for rule, _, _ in faults(order, user("go"), *early)}
    assert rules == {"call-without-result", "result-without-call"}


def test_a_result_in_a_later_turn_is_not_next_but_only_late() -> None:
    late = (user("go"), call("a", "Read"), user("well"), assistant("wait"), result("a", "x"))
    assert faults("next turn", *late) == [("result-not-next", 1, 0)]
    assert faults("next messages", *late) == [("result-not-next", 1, 0)]
    assert faults("anywhere", *late) == []


def test_a_result_behind_words_is_not_first_in_the_turn_of_its_call() -> None:
    words_first = message("user", NOTE, result_part("a", "x"))
    place = ("result-first", 1, 1)
    assert place in faults("next turn", call("a", "Read"), words_first)
    picture = message("user", image().parts[0], result_part("a", "x"))
    assert place in faults("next turn", call("a", "Read"), picture)
    words_last = message("user", result_part("a", "x"), NOTE)
    rules = {rule for rule, _, _ in faults("next turn", call("a", "Read"), words_last)}
    assert rules == {"result-with-text"}


def test_what_stands_beside_several_results_is_named_each_time() -> None:
    mixed = message("user", *TWO_RESULTS.parts, NOTE, NOTE)
    assert faults("next turn", CALLS, mixed) == [
        ("result-with-text", 1, 2),
        ("result-with-text", 1, 3),
    ]
    assert faults("next turn", CALLS, TWO_RESULTS) == []


def test_a_second_result_of_one_call_is_one_too_many() -> None:
    twice = (call("a", "Read"), result("a", "x"), result("a", "y"))
    for order in ("anywhere", "next turn"):
        assert faults(order, *twice) == [("result-once", 2, 0)]


def test_an_id_that_is_used_again_has_a_result_again() -> None:
    again = (*PAIR, assistant("and"), *PAIR)
    assert faults("next turn", *again) == []
    assert faults("next turn", *again, result("a", "z")) == [("result-once", 5, 0)]


def test_a_result_in_an_answer_of_the_model_is_in_the_wrong_turn() -> None:
    answered = message("assistant", call_part("a", "Read"), result_part("a", "x"))
    assert faults("next turn", user("go"), answered) == [("result-in-user", 1, 1)]
    by_server = message(
        "assistant",
        replace(call_part("a", "web_search"), embedded=True),
        result_part("a", "x", embedded=True),
    )
    assert faults("next turn", user("go"), by_server) == []


def test_records_of_one_response_may_have_results_between_them() -> None:
    first = replace(call("a", "Read"), response_id="r")
    second = replace(call("b", "Read"), response_id="r")
    assert faults("next turn", first, result("a", "x"), second, result("b", "y")) == []
    parallel = (first, second, result("b", "y"), result("a", "x"))
    assert faults("next turn", *parallel) == []


def test_the_newest_calls_still_wait_for_their_results() -> None:
    messages = conversation(user("go"), call("a", "Read"))
    assert list(find_pair_faults(messages, "next turn")) == []
    assert count_unpaired(messages) == 1
    reminded = conversation(user("go"), call("a", "Read"), user("a hint", is_injected=True))
    assert list(find_pair_faults(reminded, "next turn")) == []
    spoken = conversation(user("go"), call("a", "Read"), user("and now?"))
    assert list(find_pair_faults(spoken, "next turn")) == [("call-without-result", PartIndex(1, 0))]


def test_calls_without_ids_match_by_order_and_are_no_faults() -> None:
    assert faults("next turn", user("go"), call("", "Read"), result("", "x")) == []
    assert faults("next turn", user("go"), result("", "x")) == [("result-without-call", 1, 0)]
