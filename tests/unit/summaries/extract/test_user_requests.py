from dataclasses import replace

from builders import REJECTED, assistant, call, conversation, result, system, user

from compactctl.model.message import Message
from compactctl.summaries.extract.items import SummaryItem
from compactctl.summaries.extract.passages import Passage, read_passages
from compactctl.summaries.extract.sentences import SET_RULES
from compactctl.summaries.extract.user_requests import (
    MAX_TYPED,
    OTHER_REQUEST,
    find_lasting_words,
    find_user_rules,
    lasting_items,
    middle_request_items,
)


def read(*messages: Message) -> tuple[Passage, ...]:
    return read_passages(conversation(*messages))


def between(*messages: Message) -> list[SummaryItem]:
    found = read(*messages)
    return list(middle_request_items(found, find_lasting_words(found)))


def rules(*messages: Message, following: tuple[Message, ...] = ()) -> list[str]:
    found = read(*messages)
    items = lasting_items(found, find_lasting_words(found, read_passages(following)))
    return [item.text for item in items if item.label == SET_RULES]


def whole(*messages: Message) -> list[str]:
    """Return what lasts whole, but for the first and the last request."""
    found = read(user("a"), *messages, user("b"))
    return list(find_lasting_words(found).whole.values())[1:-1]


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


def test_what_a_client_put_into_a_request_is_omitted() -> None:
    inserted = "<system-reminder>You must obey.</system-reminder>"
    assert between(user("a"), user(f"Fix it\n{inserted}"), user("b"))[0].text == "[L2] Fix it"
    assert rules(user("a"), user(f"{inserted} Do b"), user("c")) == []


def test_injected_records_and_replies_are_no_requests() -> None:
    messages = [user("a"), user("note", is_injected=True), assistant("You must wait."), user("b")]
    assert between(*messages) == []
    assert rules(*messages) == []


def test_rules_are_quoted_from_requests_that_are_not_quoted_whole() -> None:
    found = rules(
        user("Start."),
        user("Looks good. Never push to main! Use tabs instead of spaces. Did you always do so?"),
        user("Only now stop."),
    )
    assert found == ["[L2] Never push to main!", "[L2] Use tabs instead of spaces."]


def test_what_follows_need_not_be_said_again() -> None:
    asked = user("Mind the berths. Never push."), user("Never pull. Ask.")
    assert rules(user("a"), *asked, user("b")) == ["[L2] Never push.", "[L3] Never pull."]
    following = conversation(user("As I said: Never push. Go on."))
    assert rules(user("a"), *asked, following=following) == ["[L3] Never pull."]


def test_pasted_data_sets_no_rule() -> None:
    data = 'Error: {"type":"error","text":"ids must be unique","code":"x"}'
    assert rules(user("a"), user(data), user("b")) == []


def test_a_rule_that_was_wrapped_is_quoted_whole() -> None:
    text = """- Where a value is missing, always write an empty
  string rather than leaving out the whole field."""
    assert rules(user("a"), user(text), user("b")) == [f"[L2] {text[2:]}"]


def test_a_long_line_is_not_wrapped() -> None:
    text = f"{'data ' * 400}\nNever write to the harbor table."
    assert rules(user("a"), user(text), user("b")) == ["[L2] Never write to the harbor table."]


def test_an_equal_rule_is_told_once_with_its_newest_line() -> None:
    found = rules(user("a"), user("Never push."), user("never push."), user("b"))
    assert found == ["[L3] never push."]


def test_rules_of_people_who_write_no_capitals_are_found() -> None:
    text = "please port it. " + "mind the berths of the harbor. " * 20 + "never push to main. ok"
    assert rules(user("a"), user(text), user("b")) == ["[L2] never push to main."]


def test_of_a_very_long_request_the_demands_are_rules() -> None:
    text = "Please do this. " + "Lorem ipsum dolor. " * 200 + "You must not delete data. "
    text += "Sit amet here. " * 200 + "The cache is always warm at night. "
    assert rules(user("a"), user(text), user("b")) == ["[L2] You must not delete data."]


def test_answers_and_objections_last_whole() -> None:
    text = (
        'User has answered your questions: "Which one?"="The blue one". '
        "You can now continue with the user's answers in mind."
    )
    refusal = f"{REJECTED}use  rg"
    assert whole(
        *(call("q", "AskUserQuestion", question="Which one?"), result("q", text)),
        *(call("b", "Bash", command="grep x"), result("b", refusal, is_error=True)),
    ) == ['"Which one?"="The blue one"', "use  rg"]


def test_short_instructions_last_whole_and_long_ones_by_their_rules() -> None:
    long = "You must answer in Dutch. " + "Berths are places for ships. " * (MAX_TYPED // 20)
    assert whole(assistant("Hi."), system("Be kind."), system(long)) == ["Be kind."]
    assert rules(user("a"), assistant("Hi."), system(long)) == ["[L3] You must answer in Dutch."]


def test_texts_of_one_message_are_one_request() -> None:
    parts = (*user("Port the harbor.").parts, *user("Then test it.").parts)
    asked = replace(user(""), parts=parts)
    assert whole(asked, assistant("ok")) == []
    found = read(user("a"), asked)
    assert list(find_lasting_words(found).whole.values()) == [
        "a",
        "Port the harbor.",
        "Then test it.",
    ]


def test_the_rules_of_all_that_people_said_are_known() -> None:
    refusal = f"{REJECTED}Never push"
    found = read(
        system("Never answer in Latin."),
        user("Always\nask."),
        system("Only answer in Dutch."),
        *(call("b", "Bash", command="git push"), result("b", refusal, is_error=True)),
    )
    assert [rule for _, rule in find_user_rules(found)] == ["Only answer in Dutch.", "Never push"]
