"""The lines of a new file: what stays, what goes, what is written, in both layouts."""

import json

import pytest
from formats.claude_code.sessions import answered, attached, called, said, user
from unit.pipeline.edits import hide, insert, marker, rewrite
from unit.pipeline.trees import Page, chat, page, values

from compactctl.model.edit import Edit, Hide, Insert
from compactctl.model.message import GroupId, MessageId, Synthetic


def edits_of(tree: Page, *hidden: int, rewritten: int | None = None) -> list[Edit]:
    """Hide messages behind a marker before the first of them, and rewrite another."""
    ids = [tree.ids[n] for n in hidden]
    edits: list[Edit] = [insert(ids[0], "the marker"), hide(*ids)] if ids else []
    if rewritten is not None:
        edits.append(rewrite(tree.ids[rewritten], "[new]", group="r"))
    return edits


def test_lines_that_no_edit_names_are_the_same_objects_of_bytes() -> None:
    tree = page("openai-chat", *chat("a", "b", "c", "d"))
    new = tree.laid_out(edits_of(tree, 1))
    assert [line.source_index for line in new] == [0, None, 2, 3]
    assert all(
        line.data is tree.lines[line.source_index] for line in new if line.source_index is not None
    )


def test_a_hidden_line_is_gone_and_the_marker_says_so() -> None:
    tree = page("openai-chat", *chat("a", "b", "c"))
    _, written, last = tree.laid_out(edits_of(tree, 1))
    record = json.loads(written.data)
    assert record["content"] == "the marker"
    assert record["truncationId"] == "g"
    assert record["isTruncationMarker"] is True
    assert record["compactctl"]["op"] == "op"
    assert last.source_index == 2


@pytest.mark.parametrize(
    ("details", "written"),
    [
        ({"summarizer": "offline"}, {}),
        ({"summarizer": "openai"}, {"summarizer": "openai"}),
        (
            {"summarizer": "offline", "fallback": "no answer", "messages": 3},
            {"summarizer": "offline", "fallback": "no answer"},
        ),
    ],
)
def test_a_summary_names_its_writer_unless_that_is_the_usual_one(
    details: dict[str, str | int], written: dict[str, str]
) -> None:
    tree = page("openai-chat", *chat("a", "b", "c"))
    summary = Synthetic(
        id=MessageId("s"), kind="summary", role="user", text="sum", group=GroupId("g"),
        details=details,
    )  # fmt: skip
    edits: list[Edit] = [Insert(before=MessageId(tree.ids[1]), message=summary), hide(tree.ids[1])]
    metadata = values(tree.laid_out(edits))[1]["compactctl"]
    assert isinstance(metadata, dict)
    named = {name: metadata[name] for name in ("summarizer", "fallback") if name in metadata}
    assert named == written


def test_without_tags_a_record_holds_nothing_of_ours() -> None:
    tree = page("openai-chat", *chat("a", "b", "c"))
    new = tree.laid_out(edits_of(tree, 1, rewritten=2), tags=False)
    assert values(new)[1:] == [
        {"role": "user", "content": "the marker"},
        {"role": "user", "content": "[new]"},
    ]


@pytest.mark.parametrize(
    "line",
    [
        b'{"role":"user","content":"long text"}\r\n',
        b' {"role" : "user" ,\t"content" : "long text" } \n',
        b'{"content":"decoy","role":"user","content":"long text"}\n',
        b'\xef\xbb\xbf{"role":"user","n":1e400,"content":"long text"}\n',
        b'{"role":"user","content":"long text","x":"\\ud83d \\u00e9"}',
    ],
    ids=["crlf", "blanks", "duplicate key", "byte order mark", "no line break"],
)
def test_only_the_value_of_a_rewritten_line_changes(line: bytes) -> None:
    tree = Page("openai-chat", [line])
    new, *rest = tree.laid_out([rewrite(tree.ids[0], "[new]")], tags=False)
    assert not rest
    assert new.data == line.replace(b"long text", b"[new]")


@pytest.mark.parametrize("layout", ["split", "inline"])
def test_written_lines_end_as_the_line_they_stand_before(layout: str) -> None:
    lines = [json.dumps(record).encode() + b"\r\n" for record in chat("a", "b")]
    tree = Page("openai-chat", lines)
    first, *_ = tree.laid_out(
        [insert(tree.ids[0], "x")], "inline" if layout == "inline" else "split"
    )
    assert first.source_index is None
    assert first.data.endswith(b"}\r\n")


def test_a_record_before_an_unterminated_line_is_a_line_of_its_own() -> None:
    lines = [json.dumps(record).encode() for record in chat("a", "b")]
    tree = Page("openai-chat", [lines[0] + b"\n", lines[1]])
    new = tree.laid_out([insert(tree.ids[1], "x")])
    assert all(line.data.endswith(b"\n") for line in new)


def test_what_followed_a_hidden_record_follows_the_marker() -> None:
    tree = page("claude-code", *session())
    marked, kept = values(tree.laid_out([insert("u1", "m"), hide("u1", "a1", "u2")]))[:2]
    assert marked["parentUuid"] is None
    assert kept["parentUuid"] == marked["uuid"]
    assert {name: kept[name] for name in kept if name != "parentUuid"} == {
        name: value for name, value in session()[3].items() if name != "parentUuid"
    }


def test_metadata_in_a_hidden_range_stays_and_is_linked_anew() -> None:
    hook = {"type": "system", "subtype": "hook", "uuid": "s1", "parentUuid": "u1", "sessionId": "s"}
    tree = page(
        "claude-code",
        user("u1", None, "a"),
        hook,
        said("a1", "s1", "b"),
        user("u2", "a1", "c"),
        said("a2", "u2", "d"),
    )
    new = values(tree.laid_out([insert("u1", "m"), hide("u1", "a1")]))
    assert [record["parentUuid"] for record in new] == [None, new[0]["uuid"], "s1", "u2"]


def test_a_marker_for_an_attachment_beside_the_path_is_on_the_path() -> None:
    tree = page(
        "claude-code",
        user("u1", None, "a"),
        called("a1", "u1", "c1", "r"),
        called("a2", "a1", "c2", "r"),
        answered("r1", "a1", "c1"),
        attached("x1", "r1", "todo", content="remember"),
        answered("r2", "a2", "c2"),
        said("a3", "r2", "b"),
    )
    new = values(tree.laid_out([insert("x1", "m"), hide("x1")], tags=False))
    marker = new[4]["uuid"]
    parents = [record["parentUuid"] for record in new]
    assert parents == [None, "u1", "a1", "a1", "a2", marker, "r2"]


def test_inline_keeps_every_original_with_its_tag() -> None:
    tree = page("openai-chat", *chat("a", "b", "c", "d"))
    new = tree.laid_out(edits_of(tree, 1, 2, rewritten=3), "inline")
    assert [line.source_index for line in new] == [0, None, 1, 2, None, 3]
    tag = b',"truncationParent":"g"}\n'
    assert new[2].data == tree.lines[1].replace(b"}\n", tag)
    assert new[3].data == tree.lines[2].replace(b"}\n", tag)
    assert new[5].data == tree.lines[3].replace(b"}\n", b',"editParent":"r"}\n')
    assert json.loads(new[4].data)["editId"] == "r"


def test_inline_a_written_message_hidden_again_stays_with_its_tag() -> None:
    tree = page("openai-chat", *chat("a", "b", "c"))
    summary = Synthetic(
        id=MessageId("s"), kind="summary", role="user", text="sum", group=GroupId("g")
    )
    edits: list[Edit] = [
        Insert(before=MessageId(tree.ids[0]), message=summary),
        hide(tree.ids[0]),
        Insert(before=MessageId("s"), message=marker("m", group="h")),
        Hide(ids=(MessageId("s"), MessageId(tree.ids[1])), group=GroupId("h"), kind="condense"),
    ]
    new = values(tree.laid_out(edits, "inline"))
    assert [record["content"] for record in new] == ["m", "sum", "a", "b", "c"]
    assert new[1]["condenseParent"] == "h"
    assert [r["content"] for r in values(tree.laid_out(edits))] == ["m", "c"]


def test_split_takes_originals_along_that_an_inline_stand_in_hid() -> None:
    tree = page("openai-chat", *chat("a", "b", "c", "d"))
    inline = [line.data for line in tree.laid_out(edits_of(tree, 0, 1, rewritten=2), "inline")]
    again = Page("openai-chat", inline)
    hidden = [again.transcript.effective[0].id]
    new = again.laid_out([insert(again.ids[0], "m2"), hide(*hidden, group="h")])
    assert [record["content"] for record in values(new)] == ["m2", "[new]", "c", "d"]


def test_messages_of_one_line_are_edited_where_they_stand() -> None:
    line = json.dumps({"id": 1.50, "messages": chat("a", "b", "c", "d"), "n": [1, 2]}, indent=1)
    tree = Page("openai-chat", [line.encode()])
    (new,) = tree.laid_out(edits_of(tree, 1, 2, rewritten=3), tags=False)
    assert new.source_index == 0
    found = json.loads(new.data)
    assert [m["content"] for m in found["messages"]] == ["a", "the marker", "[new]"]
    assert new.data.startswith(line[: line.index('"a"') + 7].encode())
    assert new.data.endswith(b'"n": [\n  1,\n  2\n ]\n}')


def test_conversations_on_their_own_lines_do_not_touch_one_another() -> None:
    records = [{"messages": chat("a", "b", "c")}, {"messages": chat("d", "e", "f")}]
    tree = page("openai-chat", *records)
    first, second = tree.laid_out(edits_of(tree, 1))
    assert second.data is tree.lines[1]
    assert [m["content"] for m in json.loads(first.data)["messages"]] == ["a", "the marker", "c"]


def test_an_array_without_its_first_and_last_element_is_still_one() -> None:
    tree = Page("openai-chat", [json.dumps(chat("a", "b", "c"), indent=2).encode()])
    (new,) = tree.laid_out([hide(tree.ids[0], tree.ids[2])])
    assert [m["content"] for m in json.loads(new.data)] == ["b"]


def test_a_marker_before_a_damaged_line_leaves_the_damage_as_it_is() -> None:
    padded = b"\0\0" + json.dumps(chat("b")[0]).encode() + b"\n"
    tree = Page("openai-chat", [*page("openai-chat", *chat("a")).lines, padded])
    damaged = tree.transcript.messages[1]
    new = tree.laid_out([insert(damaged.id, "m")])
    assert [line.source_index for line in new] == [0, None, 1]
    assert new[2].data == padded


def session() -> list[dict[str, object]]:
    return [
        user("u1", None, "one"),
        said("a1", "u1", "two"),
        user("u2", "a1", "three"),
        called("a2", "u2", "c1"),
        answered("r2", "a2", "c1"),
        said("a3", "r2", "four"),
    ]


def test_inline_a_rewritten_message_that_is_hidden_again_keeps_both_tags() -> None:
    tree = page("openai-chat", *chat("a", "b", "c"))
    edits: list[Edit] = [
        rewrite(tree.ids[1], "[new]", group="r"), insert(tree.ids[1], "m"), hide(tree.ids[1]),
    ]  # fmt: skip
    new = values(tree.laid_out(edits, "inline"))
    assert [record["content"] for record in new] == ["a", "m", "[new]", "b", "c"]
    assert (new[2]["editId"], new[2]["truncationParent"]) == ("r", "g")
    assert new[3]["editParent"] == "r"


def test_what_is_on_another_branch_stays_where_it_is() -> None:
    records = [*session(), user("v2", "a1", "again"), said("b2", "v2", "well")]
    tree = page("claude-code", *records)
    assert tree.texts == ["one", "two", "again", "well"]
    new = values(tree.laid_out([insert("u1", "m"), hide("u1", "a1")]))
    assert [record["uuid"] for record in new[1:]] == ["u2", "a2", "r2", "a3", "v2", "b2"]
    assert new[1]["parentUuid"] == new[5]["parentUuid"] == new[0]["uuid"]
