"""New parents where a parent is hidden, in chains, combs and what grows beside them."""

import pytest

from compactctl.model.transcript import Link, Pointer
from compactctl.pipeline.relink import InsertedRecord, NewParents, relink


def links(*pairs: str) -> list[Link]:
    """Build links from words like ``b<a``: b on the next line, its parent a; ``a<`` is a root."""
    split = (pair.split("<") for pair in pairs)
    return [Link(line=n, id=name, parent=parent or None) for n, (name, parent) in enumerate(split)]


CHAIN = links("a<", "b<a", "c<b", "d<c", "e<d")


def test_a_child_follows_the_nearest_ancestor_that_stays() -> None:
    assert relink(CHAIN, {1, 2}, []).by_line == {3: "a"}


def test_without_a_hidden_parent_nothing_changes() -> None:
    assert relink(CHAIN, {4}, []).by_line == {}
    assert relink(CHAIN, (), []).by_line == {}


def test_children_of_a_hidden_root_become_roots() -> None:
    assert relink(CHAIN, {0}, []).by_line == {1: None}


def test_a_marker_takes_the_place_of_what_it_stands_for() -> None:
    found = relink(CHAIN, {1, 2}, [InsertedRecord(id="m", before_line=1, next_shown_line=3)])
    assert found.by_line == {3: "m"}
    assert found.by_inserted_id == {"m": "a"}


def test_markers_before_one_line_follow_one_another() -> None:
    placed = [
        InsertedRecord(id="m", before_line=1, next_shown_line=3),
        InsertedRecord(id="n", before_line=1, next_shown_line=3),
    ]
    found = relink(CHAIN, {1, 2}, placed)
    assert (found.by_line, found.by_inserted_id) == ({3: "n"}, {"m": "a", "n": "m"})


def test_a_pinned_record_inside_a_hidden_range_stays_on_the_path() -> None:
    found = relink(CHAIN, {1, 3}, [InsertedRecord(id="m", before_line=1, next_shown_line=2)])
    assert found.by_line == {2: "m", 4: "c"}
    assert found.by_inserted_id == {"m": "a"}


def test_a_comb_of_parallel_results_hangs_on_the_marker() -> None:
    comb = links("a<", "call1<a", "call2<call1", "res1<call1", "res2<call2", "next<res2")
    found = relink(comb, {1, 2, 3, 4}, [InsertedRecord(id="m", before_line=1, next_shown_line=5)])
    assert found.by_line == {5: "m"}


def test_metadata_between_hidden_records_follows_what_stays() -> None:
    chain = links("a<", "b<a", "progress<b", "c<progress", "d<c")
    found = relink(chain, {1, 3}, [InsertedRecord(id="m", before_line=1, next_shown_line=4)])
    assert found.by_line == {2: "m", 4: "progress"}


def test_a_marker_for_side_records_is_put_on_the_path() -> None:
    side = links("a<", "attachment<a", "b<a", "c<b")
    found = relink(side, {1}, [InsertedRecord(id="m", before_line=1, next_shown_line=2)])
    assert (found.by_line, found.by_inserted_id) == ({2: "m"}, {"m": "a"})


def test_the_path_is_led_through_a_marker_above_its_next_record() -> None:
    side = links("a<", "attachment<a", "progress<a", "b<progress")
    found = relink(side, {1}, [InsertedRecord(id="m", before_line=1, next_shown_line=3)])
    assert found.by_line == {2: "m"}


def test_a_line_that_cannot_be_changed_is_left_alone() -> None:
    side = links("a<", "attachment<a", "b<a")
    assert (
        relink(side, {1}, [InsertedRecord(id="m", before_line=1, next_shown_line=2)], {2}).by_line
        == {}
    )


def test_what_points_to_a_hidden_record_points_to_what_stands_for_it() -> None:
    pointers = [
        Pointer(line=5, target=target, path=("leafUuid",)) for target in ("e", "c", "elsewhere")
    ]
    marker = [InsertedRecord(id="m", before_line=3)]
    assert relink(CHAIN, {3, 4}, marker, (), pointers[:1]).pointers == {5: "m"}
    assert relink(CHAIN, {3, 4}, [], (), pointers[:1]).pointers == {5: "c"}
    assert relink(CHAIN, {3, 4}, [], (), pointers[1:]).pointers == {}


def test_a_parent_that_is_not_in_the_file_stays_named() -> None:
    torn = links("a<", "b<lost", "c<b", "d<c")
    assert relink(torn, {1, 2}, [InsertedRecord(id="m", before_line=0)]).by_line == {3: "lost"}
    assert relink(
        torn, {1, 2}, [InsertedRecord(id="m", before_line=1, next_shown_line=3)]
    ).by_line == {3: "m"}


def test_records_that_follow_each_other_in_a_circle_become_roots() -> None:
    circle = links("a<b", "b<a", "c<b")
    assert relink(circle, {0, 1}, []).by_line == {2: None}


def test_of_records_with_one_id_the_first_is_followed() -> None:
    double = links("a<", "b<a", "c<b", "b<x")
    assert relink(double, {1}, []).by_line == {2: "a"}


@pytest.mark.parametrize(
    ("words", "next_line", "frozen", "by_line", "parent"),
    [
        # The result of a parallel call goes: what follows comes after what stands for it.
        (("a<", "b<a", "r<b", "c<b"), 3, (), {3: "m"}, "b"),
        (("a<", "b<a", "r<b", "c<b"), 3, (3,), {}, "b"),
        (("a<", "b<a", "r<b", "c<b", "d<c"), 4, (), {3: "m"}, "b"),
        (("a<", "b<a", "r<b", "c<b", "d<c"), 4, (3,), {}, "b"),
        # Where the way ends before it, at a record of another file, it comes right before.
        (("a<", "b<a", "r<b", "c<x"), 3, (), {3: "m"}, "x"),
        (("a<", "b<a", "r<b", "c<x", "d<c"), 4, (), {4: "m"}, "c"),
        (("a<", "b<a", "r<b", "c<"), 3, (), {3: "m"}, None),
        # Records that name each other lead nowhere.
        (("a<", "b<a", "r<b", "c<d", "d<c"), 4, (), {}, "b"),
    ],
)
def test_what_stands_for_a_record_is_on_the_way_to_what_is_shown_next(
    words: tuple[str, ...],
    next_line: int,
    frozen: tuple[int, ...],
    by_line: dict[int, str],
    parent: str | None,
) -> None:
    record = InsertedRecord(id="m", before_line=2, next_shown_line=next_line)
    found = relink(links(*words), {2}, [record], frozen)
    assert (found.by_line, found.by_inserted_id) == (by_line, {"m": parent})


def test_a_record_that_cannot_change_keeps_a_parent_that_is_dropped() -> None:
    assert relink(links("a<", "b<a", "c<b", "d<b"), {1}, [], {2}).by_line == {3: "a"}


def test_the_first_of_two_records_with_one_id_counts() -> None:
    found = relink(links("a<", "b<a", "b<", "c<b"), {1}, [])
    assert found.by_line == {3: "a"}


def test_dropped_records_that_name_each_other_have_no_ancestor() -> None:
    assert relink(links("b<c", "c<b", "d<c"), {0, 1}, []).by_line == {2: None}


def test_a_record_beside_a_parent_of_another_file_follows_what_is_inserted_before_it() -> None:
    placed = [InsertedRecord(id="m", before_line=1)]
    assert relink(links("a<x", "b<a"), {0}, placed).by_line == {1: "m"}
    assert relink(links("a<x", "b<a"), {0}, placed).by_inserted_id == {"m": "x"}


def test_a_line_that_names_a_dropped_record_names_its_ancestor() -> None:
    pointers = [
        Pointer(line=4, target="c", path=("leaf",)),
        Pointer(line=5, target="a", path=("leaf",)),
    ]
    found = relink(CHAIN, {1, 2}, [], (), pointers)
    assert found.pointers == {4: "a"}
    assert (
        relink(links("a<", "b<a"), {0}, [], (), [Pointer(line=3, target="a", path=())]).pointers
        == {}
    )


def test_the_values_of_a_line_are_its_parent_and_what_it_names() -> None:
    found = NewParents(by_line={1: "a", 2: None}, by_inserted_id={}, pointers={2: "b"})
    paths = {2: ("leaf",)}
    assert found.values_on(0, ("parent",), paths) == {}
    assert found.values_on(1, ("parent",), paths) == {("parent",): "a"}
    assert found.values_on(2, ("parent",), paths) == {("parent",): None, ("leaf",): "b"}
    assert found.values_on(2, None, paths) == {("leaf",): "b"}
