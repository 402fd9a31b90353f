import pytest
from builders import (
    assistant,
    call,
    call_part,
    conversation,
    message,
    result,
    result_part,
    thinking,
    user,
)
from unit.stages.support.trials import (
    carried_out,
    hidden,
    inserted,
    meter,
    propose,
    skipped,
    skips,
    view,
    words,
)

from compactctl.history.pairs import find_orphans
from compactctl.model.edit import Proposal
from compactctl.stages.drop import STAGE

TALK = conversation(
    user("go"),
    call("a", "tool_search", query="x"), result("a", words(30)),
    call("b", "Bash"), result("b", words(30)),
    call("c", "Tool_Search"), result("c", words(30)),
    assistant("done"),
)  # fmt: skip


def test_the_pairs_of_named_tools_are_hidden_behind_one_marker() -> None:
    of = view(TALK)
    proposal = propose(STAGE, of, tools=("tool_search",))
    assert hidden(proposal) == ["m1", "m2", "m5", "m6"]
    assert inserted(proposal).message.text == "[Tool calls and results left out: 4]"
    after = carried_out(of, proposal)
    assert find_orphans(after.messages) == frozenset()
    assert skips(STAGE, after, tools=("tool_search",))


def test_messages_that_say_more_stay_with_their_other_half() -> None:
    messages = conversation(
        message("assistant", *assistant("look").parts, call_part("a", "find")),
        result("a", words(30)),
        message("assistant", call_part("b", "find"), call_part("c", "Bash")),
        message("user", result_part("b", words(30)), result_part("c", words(30))),
        call("d", "find"), result("d", words(30)),
    )  # fmt: skip
    assert hidden(propose(STAGE, view(messages), tools=("find",))) == ["m4", "m5"]


def test_protected_pairs_stay() -> None:
    proposal = propose(STAGE, view(TALK, protected=["m2"]), tools=("tool_search",))
    assert hidden(proposal) == ["m5", "m6"]


def test_nothing_to_drop() -> None:
    assert skipped(STAGE, view(TALK)).detail == "name one with --drop-tools"
    assert "no message that can be hidden" in skipped(STAGE, view(TALK), tools=("x",)).reason
    tiny = conversation(call("a", "find"), result("a", "x"), user("on"))
    assert "no larger than the marker" in skipped(STAGE, view(tiny), tools=("find",)).reason


def test_reasoning_goes_with_the_calls_it_led_to() -> None:
    messages = conversation(
        thinking(words(9), response_id="r1"),
        message("assistant", call_part("a", "find"), response_id="r1"), result("a", words(30)),
        thinking(words(9), response_id="r2"), assistant("look", response_id="r2"),
        message("assistant", call_part("b", "find"), response_id="r2"), result("b", words(30)),
        thinking(words(9), response_id="r3"), user("on"),
    )  # fmt: skip
    assert hidden(propose(STAGE, view(messages), tools=("find",))) == ["m0", "m1", "m2"]


@pytest.mark.parametrize(("size", "is_hidden"), [(4, False), (5, True)])
def test_what_is_no_larger_than_its_marker_stays(size: int, *, is_hidden: bool) -> None:
    # A call of three words and its result, against a marker of seven.
    talk = conversation(user("go"), call("a", "find", query="x"), result("a", words(size)))
    outcome = STAGE.propose(view(talk), meter(), STAGE.options(tools=("find",)))
    assert isinstance(outcome, Proposal) is is_hidden
