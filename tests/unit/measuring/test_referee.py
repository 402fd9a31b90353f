"""The second referee judges by words, arguments, edits and outputs, and by nothing else."""

import pytest
from benchmarks.referee import KINDS, Referee
from builders import assistant, call, conversation, result, user

BEFORE = conversation(
    user("Water the beds along the southern wall first."),
    call("a", "Read", file_path="garden/beds.py"),
    result("a", "   12→water = tank.level\n   13→wait(until_noon)"),
    call("b", "Bash", command="make check-the-beds"),
    result("b", "looking\nall 9 beds are fine"),
)
LATER = (
    conversation(
        assistant("Now water the beds along the southern wall."),
        call(
            "c",
            "Edit",
            file_path="garden/beds.py",
            old_string="water = tank.level\nwait(until_noon)",
        ),
    ),
)


def judge(*texts: str) -> dict[str, tuple[int, int]]:
    return Referee(BEFORE, LATER).judge(conversation(*map(assistant, texts)))


def test_the_prefix_has_all_that_is_asked_for_and_nothing_has_none() -> None:
    referee = Referee(BEFORE, LATER)
    assert set(referee.judge(BEFORE)) == set(KINDS)
    assert all(hits == asked > 0 for hits, asked in referee.judge(BEFORE).values())
    assert all(hits == 0 for hits, _ in referee.judge(()).values())


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("words", "> water the beds along the southern WALL"),
        ("arguments", "it was garden/beds.py"),
        ("edits", "> wait(until_noon)\n…\n> 12: water = tank.level"),
        ("outputs", "$ make check-the-beds\nlooking\nall 9 beds are fine"),
    ],
)
def test_each_kind_is_found_by_itself(kind: str, text: str) -> None:
    found = judge(text)
    assert found[kind][0] == found[kind][1]
    assert all(hits == 0 for name, (hits, _) in found.items() if name not in {kind, "arguments"})


def test_words_in_another_order_and_half_of_an_edit_do_not_count() -> None:
    found = judge("Along the wall, southern beds: water the first.", "water = tank.level")
    assert (found["words"][0], found["edits"][0]) == (0, 0)


def test_an_output_far_behind_its_command_is_not_found() -> None:
    found = judge("make check-the-beds\n" + "leaf\n" * 30 + "all 9 beds are fine")
    assert found["outputs"][0] == 0


def test_what_a_tool_shows_first_is_not_asked_for() -> None:
    said = "Water the beds along the southern wall first."
    shown = conversation(call("z", "Bash", command="cat notes"), result("z", said))
    assert Referee(BEFORE, (shown, *LATER)).judge(())["words"] == (0, 0)
