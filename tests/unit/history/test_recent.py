"""Where the newest events, tokens and turns begin."""

import pytest
from builders import assistant, call, conversation, result, summary, system, user
from unit.stages.support.trials import meter, words

from compactctl.history.recent import (
    Snap,
    event_indices,
    newest_events_start,
    newest_tokens_start,
    newest_turns_start,
    snap_to_turn,
    window_start,
)
from compactctl.model.message import Tags

# [0 prompt 1 (call result) 3 answer 4 prompt 5 (call result) 7]
TALK = conversation(
    user("one"),
    call("a", "Read"),
    result("a", "x"),
    assistant("done"),
    user("two"),
    call("b", "Read"),
    result("b", "y"),
)


def test_events_are_all_but_the_prompt_summaries_and_markers() -> None:
    marker = user("cut", tags=Tags(is_truncation_marker=True))
    messages = conversation(
        system("be good"), summary("so far"), user("go"), marker, system("late"), assistant("ok")
    )
    assert event_indices(messages) == (2, 4, 5)


@pytest.mark.parametrize(("count", "start"), [(1, 6), (2, 5), (6, 1), (7, 0), (8, 0)])
def test_the_newest_events(count: int, start: int) -> None:
    assert newest_events_start(TALK, count) == start


@pytest.mark.parametrize(
    ("budget", "start"), [(0, 5), (1, 5), (2, 4), (3, 4), (4, 3), (7, 3), (8, 2), (13, 0), (99, 0)]
)
def test_the_newest_tokens_end_with_the_first_event_that_does_not_fit(
    budget: int, start: int
) -> None:
    messages = conversation(
        summary(words(50)), user(words(5)), assistant(words(4)), user(words(2)), user(words(2))
    )
    assert newest_tokens_start(messages, budget, meter()) == start


@pytest.mark.parametrize(("count", "start"), [(0, 7), (1, 4), (2, 0), (3, 0)])
def test_the_newest_turns(count: int, start: int) -> None:
    assert newest_turns_start(TALK, count) == start


def test_what_precedes_the_first_turn_belongs_to_more_turns_than_there_are() -> None:
    messages = conversation(summary("so far"), *TALK)
    assert [newest_turns_start(messages, count) for count in (1, 2, 3)] == [5, 1, 0]


@pytest.mark.parametrize(
    ("index", "snap", "found"),
    [
        (3, "forward", 4),
        (4, "forward", 4),
        (5, "forward", 7),
        (3, "back", 0),
        (4, "back", 4),
        (6, "back", 4),
        (3, "none", 3),
    ],
)
def test_an_index_moves_to_the_start_of_a_turn(index: int, snap: Snap, found: int) -> None:
    assert snap_to_turn(TALK, index, snap) == found


def test_without_a_turn_before_it_an_index_moves_back_to_the_beginning() -> None:
    assert snap_to_turn(conversation(assistant("a"), user("b")), 0, "back") == 0


@pytest.mark.parametrize(
    ("index", "snap", "min_turns", "start"),
    [
        (6, "none", 0, 5),
        (5, "none", 0, 5),
        (7, "none", 0, 7),
        (7, "none", 1, 4),
        (2, "none", 1, 1),
        (6, "back", 0, 4),
        (5, "forward", 1, 4),
        (5, "forward", 0, 7),
        (6, "none", 2, 0),
    ],
)
def test_a_window_holds_its_turns_and_parts_no_pair(
    index: int, snap: Snap, min_turns: int, start: int
) -> None:
    assert window_start(TALK, index, snap, min_turns) == start
