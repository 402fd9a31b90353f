from typing import Any

import pytest
from builders import (
    assistant,
    call,
    conversation,
    message,
    result,
    summary,
    system,
    thinking,
    user,
)
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

from compactctl.errors import UsageError
from compactctl.history.pairs import find_orphans
from compactctl.model.message import Message
from compactctl.stages.prioritize import STAGE, PrioritizeOptions

SHORT = "[{count} out]"


def chat(count: int, size: int = 30) -> tuple[Message, ...]:
    kinds = (user, assistant)
    return conversation(*(kinds[n % 2](words(size)) for n in range(count)))


def worked(count: int) -> tuple[Message, ...]:
    """Return a prompt and answers of 10 words with calls whose results have 50."""
    steps = (
        (assistant(words(10)), call(f"c{n}", "Bash"), result(f"c{n}", words(50)))
        for n in range(count)
    )
    return conversation(user(words(10)), *(m for step in steps for m in step))


def chosen(of: tuple[Message, ...], target: int, **options: Any) -> list[str]:
    return hidden(propose(STAGE, view(of, target=target), marker=SHORT, **options))


def test_without_a_target_there_is_nothing_to_reach() -> None:
    outcome = skipped(STAGE, view(chat(9)))
    assert outcome.detail == "set one with --target"


def test_the_oldest_go_first_until_the_target_fits() -> None:
    assert chosen(chat(10), 272) == ["m0"]
    assert chosen(chat(10), 271) == ["m0", "m1"]
    assert "already within" in skipped(STAGE, view(chat(10), target=300)).reason


@pytest.mark.parametrize(("order", "gone"), [("newest", ["m0", "m1"]), ("oldest", ["m8", "m9"])])
def test_the_order_says_which_stay_longer(order: str, gone: list[str]) -> None:
    assert chosen(chat(10), 250, order=order) == gone


def test_the_lowest_weight_goes_first_wherever_it_is() -> None:
    of = joined(*chat(4), *worked(2), *chat(2))
    pairs = ["m6", "m7", "m9", "m10"]
    assert chosen(of, 265, weights=("tool_results=10", "assistant=50")) == pairs[:2]
    assert chosen(of, 220, weights=("tool_results=10", "assistant=50")) == pairs
    assert chosen(of, 155, weights=("tool_results=10", "assistant=50")) == ["m1", "m3", *pairs]


def test_equal_weights_are_in_the_order_of_the_conversation() -> None:
    weights = ("assistant=1", "user=1")
    assert chosen(chat(10), 250, weights=weights) == chosen(chat(10), 250)


def test_a_later_weight_of_a_kind_counts() -> None:
    assert chosen(chat(6), 160, weights=("user=5", "assistant=9", "user=10")) == ["m1"]


def test_a_call_goes_with_its_results_and_what_was_said_in_one_response() -> None:
    of = conversation(
        user(words(30)),
        thinking(words(10), response_id="r"),
        assistant(words(10), response_id="r"),
        message("assistant", *call("a", "Bash").parts, response_id="r"),
        result("a", words(50)),
        user(words(30)),
    )
    view_of = view(of, target=80)
    proposal = propose(STAGE, view_of, marker=SHORT, weights=("tool_results=1",))
    assert hidden(proposal) == ["m1", "m2", "m3", "m4"]
    assert find_orphans(carried_out(view_of, proposal).messages) == frozenset()


def test_reasoning_has_its_weight_only_where_it_stands_alone() -> None:
    of = conversation(
        user(words(30)),
        thinking(words(10), response_id="r"),
        assistant(words(20), response_id="r"),
        thinking(words(30)),
        user(words(30)),
    )
    assert chosen(of, 100, weights=("reasoning=0", "assistant=9")) == ["m3"]


def test_system_messages_summaries_and_what_is_protected_or_frozen_stay() -> None:
    of = joined(system(words(30)), summary(words(30)), *chat(4), system(words(30)), *chat(2))
    proposal = propose(
        STAGE, view(of, protected=["m4", "m8"], target=10), marker=SHORT, freeze_before=3
    )
    assert hidden(proposal) == ["m3", "m5", "m7"]
    assert proposal.notes == ("messages hidden: 3", "still over the target")


def test_a_unit_is_frozen_with_its_first_message() -> None:
    of = worked(2)
    assert "m3" not in chosen(of, 60, freeze_before=3)
    outcome = skipped(STAGE, view(of, target=60), freeze_before=99)
    assert outcome.detail == "see --prioritize-freeze-before"


def test_one_marker_stands_before_the_first_hidden_message() -> None:
    of = view(worked(4), target=130)
    proposal = propose(STAGE, of, weights=("tool_results=1",))
    after = carried_out(of, proposal)
    marker = inserted(proposal).message
    assert marker.text == "[6 messages of low priority left out to fit the context window]"
    assert [m.id for m in after.messages] == [
        "m0",
        "m1",
        marker.id,
        "m4",
        "m7",
        "m10",
        "m11",
        "m12",
    ]
    assert meter().total(after.messages) <= 130
    assert skipped(STAGE, after).reason == "already within the target of 130 tokens"


def test_what_cannot_fit_is_settled_as_well() -> None:
    of = view(worked(4), target=20, protected=["m0", "m4"])
    after = carried_out(of, propose(STAGE, of))
    assert "protected" in skipped(STAGE, after).reason


def test_a_marker_must_pay_for_itself() -> None:
    assert "no larger than the marker" in skipped(STAGE, view(chat(6, size=1), target=2)).reason


@pytest.mark.parametrize("weight", ["tool=1", "user", "user=high", "=3"])
def test_a_weight_that_means_nothing_is_refused(weight: str) -> None:
    with pytest.raises(UsageError, match=r"e\.g\. tool_results=10; kinds are user, assistant"):
        PrioritizeOptions(weights=(weight,))
