from builders import (
    assistant,
    call,
    call_part,
    conversation,
    message,
    raw_call,
    result,
    result_part,
    user,
)
from hypothesis import given
from hypothesis import strategies as st

from compactctl.history.pairs import (
    Orphan,
    atomic_units,
    cut_points,
    find_orphans,
    orphan_parts,
    parts_of_tools,
    result_tools,
    tool_pairs,
    unpaired_parts,
)
from compactctl.model.message import CallId, Message, MessageId, ToolCallPart
from compactctl.records import replace


def test_a_result_belongs_to_the_call_with_its_id() -> None:
    messages = conversation(
        call("a", "Read"), call("b", "Bash"), result("b", "x"), result("a", "y")
    )
    assert tool_pairs(messages) == {(2, 0): (1, 0), (3, 0): (0, 0)}


def test_a_reused_id_means_the_newest_call_before_the_result() -> None:
    messages = conversation(
        call("1", "Read"), result("1", "x"), call("1", "Bash"), result("1", "y", tool="")
    )
    assert tool_pairs(messages) == {(1, 0): (0, 0), (3, 0): (2, 0)}


def test_an_empty_id_joins_nothing_and_accuses_nobody() -> None:
    messages = conversation(call("", "Read"), result("", "x"))
    assert tool_pairs(messages) == {}
    assert find_orphans(messages) == frozenset()


def test_one_record_may_hold_both_call_and_result() -> None:
    messages = conversation(message("assistant", call_part("a", "Read"), result_part("a", "x")))
    assert tool_pairs(messages) == {(0, 1): (0, 0)}
    assert find_orphans(messages) == frozenset()


def test_orphans_are_calls_without_results_and_results_without_calls() -> None:
    messages = conversation(call("a", "Read"), user("hi"), result("b", "x"))
    assert find_orphans(messages) == {
        Orphan(MessageId("m0"), CallId("a"), "call"),
        Orphan(MessageId("m2"), CallId("b"), "result"),
    }


def test_a_whole_conversation_has_no_orphans() -> None:
    messages = conversation(user("hi"), call("a", "Read"), result("a", "x"), assistant("done"))
    assert find_orphans(messages) == frozenset()
    assert find_orphans(()) == frozenset()


def test_a_result_before_its_call_answers_nothing() -> None:
    messages = conversation(result("a", "x"), call("a", "Read"))
    assert {orphan.kind for orphan in find_orphans(messages)} == {"call", "result"}


def test_the_tool_of_a_result_is_named_by_the_call_when_the_result_is_silent() -> None:
    messages = (raw_call("a", "Read", "{}"), result("a", "x"), result("b", "y"))
    assert result_tools(messages) == {(1, 0): "Read", (2, 0): ""}


def test_cuts_fall_between_messages_that_do_not_belong_together() -> None:
    # [0 prompt 1 (call result) 3 answer 4]
    messages = conversation(user("hi"), call("a", "Read"), result("a", "x"), assistant("ok"))
    assert atomic_units(messages) == ((0,), (1, 2), (3,))
    assert cut_points(messages) == (0, 1, 3, 4)


def test_parallel_calls_with_results_in_one_record_are_one_unit() -> None:
    # [0 (call-a call-b results) 3]
    messages = conversation(
        call("a", "Read"),
        call("b", "Read"),
        message("user", result_part("a", "x"), result_part("b", "y")),
    )
    assert atomic_units(messages) == ((0, 1, 2),)
    assert cut_points(messages) == (0, 3)


def test_records_of_one_response_are_one_unit() -> None:
    # [0 (text call result text) 4]
    messages = conversation(
        assistant("first", response_id="r"),
        call("a", "Read"),
        result("a", "x"),
        assistant("last", response_id="r"),
    )
    assert atomic_units(messages) == ((0, 3), (1, 2))
    assert cut_points(messages) == (0, 4)


def test_a_late_result_keeps_everything_between_uncut_but_apart() -> None:
    messages = conversation(call("a", "Bash"), user("meanwhile"), result("a", "x"))
    assert atomic_units(messages) == ((0, 2), (1,))
    assert cut_points(messages) == (0, 3)


def test_an_empty_conversation_has_one_cut() -> None:
    assert cut_points(()) == (0,)


@given(st.lists(st.tuples(st.sampled_from(["call", "result", "user"]), st.integers(0, 4))))
def test_no_pair_is_parted_by_a_cut_and_every_other_place_is_one(
    plan: list[tuple[str, int]],
) -> None:
    makers = {
        "call": lambda n: call(f"c{n}", "Read"),
        "result": lambda n: result(f"c{n}", "x"),
        "user": lambda n: user(f"hello {n}"),
    }
    messages = conversation(*(makers[kind](n) for kind, n in plan))
    pairs = [(c.message, r.message) for r, c in tool_pairs(messages).items()]
    crossed = {i for first, last in pairs for i in range(first + 1, last + 1)}
    assert set(cut_points(messages)).isdisjoint(crossed)
    assert all(isinstance(messages[c].parts[0], ToolCallPart) for c, _ in pairs)


def test_the_parts_of_tools_are_found_in_any_case() -> None:
    messages = (
        raw_call("a", "Read", "{}"),
        result("a", "x"),
        call("b", "Bash"),
        result("b", "y", tool="bash"),
        result("c", "z", tool="READ"),
        result("d", "z"),
    )
    assert parts_of_tools(messages, ["read"]) == {(0, 0): "Read", (1, 0): "Read", (4, 0): "READ"}
    assert parts_of_tools(messages, ["BASH", ""]) == {(2, 0): "Bash", (3, 0): "bash", (5, 0): ""}
    assert parts_of_tools(messages, []) == {}


def test_chains_of_pairs_and_responses_are_one_unit() -> None:
    messages = conversation(
        assistant("a", response_id="r"),
        user("apart"),
        message("assistant", call_part("x", "Read"), response_id="r"),
        message("assistant", call_part("y", "Read"), response_id="s"),
        message("user", result_part("x", "1"), result_part("y", "2")),
        assistant("b", response_id="s"),
        user("after"),
    )
    assert atomic_units(messages) == ((0, 2, 3, 4, 5), (1,), (6,))
    assert cut_points(messages) == (0, 6, 7)


def test_orphans_have_their_place() -> None:
    messages = conversation(
        user("hi"), message("assistant", result_part("b", "x"), call_part("a", "Read"))
    )
    assert list(orphan_parts(messages)) == [(1, 0), (1, 1)]


def made_by_code(name: str, code: str) -> Message:
    return message("assistant", replace(call_part(name, "query"), caller=CallId(code)))


def test_a_call_by_code_belongs_with_the_code() -> None:
    messages = conversation(
        user("hi"),
        call("code", "run"),
        made_by_code("a", "code"),
        result("a", "x"),
        result("code", "y"),
        made_by_code("b", "code"),
        result("b", "z"),
    )
    assert find_orphans(messages) == frozenset()
    assert atomic_units(messages) == ((0,), (1, 2, 3, 4, 5, 6))


def test_without_the_code_neither_its_call_nor_the_result_may_be_sent() -> None:
    messages = conversation(made_by_code("a", "code"), result("a", "x"), call("code", "run"))
    assert find_orphans(messages) == {
        Orphan(MessageId("m0"), CallId("a"), "call"),
        Orphan(MessageId("m1"), CallId("a"), "result"),
        Orphan(MessageId("m2"), CallId("code"), "call"),
    }
    assert unpaired_parts(messages).keys() == {(2, 0)}
