from builders import (
    assistant,
    call,
    conversation,
    message,
    result,
    result_part,
    summary,
    system,
    user,
)

from compactctl.history.turns import find_steps, find_turns, leading_system_count


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


def test_without_response_ids_each_assistant_message_is_a_step() -> None:
    messages = conversation(
        call("a", "Read"), call("b", "Read"), result("b", "y"), result("a", "x")
    )
    assert find_steps(messages) == ((0, 3), (1, 2))


def test_only_system_messages_at_the_front_lead() -> None:
    assert leading_system_count(conversation(system("a"), system("b"), user("c"), system("d"))) == 2
