"""Counts judged by what was reported between requests."""

from collections.abc import Callable, Sequence

import pytest
from builders import assistant, call, conversation, result, user

from compactctl.history.usage.count_check import MIN_STEPS, CountCheck, check_counts
from compactctl.history.usage.requests import find_requests
from compactctl.model.message import MediaPart, Message, ReportedUsage, TextPart
from compactctl.records import replace

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
def test_what_has_no_sure_size_is_omitted(change: Callable[[Message], Message]) -> None:
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


def steps(counted: int, reported: int, count: int = 20, **usage: object) -> list[Message]:
    """Return a session with results of so many words, each reported as so many tokens."""
    messages, context = [user("go")], 10_000
    for step in range(count + 1):
        told = ReportedUsage(context=context, **{"output": 900, **usage})  # type: ignore[arg-type]
        asked = replace(call(f"c{step}", "Read", path="a"), response_id=f"r{step}", usage=told)
        messages += [asked, result(f"c{step}", "word " * counted)]
        context += 900 + FRAME + reported
    return messages


@pytest.mark.parametrize(
    ("counted", "reported", "steps_", "checked"),
    [(100, 400, 20, 20), (99, 400, 0, 20), (100, 399, 20, 0), (100, 50, 20, 0)],
)
def test_small_steps_are_not_compared(
    counted: int, reported: int, steps_: int, checked: int
) -> None:
    found = check(steps(counted, reported))
    assert (found.steps, found.checked) == (steps_, checked)


@pytest.mark.parametrize(("count", "ratio"), [(10, 1.25), (9, None)])
def test_ten_steps_make_a_ratio(count: int, ratio: float | None) -> None:
    assert check(steps(400, 500, count)).ratio == ratio


@pytest.mark.parametrize(("reported", "missing"), [(600, 0), (601, 9)])
def test_content_is_there_if_two_thirds_of_it_are_counted(reported: int, missing: int) -> None:
    found = check(steps(400, reported, 9))
    assert (found.checked, found.missing, found.verdict) == (9, missing, "too few")


def test_content_that_counts_less_than_usual_is_not_missing() -> None:
    # All counts are half of what was reported: another vocabulary.
    assert check(steps(400, 800)).missing == 0


@pytest.mark.parametrize(
    ("every", "verdict"), [(5, "as expected"), (4, "as expected"), (3, "content missing")]
)
def test_a_quarter_may_be_missing(every: int, verdict: str) -> None:
    assert check(changed(session(40), emptied, every)).verdict == verdict


@pytest.mark.parametrize(("count", "verdict"), [(9, "too few"), (10, "content missing")])
def test_ten_large_results_show_that_content_is_missing(count: int, verdict: str) -> None:
    found = check(changed(session(count), emptied, 1))
    assert (found.verdict, found.steps, found.ratio) == (verdict, 0, None)


@pytest.mark.parametrize(("tolerance", "verdict"), [(0.25, "as expected"), (0.249, "other tokens")])
def test_the_ratio_may_be_off_by_the_tolerance(tolerance: float, verdict: str) -> None:
    assert check(steps(400, 500), tolerance).verdict == verdict
    assert check(steps(400, 300), tolerance).verdict == verdict


@pytest.mark.parametrize(("reported", "checked"), [(600, 9), (599, 0)])
def test_an_estimated_answer_may_be_a_third_of_a_step(reported: int, checked: int) -> None:
    # An answer of 200 words, of which nothing was reported.
    said = TextPart(text="word " * 198)
    messages = [
        replace(message, parts=(said, *message.parts)) if message.usage else message
        for message in steps(400, reported - 700, 9, output=None)
    ]
    assert check(messages).checked == checked


@pytest.mark.parametrize(("grown", "count"), [(1, 20), (0, 19), (-1, 19)])
def test_a_step_in_which_the_context_did_not_grow_is_omitted(grown: int, count: int) -> None:
    messages = steps(400, 400)
    usages = [index for index, message in enumerate(messages) if message.usage]
    contexts = [10_000 + 1_330 * n for n in range(21)]
    later = [context - 1_330 + grown for context in contexts[11:]]
    for index, context in zip(usages, [*contexts[:11], *later], strict=True):
        messages[index] = replace(messages[index], usage=ReportedUsage(context=context, output=900))
    assert check(messages).steps == count


def test_an_answer_between_that_was_not_reported_makes_a_step_unsure() -> None:
    messages = steps(400, 400)
    silent = [each for message in messages for each in (message, assistant("so"))]
    assert check(silent).steps == 0
    assert check([*messages, assistant("so")]).steps == 20


def test_a_step_without_results_is_no_proof_that_content_is_missing() -> None:
    typed = [user("word " * 400) if message.results else message for message in steps(400, 2_000)]
    found = check(typed)
    assert (found.ratio, found.checked) == ((2_000 + FRAME) / 400, 0)
