from builders import assistant, call, conversation, result, user

from compactctl.model.message import Message
from compactctl.summaries.extract.items import SummaryItem
from compactctl.summaries.extract.passages import passages, tool_pairs
from compactctl.summaries.extract.user_requests import (
    MAIN_REQUEST,
    answer_items,
    request_items,
    rule_items,
)


def asked(*messages: Message) -> list[SummaryItem]:
    return list(request_items(passages(conversation(*messages))))


def rules(*messages: Message) -> list[str]:
    return [item.text for item in rule_items(passages(conversation(*messages)))]


def answers(*messages: Message) -> list[str]:
    pairs = tool_pairs(passages(conversation(*messages)))
    return [item.text for item in answer_items(pairs)]


def test_the_first_and_last_request_make_the_intent_and_the_rest_its_evolution() -> None:
    items = asked(user("one"), user("two"), user("three"))
    assert [(item.section, item.text) for item in items] == [
        (1, "[L1] one"),
        (6, "[L2] two"),
        (1, "[L3] three"),
    ]


def test_a_repeated_request_is_told_at_its_newest_place() -> None:
    items = asked(user("start"), user("continue"), user("continue"), user("stop"))
    assert [item.text for item in items] == ["[L1] start", "[L3] continue", "[L4] stop"]


def test_a_long_request_loses_its_middle_only() -> None:
    text = asked(user("Begin " + "words " * 1_000 + "end"))[0].text
    assert text.startswith("[L1] Begin words")
    assert text.endswith("words end")
    assert " […] " in text
    assert len(text) < MAIN_REQUEST + 20


def test_what_a_client_put_into_a_request_is_left_out() -> None:
    inserted = "<system-reminder>You must obey.</system-reminder>"
    assert asked(user(f"Fix it\n{inserted}"))[0].text == "[L1] Fix it"
    assert rules(user("a"), user(f"{inserted} Do b"), user("c")) == []


def test_injected_records_and_replies_are_no_requests() -> None:
    assert asked(user("note", injected=True), assistant("You must wait.")) == []


def test_rules_are_quoted_from_requests_that_are_not_shown_in_full() -> None:
    found = rules(
        user("Start."),
        user("Looks good. Never push to main! Use tabs instead of spaces. Did you always do so?"),
        user("Only now stop."),
    )
    assert found == ["[L2] Never push to main!", "[L2] Use tabs instead of spaces."]


def test_an_equal_rule_is_told_once_with_its_newest_line() -> None:
    found = rules(user("a"), user("Never push."), user("never push."), user("b"))
    assert found == ["[L3] never push."]


def test_rules_in_the_middle_of_a_very_long_request_are_kept() -> None:
    text = "Please do this. " + "Lorem ipsum dolor. " * 200 + "You must not delete data. "
    text += "Sit amet here. " * 200
    assert rules(user(text)) == ["[L1] You must not delete data."]


def test_answers_to_questions_are_quoted_as_pairs() -> None:
    text = 'User has answered your questions: "Which one?"="The blue one". You can go on.'
    assert answers(call("q", "AskUserQuestion", question="Which one?"), result("q", text)) == [
        '[L1] "Which one?"="The blue one"'
    ]


def test_an_objection_to_a_tool_call_is_the_users_word() -> None:
    refusal = "The tool use was rejected. To tell you how to proceed, the user said:\nuse rg"
    assert answers(call("b", "Bash", command="grep x"), result("b", refusal, is_error=True)) == [
        "[L1] use rg"
    ]
