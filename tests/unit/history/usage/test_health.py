"""Counts judged by what was reported between requests."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from builders import call, conversation, result, user

from compactctl.history.usage.count_check import MIN_STEPS, CountCheck, check_counts
from compactctl.history.usage.requests import find_requests
from compactctl.model.message import MediaPart, Message, ReportedUsage, TextPart

FRAME = 30
SIZE = 400


def words(message: Message) -> float:
    texts = (getattr(part, "text", "") or getattr(part, "arguments", "") for part in message.parts)
    return float(sum(len(text.split()) for text in texts))


def session(steps: int, per_word: float = 1.0, output: int = 900) -> list[Message]:
    """Return a session that reported each word as so many tokens, with long thoughts between."""
    messages, context = [user("go")], 10_000
    for step in range(steps + 1):
        usage = ReportedUsage(context=context, output=output)
        asked = replace(call(f"c{step}", "Read", path="a"), response_id=f"r{step}", usage=usage)
        messages += [asked, result(f"c{step}", "word " * SIZE)]
        context += output + FRAME + round(SIZE * per_word)
    return messages


def check(messages: Sequence[Message], tolerance: float = 0.1) -> CountCheck:
    talk = conversation(*messages)
    found = find_requests(talk, words)
    return check_counts(talk, found, words, lambda message: FRAME * len(message.results), tolerance)


def changed(
    messages: Sequence[Message], change: Callable[[Message], Message], every: int
) -> list[Message]:
    """Return the messages with every so many'th result changed."""
    results = [index for index, message in enumerate(messages) if message.results]
    return [
        change(message) if index in results[::every] else message
        for index, message in enumerate(messages)
    ]


def emptied(message: Message) -> Message:
    return replace(message, parts=tuple(replace(part, text="") for part in message.results))


@pytest.mark.parametrize(
    ("per_word", "verdict"),
    [(1.0, "as expected"), (1.09, "as expected"), (1.18, "other tokens"), (0.66, "other tokens")],
)
def test_the_ratio_is_of_what_entered_and_not_of_answers(per_word: float, verdict: str) -> None:
    found = check(session(20, per_word))
    assert found.ratio == pytest.approx(per_word)
    assert (found.verdict, found.steps, found.missing) == (verdict, 20, 0)


def test_a_few_steps_say_nothing() -> None:
    assert check(session(MIN_STEPS)).verdict == "as expected"
    few = check(session(MIN_STEPS - 1, 3.0))
    assert (few.ratio, few.verdict, few.steps) == (None, "too few", MIN_STEPS - 1)


@pytest.mark.parametrize("per_word", [1.0, 1.5])
def test_results_that_are_no_longer_in_the_file_are_missed(per_word: float) -> None:
    found = check(changed(session(40, per_word), emptied, 2))
    assert found.ratio == pytest.approx(per_word)
    assert (found.verdict, found.missing, found.checked) == ("content missing", 20, 40)


def test_a_few_of_them_may_be_reminders_of_the_client() -> None:
    assert check(changed(session(40), emptied, 5)).verdict == "as expected"


@pytest.mark.parametrize(
    "change",
    [
        lambda m: replace(m, parts=(replace(m.results[0], text="gone", cleared=True),)),
        lambda m: replace(m, parts=(*m.parts, MediaPart(media_type="image/png", n_bytes=9))),
    ],
    ids=["cleared by the client", "with a picture"],
)
def test_what_has_no_sure_size_is_left_out(change: Callable[[Message], Message]) -> None:
    found = check(changed(session(40), change, 2))
    assert (found.verdict, found.steps, found.missing) == ("as expected", 20, 0)


def test_results_in_the_record_of_their_call_count_like_others() -> None:
    apart = session(20)
    within = [
        replace(asked, parts=(*asked.parts, *given.parts))
        for asked, given in zip(apart[1::2], apart[2::2], strict=True)
    ]
    assert check([apart[0], *within]) == check(apart)


def test_a_step_is_not_judged_by_a_large_answer_of_unknown_size() -> None:
    def told(message: Message) -> Message:
        if message.usage is None:
            return message
        said = (TextPart(text="word " * 800), *message.parts)
        return replace(message, parts=said, usage=replace(message.usage, output=None))

    # Each answer took 600 tokens more than is counted of it.
    messages = [told(message) for message in session(20, output=1_400)]
    assert check(messages).checked == 0
    known = [replace(m, usage=replace(m.usage, output=1_400)) if m.usage else m for m in messages]
    assert (check(known).checked, check(known).missing) == (20, 0)
