"""Contexts measured from recorded usage."""

from collections.abc import Callable, Sequence

from builders import assistant, call, conversation, result, summary, thinking, user
from hypothesis import given
from hypothesis import strategies as st

from compactctl.history.usage.calibration import (
    Calibration,
    calibrate,
    requests_after_own_edit,
    requests_since_shrink,
)
from compactctl.history.usage.requests import find_requests
from compactctl.model.message import Message, MessageId, ReasoningPart, ReportedUsage, Tags
from compactctl.records import replace


def words(message: Message) -> float:
    texts = (getattr(part, "text", "") or getattr(part, "arguments", "") for part in message.parts)
    return float(sum(len(text.split()) for text in texts))


def calibrated(
    messages: Sequence[Message],
    size: Callable[[Message], float],
    visible: Callable[[Message], float] | None = None,
    **reasoning: bool,
) -> Calibration | None:
    """Calibrate by all reports that are trusted."""
    reports = requests_after_own_edit(messages, find_requests(messages, size, visible))
    return calibrate(messages, reports, size, visible or size, **reasoning)


def reply(text: str, context: int, output: int | None, name: str = "r1") -> Message:
    usage = ReportedUsage(context=context, output=output)
    return replace(assistant(text), response_id=name, usage=usage)


def test_without_recorded_usage_nothing_is_calibrated() -> None:
    assert calibrated(conversation(user("hello there"), assistant("hi")), words) is None


def test_the_newest_request_is_the_anchor_and_only_what_came_after_is_counted() -> None:
    found = calibrated(
        conversation(
            user("one two three"),
            reply("four five", 1_003, 2, "r1"),
            user("six"),
            reply("seven", 1_006, 1, "r2"),
            user("eight nine"),
        ),
        words,
    )
    assert found is not None
    assert found.total == 1_006 + 1 + 2
    assert (found.reported, found.answer, found.tokens_after_answer) == (1_006, 1, 2)
    assert found.overhead == 1_003 - 3


def test_lines_of_one_response_count_once_even_around_a_result() -> None:
    usage = ReportedUsage(context=500, output=6)
    first = replace(call("c1", "Read", path="a"), response_id="r", usage=usage)
    second = replace(call("c2", "Read", path="b"), response_id="r", usage=usage)
    messages = conversation(user("go"), first, result("c1", "x y z"), second, result("c2", "x y"))
    assert len(find_requests(messages, words)) == 1
    found = calibrated(messages, words)
    assert found is not None
    assert found.total == 500 + 6 + 5


def test_the_last_line_of_a_response_has_the_final_output() -> None:
    early = replace(thinking("hm"), response_id="r", usage=ReportedUsage(context=10, output=None))
    last = replace(assistant("ok"), response_id="r", usage=ReportedUsage(context=10, output=40))
    assert find_requests(conversation(user("go"), early, last), words)[0].answer == 40


def test_a_placeholder_output_is_replaced_by_what_is_visible() -> None:
    answer = reply("four words are here", 100, 1)
    assert find_requests(conversation(user("go"), answer), words)[0].answer == 4


def test_results_in_the_record_of_their_call_are_no_output() -> None:
    usage = ReportedUsage(context=500, output=40)
    parts = (*call("c1", "Read", path="a").parts, *result("c1", "x y z").parts)
    both = replace(call("c1", "Read", path="a"), parts=parts, response_id="r", usage=usage)
    told = find_requests(conversation(user("go"), both), words)[0]
    assert (told.result_tokens, told.answer) == (3, 40 + 3)
    # The report is less than what is counted of all, but not of what the model wrote.
    long = replace(both, parts=(*parts, *result("c2", "word " * 50).parts))
    assert find_requests(conversation(user("go"), long), words)[0].answer == 40 + 53
    placeholder = replace(both, usage=ReportedUsage(context=500, output=1))
    assert find_requests(conversation(user("go"), placeholder), words)[0].answer == words(both)


def test_reasoning_whose_text_is_not_stored_is_told_apart() -> None:
    usage = ReportedUsage(context=100, output=30)
    hidden = replace(thinking("", opaque=True), response_id="r", usage=usage)
    said = replace(assistant("two words"), response_id="r", usage=usage)
    found = calibrated(conversation(user("go"), hidden, said), words)
    assert found is not None
    assert found.hidden_reasoning == 28


def test_reasoning_is_guessed_only_where_the_answer_was_not_reported() -> None:
    def with_thoughts(message: Message) -> float:
        return words(message) + (50 if message.calls else 0)

    asked = replace(call("c1", "Read", path="a"), response_id="r1")
    told = replace(asked, usage=ReportedUsage(context=1_000, output=30))
    silent = replace(asked, usage=ReportedUsage(context=1_000, output=None))
    found = calibrated(conversation(user("go"), told), with_thoughts, words)
    assert found is not None
    assert (found.total, found.hidden_reasoning) == (1_030, 30 - words(asked))
    guessed = calibrated(conversation(user("go"), silent), with_thoughts, words)
    assert guessed is not None
    assert (guessed.total, guessed.hidden_reasoning) == (1_050 + words(asked), 50)
    # A report just below what is counted is one, and holds all reasoning that there was.
    near = replace(asked, usage=ReportedUsage(context=1_000, output=int(words(asked)) - 1))
    assert find_requests(conversation(user("go"), near), with_thoughts, words)[0].answer == words(
        asked
    )
    # What came after the newest report is counted with what is guessed of it.
    later = calibrated(
        conversation(user("go"), told, replace(asked, response_id="r2")), with_thoughts, words
    )
    assert later is not None
    assert later.total == 1_030 + 50 + words(asked)


def test_a_falling_context_means_it_was_edited_and_starts_anew() -> None:
    messages = conversation(
        user("a"), reply("b", 900, 1, "r1"), user("c"), reply("d", 400, 1, "r2")
    )
    assert [
        request.context for request in requests_since_shrink(find_requests(messages, words))
    ] == [400]
    found = calibrated(messages, words)
    assert found is not None
    assert found.overhead == 400 - 3


def thought(text: str, context: int, output: int, reasoning: int, name: str) -> Message:
    usage = ReportedUsage(context=context, output=output, reasoning=reasoning)
    return replace(assistant(text), response_id=name, usage=usage)


def test_reasoning_goes_with_its_turn_where_the_client_sends_it_no_longer() -> None:
    messages = conversation(
        user("go"),
        # One word, and thinking that takes two tokens more than it has.
        thought("a", 100, 43, 40, "r1"),
        user("on"),
        # What the first turn thought is gone: 100 + 43 - 42 + 1.
        thought("b", 102, 33, 30, "r2"),
        thought("c", 135, 13, 10, "r3"),
    )
    found = calibrated(messages, words, drops_past_reasoning=True)
    assert found is not None
    # One turn's end is no edit: the first request still tells the overhead.
    assert (found.total, found.overhead) == (135 + 13, 99)
    ended = calibrated((*messages, user("next")), words, drops_past_reasoning=True)
    assert ended is not None
    # Each of the two thoughts of the turn took two tokens more.
    assert ended.total == 135 + 13 - 40 - 2 * 2 + 1
    assert ended.hidden_reasoning == 0
    for kept in (
        calibrated((*messages, user("next")), words),
        calibrated(
            (*messages, user("next")), words, drops_past_reasoning=True, keeps_reasoning=True
        ),
    ):
        assert kept is not None
        assert kept.total == 135 + 13 + 1


def test_requests_from_before_our_own_compaction_are_not_trusted() -> None:
    stale = reply("b", 9_000, 1, "r1")
    messages = conversation(summary("short"), stale, user("next"))
    marked = replace(messages[0], tags=Tags(condense_id="g", through=messages[1].id))
    assert calibrated((marked, *messages[1:]), words) is None
    fresh = replace(reply("later", 50, 1, "r2"), id=MessageId("m9"))
    found = calibrated((marked, *messages[1:], fresh), words)
    assert found is not None
    assert found.reported == 50


def test_requests_are_trusted_from_the_message_on_that_was_the_newest_of_its_content() -> None:
    """The newest message was the second "Continue." when we compacted, and there is a third."""
    marked = replace(summary("short"), tags=Tags(condense_id="g", through="x", occurrence=2))
    said = [replace(user("Continue."), id=MessageId(name)) for name in ("x", "x#2", "x#3")]
    stale, fresh, newest = (
        reply("b", 900, 1, "r1"),
        reply("c", 50, 1, "r2"),
        reply("d", 60, 1, "r3"),
    )
    talk = conversation(marked, said[0], stale, said[1], fresh, said[2], newest)
    names = {1: "x", 3: "x#2", 5: "x#3"}
    talk = tuple(replace(m, id=MessageId(names.get(n, m.id))) for n, m in enumerate(talk))
    found = calibrated(talk, words)
    assert found is not None
    assert [request.context for request in found.requests] == [50, 60]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 5_000)), min_size=1, max_size=12))
def test_the_rows_of_any_conversation_come_from_its_newest_request(
    rows: list[tuple[int, int]],
) -> None:
    turns = [
        part
        for n, (size, context) in enumerate(rows)
        for part in (user("w " * size), reply("said it", context, 2, f"r{n}"))
    ]
    found = calibrated(conversation(*turns), words)
    assert found is not None
    assert found.total == rows[-1][1] + 2
    assert found.overhead >= 0


def sealed(text: str, name: str) -> Message:
    """Return an answer whose reasoning is there, of no known size, and was not reported."""
    said = assistant(text)
    hidden = ReasoningPart(text="", opaque=True)
    return replace(said, response_id=name, parts=(hidden, *said.parts))


def test_reasoning_of_no_known_size_is_taken_for_the_sessions_average() -> None:
    known = [
        replace(sealed("a", f"k{n}"), usage=ReportedUsage(context=100, output=303, reasoning=300))
        for n in range(90)
    ]
    messages = conversation(user("go"), *known, sealed("b", "r1"), sealed("c", "r2"))
    found = calibrated(messages, words, drops_past_reasoning=True)
    assert found is not None
    plain = calibrated(messages, words)
    assert plain is not None
    # Ten more of the usual 183 count beside the ninety of 302.
    guessed = round(2 * (90 * 302 + 10 * 183) / 100)
    assert found.total == plain.total + guessed
    assert found.hidden_reasoning == plain.hidden_reasoning + guessed
    ended = calibrated((*messages, user("next")), words, drops_past_reasoning=True)
    assert ended is not None
    # With its turn all of that goes.
    assert ended.hidden_reasoning == 0
    kept = calibrated(
        (*messages, user("next")), words, drops_past_reasoning=True, keeps_reasoning=True
    )
    assert kept is not None
    # Unless the model reads it again.
    assert kept.total == found.total + 1


def test_reasoning_of_a_known_length_goes_with_its_turn_as_well() -> None:
    def size(message: Message) -> float:
        return words(message) + 50 * any(isinstance(p, ReasoningPart) for p in message.parts)

    messages = conversation(
        user("go"), reply("a", 100, 5, "r1"), user("on"), sealed("b", "r2"), user("next")
    )
    found = calibrated(messages, size, words, drops_past_reasoning=True)
    kept = calibrated(messages, size, words, drops_past_reasoning=True, keeps_reasoning=True)
    assert found is not None
    assert kept is not None
    assert (found.total, kept.total) == (105 + 3, 105 + 3 + 50)


def test_only_this_turns_reasoning_is_still_sent_where_it_goes_with_its_turn() -> None:
    def thought_of(text: str, context: int, output: int, name: str) -> Message:
        usage = ReportedUsage(context=context, output=output, reasoning=output - 3)
        return replace(sealed(text, name), usage=usage)

    messages = conversation(
        user("go"), thought_of("a", 100, 43, "r1"), user("on"), thought_of("b", 102, 33, "r2")
    )
    dropped = calibrated(messages, words, drops_past_reasoning=True)
    kept = calibrated(messages, words)
    assert dropped is not None
    assert kept is not None
    assert (dropped.hidden_reasoning, kept.hidden_reasoning) == (32, 42 + 32)
