import pytest
from builders import (
    assistant,
    call,
    conversation,
    definition,
    message,
    result,
    result_part,
    summary,
    system,
    user,
)

from compactctl.history.turns import (
    find_steps,
    find_turns,
    leading_system_count,
    leading_system_indices,
    preamble,
    split_conversations,
    turn_starts,
    without_expired_reasoning,
)
from compactctl.model.message import Message, ReasoningPart, Tags, TextPart


def test_a_turn_starts_where_a_person_speaks() -> None:
    messages = conversation(
        user("one"), assistant("a"), user("reminder", is_injected=True), user("two"), assistant("b")
    )
    assert find_turns(messages) == (range(3), range(3, 5))


def test_a_tool_result_in_a_user_record_starts_no_turn() -> None:
    messages = conversation(user("one"), call("a", "Read"), message("user", result_part("a", "x")))
    assert find_turns(messages) == (range(3),)


def test_the_system_prompt_and_reminders_belong_to_the_first_turn() -> None:
    messages = conversation(system("be good"), user("memory", is_injected=True), user("one"))
    assert find_turns(messages) == (range(3),)


def test_a_summary_at_the_front_is_a_turn_of_its_own() -> None:
    messages = conversation(summary("before"), assistant("tail"), user("two"), assistant("b"))
    assert find_turns(messages) == (range(2), range(2, 4))


def test_without_a_person_all_is_one_turn() -> None:
    assert find_turns(conversation(assistant("a"), assistant("b"))) == (range(2),)
    assert find_turns(()) == ()


def test_a_step_is_a_response_and_the_results_of_its_calls() -> None:
    messages = conversation(
        user("go"),
        assistant("thinking", response_id="r1"),
        message("assistant", *call("a", "Read").parts, response_id="r1"),
        result("a", "x"),
        message("assistant", *call("b", "Read").parts, response_id="r1"),
        result("b", "y"),
        assistant("done", response_id="r2"),
    )
    assert find_steps(messages) == ((1, 2, 3, 4, 5), (6,))


def test_a_prompt_ends_a_response() -> None:
    messages = conversation(
        assistant("a", response_id="r"),
        user("reminder", is_injected=True),
        assistant("b", response_id="r"),
        user("go"),
        assistant("c", response_id="r"),
    )
    assert find_steps(messages) == ((0, 2), (4,))


def test_without_response_ids_each_assistant_message_is_a_step() -> None:
    messages = conversation(
        call("a", "Read"), call("b", "Read"), result("b", "y"), result("a", "x")
    )
    assert find_steps(messages) == ((0, 3), (1, 2))


def test_only_system_messages_at_the_front_lead() -> None:
    assert leading_system_count(conversation(system("a"), system("b"), user("c"), system("d"))) == 2


def test_an_instruction_or_a_stand_in_of_ours_begins_no_turn_of_its_own() -> None:
    ours = summary("gone", is_injected=True, is_synthetic=True)
    messages = conversation(user("one"), ours, assistant("a"), user("two"))
    assert turn_starts(messages) == (0, 3)
    assert find_turns(conversation(ours, user("one"))) == (range(1), range(1, 2))


def test_a_summary_by_an_assistant_is_no_step() -> None:
    messages = conversation(summary("so far"), assistant("sum", is_summary=True), assistant("a"))
    assert find_steps(messages) == ((2,),)


def test_a_response_is_continued_only_by_the_next_assistant_message() -> None:
    messages = conversation(
        assistant("a", response_id="r"),
        assistant("b", response_id="s"),
        assistant("c", response_id="r"),
        result("lost", "x"),
    )
    assert find_steps(messages) == ((0,), (1,), (2,))


def test_the_system_prompt_ends_where_we_wrote_something() -> None:
    ours = system("gone", is_synthetic=True)
    assert leading_system_count(conversation(system("a"), ours, system("b"))) == 1


def test_each_conversation_has_its_own_system_prompt() -> None:
    messages = conversation(
        system("a"),
        system("b", conversation=1),
        user("c"),
        system("d"),
        system("e", conversation=1),
        system("f", conversation=1, is_synthetic=True),
        system("g", conversation=1),
    )
    assert leading_system_indices(messages) == {0, 1, 4}
    assert [[m.line for m in part] for part in split_conversations(messages)] == [
        [0, 2, 3],
        [1, 4, 5, 6],
    ]


def test_conversations_come_in_the_order_of_their_numbers() -> None:
    messages = conversation(user("a", conversation=2), user("b"), user("c", conversation=2))
    assert [[m.line for m in part] for part in split_conversations(messages)] == [[1], [0, 2]]


def test_what_a_client_put_before_the_first_prompt_is_the_system_prompt() -> None:
    rules, reminder = user("rules", is_injected=True), user("reminder", is_injected=True)
    asked = conversation(system("a"), rules, system("b"), user("c"), reminder)
    assert leading_system_count(asked) == 3
    assert leading_system_count(conversation(system("a"), rules, assistant("c"))) == 1


@pytest.mark.parametrize(
    "first",
    [
        user("instruction", is_injected=True, is_instruction=True),
        user("summary", is_injected=True, is_summary=True),
        user("marker", is_injected=True, tags=Tags(is_truncation_marker=True)),
    ],
)
def test_neither_an_instruction_nor_a_stand_in_is_the_system_prompt(first: Message) -> None:
    assert leading_system_count(conversation(system("a"), first, user("b"))) == 1


def test_the_preamble_is_the_system_prompt_with_definitions_and_what_a_client_restores() -> None:
    reason = "it must stay"
    messages = conversation(
        system("a"),
        user("b"),
        definition("c", "d", is_injected=True, immutable_reason=reason),
        user("restored", is_injected=True, immutable_reason=reason),
        user("prompt", immutable_reason=reason),
        user("summary", is_injected=True, is_summary=True, immutable_reason=reason),
        user("reminder", is_injected=True),
        system("e"),
    )
    assert [m.line for m in preamble(messages)] == [0, 2, 3]


def test_encrypted_reasoning_of_past_turns_is_expired() -> None:
    def sealed(size: int, **fields: bool) -> Message:
        hidden = ReasoningPart(text="", opaque=True, sealed=size)
        return message("assistant", hidden, TextPart(text="said"), **fields)

    messages = conversation(
        user("one"),
        sealed(7),
        sealed(8, is_summary=True),
        assistant("plain"),
        user("two"),
        sealed(9),
    )
    found = without_expired_reasoning(messages)
    hidden = [part for m in found for part in m.parts if isinstance(part, ReasoningPart)]
    assert [(part.sealed, part.is_expired) for part in hidden] == [
        (7, True),
        (8, False),
        (9, False),
    ]
    assert [m.parts[-1] for m in found] == [m.parts[-1] for m in messages]
    assert without_expired_reasoning(messages[1:4]) == messages[1:4]
