"""What single messages weigh, by what was reported between requests."""

from collections.abc import Sequence

import pytest
from builders import assistant, call, conversation, result, thinking, user

from compactctl.history.usage.calibration import (
    MessageWeights,
    calibrate,
    requests_after_own_edit,
    weigh_messages,
)
from compactctl.history.usage.requests import find_requests, refused_request
from compactctl.model.message import Message, MessageId, ReportedUsage
from compactctl.records import replace


def words(message: Message) -> float:
    texts = (getattr(part, "text", "") or getattr(part, "arguments", "") for part in message.parts)
    return float(sum(len(text.split()) for text in texts))


def with_thoughts(message: Message) -> float:
    return words(message) + 50 * message.has_unstored_reasoning


def reply(text: str, context: int, output: int | None, name: str) -> Message:
    usage = ReportedUsage(context=context, output=output)
    return replace(assistant(text), response_id=name, usage=usage)


def weighed(messages: Sequence[Message], **reasoning: bool) -> MessageWeights:
    reports = requests_after_own_edit(messages, find_requests(messages, with_thoughts, words))
    calibration = calibrate(messages, reports, with_thoughts, words, **reasoning)
    return weigh_messages(messages, calibration, with_thoughts, words)


def test_without_reports_a_message_weighs_what_is_counted_of_it() -> None:
    messages = conversation(user("a b"), thinking("", opaque=True), assistant("c"))
    weights = weighed(messages)
    assert [weights.tokens(message) for message in messages] == [2, 50, 1]
    assert weights.total(messages) == 53


@pytest.mark.parametrize(
    ("grown", "weight"),
    [
        # From half to twice of what is counted, the text itself is larger or smaller.
        (5, 5),
        (4, 10),
        (10, 10),
        (15, 15),
        (20, 20),
        # Beyond that, something came with it: as heavy all the same.
        (21, 21),
    ],
)
def test_what_entered_between_two_requests_weighs_what_they_grew_by(
    grown: int, weight: float
) -> None:
    messages = conversation(
        user("go"),
        reply("ok", 100, 7, "r1"),
        user("w " * 10),
        reply("ok", 107 + grown, 7, "r2"),
    )
    weights = weighed(messages)
    assert weights.tokens(messages[2]) == pytest.approx(weight)
    # An answer weighs what was reported of it.
    assert weights.tokens(messages[1]) == 7
    assert weights.tokens(replace(messages[2], parts=user("w w").parts)) == pytest.approx(
        2 * weight / 10 if grown <= 20 and grown != 4 else 2 + max(0, grown - 10)
    )
    assert weights.tokens(user("new words")) == 2


def test_what_entered_together_shares_the_growth() -> None:
    messages = conversation(
        user("go"),
        replace(call("a", "Bash"), response_id="r1", usage=ReportedUsage(context=100, output=9)),
        result("a", "w " * 6),
        user("w " * 4),
        reply("ok", 124, 7, "r2"),
        user("w " * 3),
    )
    weights = weighed(messages)
    assert [weights.tokens(message) for message in messages[1:4]] == [9, 9, 6]
    assert weights.tokens(messages[5]) == 3


def test_what_an_answer_holds_beside_its_text_is_with_its_reasoning() -> None:
    usage = ReportedUsage(context=100, output=40)
    said = replace(assistant("a b"), response_id="r1", usage=usage)
    hidden = replace(thinking("", opaque=True), response_id="r1", usage=usage)
    messages = conversation(user("go"), said, hidden)
    weights = weighed(messages)
    assert [weights.tokens(message) for message in messages] == [1, 2, 38]
    plain = weighed(messages[:2])
    assert plain.tokens(messages[1]) == 40


def test_reasoning_of_a_past_turn_weighs_nothing_where_it_is_not_sent() -> None:
    def thought(context: int, name: str) -> Message:
        usage = ReportedUsage(context=context, output=43, reasoning=40)
        return replace(assistant("a"), response_id=name, usage=usage)

    messages = conversation(user("go"), thought(100, "r1"), user("on"), thought(102, "r2"))
    kept = weighed(messages)
    gone = weighed(messages, drops_past_reasoning=True)
    assert [kept.tokens(messages[n]) for n in (1, 3)] == [43, 43]
    # Two tokens frame it.
    assert [gone.tokens(messages[n]) for n in (1, 3)] == [1, 43]


def test_a_refused_request_has_no_answer_to_weigh() -> None:
    messages = conversation(user("go"), reply("ok", 100, 7, "r1"), user("w " * 10))
    refused = refused_request(messages, 117, words, words)
    requests = (*find_requests(messages, words), refused)
    calibration = calibrate(messages, requests, words, words)
    assert calibration is not None
    assert (calibration.total, calibration.answer, calibration.tokens_after_answer) == (117, 0, 0)
    weights = weigh_messages(messages, calibration, words, words)
    assert [weights.tokens(message) for message in messages] == [1, 7, 10]


def test_a_request_without_messages_of_its_own_does_not_hide_those_behind_it() -> None:
    messages = conversation(user("go"), user("w " * 10), reply("ok", 111, 7, "r1"))
    refused = refused_request(messages[:1], 100, words, words)
    requests = (refused, *find_requests(messages, words))
    calibration = calibrate(messages, requests, words, words)
    weights = weigh_messages(messages, calibration, words, words)
    assert weights.tokens(messages[2]) == 7


def test_weights_are_scaled_to_a_total_but_for_what_is_not_stored() -> None:
    messages = conversation(user("a b"), user("c d e"), user("f"))
    weights = MessageWeights(
        visible=words,
        unstored={MessageId("m0"): 10.0, MessageId("other"): 99.0},
        ratios={MessageId("m1"): 2.0},
        default_ratio=1.0,
    )
    # 10 + 2, 6 and 1.
    assert weights.total(messages) == 19
    twice = weights.scaled(messages, 28)
    assert [twice.tokens(message) for message in messages] == [14, 12, 2]
    assert twice.unstored == weights.unstored
    assert weights.scaled(messages, 10) is weights
    assert weights.scaled((), 28) is weights
    assert weights.scaled((user(""),), 28) is weights
    assert weights.scaled(messages, 10.9).tokens(messages[2]) == pytest.approx(0.1)
