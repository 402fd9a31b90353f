from builders import assistant, call, conversation, message, raw_call, result, result_part, user
from unit.stages.support.trials import (
    carried_out,
    joined,
    propose,
    rewritten,
    skipped,
    skips,
    view,
    words,
)

from compactctl.history.reads import stub_for
from compactctl.model.message import Message
from compactctl.stages.microcompact import STAGE


def results(count: int, tool: str = "Bash") -> tuple[Message, ...]:
    pairs = ((call(f"c{n}", tool), result(f"c{n}", words(50))) for n in range(count))
    return conversation(*(m for pair in pairs for m in pair))


def test_all_but_the_newest_results_are_cleared() -> None:
    proposal = propose(STAGE, view(results(5)), keep_recent=2)
    assert rewritten(proposal) == dict.fromkeys(("m1", "m3", "m5"), "[Old tool result cleared]")


def test_nothing_to_clear() -> None:
    assert skips(STAGE, view(()))
    assert skips(STAGE, view(results(1)))
    assert skipped(STAGE, view(results(5))).reason == "nothing to clear before the newest 5 results"


def test_one_result_is_always_kept() -> None:
    assert list(rewritten(propose(STAGE, view(results(3)), keep_recent=0))) == ["m1", "m3"]


def test_unknown_tools_and_results_without_a_call_stay() -> None:
    messages = joined(result("ghost", words(50)), *results(3, "draw_chart"), *results(2))
    assert list(rewritten(propose(STAGE, view(messages), keep_recent=1))) == ["m8"]


def test_the_tools_can_be_named() -> None:
    messages = joined(*results(2, "draw_chart"), *results(2))
    proposal = propose(STAGE, view(messages), keep_recent=1, tools=("Draw_Chart",))
    assert list(rewritten(proposal)) == ["m1"]


def test_cleared_results_still_take_their_place_among_the_newest() -> None:
    messages = conversation(
        call("a", "Bash"), result("a", words(50)),
        call("b", "Bash"), result("b", "[Old tool result cleared]", cleared=True),
    )  # fmt: skip
    assert list(rewritten(propose(STAGE, view(messages), keep_recent=1))) == ["m1"]


def test_turns_and_steps_can_be_counted_instead() -> None:
    messages = conversation(
        user("one"), call("a", "Bash"), result("a", words(50)),
        user("two"), call("b", "Bash"), call("c", "Bash"),
        message("user", result_part("b", words(50)), result_part("c", words(50))),
        call("d", "Bash"), result("d", words(50)), assistant("done"),
    )  # fmt: skip
    of = view(messages)
    assert list(rewritten(propose(STAGE, of, keep_recent=1, unit="turns"))) == ["m2"]
    assert skips(STAGE, of, keep_recent=2, unit="turns")
    # With fewer turns than that, results count: the newest three stay.
    assert list(rewritten(propose(STAGE, of, keep_recent=3, unit="turns"))) == ["m2"]
    assert list(rewritten(propose(STAGE, of, keep_recent=1, unit="steps"))) == ["m2", "m6", "m8"]
    assert list(rewritten(propose(STAGE, of, keep_recent=2, unit="steps"))) == ["m2", "m6"]


def test_protected_small_and_referred_results_stay() -> None:
    messages = joined(
        call("a", "Bash"), result("a", words(50)),
        call("b", "Bash"), result("b", "ok"),
        call("c", "Read", path="a.py"), result("c", stub_for("a.py")),
        call("d", "Read", path="a.py"), result("d", words(50)),
        *results(1),
    )  # fmt: skip
    proposal = propose(STAGE, view(messages), keep_recent=1)
    assert list(rewritten(proposal)) == ["m1"]
    assert skips(STAGE, view(messages[:4], protected=["m1"]), keep_recent=1)


def test_broken_arguments_do_not_matter() -> None:
    messages = joined(raw_call("a", "Bash", "{"), result("a", words(50)), *results(1))
    assert list(rewritten(propose(STAGE, view(messages), keep_recent=1))) == ["m1"]


def test_a_second_run_finds_nothing() -> None:
    of = view(results(9))
    assert skips(STAGE, carried_out(of, propose(STAGE, of)))


def test_a_star_names_every_tool() -> None:
    messages = joined(*results(2, "draw_chart"), *results(2))
    proposal = propose(STAGE, view(messages), keep_recent=1, tools=("*",))
    assert list(rewritten(proposal)) == ["m1", "m3", "m5"]


def test_excluded_tools_are_neither_cleared_nor_counted() -> None:
    messages = joined(*results(2), *results(2, "Grep"))
    proposal = propose(STAGE, view(messages), keep_recent=1, exclude_tools=("grep",))
    assert list(rewritten(proposal)) == ["m1"]


def test_a_minimum_can_be_asked_for() -> None:
    of = view(results(2))
    saved = 50 - 4
    assert rewritten(propose(STAGE, of, keep_recent=1, min_savings=saved))
    outcome = skipped(STAGE, of, keep_recent=1, min_savings=saved + 1)
    assert outcome.reason == "would save 46 tokens, below the minimum of 47"
    assert outcome.detail == "lower it with --microcompact-min-savings"


def test_long_inputs_of_cleared_calls_can_be_cleared_too() -> None:
    long = words(60)
    messages = joined(
        call("a", "Write", path="a.py", content=long), result("a", "ok"),
        call("b", "Bash", command="ls"), result("b", long),
        call("c", "draw_chart", question=long), result("c", long),
        call("d", "Write", path="d.py", content=long), result("d", long),
    )  # fmt: skip
    of = view(messages)
    proposal = propose(STAGE, of, keep_recent=1, clear_inputs=True)
    assert rewritten(proposal) == {
        "m0": '{"path": "a.py", "content": "[args truncated]"}',
        "m3": "[Old tool result cleared]",
    }
    assert proposal.notes == ("tool results cleared: 1, inputs: 1",)
    assert skips(STAGE, carried_out(of, proposal), keep_recent=1, clear_inputs=True)
