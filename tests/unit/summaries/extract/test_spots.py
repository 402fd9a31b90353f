from builders import assistant, conversation, user

from compactctl.history.references import refs_of
from compactctl.records import replace

TALK = conversation(user("one"), assistant("two"), user("three"), assistant("four"))


def test_messages_are_found_by_their_lines() -> None:
    assert [str(spot) for spot in refs_of(TALK[1:])] == ["[L2]", "[L3]", "[L4]"]


def test_messages_on_one_line_are_numbered() -> None:
    messages = [replace(message, line=0) for message in TALK]
    assert [str(spot) for spot in refs_of(messages)] == ["[M1]", "[M2]", "[M3]", "[M4]"]


def test_messages_from_several_states_of_a_transcript_have_the_lines_of_theirs() -> None:
    messages = (*TALK, *(replace(message, line=message.line + 1) for message in TALK[1:]))
    refs = refs_of(messages)
    assert [ref.number for ref in refs] == [1, 2, 3, 4, 3, 4, 5]
    assert [ref.position for ref in refs] == list(range(1, 8))
