"""A chat is replayed from its newest state and the changes made since."""

from typing import Any

import pytest

from compactctl.clients.vscode_chat.changes import is_change, is_state, replay


def state() -> dict[str, Any]:
    return {"kind": 0, "v": {"a": [1, 2, 3], "b": {"c": [{"d": 4}]}, "0": "text"}}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"kind": 1, "k": ["a", 0], "v": 9}, {"a": [9, 2, 3]}),
        ({"kind": 1, "k": ["a", 2], "v": 9}, {"a": [1, 2, 9]}),
        ({"kind": 1, "k": ["a", 3], "v": 9}, {}),
        ({"kind": 1, "k": ["a", -1], "v": 9}, {}),
        ({"kind": 1, "k": ["a", "0"], "v": 9}, {}),
        ({"kind": 1, "k": [0], "v": 9}, {}),
        ({"kind": 1, "k": ["b", "new"], "v": 9}, {"b": {"c": [{"d": 4}], "new": 9}}),
        ({"kind": 1, "k": ["b", "c", 0, "d"], "v": 9}, {"b": {"c": [{"d": 9}]}}),
        ({"kind": 1, "k": ["b", "c", 1, "d"], "v": 9}, {}),
        ({"kind": 1, "k": ["a"]}, {"a": None}),
        ({"kind": 1, "k": [], "v": 9}, {}),
        ({"kind": 2, "k": ["a"], "v": [8, 9]}, {"a": [1, 2, 3, 8, 9]}),
        ({"kind": 2, "k": ["a"], "v": [9], "i": 2}, {"a": [1, 2, 9]}),
        ({"kind": 2, "k": ["a"], "v": [9], "i": 0}, {"a": [9]}),
        ({"kind": 2, "k": ["a"], "v": [9], "i": -1}, {"a": [1, 2, 3, 9]}),
        ({"kind": 2, "k": ["a"], "i": 1}, {"a": [1]}),
        ({"kind": 2, "k": ["b"], "v": [9]}, {}),
        ({"kind": 2, "k": ["b", "c"], "v": [9]}, {"b": {"c": [{"d": 4}, 9]}}),
        ({"kind": 3, "k": ["b", "c"]}, {"b": {}}),
        ({"kind": 3, "k": ["b", "none"]}, {}),
        ({"kind": 3, "k": ["b", "c", 0, "d"]}, {"b": {"c": [{}]}}),
        ({"kind": 3, "k": ["a", 0]}, {}),
        ({"kind": 3, "k": ["a", "0"]}, {}),
        ({"kind": 3, "k": ["b", 0]}, {}),
    ],
    ids=str,
)
def test_a_change_is_made_at_its_path(change: dict[str, Any], expected: dict[str, Any]) -> None:
    before = state()["v"]
    assert replay([state(), change]) == {**before, **expected}


def test_a_newer_state_takes_the_place_of_all_before() -> None:
    change = {"kind": 1, "k": ["a"], "v": 9}
    assert replay([change, state(), change, state()]) == state()["v"]
    assert replay([]) == {}
    assert replay([change]) == {"a": 9}


@pytest.mark.parametrize(
    ("record", "changes", "states"),
    [
        ({"kind": 0, "v": {}}, True, True),
        ({"kind": 0, "v": []}, False, False),
        ({"kind": 0, "k": []}, False, False),
        ({"kind": 1, "k": []}, True, False),
        ({"kind": 3, "k": []}, True, False),
        ({"kind": 3, "k": "a"}, False, False),
        ({"kind": 4, "k": []}, False, False),
        ({"kind": 4, "v": {}}, False, False),
        ({"v": {}, "k": []}, False, False),
    ],
)
def test_what_a_change_is(record: dict[str, Any], *, changes: bool, states: bool) -> None:
    assert (is_change(record), is_state(record)) == (changes, states)
