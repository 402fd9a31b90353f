from builders import assistant, call, call_part, conversation, image, message, result, user
from unit.history.written import PROVEN, read_back
from unit.stages.support.trials import (
    carried_out,
    hidden,
    inserted,
    joined,
    propose,
    skipped,
    view,
    words,
)

from compactctl.model.message import Message, TextPart
from compactctl.stages.plain import STAGE


def chat(count: int, size: int = 60) -> tuple[Message, ...]:
    kinds = (user, assistant)
    return conversation(*(kinds[n % 2](f"{n} {words(size)}") for n in range(count)))


def lines(of: tuple[Message, ...], **options: int) -> list[str]:
    return inserted(propose(STAGE, view(of), **options)).message.text.split("\n")


def test_the_counts_and_the_topics_are_said() -> None:
    messages = joined(
        user("  Find the leak.\nIt grows by the hour."),
        assistant("Looking."),
        call("a", "Bash"), call("b", "Bash"),
        result("a", words(60)), result("b", words(60)),
        user("<system-reminder>be brief</system-reminder>", is_injected=True),
        user("x" * 77 + " xxx"), user("y" * 80), user(" \n "), image(),
        *chat(4),
    )  # fmt: skip
    assert lines(messages) == [
        "[Conversation context — 11 earlier messages removed to fit context window]",
        "User messages: 5, Assistant responses: 3, Tool calls: 2",
        "Topics discussed:",
        "- Find the leak.",
        "- " + "x" * 77 + "...",
        "- " + "y" * 80,
        "- [image/png, 1,000 bytes]",
        "Requests of the user:",
        "- [L1] Find the leak.",
        "  It grows by the hour.",
        f"- [L8] {'x' * 77} xxx",
        f"- [L9] {'y' * 80}",
        "- [L11] [image/png, 1,000 bytes, at L11]",
        "[end, 4 messages follow]",
    ]


def test_calls_are_counted_and_not_their_results() -> None:
    both = message("assistant", call_part("a", "Bash"), call_part("b", "Bash"))
    messages = joined(user("go " + words(30)), both, result("a", words(60)), *chat(4))
    assert lines(messages)[1] == "User messages: 1, Assistant responses: 1, Tool calls: 2"


def test_what_a_client_put_in_front_of_a_request_is_no_topic() -> None:
    asked = user(f"<system-reminder>\nbe brief\n</system-reminder>\nFind the leak. {words(60)}")
    found = lines(joined(asked, assistant(words(200)), *chat(4)))
    assert found[3].startswith("- Find the leak.")


def test_there_are_at_most_ten_topics() -> None:
    found = lines(conversation(*(user(f"{n}\n{words(40)}") for n in range(20))))
    assert found[3 : found.index("Requests of the user:")] == [f"- {n}" for n in range(10)]
    few = conversation(*(user(f"{n}\n{words(40)}") for n in range(20)))
    assert lines(few, topics=2)[2:6] == [
        "Topics discussed:", "- 0", "- 1", "Requests of the user:"
    ]  # fmt: skip
    assert lines(few, topics=0)[2] == "Requests of the user:"


def test_the_users_words_stay_in_half_of_the_room() -> None:
    said = [user(f"{n} {words(98)} end.") for n in range(9)]
    talk = joined(*(m for one in said for m in (one, assistant(words(900)))), *chat(4))
    text = "\n".join(lines(talk))
    assert all(f"- [L{2 * n + 1}] {n} word" in text for n in range(9))
    small = inserted(propose(STAGE, view(talk, target=1_000))).message.text
    assert [n for n in range(9) if f"- [L{2 * n + 1}] {n} word" in small] == [0, 7, 8]


def test_records_of_one_response_are_one_response() -> None:
    parts = (assistant(words(30), response_id="r1") for _ in range(3))
    found = lines(joined(user("go " + words(30)), *parts, *chat(4)))
    assert found[1] == "User messages: 1, Assistant responses: 1, Tool calls: 0"


def test_the_newest_four_messages_stay_with_their_pairs() -> None:
    messages = joined(*chat(6), call("a", "Bash"), user("b"), user("c"), result("a", "x"))
    assert hidden(propose(STAGE, view(messages))) == [f"m{n}" for n in range(6)]
    assert hidden(propose(STAGE, view(messages), keep_recent=3)) == [f"m{n}" for n in range(6)]


def test_what_is_no_larger_than_the_lines_stays() -> None:
    assert "no smaller" in skipped(STAGE, view(chat(9, size=1))).reason


def test_a_second_run_finds_nothing() -> None:
    of = view(chat(20))
    after = carried_out(of, propose(STAGE, of))
    assert skipped(STAGE, after).reason == "nothing was added since the last summary"


def test_what_an_earlier_note_counts_is_added_where_the_originals_are_gone() -> None:
    first = inserted(propose(STAGE, view(chat(12)))).message.text
    messages = joined(read_back(first, tags=PROVEN), user(f"Mind it.\n{words(60)}"), *chat(12))
    found = lines(messages)
    assert first.startswith("[Conversation context — 8 earlier messages removed")
    assert found[:2] == [
        "[Conversation context — 17 earlier messages removed to fit context window]",
        "User messages: 9, Assistant responses: 8, Tool calls: 0",
    ]
    topics = found[3 : found.index("Requests of the user:")]
    assert topics[: topics.index("- Mind it.")] == first.split("\n")[3:7]
    assert found[-1] == "[end, 4 messages follow]"


def test_later_counts_are_those_of_the_originals() -> None:
    of = view(chat(12))
    first = propose(STAGE, of)
    more = tuple(message("user", TextPart(text=words(60)), id=f"n{n}") for n in range(6))
    again = view(
        (*carried_out(of, first).messages, *more),
        originals={inserted(first).message.id: of.messages[:8]},
    )
    text = inserted(propose(STAGE, again)).message.text
    assert text.startswith("[Conversation context — 14 earlier messages removed")
    assert "User messages: 8, Assistant responses: 6" in text
