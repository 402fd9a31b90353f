"""What became of each message: the request that sent it first, its tools, its kind."""

import pytest
from builders import assistant, call, call_part, message, result, result_part, user
from unit.history.usage.sessions import answer, session
from unit.stages.support.trials import meter, words

from compactctl.commands.measuring.context_size import ContextSize
from compactctl.commands.measuring.timeline import Timeline, timeline_of
from compactctl.model.client_compaction import ClientCompaction
from compactctl.model.message import JsonPath, Message
from compactctl.model.operation import OperationId


def drawn(*messages: Message) -> Timeline:
    return timeline_of(session(*messages), meter(), ContextSize(counted=0))


def test_a_message_is_sent_first_with_the_next_answer_of_its_conversation() -> None:
    found = drawn(user("go"), answer(100), user("on"), answer(200), user("last"))
    assert [entry.first_round for entry in found.messages] == [1, 2, 2, None, None]
    assert all(entry.is_sent for entry in found.messages)


def test_a_message_names_its_tools_results_first_and_each_once() -> None:
    both = message(
        "assistant", call_part("c", "Read"), call_part("d", "Bash"), call_part("e", "Read")
    )
    results = message("user", result_part("c", "x"), result_part("d", "y"))
    mixed = message("user", result_part("e", "z"), call_part("f", "Grep"))
    found = drawn(user("go"), both, results, mixed, answer(100))
    assert [entry.tools for entry in found.messages] == [
        (), ("Read", "Bash"), ("Read", "Bash"), ("Read", "Grep"), (),
    ]  # fmt: skip


def test_the_kind_of_a_message_is_that_of_most_of_it() -> None:
    mixed = message("user", result_part("c", words(3)), *user(words(9)).parts)
    found = drawn(user("go"), call("c", "Bash", command="ls"), mixed, assistant("ok"))
    assert [entry.category for entry in found.messages] == [
        "user", "tool calls", "user", "assistant",
    ]  # fmt: skip
    assert [entry.tokens for entry in found.messages][2] == 12


def test_files_are_in_the_order_of_what_they_still_take() -> None:
    reads = [
        (call(name, "Read", file_path=path), result(name, words(size, word)))
        for name, path, size, word in (
            ("a", "a.py", 9, "one"), ("b", "b.py", 50, "two"), ("c", "a.py", 9, "one"),
        )
    ]  # fmt: skip
    found = drawn(user("go"), *(m for pair in reads for m in pair), assistant("ok"))
    assert [file.path for file in found.files] == ["b.py", "a.py"]
    assert [(file.reads, file.covered) for file in found.files] == [
        ((4,), frozenset()), ((2, 6), frozenset({2})),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("records", "values", "line"),
    [
        (((6, ()), (4, ())), {}, 5),
        ((), {(9, ("parts", 0)): None, (8, ()): None}, 9),
        (((6, ()),), {(3, ()): None}, 4),
    ],
)
def test_a_compaction_of_a_client_begins_with_its_first_record(
    records: tuple[tuple[int, JsonPath], ...],
    values: dict[tuple[int, JsonPath], None],
    line: int,
) -> None:
    compaction = ClientCompaction(
        id=OperationId("c"), client="codex", what="cleared", records=records, values=values,
        time=None, hidden=(), in_effect=True,
    )  # fmt: skip
    assert compaction.line == line
