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

from compactctl.history.breakdown import Reread, break_down, message_tokens
from compactctl.history.categories import CATEGORIES
from compactctl.history.conversation_view import ConversationView
from compactctl.model.message import MediaPart, Message, TextPart
from compactctl.records import replace

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


def test_two_conversations_that_read_a_file_once_each_read_nothing_again() -> None:
    def read(name: str, text: str, number: int) -> tuple[Message, Message]:
        return (
            replace(call(name, "Read", file_path="a.py"), conversation=number),
            replace(result(name, text), conversation=number),
        )

    one, two = read("a", "one two", 0), read("b", "one two", 1)
    assert break_down(conversation(*one, *two), meter()).rereads == ()
    found = break_down(
        conversation(*one, *two, *read("c", "one", 0), *read("d", "one two three", 1)), meter()
    )
    assert found.rereads == (
        Reread(path="a.py", reads=4, identical=0, tokens=4, identical_tokens=0),
    )


def test_lists_are_sorted_by_size_and_then_by_name() -> None:
    messages = conversation(
        *(
            each
            for n, (tool, path, size) in enumerate(
                [("Read", "b", 5), ("Read", "a", 5), ("Read", "c", 9), ("View", "d", 1)] * 2
            )
            for each in (call(f"c{n}", tool, path=path), result(f"c{n}", words(size)))
        )
    )
    found = break_down(messages, meter())
    assert [(read.path, read.tokens) for read in found.rereads] == [
        ("c", 9), ("a", 5), ("b", 5), ("d", 1),
    ]  # fmt: skip
    assert [(use.tool, use.calls, use.results) for use in found.tools] == [
        ("Read", 6, 6), ("View", 2, 2),
    ]  # fmt: skip
    assert len(found.largest) == 10
    assert [item.tokens for item in found.largest[:5]] == [9, 9, 5, 5, 5]
    assert [item.line for item in found.largest[:2]] == [5, 13]
    same = conversation(call("a", "B"), call("b", "A"))
    assert [use.tool for use in break_down(same, meter()).tools] == ["A", "B"]


def test_the_tokens_of_a_message_by_category_and_tool() -> None:
    found = message_tokens(MESSAGES, None, meter())
    assert found[8].categories == {"file reads": 20}
    assert found[8].tools == {"Read": 20}
    assert found[12].categories == {"media": 1_024, "tool results": 2}
    assert found[12].tools == {"Shot": 1_026}
    assert (found[2].categories, found[2].tools) == ({"user": 3}, {})
    assert sum(sum(each.categories.values()) for each in found) == meter().total(MESSAGES)


def test_what_we_wrote_is_other_than_the_user_and_a_summary_is_a_summary_whole() -> None:
    messages = conversation(
        user(words(2), is_synthetic=True),
        summary(words(3), is_synthetic=True),
        thinking(words(4), is_summary=True),
        assistant(words(5), is_injected=True),
        call("a", "Task"),
        result("lost", words(6)),
    )
    found = {name: size for name, size in break_down(messages, meter()).categories.items() if size}
    assert found == {
        "other": 2 + 5,
        "summaries": 3 + 4,
        "tool calls": 2,
        "tool results": 6,
    }


def test_a_view_follows_its_messages_with_its_target() -> None:
    view = ConversationView(messages=MESSAGES[:3], target=9)
    assert view.with_current_target().target == 9
    assert view.with_current_target(5).target == 14
    assert replace(view, target=None).with_current_target(5).target is None
    by_count = replace(view, target_for=len)
    assert by_count.with_current_target().target == 3
    more = by_count.with_current_target(5)
    assert more.target == 8
    assert replace(more, messages=MESSAGES[:7]).with_current_target(1).target == 13
