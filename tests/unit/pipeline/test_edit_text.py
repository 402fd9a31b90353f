"""Edits as text for the archive, and back."""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from unit.pipeline.test_apply import hide, insert, marker, rewrite

from compactctl.model.edit import Edit, Hide, Insert, groups_of
from compactctl.model.message import MessageId
from compactctl.pipeline.edit_text import (
    dump_edits,
    edits_by_message,
    edits_from_rows,
    sizes_from_rows,
    stages_from_rows,
)

NAMES = st.sampled_from(["a", "b", "c\ud83d", "d#2"])
EDITS = st.one_of(
    st.builds(lambda ids, g: hide(*ids, group=g), st.lists(NAMES, min_size=1, unique=True), NAMES),
    st.builds(rewrite, NAMES, st.text(), st.integers(0, 3), NAMES),
    st.builds(insert, NAMES, NAMES),
)


def there_and_back(edits: list[Edit]) -> list[dict[str, object]]:
    stages = {group: f"stage of {group}" for group in groups_of(edits)}
    rows = edits_by_message(edits, stages, {MessageId("a"): 7})
    return [row for found in rows.values() for row in json.loads(dump_edits(found))]


def in_order(edit: Edit) -> Edit:
    return replace(edit, ids=tuple(sorted(edit.ids))) if isinstance(edit, Hide) else edit


@given(edits=st.lists(EDITS))
def test_edits_come_back_in_their_order(edits: list[Edit]) -> None:
    rows = there_and_back(edits)
    assert [in_order(edit) for edit in edits_from_rows(rows)] == [in_order(edit) for edit in edits]
    assert stages_from_rows(rows) == {group: f"stage of {group}" for group in groups_of(edits)}


def test_a_marker_comes_back_with_all_that_is_known_of_it() -> None:
    edit = Insert(before=MessageId("a"), message=marker("m", through="z", details={"messages": 3}))
    assert edits_from_rows(there_and_back([edit])) == (edit,)


def test_edits_of_a_written_message_are_kept_where_it_stands() -> None:
    edits = [insert("a", "x"), hide("a"), insert("x", "y"), hide("x", "b", group="h")]
    rows = edits_by_message(edits, {}, {})
    assert set(rows) == {"a", "b"}
    assert list(edits_from_rows(there_and_back(edits))) == edits


def test_the_size_of_a_group_is_that_of_its_messages() -> None:
    rows = there_and_back([hide("a", "b"), rewrite("a", "x", part=1), insert("c", "m")])
    assert sizes_from_rows(rows) == {"g": {"a": 7, "b": 0}}
