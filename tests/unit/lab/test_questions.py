"""Questions that have one right answer."""

import pytest
from builders import conversation, user
from unit.lab.garden import CHANGED, CHECK, RULE, session

from compactctl.lab.questions import Question, context_text, make_questions, prompt


def test_checks_files_and_rules_are_asked_for() -> None:
    asked = {question.answer: question for question in make_questions(session(), None)}
    assert set(asked) == {"1 failed in 0.2s", "garden/plot_9.py", RULE}
    assert CHECK in asked["1 failed in 0.2s"].text
    assert '"Never water the cactus_bed"' in asked[RULE].text


@pytest.mark.parametrize("said", [RULE, f"  {RULE}\n", f"`{RULE}`", f'"{RULE}"'])
def test_the_exact_words_are_right(said: str) -> None:
    assert Question("?", RULE).is_answered_by(said)


@pytest.mark.parametrize("said", ["", "?", RULE.lower(), f"The rule is: {RULE}"])
def test_other_words_are_wrong(said: str) -> None:
    assert not Question("?", RULE).is_answered_by(said)


def test_a_path_may_begin_earlier() -> None:
    question = Question("?", CHANGED, is_path=True)
    assert question.is_answered_by(f"/home/me/{CHANGED}")
    assert not question.is_answered_by(f"my{CHANGED}")


def test_a_reader_sees_the_context_and_the_question() -> None:
    text = context_text(conversation(user("Mind the rain.")), None)
    shown = prompt(text, Question("What?", "rain"))
    assert "[request]\nMind the rain." in shown
    assert "Question: What?\n" in shown


@pytest.mark.parametrize(
    ("rule", "count"),
    [("Never touch any of the beds.", 0), ("Never touch any of the old beds.", 1)],
)
def test_a_rule_that_is_asked_for_has_seven_words(rule: str, count: int) -> None:
    assert len(make_questions(conversation(user(rule)), None)) == count
