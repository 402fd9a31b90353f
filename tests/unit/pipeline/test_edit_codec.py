"""Edits as text for the archive, and back."""

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from unit.pipeline.edits import hide, insert, marker, rewrite

from compactctl.errors import ArchiveError
from compactctl.model.edit import (
    CorrectRecord,
    DropPart,
    Edit,
    FieldName,
    Hide,
    Insert,
    SetField,
    groups_of,
)
from compactctl.model.message import MessageId
from compactctl.model.transcript import FieldValue
from compactctl.pipeline.edit_codec import (
    dump_edits,
    encode_edits,
    read_edits,
)
from compactctl.records import replace

NAMES = st.sampled_from(["a", "b", "c\ud83d", "d#2"])
PARTS = st.integers(0, 3)
PATHS = st.lists(st.text(max_size=3) | PARTS, max_size=3).map(tuple)
VALUES = st.sampled_from([UNSET, None, 0, "x", {"a": [1]}])
EDITS = st.one_of(
    st.builds(lambda ids, g: hide(*ids, group=g), st.lists(NAMES, min_size=1, unique=True), NAMES),
    st.builds(rewrite, NAMES, st.text(), st.integers(0, 3), NAMES),
    st.builds(insert, NAMES, NAMES),
    st.builds(DropPart, id=NAMES, part=PARTS, group=NAMES, reason=st.text()),
    st.builds(
        SetField,
        id=NAMES,
        part=PARTS,
        name=st.sampled_from(get_args(FieldName)),
        value=st.text(),
        group=NAMES,
        medium=st.none() | PARTS,
    ),
    st.builds(
        CorrectRecord,
        id=NAMES,
        line=PARTS,
        path=PATHS,
        values=st.lists(st.builds(FieldValue, PATHS, VALUES), max_size=2).map(tuple),
        group=NAMES,
    ),
)


def texts_of(edits: list[Edit]) -> list[str]:
    groups: dict[str, str] = {group: f"stage of {group}" for group in groups_of(edits)}
    rows = encode_edits(edits, groups, {MessageId("a"): 7})
    return [dump_edits(found) for found in rows.values()]


def in_order(edit: Edit) -> Edit:
    return replace(edit, ids=tuple(sorted(edit.ids))) if isinstance(edit, Hide) else edit


@given(edits=st.lists(EDITS))
def test_edits_come_back_in_their_order(edits: list[Edit]) -> None:
    found = read_edits(texts_of(edits))
    assert [in_order(edit) for edit in found.edits] == [in_order(edit) for edit in edits]
    assert found.groups == {group: f"stage of {group}" for group in groups_of(edits)}


def test_a_marker_comes_back_with_all_that_is_known_of_it() -> None:
    edit = Insert(before=MessageId("a"), message=marker("m", through="z", details={"messages": 3}))
    assert read_edits(texts_of([edit])).edits == (edit,)


def test_edits_of_a_written_message_are_kept_where_it_stands() -> None:
    edits: list[Edit] = [insert("a", "x"), hide("a"), insert("x", "y"), hide("x", "b", group="h")]
    rows = encode_edits(edits, {}, {})
    assert set(rows) == {"a", "b"}
    assert list(read_edits(texts_of(edits)).edits) == edits


def test_the_size_of_a_group_is_that_of_its_messages() -> None:
    found = read_edits(texts_of([hide("a", "b"), rewrite("a", "x", part=1), insert("c", "m")]))
    assert found.sizes == {"g": {"a": 7, "b": 0}}


def row_of(edit: Edit) -> dict[str, Any]:
    (row,) = json.loads(texts_of([edit])[0])
    return dict(row)


HIDE = row_of(hide("a"))
REWRITE = row_of(rewrite("a", "x", part=1))
INSERT = row_of(insert("a", "m"))


def test_a_group_without_a_name_is_a_group() -> None:
    found = read_edits([dump_edits([HIDE | {"group": ""}])])
    assert found.groups == {"": HIDE["stage"]}


@pytest.mark.parametrize("row", [HIDE, REWRITE, INSERT], ids=lambda row: row["edit"])
def test_every_field_of_an_archived_edit_is_checked(row: dict[str, Any]) -> None:
    (edit,) = read_edits([dump_edits([row])]).edits
    assert row_of(edit) == row
    others = (-1, 1.5, True, ["a list"], {"an": "object"})
    for name, value in row.items():
        refused([{key: each for key, each in row.items() if key != name}])
        for other in (*others, "a text" if isinstance(value, int | dict) else 1):
            refused([row | {name: other}])
    refused([row | {"colour": "red"}])


@pytest.mark.parametrize(
    "rows",
    [
        [HIDE, REWRITE],
        [HIDE, HIDE | {"id": "b", "group": "another"}],
        [INSERT, INSERT],
        [INSERT | {"message": INSERT["message"] | {"kind": "poem"}}],
        [INSERT | {"message": INSERT["message"] | {"role": "ghost"}}],
        [INSERT | {"message": INSERT["message"] | {"details": {"a": [1]}}}],
        ["no object"],
    ],
)
def test_edits_that_contradict_each_other_are_refused(rows: list[Any]) -> None:
    refused(rows)


@pytest.mark.parametrize("text", ["{}", "null", "[", "1", "[" * 100_000, "nothing"])
def test_a_text_that_is_no_list_of_edits_is_refused(text: str) -> None:
    with pytest.raises(ArchiveError, match="here: its edits cannot be read"):
        read_edits([text], "here")


def refused(rows: list[Any]) -> None:
    with pytest.raises(ArchiveError, match="edits cannot be read"):
        read_edits([json.dumps(rows)])
