from dataclasses import replace

from builders import (
    assistant,
    attached,
    call,
    conversation,
    definition,
    image,
    result,
    summary,
    system,
    thinking,
    user,
)
from unit.stages.support.trials import meter, words

from compactctl.history.breakdown import Reread, break_down
from compactctl.history.categories import CATEGORIES
from compactctl.model.message import MediaPart, TextPart

MEDIA = (MediaPart(media_type="image/png", n_bytes=10),)
MESSAGES = conversation(
    system(words(10)),
    definition("Read", words(4)),
    user(words(3)),
    user(words(7), is_injected=True),
    attached("notes.md", words(8)),
    thinking(words(6)),
    assistant(words(5)),
    call("a", "Read", file_path="a.py"),
    result("a", words(20)),
    call("b", "Bash", command="make"),
    result("b", words(30), is_error=True),
    call("c", "Shot"),
    result("c", words(2), media=MEDIA),
    image(),
    summary(words(9)),
    system(words(11)),
)


def test_what_the_client_adds_is_told_as_what_it_is_sent_as() -> None:
    open_call = call("d", "Bash", command="make")
    [part] = open_call.calls
    answered = replace(open_call, parts=(replace(part, added=words(4)),))
    reminder = user("", is_injected=True)
    reminder = replace(reminder, parts=(TextPart(text="", added=words(12)),))

    plain = break_down(conversation(open_call), meter()).categories
    found = break_down(conversation(answered, reminder), meter())
    assert found.categories == {**plain, "tool results": 4, "other": 12}
    assert found.total == sum(found.categories.values())


def test_every_token_is_in_one_category() -> None:
    found = break_down(MESSAGES, meter())
    assert found.categories == {
        "system prompt": 10,
        "tool definitions": 5,
        "user": 3,
        "assistant": 5,
        "reasoning": 6,
        "tool calls": 3 + 3 + 2,
        "tool results": 32,
        "file reads": 20,
        "attachments": 8,
        "media": 2 * 1_024,
        "summaries": 9,
        "other": 7 + 11,
    }
    assert list(found.categories) == list(CATEGORIES)
    assert found.total == sum(found.categories.values()) == meter().total(MESSAGES)


def test_an_empty_conversation_has_empty_categories() -> None:
    found = break_down((), meter())
    assert found.total == 0
    assert set(found.categories.values()) == {0}
    assert (found.largest, found.tools, found.rereads) == ((), (), ())


def test_the_largest_messages_come_first_and_name_their_tools() -> None:
    largest = break_down(MESSAGES, meter(), largest=3).largest
    assert [(item.id, item.tokens, item.tools) for item in largest] == [
        ("m12", 1_026, ("Shot",)),
        ("m13", 1_024, ()),
        ("m10", 30, ("Bash",)),
    ]


def test_tools_are_sorted_by_what_they_cost() -> None:
    tools = break_down(MESSAGES, meter()).tools
    assert [(t.tool, t.call_tokens, t.result_tokens, t.errors) for t in tools] == [
        ("Shot", 2, 1_026, 0),
        ("Bash", 3, 30, 1),
        ("Read", 3, 20, 0),
    ]


def test_files_read_again_are_counted_with_their_cost() -> None:
    messages = conversation(
        call("a", "Read", file_path="/w/a.py"),
        result("a", "one two three"),
        call("b", "Read", file_path="a.py"),
        result("b", "one two three"),
        call("c", "Read", file_path="./a.py"),
        result("c", "one two three four"),
        call("d", "Read", file_path="once.py"),
        result("d", "one"),
    )
    assert break_down(messages, meter(), cwd="/w").rereads == (
        Reread(path="a.py", reads=3, identical=1, tokens=6, identical_tokens=3),
    )
