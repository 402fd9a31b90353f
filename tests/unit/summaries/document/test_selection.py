from typing import Any

from compactctl.summaries.document.sections import cost
from compactctl.summaries.document.selection import index_items, taken
from compactctl.summaries.extract.entities import Lexicon
from compactctl.summaries.extract.items import SummaryItem, Worth


def item(text: str, value: int, **fields: Any) -> SummaryItem:
    fields = {"section": 4, "place": 0, "label": text, **fields}
    return SummaryItem(**fields, text=text, value=value)


def test_worth_halves_its_bonus_in_eight_model_calls() -> None:
    assert [Worth(100, 80).at(age) for age in (0, 8, 1_000)] == [180, 140, 100]


def test_the_most_valuable_items_are_taken_first() -> None:
    items = [item("low", 1), item("high", 9), item("mid", 5)]
    found = taken(items, room=cost(items[0]) + cost(items[1]), pinned_room=0)
    assert [i.text for i in found] == ["high", "mid"]


def test_pinned_items_come_before_more_valuable_ones() -> None:
    items = [item("a" * 20, 9), item("b" * 20, 1, pinned=True)]
    assert [i.text for i in taken(items, room=25, pinned_room=25)] == ["b" * 20]
    assert [i.text for i in taken(items, room=25, pinned_room=5)] == ["a" * 20]


def test_one_sort_of_items_does_not_keep_out_all_others() -> None:
    many = [item(f"many {n}" + "x" * 14, 9, label="many", place=n) for n in range(10)]
    found = taken([*many, item("other", 1)], room=180, pinned_room=0)
    assert "other" in [i.text for i in found]
    assert len(found) > 5


def test_an_elastic_item_is_shortened_where_others_are_left_out() -> None:
    text = "start " + "x" * 300 + " end"
    assert taken([item(text, 9)], room=150, pinned_room=0) == []
    found = taken([item(text, 9, elastic=True)], room=150, pinned_room=0)[0]
    assert found.text.startswith("start ")
    assert found.text.endswith(" end")
    assert cost(found) <= 150


def test_the_index_lists_names_by_kind_within_its_room() -> None:
    lexicon = Lexicon()
    names = lexicon.entities("src/a.py first_name other_name late_name")
    found = [i.text for i in index_items(names, lexicon, 35)]
    assert found == ["path: src/a.py", "symbol: first_name, other_name"]
