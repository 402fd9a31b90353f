import pytest
from builders import assistant, call, conversation, result, system, user
from unit.stages.support.trials import hidden, inserted, propose, skipped, view, words

from compactctl.stages.span import STAGE

# Two parallel calls and their results between the lines 3 and 6.
TALK = conversation(
    system("be good"), user(words(50)), call("a", "Bash"), call("b", "Bash"),
    result("a", words(50)), result("b", words(50)), assistant(words(50)), user("next"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("first", "last", "ids"),
    [
        ("m1", "m1", ["m1"]),
        ("m2", "m5", ["m2", "m3", "m4", "m5"]),
        ("2", "2", ["m1"]),
        ("m6", "7", ["m6"]),
    ],
)
def test_exactly_the_messages_from_one_to_another_are_hidden(
    first: str, last: str, ids: list[str]
) -> None:
    proposal = propose(STAGE, view(TALK), first=first, last=last)
    assert hidden(proposal) == ids
    assert inserted(proposal).message.text == f"[{len(ids)} messages were taken out by hand]"


def test_a_summary_stands_in_their_place_if_there_is_one() -> None:
    proposal = propose(STAGE, view(TALK), first="m1", last="m5", summary="All was well.")
    assert inserted(proposal).message.text == "[Previous conversation summary]:\n\nAll was well."


@pytest.mark.parametrize(
    ("first", "last"), [("m3", "m5"), ("m2", "m4"), ("m4", "m6"), ("m1", "m3")]
)
def test_calls_are_not_parted_from_their_results(first: str, last: str) -> None:
    refused = skipped(STAGE, view(TALK), first=first, last=last)
    assert refused.reason == f"{first}..{last} separates tool calls from their results"
    assert refused.detail.startswith("lines ")


def test_it_is_said_which_lines_go_together() -> None:
    talk = conversation(user("go"), call("a", "Bash"), result("a", "ok"), assistant("done"))
    refused = skipped(STAGE, view(talk), first="m2", last="m3")
    assert refused.detail == "lines 2 to 3 go together; add --span-widen"


@pytest.mark.parametrize(
    ("first", "last", "ids"),
    [
        ("m3", "m3", ["m3", "m5"]),
        ("m1", "m3", ["m1", "m2", "m3", "m4", "m5"]),
        ("m5", "m6", ["m3", "m5", "m6"]),
        ("m1", "m1", ["m1"]),
    ],
)
def test_it_is_widened_to_whole_pairs(first: str, last: str, ids: list[str]) -> None:
    assert hidden(propose(STAGE, view(TALK), first=first, last=last, widen=True)) == ids


@pytest.mark.parametrize(
    ("first", "last", "reason"),
    [
        ("", "m1", "no messages are named"),
        ("m1", "", "no messages are named"),
        ("m1", "m9", "message m9 is not in the context"),
        ("0", "m1", "message 0 is not in the context"),
        ("m2", "m1", "range m2..m1 is reversed"),
    ],
)
def test_names_have_to_be_those_of_messages_in_order(first: str, last: str, reason: str) -> None:
    assert skipped(STAGE, view(TALK), first=first, last=last).reason == reason


def test_what_must_stay_is_named_by_its_line() -> None:
    refused = skipped(STAGE, view(TALK, protected=["m6"]), first="m1", last="m7")
    assert refused.reason == "line 7 cannot be hidden: pinned"
    assert refused.detail == "leave it out"
