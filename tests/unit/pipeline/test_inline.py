"""Taking an inline layout back: all of it, or one group."""

import pytest
from unit.pipeline.edits import hide, insert, rewrite
from unit.pipeline.trees import Page, chat, page

from compactctl.model.edit import Edit
from compactctl.pipeline.inline import remove_groups


def inline(tree: Page, edits: list[Edit]) -> Page:
    return Page(tree.format.name, [line.data for line in tree.laid_out(edits, "inline")])


def both(tree: Page) -> list[Edit]:
    return [
        insert(tree.ids[1], "m"),
        hide(tree.ids[1], tree.ids[2]),
        rewrite(tree.ids[3], "[new]", group="r"),
    ]


def ended(tree: Page) -> tuple[bytes, ...]:
    """Return the lines with the end that any operation gives to the last one of several."""
    *lines, last = tree.lines
    return (*lines, last if last.endswith(b"\n") or not lines else last + b"\n")


TREES = {
    "lines": page("openai-chat", *chat("a", "b", "c", "d")),
    "odd lines": Page(
        "openai-chat",
        [
            b'\xef\xbb\xbf{"role":"user","content":"a"}\r\n',
            b' { "role" : "assistant", "content" : "b" }  \r\n',
            b'{"role":"user","role":"assistant","content":"c"\t}\n',
            b'{"role":"user","content":"d","n":1e999}',
        ],
    ),
    "conversations": page("openai-chat", {"messages": chat("a", "b", "c", "d")}, {"messages": []}),
    "array": page("openai-chat", chat("a", "b", "c", "d")),
}


@pytest.mark.parametrize("tree", TREES.values(), ids=list(TREES))
def test_all_groups_taken_back_give_the_bytes(tree: Page) -> None:
    made = inline(tree, both(tree))
    assert remove_groups(made.lines, made.transcript, {"g", "r"}) == ended(tree)


@pytest.mark.parametrize("tree", TREES.values(), ids=list(TREES))
@pytest.mark.parametrize("order", [["g", "r"], ["r", "g"]])
def test_groups_come_back_in_any_order(tree: Page, order: list[str]) -> None:
    made = inline(tree, both(tree))
    for group, said in zip(order, ({"g": "b", "r": "d"}[name] for name in order), strict=True):
        made = Page(tree.format.name, remove_groups(made.lines, made.transcript, {group}))
        assert said in made.texts
    assert made.lines == ended(tree)


def test_a_rewritten_record_that_was_hidden_leaves_its_tag_to_its_original() -> None:
    tree = TREES["lines"]
    first = inline(tree, [rewrite(tree.ids[1], "[new]", group="r")])
    shown = first.transcript.effective[1].id
    second = inline(first, [insert(shown, "m"), hide(shown)])
    assert second.texts == ["a", "m", "c", "d"]
    left = Page("openai-chat", remove_groups(second.lines, second.transcript, {"r"}))
    assert left.texts == ["a", "m", "c", "d"]
    assert remove_groups(left.lines, left.transcript, {"g"}) == ended(tree)


def test_nested_groups_come_back_one_after_the_other() -> None:
    tree = TREES["lines"]
    first = inline(tree, [insert(tree.ids[0], "m"), hide(tree.ids[0], tree.ids[1])])
    names = first.ids[:2]
    second = inline(first, [insert(names[0], "n", group="h"), hide(*names, group="h")])
    assert second.texts == ["n", "d"]
    back = Page("openai-chat", remove_groups(second.lines, second.transcript, {"h"}))
    assert back.lines == first.lines
    assert remove_groups(back.lines, back.transcript, {"g"}) == ended(tree)


def test_text_that_looks_like_a_tag_is_not_taken_for_one() -> None:
    fake = ',"truncationParent":"g"}'
    tree = page("openai-chat", *chat("a", fake, fake))
    made = inline(tree, [insert(tree.ids[1], "m"), hide(tree.ids[1])])
    assert remove_groups(made.lines, made.transcript, {"g"}) == tree.lines
