"""Bounds of the guards: how large, how repetitive and how copied a summary may be."""

import pytest
from builders import conversation, user

from compactctl.model.summary import SummaryRequest
from compactctl.summaries.by_model.answers import (
    ModelAnswer,
    check_answer,
    describe_unrelated,
    extract_summary,
    source_text,
)
from compactctl.summaries.by_model.prompt import Prompt, PromptStyle, write_prompt
from compactctl.summaries.by_model.relevance import distinctive_words, is_about, is_refusal

NAMES = [f"quay{n}" for n in "abcdefghijklmnopqrstuvwxyz"]


def words(count: int) -> str:
    """Return so many words, none of them in a loop."""
    return " ".join(
        f"{first}{second}" for first in NAMES for second in "abcdefghijklmnopqrstuvwxyz"
    ).rsplit(" ", 676 - count)[0]


def count(text: str) -> int:
    return len(text.split())


def verdict(
    answer: str, said: str, *, budget: int = 400, reason: str = "", conversation_text: str = ""
) -> tuple[str, str]:
    request = SummaryRequest(messages=conversation(user(said)), budget=budget)
    prompt = write_prompt(request, PromptStyle(), count)
    assert prompt is not None
    if conversation_text:
        prompt = Prompt(**{
            name: getattr(prompt, name) for name in prompt.__struct_fields__
        } | {"conversation": conversation_text})  # fmt: skip
    found = check_answer(ModelAnswer(text=answer, finish_reason=reason), request, prompt, count)
    assert found.passed is (not found.guard)
    return found.guard, found.detail


def test_a_summary_is_smaller_than_what_it_replaces() -> None:
    said = words(21)
    assert verdict(words(20), said) == ("", "")
    guard, detail = verdict(words(21), said)
    assert (guard, detail) == ("size", "21 tokens are no fewer than the 21 that were summarized")


@pytest.mark.parametrize(("size", "guard"), [(15, ""), (16, "size")])
def test_a_summary_may_be_half_as_large_again_as_its_budget(size: int, guard: str) -> None:
    found = verdict(words(size), words(60), budget=10)
    assert found[0] == guard
    if guard:
        assert found[1] == "16 tokens are far more than the 10 asked for"


@pytest.mark.parametrize(
    ("line", "times", "guard"),
    [
        ("the quaya is the quayb", 3, ""),
        ("the quaya is the quayb", 4, "loop"),
        ("- 1. the quaya is the quayb", 4, "loop"),
        ("the quaya is", 4, ""),
        ("quaya: a 1 2 3", 4, ""),
    ],
)
def test_a_line_of_four_words_may_come_three_times(line: str, times: int, guard: str) -> None:
    said = words(60) + " the quaya is the quayb a 1 2 3"
    text = "\n".join(f"{line}\nquay{n * 'z'}z" for n in range(times))
    said += " " + " ".join(f"quay{n * 'z'}z" for n in range(times))
    assert verdict(text, said)[0] == guard


@pytest.mark.parametrize(("size", "guard"), [(7, ""), (8, "loop")])
def test_a_run_of_eight_words_may_come_three_times(size: int, guard: str) -> None:
    run = words(size)
    text = " ".join(f"{run} other{'x' * n}" for n in range(4))
    said = words(60) + " " + " ".join(f"other{'x' * n}" for n in range(4))
    assert verdict(text, said)[0] == guard


@pytest.mark.parametrize(("size", "guard"), [(79, ""), (80, "echo")])
def test_a_run_of_eighty_words_is_a_copy(size: int, guard: str) -> None:
    found = verdict(words(size), words(600), conversation_text=words(600))
    assert found[0] == guard
    if guard:
        start = " ".join(words(6).split())
        assert found[1] == f"it is a copy of the conversation from {start!r} on"


@pytest.mark.parametrize(("own", "guard"), [(98, "echo"), (100, "")])
def test_a_copy_is_more_than_half_of_a_text(own: int, guard: str) -> None:
    other = " ".join(words(600).split()[300 : 300 + own][::-1])
    found = verdict(f"{words(100)} {other}", words(600), conversation_text=words(299))
    assert found[0] == guard


@pytest.mark.parametrize("reason", ["length", "max_tokens", "content_filter"])
def test_a_text_that_was_cut_off_is_refused(reason: str) -> None:
    assert verdict(words(5), words(60), reason=reason) == (
        "unfinished", f"the answer was cut off ({reason})",
    )  # fmt: skip
    assert verdict("<think>x</think>", words(60))[0] == "empty"


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        (" a ", "a"),
        ("<summary>a</summary>b", "a"),
        ("<summary>a<summary>bbb</summary>", "bbb"),
        ("<summary>aaaa", "aaaa"),
        ("<think>x</think>a", "a"),
        ("<THINKING>x<summary>a</summary>", "a"),
        ("<analysis>x", ""),
        ("a\r\nb\x00\x1b\t", "a\nb"),
        ("<analysis>x</think>a", ""),
    ],
)
def test_the_summary_in_an_answer(text: str, summary: str) -> None:
    assert extract_summary(text) == summary


def test_a_long_summary_is_shown_by_its_start() -> None:
    assert describe_unrelated("quaya", ["quaya"]) == ""
    assert describe_unrelated("quaya", ["quayb"]) == (
        "'quaya' names nothing from the messages it replaces"
    )
    exact, longer = "quayc " * 12 + "quaycquy", "quayc " * 13 + "quayc"
    assert len(exact) == 80
    assert describe_unrelated(exact, ["quayb"]).startswith(f"{exact!r} names")
    assert describe_unrelated(longer + "s" * 6, ["quayb"]).startswith(f"'{longer[:77]}…' names")


def test_facts_may_come_from_all_that_the_model_saw() -> None:
    request = SummaryRequest(
        messages=conversation(user("one")),
        budget=9,
        lookahead=conversation(user("two")),
        previous="three",
        instructions="four",
        following=conversation(user("five")),
    )
    lines = source_text(request).split("\n")
    assert lines[:4] == ["one", "two", "three", "four"]
    assert "five" not in lines
    assert len(lines) > 4


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The Quay is ab abc 404 4711", ["quay", "abc", "4711"]),
        ("日本語", ["日本", "本語"]),
        ("日", []),
        ("x日本y", ["日本"]),
        ("soil_sensor", ["soil", "sensor"]),
    ],
)
def test_distinctive_words(text: str, found: list[str]) -> None:
    assert list(distinctive_words(text)) == found


def test_what_names_nothing_is_about_anything() -> None:
    assert is_about("anything", "the of and")
    assert is_about("the quay", "a quay")
    assert not is_about("the pier", "a quay")


@pytest.mark.parametrize(("size", "refuses"), [(59, True), (60, False)])
def test_a_long_text_is_no_refusal(size: int, refuses: bool) -> None:  # noqa: FBT001
    text = "I cannot help with that." + " word" * (size - 5)
    assert is_refusal(text) is refuses
