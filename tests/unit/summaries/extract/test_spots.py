from dataclasses import replace

from builders import assistant, conversation, user

from compactctl.summaries.extract.passages import read_passages, source_refs

TALK = conversation(user("one"), assistant("two"), user("three"), assistant("four"))


def test_messages_are_found_by_their_lines() -> None:
    assert [str(spot) for spot in source_refs(TALK[1:])] == ["[L2]", "[L3]", "[L4]"]


def test_messages_on_one_line_are_numbered() -> None:
    messages = [replace(message, line=0) for message in TALK]
    assert [str(spot) for spot in source_refs(messages)] == ["[M1]", "[M2]", "[M3]", "[M4]"]


def test_messages_from_several_states_of_a_transcript_have_the_lines_of_theirs() -> None:
    messages = (*TALK, *(replace(message, line=message.line + 1) for message in TALK[1:]))
    refs = source_refs(messages)
    assert [ref.number for ref in refs] == [1, 2, 3, 4, 3, 4, 5]
    assert [ref.position for ref in refs] == list(range(1, 8))


def test_messages_that_stay_do_not_change_how_others_are_found() -> None:
    newest = (replace(TALK[2], line=0), replace(TALK[3], line=1))
    found = read_passages((*TALK, *newest), unreferenced={4, 5})
    assert [str(each.ref) for each in found[:4]] == [f"[L{n}]" for n in range(1, 5)]
    assert [each.ref.position for each in found] == list(range(1, 7))
