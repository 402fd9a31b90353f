"""Messages as text: their headings, their parts, and what is cut."""

from typing import Any

import pytest
from builders import assistant, call, result, thinking, user
from unit.views.results.screens import shown

from compactctl.commands.inspect.view import ViewedMessage, ViewOptions, ViewResult
from compactctl.commands.operations.states import HiddenBy
from compactctl.commands.reading.transcript import InputOptions
from compactctl.model.message import (
    CallId,
    FilePart,
    MediaPart,
    Message,
    MessageId,
    Origin,
    Part,
    Tags,
    TextPart,
    ToolCallPart,
    ToolDefinitionPart,
    ToolResultPart,
)
from compactctl.pipeline.merge_for_view import DisplayedLine
from compactctl.records import replace
from compactctl.views.results.view import part_text, view_document, view_messages, view_terminal

LINE = DisplayedLine(lines=(b"x",), index=0)
OPTIONS = ViewOptions(input=InputOptions(path="run.jsonl"))


def viewed(message: Message, hidden: HiddenBy | None = None, **fields: Any) -> ViewedMessage:
    named = replace(message, id=MessageId("m"), **fields)
    return ViewedMessage(message=named, line=LINE, hidden=hidden)


def result_of(
    *messages: ViewedMessage, what: Any = "effective", full: bool = False, **more: Any
) -> ViewResult:
    options = replace(OPTIONS, what=what, full=full)
    return ViewResult(options=options, lines=(), messages=messages, **more)


def lines(*messages: ViewedMessage, **more: Any) -> list[str]:
    """Return the lines below the first one, which says what is shown."""
    text = "\n".join(shown(view_terminal(result_of(*messages, **more))))
    _, empty, *others = text.split("\n")
    assert empty == ""
    return others


@pytest.mark.parametrize(
    ("more", "heading"),
    [
        ({}, "1 of 9 messages sent, 1,200 tokens: run.jsonl"),
        ({"what": "archived"}, "1 of 9 messages not sent, 1,200 tokens: run.jsonl"),
        ({"what": "all"}, "9 messages, 1,200 tokens: run.jsonl"),
        ({"n_matches": 4}, "1 of 4 matching messages, 1,200 tokens: run.jsonl"),
    ],
)
def test_the_first_line_says_what_is_shown(more: dict[str, Any], heading: str) -> None:
    message = replace(viewed(user("go"), timestamp=0.5), tokens=1_200)
    shown_lines = shown(view_terminal(result_of(message, n_all=9, **more)))
    assert shown_lines[0] == heading
    place = "line " if more.get("what", "effective") == "effective" else "#"
    assert shown_lines[2] == f"── {place}1 · user · 1970-01-01 00:00:00 · 1,200 tokens"


def test_without_a_message_nothing_is_shown() -> None:
    assert shown(view_terminal(result_of())) == []


def test_messages_have_headings_and_parts() -> None:
    assert lines(viewed(user("go"), line=6), viewed(assistant("done"), line=7)) == [
        "── line 7 · user", "go", "", "── line 8 · assistant", "done", "",
    ]  # fmt: skip
    assert lines(viewed(user("go"), line=6), what="archived")[0] == "── #7 · user"


@pytest.mark.parametrize(
    ("fields", "hidden", "marks"),
    [
        ({"origin": Origin(is_summary=True)}, None, "summary"),
        ({"tags": Tags(is_truncation_marker=True)}, None, "marker"),
        ({"tags": Tags(edit_id="g")}, None, "rewritten"),
        ({"origin": Origin(is_injected=True)}, None, "injected"),
        ({"origin": Origin(is_injected=True, is_synthetic=True)}, None, ""),
        ({}, HiddenBy(group="g1", tag=""), "hidden by g1"),
        ({}, HiddenBy(group="g1", tag="", stage="dedup"), "hidden by g1, dedup"),
    ],
)
def test_what_is_special_about_a_message_is_in_its_heading(
    fields: dict[str, Any], hidden: HiddenBy | None, marks: str
) -> None:
    heading = lines(viewed(user("go"), hidden, **fields))[0]
    assert heading == "── line 1 · user" + (f" · {marks}" if marks else "")


def test_conversations_are_told_apart() -> None:
    several = [viewed(user("a"), conversation=n) for n in (0, 0, 2)]
    assert [line for line in lines(*several) if line.startswith("═")] == [
        "══ conversation 1", "══ conversation 3",
    ]  # fmt: skip
    assert not [line for line in lines(*several[:2]) if line.startswith("═")]


PICTURE = MediaPart(media_type="image/png", n_bytes=2_500, width=30, height=20)


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (TextPart(text="a\x1b"), "a\\x1b"),
        (TextPart(text="a", added="b"), "a\n(the client adds: b)"),
        (TextPart(text="", added="b"), "(the client adds: b)"),
        (thinking("hm").parts[0], "thinking: hm"),
        (
            thinking("hm", opaque=True).parts[0],
            "thinking: (not readable: encrypted or signature only)",
        ),
        (call("c", "Read", path="x").parts[0], '→ Read {"path": "x"}'),
        (
            ToolCallPart(call_id=CallId("c"), tool="t", arguments="{}", added="x"),
            "→ t {}\n(the client adds: x)",
        ),
        (result("c", "ok").parts[0], "← result: ok"),
        (result("c", "no", tool="Bash", is_error=True).parts[0], "← Bash (failed): no"),
        (
            ToolResultPart(call_id=CallId("c"), tool="t", text="x", media=(PICTURE, PICTURE)),
            "← t: x" + "\n[image/png, 30x20, 2,500 bytes]" * 2,
        ),
        (FilePart(file_path="a.py", text="x"), "file a.py: x"),
        (ToolDefinitionPart(name="t", text="x"), "tools t: x"),
        (PICTURE, "[image/png, 30x20, 2,500 bytes]"),
        (
            MediaPart(media_type="audio/wav", n_bytes=9, seconds=1_200.04),
            "[audio/wav, 1,200.0 seconds, 9 bytes]",
        ),
        (
            MediaPart(media_type="application/pdf", n_bytes=9, pages=1),
            "[application/pdf, 1 page, 9 bytes]",
        ),
    ],
)
def test_a_part_is_text(part: Part, text: str) -> None:
    def safe(value: str) -> str:
        return value.replace("\x1b", "\\x1b")

    assert part_text(part, safe) == text


@pytest.mark.parametrize(
    ("size", "full", "tail"),
    [
        (2_000, False, []),
        (2_001, False, ["[… 1 more characters; see them with --full]"]),
        (3_500, False, ["[… 1,500 more characters; see them with --full]"]),
        (3_500, True, []),
    ],
)
def test_a_long_text_is_cut_unless_all_of_it_is_asked_for(
    *, size: int, full: bool, tail: list[str]
) -> None:
    _, text, *more, _ = lines(viewed(user("x" * size)), full=full)
    assert more == tail
    assert len(text) == (2_000 if tail else size)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (result_of(), ["run.jsonl: there are no messages"]),
        (result_of(what="archived"), ["run.jsonl: nothing is hidden"]),
        (result_of(viewed(user("a"))), []),
        (result_of(viewed(user("a")), n_matches=1), ["run.jsonl: 1 matching message"]),
        (result_of(n_matches=0), ["run.jsonl: 0 matching messages"]),
        (
            result_of(viewed(user("a")), viewed(user("b")), n_matches=9, before=4),
            ["run.jsonl: 9 matching messages, 5 to 6 shown"],
        ),
        (result_of(n_matches=9, before=9), ["run.jsonl: 9 matching messages, none on this page"]),
        (
            result_of(n_matches=0, warnings=("odd",)),
            ["warning: odd", "run.jsonl: 0 matching messages"],
        ),
    ],
)
def test_what_was_found_is_said(result: ViewResult, said: list[str]) -> None:
    assert list(view_messages(result)) == said


def test_a_document_has_messages_and_their_parts() -> None:
    hidden = HiddenBy(group="g1", tag="truncation_parent", stage="drop")
    message = viewed(result("c", "x", tool="t"), hidden, line=3, conversation=1)
    document = view_document(result_of(message, what="archived"))
    assert (document["what"], document["found"], document["before"]) == ("archived", 1, 0)
    [shown_message] = document["messages"]
    assert {name: shown_message[name] for name in ("id", "line", "conversation", "role")} == {
        "id": "m", "line": 4, "conversation": 2, "role": "user",
    } | {"role": message.message.role}  # fmt: skip
    assert (shown_message["hiddenBy"], shown_message["stage"]) == ("g1", "drop")
    [part] = shown_message["parts"]
    assert (part["kind"], part["tool"], part["text"]) == ("tool_result", "t", "x")
    assert "embedded" not in part
    assert view_document(result_of(n_matches=7))["found"] == 7
