from dataclasses import replace

from builders import assistant, conversation, user

from compactctl.summaries.extract.passages import spots_of

TALK = conversation(user("one"), assistant("two"), user("three"), assistant("four"))


def test_messages_are_found_by_their_lines() -> None:
    assert [str(spot) for spot in spots_of(TALK[1:])] == ["[L2]", "[L3]", "[L4]"]


def test_messages_on_one_line_are_numbered() -> None:
    messages = [replace(message, line=0) for message in TALK]
    assert [str(spot) for spot in spots_of(messages)] == ["[M1]", "[M2]", "[M3]", "[M4]"]


def test_messages_from_several_states_of_a_transcript_are_counted() -> None:
    messages = (*TALK, *(replace(message, line=message.line + 1) for message in TALK[1:]))
    assert [str(spot) for spot in spots_of(messages)] == [f"[M{n}]" for n in range(1, 8)]
