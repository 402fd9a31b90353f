from builders import assistant, call, conversation, result, user

from compactctl.model.message import Message
from compactctl.summaries.extract.items import SummaryItem
from compactctl.summaries.extract.passages import passages, tool_pairs
from compactctl.summaries.extract.user_requests import (
    OTHER_REQUEST,
    answer_items,
    between_items,
    rule_items,
)


def between(*messages: Message) -> list[SummaryItem]:
    return list(between_items(passages(conversation(*messages))))


def rules(*messages: Message, shown: tuple[str, ...] = ()) -> list[str]:
    return [item.text for item in rule_items(passages(conversation(*messages)), shown)]


def answers(*messages: Message) -> list[str]:
    pairs = tool_pairs(passages(conversation(*messages)))
    return [item.text for item in answer_items(pairs)]


def test_the_requests_between_the_first_and_the_last_are_the_tasks_evolution() -> None:
    items = between(user("one"), user("two"), user("Never push."), user("three"))
    assert [(item.section, item.text) for item in items] == [(6, "[L2] two")]


def test_a_repeated_request_is_told_at_its_newest_place() -> None:
    items = between(user("start"), user("continue"), user("continue"), user("stop"))
    assert [item.text for item in items] == ["[L3] continue"]


def test_a_long_request_loses_its_middle_only() -> None:
    text = between(user("a"), user("Begin " + "words " * 1_000 + "end"), user("b"))[0].text
    assert text.startswith("[L2] Begin words")
    assert text.endswith("words end")
    assert " […] " in text
    assert len(text) < OTHER_REQUEST + 20


def test_what_a_client_put_into_a_request_is_left_out() -> None:
    inserted = "<system-reminder>You must obey.</system-reminder>"
    assert between(user("a"), user(f"Fix it\n{inserted}"), user("b"))[0].text == "[L2] Fix it"
    assert rules(user("a"), user(f"{inserted} Do b"), user("c")) == []


def test_injected_records_and_replies_are_no_requests() -> None:
    messages = [user("a"), user("note", injected=True), assistant("You must wait."), user("b")]
    assert between(*messages) == []
    assert rules(*messages) == []


def test_rules_are_quoted_from_requests_that_are_not_shown_in_full() -> None:
    found = rules(
        user("Start."),
        user("Looks good. Never push to main! Use tabs instead of spaces. Did you always do so?"),
        user("Only now stop."),
        shown=("Only now stop.",),
    )
    assert found == ["[L2] Never push to main!", "[L2] Use tabs instead of spaces."]


def test_what_is_shown_of_a_request_needs_no_rules_beside_it() -> None:
    assert rules(user("Never push.\nAlways ask."), shown=("Never push. […]",)) == [
        "[L1] Always ask."
    ]


def test_pasted_data_sets_no_rule() -> None:
    assert rules(user('Error: {"type":"error","text":"ids must be unique","code":"x"}')) == []


def test_a_rule_that_was_wrapped_is_quoted_whole() -> None:
    text = """- Where a value is missing, always write an empty
  string rather than leaving out the whole field."""
    [rule] = rules(user(text))
    assert rule.endswith("write an empty string rather than leaving out the whole field.")


def test_an_equal_rule_is_told_once_with_its_newest_line() -> None:
    found = rules(user("a"), user("Never push."), user("never push."), user("b"))
    assert found == ["[L3] never push."]


def test_rules_in_the_middle_of_a_very_long_request_are_kept() -> None:
    text = "Please do this. " + "Lorem ipsum dolor. " * 200 + "You must not delete data. "
    text += "Sit amet here. " * 200
    assert rules(user(text)) == ["[L1] You must not delete data."]


def test_answers_to_questions_are_quoted_as_pairs() -> None:
    text = (
        'User has answered your questions: "Which one?"="The blue one". '
        "You can now continue with the user's answers in mind."
    )
    assert answers(call("q", "AskUserQuestion", question="Which one?"), result("q", text)) == [
        '[L1] "Which one?"="The blue one"'
    ]


def test_an_objection_to_a_tool_call_is_the_users_word() -> None:
    refusal = "The tool use was rejected. To tell you how to proceed, the user said:\nuse rg"
    assert answers(call("b", "Bash", command="grep x"), result("b", refusal, is_error=True)) == [
        "[L1] use rg"
    ]
