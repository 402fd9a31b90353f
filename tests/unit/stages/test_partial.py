import pytest
from builders import assistant, call, conversation, result, system, user
from unit.stages.support.trials import (
    carried_out,
    hidden,
    inserted,
    joined,
    meter,
    propose,
    skipped,
    view,
    words,
)

from compactctl.model.message import Message
from compactctl.stages.partial import STAGE


def chat(count: int, size: int = 60) -> tuple[Message, ...]:
    kinds = (user, assistant)
    return conversation(*(kinds[n % 2](f"{n} {words(size)}") for n in range(count)))


def test_the_older_half_of_the_older_messages_is_summarized() -> None:
    of = view(chat(16))
    proposal = propose(STAGE, of)
    assert hidden(proposal) == [f"m{n}" for n in range(6)]
    assert len(carried_out(of, proposal).messages) == 11
    text = inserted(proposal).message.text
    assert text.startswith("[Earlier conversation summary — 6 messages compacted]\n\n")


def test_half_is_rounded_down() -> None:
    assert len(hidden(propose(STAGE, view(chat(11))))) == 3
    assert len(hidden(propose(STAGE, view(chat(11)), keep_recent=0))) == 5


def test_the_system_prompt_does_not_count() -> None:
    messages = joined(system("be good"), *chat(16))
    assert hidden(propose(STAGE, view(messages))) == [f"m{n}" for n in range(1, 7)]


def test_the_newest_work_is_none_of_the_older_messages() -> None:
    of = view(chat(20), protected=[f"m{n}" for n in range(8, 20)])
    assert hidden(propose(STAGE, of)) == [f"m{n}" for n in range(4)]


def test_a_pair_across_the_half_stays() -> None:
    messages = joined(
        *chat(2), call("a", "Bash"), result("a", words(50)), *chat(2, size=40), *chat(2)
    )
    assert hidden(propose(STAGE, view(messages), keep_recent=2)) == ["m0", "m1"]


@pytest.mark.parametrize(("wanted", "least"), [(40, 0), (200, 0), (400, 350), (600, 500)])
def test_the_summary_has_the_size_that_is_wanted(wanted: int, least: int) -> None:
    messages = joined(user("Go on."), *chat(40))
    text = inserted(propose(STAGE, view(messages), summary_tokens=wanted)).message.text
    label, _, _ = text.partition("\n")
    assert least <= meter().text(text) - meter().text(label) <= wanted


def test_too_few_messages_and_a_second_run() -> None:
    assert "older than those to keep" in skipped(STAGE, view(chat(7))).reason
    of = view(chat(16))
    after = carried_out(of, propose(STAGE, of))
    assert skipped(STAGE, after).reason == "nothing was added since the last summary"
