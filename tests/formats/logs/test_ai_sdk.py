"""UI messages of the AI SDK: what is sent of them, and what is written in its place."""

import base64
from typing import Any

import pytest
from formats.jsonl import detected, read, texts
from formats.logs.ui_messages import invocation, older, older_talk, talk, text, tool, ui

from compactctl.clients.apis.ai_sdk import AISdk
from compactctl.history.pairs import find_orphans, tool_pairs
from compactctl.model.message import (
    FilePart,
    GroupId,
    MediaPart,
    Message,
    MessageId,
    ReasoningPart,
    Synthetic,
    is_replaceable,
)
from compactctl.pipeline.writer import InsertionContext

PNG = "iVBORw0KGgoAAAANSUhEUgAAAKAAAAB4CAIAAAD6wG44"
HELLO = base64.b64encode(b"hello").decode()


def sent(*records: object) -> list[str]:
    return texts(read("ai-sdk", *records).effective)


def only(record: object) -> Message:
    (message,) = read("ai-sdk", record).effective
    return message


@pytest.mark.parametrize(
    "shape", [lambda m: m, lambda m: [m], lambda m: [{"id": "c", "messages": m}]]
)
@pytest.mark.parametrize("messages", [talk(2), older_talk(2)])
def test_chats_are_recognized_in_every_container(messages: list[Any], shape: Any) -> None:
    records = shape(messages)
    assert detected(*records) == "ai-sdk"
    found = read("ai-sdk", *records).effective
    assert [message.role for message in found] == ["user", "assistant"] * 2
    assert sum(message.starts_turn for message in found) == 2
    assert not find_orphans(found)


@pytest.mark.parametrize(
    "record",
    [
        # Telemetry, and the agents' protocol; both have parts of a type as well.
        {"role": "user", "parts": [{"type": "text", "content": "hi"}]},
        {"role": "agent", "parts": [{"kind": "text", "text": "hi"}], "messageId": "m"},
        {"role": "user", "parts": [{"text": "hi"}]},
        {"info": {}, "parts": []},
    ],
)
def test_parts_of_others_are_not_taken_for_those_of_the_sdk(record: Any) -> None:
    assert not AISdk().sniff([record])


def test_what_version_4_stores_twice_counts_once() -> None:
    assert sent(older("a", "the log", "Done.")) == ['read({"path":"a.py"}) | the log | Done.']


def test_messages_without_parts_have_calls_and_text() -> None:
    record = {"id": "a", "role": "assistant", "content": "Done.", "reasoning": "not sent",
              "toolInvocations": [invocation("c", "the log")]}  # fmt: skip
    assert sent({"role": "user", "content": "Go"}, record) == [
        "Go",
        'read({"path":"a.py"}) | the log | Done.',
    ]


def test_parts_for_the_screen_are_not_sent() -> None:
    source = {"type": "source-url", "sourceId": "s", "url": "https://example.org"}
    weather = {"type": "data-weather", "data": {"degrees": 20}}
    found = read(
        "ai-sdk",
        ui("a", "assistant", {"type": "step-start"}, text("Hi"), source, weather),
        ui("b", "assistant", {"type": "step-start"}),
        {"id": "d", "role": "data", "content": "for the app"},
    )
    assert texts(found.effective) == ["Hi"]
    assert {kind: volume.count for kind, volume in found.metadata.items()} == {"empty message": 2}


def test_a_part_of_an_unknown_type_is_counted_and_stays() -> None:
    message = only(ui("a", "assistant", text("Hi"), {"type": "canvas", "strokes": "of a pen"}))
    assert "of a pen" in texts((message,))[0]
    assert [is_replaceable(part) for part in message.parts] == [True, False]


@pytest.mark.parametrize(
    ("fields", "calls", "results"),
    [
        ({"state": "input-streaming"}, [], []),
        ({"state": "input-available"}, ['{"path":"a.py"}'], []),
        ({"state": "approval-requested", "approval": {"id": "q"}}, ['{"path":"a.py"}'], []),
        ({"state": "output-error", "errorText": "no"}, ['{"path":"a.py"}'], ["no"]),
        (
            {"state": "output-error", "input": None, "rawInput": "{pa", "errorText": "no"},
            ["{pa"],
            ["no"],
        ),
        ({"state": "output-available", "output": {"n": 1}}, ['{"path":"a.py"}'], ['{"n":1}']),
        (
            {"state": "output-denied", "approval": {"id": "q", "reason": "Not now."}},
            ['{"path":"a.py"}'],
            ["Not now."],
        ),
        (
            {"state": "output-denied", "approval": {"id": "q"}},
            ['{"path":"a.py"}'],
            ["Tool call execution denied."],
        ),
    ],
)
@pytest.mark.parametrize("is_dynamic", [False, True])
def test_a_state_tells_what_is_sent_of_a_call(
    fields: Any, calls: list[str], results: list[str], *, is_dynamic: bool
) -> None:
    part = {"type": "tool-read", "toolCallId": "c", "input": {"path": "a.py"}, **fields}
    if is_dynamic:
        part |= {"type": "dynamic-tool", "toolName": "read"}
    found = read("ai-sdk", ui("a", "assistant", text("I look."), part)).effective
    assert [call.arguments for call in found[0].calls] == calls
    assert [result.text for result in found[0].results] == results
    assert {call.tool for call in found[0].calls} <= {"read"}
    assert len(tool_pairs(found)) == len(results)


def test_tools_that_the_provider_runs_are_never_rewritten() -> None:
    message = only(ui("a", "assistant", tool("search", "c", [1], providerExecuted=True)))
    assert not any(map(is_replaceable, message.parts))


def test_reasoning_is_sent_with_its_signature() -> None:
    newer = {
        "type": "reasoning",
        "text": "So.",
        "providerMetadata": {"anthropic": {"signature": "abc"}},
    }
    hidden = {
        "type": "reasoning",
        "text": "",
        "providerMetadata": {"anthropic": {"redactedData": "abcd"}},
    }
    details = [
        {"type": "text", "text": "Hm.", "signature": "ab"},
        {"type": "redacted", "data": "abc"},
    ]
    older_part = {"type": "reasoning", "reasoning": "Hm.", "details": details}
    message = only(ui("a", "assistant", newer, hidden, older_part, text("Hi")))
    thoughts = [part for part in message.parts if isinstance(part, ReasoningPart)]
    assert [(t.text, t.opaque, t.sealed) for t in thoughts] == [
        ("So.", False, 3), ("", True, 4), ("Hm.", False, 2), ("", True, 3),
    ]  # fmt: skip


def test_files_are_media_or_the_text_in_them() -> None:
    image = {"type": "file", "mediaType": "image/png", "url": f"data:image/png;base64,{PNG}"}
    link = {"type": "file", "mediaType": "application/pdf", "url": "https://example.org/a.pdf"}
    generated = {"type": "file", "mimeType": "image/png", "data": PNG}
    notes = {"type": "file", "mediaType": "text/plain", "filename": "a.txt",
             "url": f"data:text/plain;base64,{HELLO}"}  # fmt: skip
    message = only(ui("a", "user", image, link, generated, notes))
    picture, pages, drawing, file = message.parts
    assert isinstance(picture, MediaPart)
    assert (picture.width, picture.height) == (160, 120)
    assert isinstance(pages, MediaPart)
    assert (pages.media_type, pages.n_bytes) == ("application/pdf", 0)
    assert isinstance(drawing, MediaPart)
    assert (drawing.width, drawing.height) == (160, 120)
    assert isinstance(file, FilePart)
    assert (file.file_path, file.text) == ("a.txt", "hello")
    assert AISdk().new_value(message, 3, notes, "gone") == text("gone")


def test_an_attachment_becomes_an_attachment() -> None:
    attached = {"name": "a.png", "contentType": "image/png", "url": f"data:image/png;base64,{PNG}"}
    record = {"id": "u", "role": "user", "content": "See", "experimental_attachments": [attached],
              "parts": [text("See")]}  # fmt: skip
    message = only(record)
    written: Any = AISdk().new_value(message, 1, attached, "a picture")
    assert written["name"] == "a.png"
    again = only({**record, "experimental_attachments": [written]})
    assert texts((again,)) == ["See | a picture"]


@pytest.mark.parametrize(
    ("output", "written"),
    [
        ("long", "short"),
        ({"rows": [1]}, "short"),
        # What a tool of an MCP server returned is read as a list of contents.
        (
            {"content": [text("long")], "structuredContent": {}, "isError": False},
            {"content": [text("short")], "isError": False},
        ),
    ],
)
def test_an_output_keeps_the_shape_that_the_sdk_looks_into(output: Any, written: Any) -> None:
    message = only(ui("a", "assistant", tool("read", "c", output)))
    assert AISdk().new_value(message, 1, output, "short") == written
    assert only(ui("a", "assistant", tool("read", "c", written))).results[0].text == "short"


@pytest.mark.parametrize("messages", [talk(), older_talk()])
def test_a_summary_has_the_fields_of_its_neighbor(messages: list[Any]) -> None:
    (anchor, *_) = read("ai-sdk", *messages).effective
    summary = Synthetic(
        id=MessageId("s"), kind="summary", role="user", text="So far.", group=GroupId("g")
    )
    written = AISdk().new_record(summary, InsertionContext(anchor=anchor, neighbor=messages[0]))
    assert written.keys() == messages[0].keys()
    assert sent(written) == ["So far."]
